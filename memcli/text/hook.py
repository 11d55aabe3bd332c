"""The lines that a git hook is given: how they are written, found again and taken out.

They stand between two marked lines, right behind the ``#!`` line, where no early ``exit`` or
``exec`` of the script that was there can skip them. The last line carries a checksum, so that
lines which somebody changed are never mistaken for our own.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass
from typing import Final

EVENTS: Final = ("post-commit", "post-merge")
VERSION: Final = 1
SECONDS: Final = 10  # that a commit waits for its log entry at the very most
HEAD: Final = b"#!/bin/sh\n"
CHAINED: Final = ".mem-chained"  # behind the name of a hook that could not be added to

# A shell that reads our lines as POSIX means them, with at most the options that do no harm.
_SHELL = re.compile(
    rb"#![ \t]*(?:/[^\s]*/)?(?:env[ \t]+)?(?:sh|bash|dash|ash|ksh)(?:[ \t]+-[eux]+)?[ \t]*\n"
)
_BLOCK = re.compile(
    rb"^# >>> mem hooks (?P<version>\d+): (?P<event>[a-z-]+)(?P<flags>[a-z -]*) >>>\n"
    rb"(?P<body>.*?)^# <<< mem hooks: (?P<sum>[0-9a-f]+) <<<\n",
    re.MULTILINE | re.DOTALL,
)
_OPENING = b"# >>> mem hooks "
_PROGRAM = re.compile(rb"^ *mem=('.*)$", re.MULTILINE)

_LINES = """\
# Logs it in the project's memory: silent, bounded, and before anything below.
# "mem hooks remove" takes these lines out again.
(
    log() {
        set +eu
        PATH=$PATH:/usr/bin:/bin
        given=${GIT_DIR-}
        unset CDPATH $(env | sed -n 's/^\\(GIT_[A-Za-z0-9_]*\\)=.*/\\1/p')
        mem=@PROGRAM@
        [ -x "$mem" ] || mem=$(command -v memcli || command -v mem) || exit
        # The folder decides; a caller's GIT_DIR that names another repository gets no entry.
        repo=$(git rev-parse --absolute-git-dir) || exit
        [ -z "$given" ] || [ "$given" -ef "$repo" ] || exit
        # What a rebase replays was logged when it was made.
        [ -d "$repo/rebase-merge" ] || [ -f "$repo/rebase-apply/rebasing" ] && exit
        how=$(git log -g -1 -s --no-color --no-show-signature --format=%gs HEAD)
        also=
@EVENT@\
        branch=$(git symbolic-ref -q HEAD) || branch='a detached HEAD'
        commit=$(git log -1 -s --no-color --no-show-signature --encoding=UTF-8 \\
            --format='%h %s') || exit
        hash=${commit%% *} subject=${commit#* }
        case $subject in *[[:cntrl:]]*)
            subject=$(printf %s "$subject" | LC_ALL=C tr '\\001-\\037\\177' ' ')
        esac
        # Renames are paired by identity alone, for which no file needs to be read.
        files=$(($({
            git diff-tree -r --name-only -M100% 'HEAD^' HEAD ||
                git diff-tree -r --name-only --root --no-commit-id HEAD
        } | wc -l)))
        [ "$files" = 1 ] && files='1 file' || files="$files files"
        exec "$mem" append-daily --quiet --later --stage @NAME@ --once "($hash on" - <<MEM_ENTRY
- ${subject:-(no message)} ($hash on ${branch#refs/heads/}, $files$also)
MEM_ENTRY
    }
    log "$@" &
    job=$!
    (
        trap 'kill "$nap"; exit' TERM
        sleep @SECONDS@ &
        nap=$!
        wait "$nap" && kill -9 "$job"
    ) &
    guard=$!
    wait "$job"
    kill "$guard"
) </dev/null >/dev/null 2>&1 || :
"""

_EVENT_LINES = {
    "post-commit": """\
        case $how in 'commit (amend)'*)
            was=$(git rev-parse --short 'HEAD@{1}') && also=", amends $was"
        esac
""",
    "post-merge": """\
        # Only a merge that made a commit: no squash, no fast-forward.
        [ "${1-}" != 1 ] && git rev-parse -q --verify 'HEAD^2' || exit
        case $how in *': Fast-forward'*) exit ;; esac
""",
}

_CHAIN_LINES = """\
mem_chained=$(dirname -- "$0")/@NAME@@CHAINED@
[ -x "$mem_chained" ] || exit 0
exec "$mem_chained" "$@"
"""


@dataclass(frozen=True, slots=True)
class Block:
    """Our lines in a hook, from byte `start` to byte `end`."""

    event: str
    version: int
    flags: frozenset[str]  # chained; made-file, made-folder: what there was not before
    program: str  # the path of mem that they were given, "" for none
    start: int
    end: int
    is_intact: bool  # as they were written


def render(event: str, *, program: str = "", flags: frozenset[str] = frozenset()) -> bytes:
    """The lines for a hook; `program` is the path of mem, tried before those on the PATH."""
    lines = _LINES + (_CHAIN_LINES if "chained" in flags else "")
    for name, text in (
        ("@EVENT@", _EVENT_LINES[event]),
        ("@NAME@", event),
        ("@CHAINED@", CHAINED),
        ("@SECONDS@", str(SECONDS)),
        ("@PROGRAM@", "'" + program.replace("'", "'\\''") + "'"),  # last: it may hold anything
    ):
        lines = lines.replace(name, text)
    words = " ".join([event, *sorted(flags)])
    start = f"{_OPENING.decode()}{VERSION}: {words} >>>\n".encode()
    body = lines.encode("utf-8", "surrogateescape")
    return start + body + f"# <<< mem hooks: {_sum(start + body)} <<<\n".encode()


def find(data: bytes) -> Block | None:
    """Our lines in a hook, None when it has none. Raises ValueError when their end is missing."""
    found = _BLOCK.search(data)
    if found is None:
        if _OPENING in data:
            raise ValueError("the lines of mem have lost their end")
        return None
    program = _PROGRAM.search(found["body"])
    try:
        words = shlex.split(program[1].decode("utf-8", "surrogateescape")) if program else []
    except ValueError:
        words = []  # an edited line; the checksum says so
    written = data[found.start() : found.end("body")]
    return Block(
        event=found["event"].decode(),
        version=int(found["version"]),
        flags=frozenset(found["flags"].decode().split()),
        program=words[0] if words else "",
        start=found.start(),
        end=found.end(),
        is_intact=_sum(written) == found["sum"].decode() and data.count(_OPENING) == 1,
    )


def place_for(data: bytes) -> int | None:
    """Where lines can be put into a script, None when it is no shell script to be added to."""
    first = _SHELL.match(data)
    # What lies behind a NUL is a payload that is found by its place.
    return first.end() if first and b"\0" not in data else None


def _sum(written: bytes) -> str:
    return hashlib.sha256(written).hexdigest()[:16]
