"""Print what a hit points to: a memory file or a range of its lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memcli import disk
from memcli.errors import RefusedError, UsageError, WorkspaceError
from memcli.text.decode import decode, split_lines
from memcli.workspace import Workspace

# What `search` prints and what people write: a.md#L3-L9, a.md#L3, a.md:3-9, a.md:3
_PLACE = re.compile(
    r"(.+?)(?:#L([0-9]{1,9})(?:-L?([0-9]{1,9}))?|:([0-9]{1,9})(?:-([0-9]{1,9}))?)?:?"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """The answer of ``mem get``: a file or a range of its lines."""

    path: str
    start_line: int
    end_line: int
    body: str


def get(workspace: Workspace, place: str) -> Passage:
    """The lines of `place`, as in ``daily/2026-05-19.md#L3-L9``; all of them without a range.

    A range that reaches beyond the file ends with it. Raises UsageError for a place that is none,
    RefusedError when there is no such file or line.
    """
    path, first, last = parse_place(place)
    full = workspace.layout.memory_path(path)
    try:
        data = disk.read(full)
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
    if data is None:
        raise RefusedError(f"no {path} in the memory", hint="mem list")
    text, note = decode(data)
    if note:
        workspace.notes.append(f"{path}: {note}")
    lines = split_lines(text)
    if first is not None and not 1 <= first <= len(lines):
        raise RefusedError(f"{path} has {len(lines)} lines, no line {first}")
    start = first or 1
    end = min(last or len(lines), len(lines))
    return Passage(path, start, end, "".join(lines[start - 1 : end]))


def parse_place(place: str) -> tuple[str, int | None, int | None]:
    """A path and its first and last line, None for both without a range. Raises UsageError."""
    match = _PLACE.fullmatch(place.strip())
    if match is None:
        raise UsageError(f"not a place in the memory: {place!r}", hint="mem get tasks/x.md#L3-L9")
    first, last = match[2] or match[4], match[3] or match[5]
    if first is None:
        return match[1], None, None
    start, end = int(first), int(last or first)
    if end < start:
        raise UsageError(f"a range that ends before it begins: {place}")
    return match[1], start, end
