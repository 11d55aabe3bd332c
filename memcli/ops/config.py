"""Change a setting in a settings file, whose other content stays."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass

import tomli_w

from memcli import config, disk
from memcli.errors import UsageError, WorkspaceError


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One setting in force."""

    key: str
    value: object
    origin: str  # "default", a file, a variable or "flag"
    doc: str


@dataclass(frozen=True, slots=True)
class SettingValues:
    """The answer of ``mem config list``."""

    settings: tuple[SettingValue, ...]
    notes: tuple[str, ...] = ()


def set_value(path: str, key: str, text: str, *, is_project: bool) -> None:
    """Write `key` into the file at `path`, made if it is not there.

    Comments in the file do not survive; nothing is written when the value is wrong. Raises
    UsageError for an unknown key, a wrong value, or a key that a project may not set.
    """
    value = config.parse(key, text)
    if is_project and not config.is_for_project(key, value):
        what = key if config.FIELDS[key].metadata["private"] else f"{key} to {text}"
        raise UsageError(f"a project may not set {what}", hint=f"mem config set {key} …")
    section, _, name = key.rpartition(".")
    try:
        data = disk.read(path)
        tree = tomllib.loads(data.decode()) if data else {}
        table = tree.setdefault(section, {}) if section else tree
        table[name] = list(value) if isinstance(value, tuple) else value
        disk.make_folder(os.path.dirname(path))
        if key.endswith(".key") and os.path.exists(path):
            os.chmod(path, 0o600)  # which the file that takes its place keeps
        disk.replace(path, tomli_w.dumps(tree).encode(), exact=None if is_project else 0o600)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise WorkspaceError(f"cannot write {path}: {error.strerror}") from error
