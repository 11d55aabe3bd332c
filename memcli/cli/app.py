"""The program: finds the command, runs it, and prints every error there is.

Nothing is imported here that a plain call does not need; Typer is one table away.
"""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import TextIO

from memcli.cli import light, options
from memcli.errors import MemError, unwritten

COMMANDS = {
    "init": "memcli.cli.init",
    "index": "memcli.cli.index",
    "search": "memcli.cli.search",
    "get": "memcli.cli.get",
    "list": "memcli.cli.list",
    "recall": "memcli.cli.recall",
    "append-daily": "memcli.cli.append_daily",
    "fact": "memcli.cli.fact",
    "promote": "memcli.cli.promote",
    "summarize": "memcli.cli.summarize",
    "consolidate": "memcli.cli.consolidate",
    "lint": "memcli.cli.lint",
    "undo": "memcli.cli.undo",
    "watch": "memcli.cli.watch",
    "jobs": "memcli.cli.jobs",
    "status": "memcli.cli.status",
    "doctor": "memcli.cli.doctor",
    "hooks": "memcli.cli.hooks",
    "config": "memcli.cli.config",
    "eval": "memcli.cli.eval",
    "mcp": "memcli.cli.mcp",
}
# Called all day by hooks and agents, and over at once; the rest can afford Typer.
LIGHT = frozenset(("search", "get", "append-daily", "recall"))
PLAIN = LIGHT | {"index"}  # parsed without Typer where the call is plain

INTERNAL, INTERRUPTED = 70, 130


def run() -> None:
    """The entry point of the scripts `mem` and `memcli`."""
    is_light = not LIGHT.isdisjoint(sys.argv[1:2])
    if is_light:
        gc.disable()  # so short a call is over before there is anything worth collecting
    _open_closed_streams()
    code = main(sys.argv[1:])
    # Flushed here, where a closed pipe can still be met quietly, and left without the
    # interpreter's own flush, which could not.
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)
    except OSError as error:
        code = code or _failed(unwritten(error), is_verbose=False)
        _drop(sys.stdout)
    try:
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)  # or the interpreter's own flush would change the exit code
    if is_light:
        # All is written and closed; to take the interpreter apart would be a tenth of the call.
        os._exit(code)
    sys.exit(code)


def main(words: Sequence[str]) -> int:
    """Run one command line and answer its exit code. Prints all errors; raises none."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not where a test or a caller put its own
            stream.reconfigure(errors="backslashreplace")
    is_verbose = "-v" in words or "--verbose" in words
    try:
        return _dispatch(_common_options_behind(list(words)))
    except MemError as error:
        return _failed(error, is_verbose=is_verbose)
    except KeyboardInterrupt:
        _tell("mem: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _drop(sys.stdout)
        return 0
    except Exception as error:
        if isinstance(error, OSError) and _is_of_output(error):  # help, which Typer prints itself
            return _failed(unwritten(error), is_verbose=is_verbose)
        return _unexpected(error, is_verbose=is_verbose)


def _is_of_output(error: OSError) -> bool:
    """Whether it was raised where Typer prints."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and str(place.tb_frame.f_globals["__name__"]).startswith("typer.")


def _drop(stream: TextIO) -> None:
    """Let what is left to be written go nowhere, so that no later flush fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_closed_streams() -> None:
    """Make a stream that the caller closed swallow what comes, before a file takes its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is that of the stream
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def _dispatch(words: list[str]) -> int:
    if words and words[0] in PLAIN:
        module: ModuleType = import_module(COMMANDS[words[0]])
        values = light.parse(module.run, words[1:])
        if values is not None:
            return options.call(module.run, values)
    from memcli.cli import parser  # all of Typer

    return parser.run(COMMANDS, words)


def _common_options_behind(words: list[str]) -> list[str]:
    """`mem --root DIR search x` as `mem search --root DIR x`: git's habit, and harmless."""
    if not words or words[0][:1] != "-":
        return words
    switches: set[str] = set()
    valued: set[str] = set()
    for one in options.parameters(options.common):
        if isinstance(one.declared, options.Option):
            (switches if one.type is bool else valued).update(one.declared.names)
    at = 0
    while at < len(words):
        flag, equals, _ = words[at].partition("=")
        if flag in switches and not equals:
            at += 1
        elif flag in valued:
            at += 1 if equals else 2
        else:
            break
    if not at or at >= len(words) or words[at] not in COMMANDS:
        return words
    behind = at + 1
    is_group = behind < len(words) and _is_subcommand(words[at], words[behind])
    behind += is_group
    return [*words[at:behind], *words[:at], *words[behind:]]


def _is_subcommand(command: str, word: str) -> bool:
    return word in getattr(import_module(COMMANDS[command]), "SUBCOMMANDS", ())


def _failed(error: MemError, *, is_verbose: bool) -> int:
    from memcli.text.printable import printable  # only on the way to an error

    _tell(f"mem: {printable(str(error))}")
    if error.hint:
        _tell(f"hint: {printable(error.hint)}")
    if is_verbose:
        _print_traceback(error)
    return error.exit_code


def _unexpected(error: Exception, *, is_verbose: bool) -> int:
    _tell(f"mem: unexpected {type(error).__name__}: {ascii(str(error))[1:-1]}")
    if is_verbose:
        _print_traceback(error)
    else:
        _tell("hint: this is a bug; the same command with -v shows where")
    return INTERNAL


def _print_traceback(error: BaseException) -> None:
    import traceback

    _tell("".join(traceback.format_exception(error)).rstrip("\n"))


def _tell(text: str) -> None:
    with suppress(OSError):  # a stderr that takes nothing; the exit code still tells
        print(text, file=sys.stderr)
