"""Three-way merge of bytes on lines, and taking an appended piece out again.

Line endings are part of a line and come through unchanged, whatever they are. Changes that only
touch are both taken, since their order is plain; only an overlap, or two insertions at one place,
is a conflict.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that both sides changed, each in its own way; `line` is 1-based, of the base."""

    line: int
    base: bytes
    ours: bytes
    theirs: bytes


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge came to; with conflicts `data` is only what could be merged around them."""

    data: bytes
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Lines `start` to `end` (exclusive, 0-based) of the base give way to `lines`."""

    start: int
    end: int
    lines: list[bytes]


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """Bring the changes from `base` to `theirs` into `ours`; a conflict keeps ours in `data`."""
    lines = base.splitlines(keepends=True)
    mine, other = _hunks(lines, ours), _hunks(lines, theirs)
    out: list[bytes] = []
    conflicts: list[Conflict] = []
    at = 0
    while mine or other:
        left, right = _next_group(mine, other)
        start = min(hunk.start for hunk in (*left, *right))
        end = max(hunk.end for hunk in (*left, *right))
        _extend(out, lines[at:start])
        at = end
        here = _with(lines, left, start, end)
        there = _with(lines, right, start, end)
        _extend(out, here if left else there)
        if left and right and here != there:
            old = b"".join(lines[start:end])
            conflicts.append(Conflict(start + 1, old, b"".join(here), b"".join(there)))
    _extend(out, lines[at:])
    return Merged(b"".join(out), tuple(conflicts))


def take_out(data: bytes, added: bytes, offset: int) -> bytes | None:
    """`data` without the `added` bytes that were once appended at `offset`, or None.

    They are looked for there first, then anywhere, where they must occur once. None also when a
    line of theirs was made longer since, which then is no longer only theirs.
    """
    if data[offset : offset + len(added)] != added:
        offset = data.find(added)
        if offset < 0 or data.find(added, offset + 1) >= 0:
            return None
        starts_a_line = offset == 0 or data[offset - 1 : offset] == b"\n" or added[:1] == b"\n"
        if not starts_a_line:
            return None
    head, rest = data[:offset], data[offset + len(added) :]
    goes_on = rest and not rest.startswith((b"\n", b"\r\n"))
    if goes_on and not added.endswith(b"\n"):
        return None
    return head + (_end_of_line(head) if goes_on else b"") + rest


def _extend(out: list[bytes], lines: list[bytes]) -> None:
    """Add lines; a last line without an end, of a side that ended there, must not swallow them."""
    if out and lines:
        out[-1] += _end_of_line(out[-1])
    out += lines


def _end_of_line(data: bytes) -> bytes:
    """What `data` lacks for another line to follow it."""
    return b"" if not data or data.endswith((b"\n", b"\r")) else b"\n"


def _hunks(base: list[bytes], side: bytes) -> list[_Hunk]:
    lines = side.splitlines(keepends=True)
    most = min(len(base), len(lines))
    head = next((n for n in range(most) if base[n] != lines[n]), most)
    most -= head
    tail = next((n for n in range(most) if base[-1 - n] != lines[-1 - n]), most)
    old, new = base[head : len(base) - tail], lines[head : len(lines) - tail]
    matcher = SequenceMatcher(None, old, new)
    return [
        _Hunk(head + a, head + b, new[c:d])
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _next_group(mine: list[_Hunk], other: list[_Hunk]) -> tuple[list[_Hunk], list[_Hunk]]:
    """Take off the first hunk and every one that overlaps it, directly or by way of another."""
    group: tuple[list[_Hunk], list[_Hunk]] = ([], [])
    first = min((*mine[:1], *other[:1]), key=lambda hunk: (hunk.start, hunk.end))
    start, end = first.start, first.end
    grew = True
    while grew:
        grew = False
        for queue, side in ((mine, group[0]), (other, group[1])):
            while queue and (queue[0] is first or _overlaps(queue[0], start, end)):
                end = max(end, queue[0].end)
                side.append(queue.pop(0))
                grew = True
    return group


def _overlaps(hunk: _Hunk, start: int, end: int) -> bool:
    """Whether a hunk that begins at `start` or later shares a line, or its only place."""
    if hunk.start == hunk.end:
        return start < hunk.start < end or hunk.start == start == end
    return hunk.start < end


def _with(lines: list[bytes], hunks: list[_Hunk], start: int, end: int) -> list[bytes]:
    """Lines `start` to `end` of the base after `hunks`."""
    out: list[bytes] = []
    at = start
    for hunk in hunks:
        out += lines[at : hunk.start] + hunk.lines
        at = hunk.end
    return out + lines[at:end]
