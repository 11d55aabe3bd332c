"""Every setting once: its default, its meaning, who may set it, and where its value came from.

Layers, later ones winning: defaults, the user's file, the project's ``.decsr/config.toml``,
``MEM_*`` variables, flags. A field ``search_alpha`` is the key ``search.alpha`` and the variable
``MEM_SEARCH_ALPHA``; the part before the first underscore is the section.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from memcli.errors import UsageError

USER_FILE = "config.toml"


def _setting(
    default: Any, doc: str, *, one_of: tuple[str, ...] = (), private: bool = False, least: int = 0
) -> Any:
    """A setting. A `private` one counts only from the user's own file, a variable or a flag."""
    metadata = {"doc": doc, "one_of": one_of, "private": private, "least": least}
    return field(default=default, metadata=metadata)


# Never compared; and shown by key, not whole, since two of them are secret.
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Settings:
    """The values in force."""

    embedding_provider: str = _setting(
        "builtin",
        "who makes vectors; none searches by keyword only",
        one_of=("builtin", "ollama", "openai", "gemini", "none"),
        private=True,
    )
    embedding_model: str = _setting("", "the provider's model; empty takes its own", private=True)
    embedding_url: str = _setting("", "the provider's address", private=True)
    embedding_key: str = _setting("", "the provider's key; never printed", private=True)
    embedding_timeout: float = _setting(30.0, "seconds to wait for the provider", private=True)
    embedding_slice_ms: int = _setting(
        200, "milliseconds that one search may spend on embedding what it found by keyword"
    )
    llm_provider: str = _setting(
        "none",
        "who writes summaries and finds facts; none makes extracts",
        one_of=("none", "ollama", "openai", "gemini"),
        private=True,
    )
    llm_model: str = _setting("", "the provider's model; empty takes its own", private=True)
    llm_url: str = _setting("", "the provider's address", private=True)
    llm_key: str = _setting("", "the provider's key; never printed", private=True)
    llm_timeout: float = _setting(120.0, "seconds to wait for the provider", private=True)
    summarize_max_tokens: int = _setting(1000, "tokens that a task summary may have")
    session_max_tokens: int = _setting(
        40000, "a session with more tokens is cut; 0 counts messages instead"
    )
    session_max_messages: int = _setting(40, "the same in messages, when the tokens are 0")
    flush_max_tokens: int = _setting(
        80000, "a conversation with more tokens is flushed, and a session is held to half; 0 is off"
    )
    search_k: int = _setting(8, "results shown", least=1)
    search_mode: str = _setting("hybrid", "how to search", one_of=("hybrid", "keyword", "vector"))
    search_alpha: float = _setting(
        0.7, "weight of keywords against meaning; 1 is keywords alone; unset it follows the query"
    )
    search_fusion: str = _setting(
        "blend", "how the two rankings are joined", one_of=("blend", "rrf")
    )
    search_min_cosine: float = _setting(
        0.35, "how near in meaning a passage must be when no word of the query is in it"
    )
    index_walk_limit: int = _setting(
        10000, "above so many files a search looks only at folders and the newest files"
    )
    index_wait: float = _setting(60.0, "seconds to wait for another writer")
    chunk_tokens: int = _setting(400, "estimated tokens in a chunk", least=32)
    chunk_overlap: int = _setting(80, "tokens that neighbouring chunks share where one was cut")
    history_keep_days: int = _setting(90, "days a revision is kept; the newest 100 always are")
    promote_markers: tuple[str, ...] = _setting(
        ("decision", "constraint", "principle"), "words that make a heading one of decisions"
    )
    consolidate_older_than: int = _setting(
        14, "days after which a daily log is digested into DREAMS.md"
    )
    consolidate_max_chars: int = _setting(24000, "characters that the digest may have, roughly")
    jobs_days: int = _setting(
        14, "days back from today whose logs and archived texts are searched for facts"
    )
    jobs_max_calls: int = _setting(
        50,
        "times that one mem jobs run, or one day of --watch, asks the model; 0 is no limit",
        private=True,
    )
    jobs_per_minute: int = _setting(
        30, "how often in a minute a job asks the model; 0 is no limit", private=True
    )
    jobs_attempts: int = _setting(10, "times a job is tried before it has failed", least=1)
    jobs_settle: float = _setting(
        60.0, "seconds without a new entry after which --watch takes up those of a log"
    )
    memory_max_chars: int = _setting(
        4000, "characters of the facts in force above which a warning is given; 0 is no limit"
    )
    memory_max_facts: int = _setting(100, "the same in facts")
    secrets: str = _setting(
        "mask", "what to do with a token in a text to be written", one_of=("mask", "refuse", "off")
    )


class Loaded(NamedTuple):
    """Settings with the place each value came from, and what was passed over."""

    settings: Settings
    origins: Mapping[str, str]  # key -> "default", a file, a variable or "flag"
    notes: tuple[str, ...] = ()


def key_of(name: str) -> str:
    """The dotted key of a field: ``search_alpha`` is ``search.alpha``."""
    return name.replace("_", ".", 1)


FIELDS = {key_of(item.name): item for item in fields(Settings)}


def load(
    project_file: str,
    environ: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
) -> Loaded:
    """Read all layers. Raises UsageError for an unknown key, a wrong value or a broken file."""
    values: dict[str, Any] = {}
    origins = dict.fromkeys(FIELDS, "default")
    notes: list[str] = []
    mine = user_file(environ)
    layers: tuple[tuple[str | None, bool], ...] = ((mine, False), (project_file, True))
    for path, is_project in layers:
        try:
            found = _read(path)
        except OSError as error:
            sentence = f"cannot read the settings in {path}: {error.strerror}"
            if is_project or not isinstance(error, PermissionError):
                raise UsageError(sentence) from error
            notes.append(sentence)  # run as somebody else, with a HOME that is not theirs
            continue
        for key, value in found.items():
            setting = FIELDS.get(key)
            if setting is None:
                raise UsageError(f"unknown setting '{key}' in {path}", hint=nearest(key))
            if is_project and not is_for_project(key, value):
                notes.append(
                    f"{key} in {path} is passed over: a project may not set it (put it into {mine})"
                )
                continue
            values[setting.name] = _checked(key, value, path)
            origins[key] = path or ""
    for key, setting in FIELDS.items():
        variable = variable_of(key)
        if variable in environ:
            values[setting.name] = _checked(key, _parsed(key, environ[variable]), variable)
            origins[key] = variable
    for key, value in (flags or {}).items():
        if value is not None:
            name = key.rpartition(".")[2]
            flag = f"-{name}" if len(name) == 1 else f"--{name}"
            values[FIELDS[key].name] = _checked(key, value, flag)
            origins[key] = "flag"
    return Loaded(replace(Settings(), **values), origins, tuple(notes))


def is_for_project(key: str, value: Any) -> bool:
    """Whether a project's own file, which may come from anybody, may set this."""
    if key == "secrets":
        return bool(value != "off")  # more care, never less
    return not FIELDS[key].metadata["private"]


def variable_of(key: str) -> str:
    """The environment variable of a key: ``search.alpha`` is ``MEM_SEARCH_ALPHA``."""
    return "MEM_" + key.replace(".", "_").upper()


def user_folder(environ: Mapping[str, str]) -> str | None:
    """The user's settings folder, or None without a home.

    On Linux this is what platformdirs answers, spelled out because that import costs twice a bare
    interpreter; a test holds the two together.
    """
    if sys.platform == "linux":
        return _xdg(environ, "XDG_CONFIG_HOME", ".config")
    import platformdirs  # only where the rule is not one line

    return platformdirs.user_config_dir("mem", appauthor=False)


def personal_folder(environ: Mapping[str, str]) -> str | None:
    """The folder of the user's personal memory, or None without a home; found as the settings."""
    if sys.platform == "linux":
        return _xdg(environ, "XDG_DATA_HOME", ".local/share")
    import platformdirs  # as above

    return platformdirs.user_data_dir("mem", appauthor=False)


def _xdg(environ: Mapping[str, str], variable: str, default: str) -> str | None:
    base = environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(environ["HOME"], default) if environ.get("HOME") else ""
    return os.path.join(base, "mem") if base else None


def user_file(environ: Mapping[str, str]) -> str | None:
    """The user's settings file, which need not exist; None without a home."""
    folder = user_folder(environ)
    return os.path.join(folder, USER_FILE) if folder else None


def _read(path: str | None) -> dict[str, Any]:
    """The file's keys, dotted; nothing when there is no file. Raises OSError or UsageError."""
    if path is None:
        return {}
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    if all(line.lstrip()[:1] in (b"", b"#") for line in data.splitlines()):
        return {}  # a file of comments alone is not worth the parser's import
    import tomllib  # as costly as the interpreter itself, so only when there is something to read

    try:
        tree = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{inner}": deep for inner, deep in value.items()})
        else:
            flat[name] = value
    return flat


def nearest(key: str) -> str:
    """A hint that names the known key most like `key`."""
    import difflib  # only on the way to an error

    close = difflib.get_close_matches(key, FIELDS, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else "mem config list"


def known(key: str) -> None:
    """Raise UsageError, with the nearest known key, for one that is none."""
    if key not in FIELDS:
        raise UsageError(f"unknown setting '{key}'", hint=nearest(key))


def parse(key: str, text: str) -> Any:
    """A value given as text, checked. Raises UsageError."""
    known(key)
    return _checked(key, _parsed(key, text), key)


def _parsed(key: str, text: str) -> Any:
    """`text` as the kind of value that `key` takes; left as it is where it does not read as one."""
    default = FIELDS[key].default
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(default, (int, float)):
        try:
            return type(default)(text)
        except ValueError:
            return text
    return text


def _checked(key: str, value: Any, where: str | None) -> Any:
    setting = FIELDS[key]
    default = setting.default
    if isinstance(default, tuple):
        if not isinstance(value, (list, tuple)) or not all(isinstance(x, str) for x in value):
            raise UsageError(f"{key} takes a list of words, not {value!r} ({where})")
        return tuple(value)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(default):
        kind = {int: "a whole number", float: "a number", str: "text"}[type(default)]
        raise UsageError(f"{key} takes {kind}, not {value!r} ({where})")
    least = setting.metadata["least"]
    if isinstance(value, (int, float)) and not value >= least:  # nor what is no number
        raise UsageError(f"{key} takes {least} or more, not {value!r} ({where})")
    one_of = setting.metadata["one_of"]
    if one_of and value not in one_of:
        raise UsageError(f"unknown {key} '{value}' ({where})", hint=f"one of: {', '.join(one_of)}")
    return value
