"""Cut a note into sections at its top-level headings, without reading most of its lines.

A column-0 heading ends whatever is open but a fence, an HTML block or a comment. So between two of
them only the few lines that begin or end such blocks, or may be headings of another kind, decide.
Where these leave a doubt, `blocks` reads the note line by line.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from memcli.text.blocks import scan
from memcli.text.decode import split_lines
from memcli.text.lines import HTML_START, HTML_TAG, atx_title, front_matter_end, plain_title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Each begins with a line end, which the search skips to. The groups: the hashes of a heading; marks
# of a fence; an angle bracket; dashes or equal signs that may underline a heading; and, without a
# group, what is unsure because its indent may be that of a list item.
_DECISIVE: Final = re.compile(
    r"\n(?:(?P<hashes>#{1,6})(?=[ \t\n]|\Z)[^\n]*+|(?P<fence>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)"
    r"| {0,3}(?P<html><)(?=[A-Za-z/!?])| {0,3}(?P<underline>=++|-++)[ \t]*+(?=\n|\Z)"
    r"| {1,3}(?:#{1,6}(?=[ \t\n]|\Z)|`{3}|~{3}))"
)
_CLOSING: Final = re.compile(r"\n {0,3}(`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
_HASHED: Final = re.compile(r"\n( {0,3}#[^\n]*)")
_FRONT_END: Final = {
    "---": re.compile(r"\n(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)"),
    "+++": re.compile(r"\n\+\+\+[^\S\n]*(?:\n|\Z)"),
}
# Blocks at the top of a file that make no section of their own.
_OPENING: Final = frozenset({"front_matter", "comment", "thematic_break"})


class Section(NamedTuple):
    """The lines under one heading path, with their ends."""

    line: int  # its first
    heading: str
    text: str


class _Mark(NamedTuple):
    """A top-level heading, and whether text of its own stands between it and the one before."""

    offset: int
    line: int
    level: int
    title: str  # with its inline markup
    is_after_text: bool


def sections(text: str, opens: Callable[[str], object] | None = None) -> Iterator[Section]:
    """Begin a section at each heading, unless the one before has no content of its own yet.

    So a title stays with what follows it, as do front matter and comments at the top. The lines for
    which `opens` is true are the headings of a log (see `blocks.scan`); an entry of a log stands
    alone even if it is empty. The sections hold all of `text`, in order.
    """
    marks: Iterable[_Mark] | None = _looked_up(text, opens)
    if marks is None:
        marks = _read(text, opens)
    trail: list[tuple[int, str]] = []
    heading = ""
    start, line = 0, 1
    for mark in marks:
        level = mark.level
        is_deeper = not trail or trail[-1][0] < level
        if mark.is_after_text or (opens is not None and not is_deeper):
            yield Section(line, heading, text[start : mark.offset])
            start, line = mark.offset, mark.line
        while trail and trail[-1][0] >= level:
            trail.pop()
        trail.append((level, plain_title(mark.title)))
        heading = " > ".join([title for _, title in trail if title])
    yield Section(line, heading, text[start:])


def _read(text: str, opens: Callable[[str], object] | None) -> Iterator[_Mark]:
    """Find the headings among the blocks of the whole text."""
    lines = split_lines(text)
    offsets = list(accumulate(map(len, lines), initial=0))
    is_after_text = is_below_heading = False
    for block in scan(lines, opens):
        if block.kind == "heading":
            line = block.start_line
            yield _Mark(offsets[line - 1], line, block.level, block.text, is_after_text)
            is_after_text, is_below_heading = False, True
        elif is_below_heading or block.kind not in _OPENING:
            is_after_text = True


def _looked_up(text: str, opens: Callable[[str], object] | None) -> list[_Mark] | None:
    """Find the headings by the decisive lines alone; None where these leave a doubt."""
    if "\r" in text:
        return None
    padded = "\n" + text  # so an offset in the text is that of the line end before it in here
    marks: list[_Mark] = []
    at = _front_matter_size(text)
    counted, line = 0, 1
    content = 0  # where the text after the heading before begins
    while (found := _DECISIVE.search(padded, at)) is not None:
        start, at = found.span()
        kind = found.lastgroup
        if kind == "hashes":
            line += padded.count("\n", counted, start)
            counted = start
            if content:
                is_after_text = bool(padded[content:start].strip(" \t\n"))
            else:
                is_after_text = _has_text(text[:start])
            title = atx_title(padded[start + 1 : at])
            level = found.end("hashes") - start - 1
            marks.append(_Mark(start, line, level, title, is_after_text))
            content = at
            continue
        end: int | None = None
        if kind == "fence":
            end = _fence_end(padded, found["fence"], at)
        elif kind == "html":
            end = _html_end(padded, found.start("html"), start)
        elif kind == "underline":
            end = at if _is_blank_before(padded, start) else None
        if end is None or (opens is not None and _has_opening(padded, at, end, opens)):
            return None
        at = end
    return marks


def _front_matter_size(text: str) -> int:
    """Count the characters of the front matter, without its last line end."""
    end = _FRONT_END.get(text[:3])
    closing = end.search(text) if end is not None else None
    if closing is None:
        return 0
    top = text[: closing.end()]
    return len(top.rstrip("\n")) if front_matter_end(split_lines(top)) else 0


def _has_text(top: str) -> bool:
    """Say whether there is text before the first heading that a section can be made of."""
    below = top[_front_matter_size(top) :]
    return bool(below.strip(" \t\n")) and any(
        block.kind not in _OPENING for block in scan(split_lines(top))
    )


def _fence_end(padded: str, mark: str, at: int) -> int:
    for closing in _CLOSING.finditer(padded, at):
        if closing[1].startswith(mark):
            return closing.end()
    return len(padded)


def _html_end(padded: str, start: int, line_start: int) -> int | None:
    """Return where the comment that begins at `start` ends, or what is no block of HTML at all.

    None for blocks of other kinds, and for a comment of many lines that may stand in a list item.
    """
    line_end = padded.find("\n", start)
    body = padded[start : line_end if line_end >= 0 else len(padded)]
    if not body.startswith("<!--"):
        is_block = HTML_START.match(body) or HTML_TAG.match(body)
        return None if is_block else start
    if "-->" in body:
        return start + len(body)
    if start > line_start + 1:
        return None
    end = padded.find("-->", start)
    if end < 0:
        return len(padded)
    line_end = padded.find("\n", end)
    return line_end if line_end >= 0 else len(padded)


def _is_blank_before(padded: str, start: int) -> bool:
    """Say whether the line that ends at `start` is blank: what follows it underlines nothing."""
    before = padded.rfind("\n", 0, start)
    return not padded[before + 1 : start].strip(" \t")


def _has_opening(padded: str, start: int, end: int, opens: Callable[[str], object]) -> bool:
    """Say whether a heading of the log stands in there, which ends what is open."""
    return any(opens(found[1] + "\n") for found in _HASHED.finditer(padded, start, end))
