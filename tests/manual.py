"""The parts of the manual, the README and the schema that the program itself knows.

``python -m tests.manual`` writes them anew; ``test_docs.py`` fails while they differ.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from memcli.cli.app import COMMANDS
from memcli.cli.options import Argument, Command, Option, Parameter, common, parameters
from memcli.config import FIELDS
from memcli.store import schema

ROOT = Path(__file__).resolve().parent.parent
MAN = ROOT / "man"
README = ROOT / "README.md"
TABLES = ROOT / "memcli" / "store" / "schema.sql"

_BEGIN, _END = '.\\" made from the program', '.\\" end of what is made'
_SETTINGS = re.compile(
    r"(<!-- settings: held to the program by a test -->\n).*?(<!-- end of settings -->)", re.S
)


def page(name: str) -> Path:
    """The manual page of a command."""
    return MAN / f"mem-{name}.1"


def synopsis(name: str) -> str:
    """The SYNOPSIS and OPTIONS of a command as roff, with the marks around them."""
    module = import_module(COMMANDS[name])
    lines = [_BEGIN, ".SH SYNOPSIS"]
    subcommands: dict[str, Command] = getattr(module, "SUBCOMMANDS", {})
    if not subcommands:
        lines += [*_usage(f"mem {name}", module.run), ".SH OPTIONS"]
        lines += _options(module.run)
    for sub, command in subcommands.items():
        lines += _usage(f"mem {name} {sub}", command)
        lines.append(".br")
    if subcommands:
        lines.append(".SH OPTIONS")
        for sub, command in subcommands.items():
            lines += [f".SS {_roff(f'mem {name} {sub}')}", _roff(_help(command))]
            lines += _options(command)
    lines += [".SS Of every command", *_entries(parameters(common)), _END]
    return "\n".join(lines) + "\n"


def with_synopsis(text: str, name: str) -> str:
    """The text of a page with what is made from the program put in anew."""
    begin, end = text.index(_BEGIN), text.index(_END) + len(_END) + 1
    return text[:begin] + synopsis(name) + text[end:]


def settings() -> str:
    """The settings table of the README."""
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    for key, field in FIELDS.items():
        star = " \\*" if field.metadata["private"] else ""
        default = field.default
        shown = ", ".join(default) if isinstance(default, tuple) else str(default)
        meaning = field.metadata["doc"]
        if field.metadata["one_of"]:
            meaning += f" ({', '.join(field.metadata['one_of'])})"
        rows.append(f"| `{key}`{star} | {f'`{shown}`' if shown else ''} | {meaning} |")
    return "\n".join(rows) + "\n"


def with_settings(text: str) -> str:
    """The README with its settings table put in anew."""
    return _SETTINGS.sub(lambda found: found[1] + "\n" + settings() + "\n" + found[2], text)


def tables() -> str:
    """The statements that make an empty database what the migrations make of it."""
    connection = sqlite3.connect(":memory:")
    schema.migrate(connection)
    made = connection.execute(
        """
        SELECT sql FROM sqlite_master WHERE sql IS NOT NULL
            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'fts\\_%' ESCAPE '\\'
        ORDER BY rowid
        """
    ).fetchall()
    applied = connection.execute(
        "SELECT migration_set, name FROM _sqlite_migrations ORDER BY id"
    ).fetchall()
    connection.close()
    statements = [f"{sql};" for (sql,) in made]
    statements += [
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)\n"
        f"    VALUES ('{one}', '{name}', datetime('now'));"
        for one, name in applied
    ]
    return "\n".join(["-- Made from schema.py by python -m tests.manual.", *statements]) + "\n"


def _own(command: Command) -> list[Parameter]:
    names = {one.name for one in parameters(common)}
    return [one for one in parameters(command) if one.name not in names]


def _usage(words: str, command: Command) -> Iterator[str]:
    yield f".B {_roff(words)}"
    for one in _own(command):
        if isinstance(one.declared, Argument):
            yield f".I {_roff(one.declared.metavar)}"
    yield "[\\fIoptions\\fR]"


def _options(command: Command) -> list[str]:
    arguments = [one for one in _own(command) if isinstance(one.declared, Argument)]
    options = [one for one in _own(command) if isinstance(one.declared, Option)]
    return [*_entries(arguments), *_entries(options)]


def _entries(those: list[Parameter]) -> Iterator[str]:
    for one in those:
        declared = one.declared
        yield ".TP"
        if isinstance(declared, Argument):
            yield f".I {_roff(declared.metavar)}"
        else:
            value = declared.metavar or "|".join(declared.one_of) or one.type.__name__.upper()
            names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in declared.names)
            yield names if one.type is bool else f"{names} \\fI{_roff(value)}\\fR"
        yield _roff(declared.help.replace("  [", " ["))


def _help(command: Command) -> str:
    return (command.__doc__ or "").strip()


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def main() -> None:
    """Write all that the program knows into the manual, the README and the schema."""
    TABLES.write_text(tables(), "utf-8")
    for name in COMMANDS:
        path = page(name)
        path.write_text(with_synopsis(path.read_text("utf-8"), name), "utf-8")
    README.write_text(with_settings(README.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
