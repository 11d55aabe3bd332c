"""Print a result in the format asked for; the answer to stdout, all else to stderr."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from memcli import formats, tables
from memcli.cli.options import Context
from memcli.errors import unwritten
from memcli.text.printable import printable


def show(context: Context, result: Any, **how: Any) -> None:
    """Print `result`: in colour on a terminal, in plain lines into a pipe, or as it was asked.

    `how` is passed on to the format (what to explain, and the like).
    """
    name = context.format or ("pretty" if is_terminal() else "text")
    for part in tables.load("format", formats.TABLE, name).render(result, **how):
        try:
            sys.stdout.write(part)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise unwritten(error) from error
    if context.is_personal and getattr(result, "revision", None) is not None:
        say(context, ["this was written to your own memory, where mem undo needs --personal"])


def is_terminal() -> bool:
    """Whether a person is reading stdout."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def say(context: Context, notes: Iterable[str]) -> None:
    """Print notes to stderr, each once, unless quiet."""
    if context.is_quiet:
        return
    with suppress(OSError):  # nobody can be told, and what was done is done
        for note in dict.fromkeys(notes):
            print(f"note: {printable(note)}", file=sys.stderr)


def show_at_once(context: Context, result: object) -> None:
    """One of a stream of results, JSON as a line: indented objects would be hard to take apart."""
    if context.is_quiet:
        return
    if context.format in ("json", "jsonl"):
        from memcli.formats.json import dumps  # spared commands that answer once

        sys.stdout.write(dumps(result) + "\n")
    else:
        show(context, result)
    sys.stdout.flush()
