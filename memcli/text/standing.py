"""The parts of a document that are said to hold no more: superseded, rejected, withdrawn.

A record says so in its front matter, under a heading "Status", or in a line of its own
("Status: rejected", "Superseded by …", a table's row) below the heading that it is about.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.lines import plain_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memcli.text.blocks import Block

_ENDED = (
    r"(?P<word>super[sc]eded|rejected|declined|deprecated|withdrawn|obsolete|abandoned|retired"
    r"|replaced|cancell?ed)\b(?!\s*[|/,]|\s+in\s+part)"
)
_WORD = re.compile(rf"[^\w~]*(?:~~.*?~~)?[^\w~]*{_ENDED}", re.IGNORECASE)
_STATUS = re.compile(rf"[^\w#]*status\W+{_ENDED}", re.IGNORECASE)
_FIELD = re.compile(
    r"[^\w#]*(?P<word>super[sc]eded)(?:\s+by)?+\b(?!\s+in\s+part)\W*+(?!n/?a\b|none\b|tbd\b)\w",
    re.IGNORECASE,
)
_ANY_STATUS = re.compile(r"[^\w#]*status\W", re.IGNORECASE)


class Ended(NamedTuple):
    """Lines, both ends included, in which no decision stands any more."""

    start: int
    end: int
    heading: str  # plain title of the part, "" for one that no heading begins
    word: str  # as the document has it, in lower case


def ended(lines: Sequence[str], blocks: Sequence[Block]) -> list[Ended]:
    """Find the parts of a document that its own words put out of force, in its order."""
    headings = [it for it in blocks if it.kind == "heading"]
    found: list[Ended] = []
    if blocks and blocks[0].kind == "front_matter":
        word = _state(lines[1 : blocks[0].end_line])
        found += [Ended(1, len(lines), "", word)] if word else []
    for place, heading, own in _parts(blocks):
        texts = [text for it in own for text in _texts(it, lines)]
        title = plain_title(heading.text) if heading else ""
        is_status = title.casefold().rstrip(":") == "status" or bool(_STATUS.match(title))
        word = _first(_WORD, texts) if is_status else _state(texts)
        word = _first(_STATUS, [title]) or word
        if word:
            found.append(_scope(headings, place - is_status, is_status, word, len(lines)))
    return sorted(found)


def parts_of(numbers: Iterable[int], parts: Sequence[Ended]) -> Iterator[Ended | None]:
    """Yield the part that each line lies in, or None. Lines and parts both go down the document."""
    rest = deque(parts)
    part = Ended(0, 0, "", "")
    for number in numbers:
        while rest and rest[0].start <= number:
            part = max(part, rest.popleft(), key=lambda it: it.end)
        yield part if number <= part.end else None


def _parts(blocks: Sequence[Block]) -> Iterator[tuple[int, Block | None, list[Block]]]:
    """Yield each heading with its number and the blocks down to the next; -1 and None at first."""
    place, heading = -1, None
    own: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            yield place, heading, own
            place, heading, own = place + 1, block, []
        else:
            own.append(block)
    yield place, heading, own


def _scope(headings: list[Block], place: int, is_above: bool, word: str, last: int) -> Ended:
    """Return the part of the heading at `place`, or of the one that a status heading is under."""
    if is_above:
        level = headings[place + 1].level
        while place >= 0 and headings[place].level >= level:
            place -= 1
    if place < 0:
        return Ended(1, last, "", word)
    top = headings[place]
    later = (headings[number] for number in range(place + 1, len(headings)))
    end = next((it.start_line - 1 for it in later if it.level <= top.level), last)
    return Ended(top.start_line, end, plain_title(top.text), word)


def _state(texts: Sequence[str]) -> str:
    """Return the word of the status line; several ones speak of something smaller."""
    if sum(bool(_ANY_STATUS.match(text)) for text in texts) > 1:
        return ""
    return _first(_STATUS, texts) or _first(_FIELD, texts)


def _first(pattern: re.Pattern[str], texts: Sequence[str]) -> str:
    return next((found["word"].lower() for text in texts if (found := pattern.match(text))), "")


def _texts(block: Block, lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a paragraph or table, and the first one of each bullet."""
    if block.kind in ("paragraph", "table"):
        for line in lines[block.start_line - 1 : block.end_line]:
            yield line.rstrip("| \t\r\n")
    elif block.kind == "list":
        yield from (lines[it.start_line - 1] for it in block.children)
