"""Cut one line that is longer than a whole chunk, where it hurts least."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from memcli.text.tokens import weigh

if TYPE_CHECKING:
    from collections.abc import Iterator

_SENTENCE_END = re.compile(r"[.!?…]['\")\]»”’]*\s+|[。！？]+[」』）]*")
_BLANKS = re.compile(r"\s+")
# Joiners, selectors, skin tones and tags belong to the character before them.
_ATTACHED = re.compile("[\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_FLAG_HALF = re.compile("[\U0001f1e6-\U0001f1ff]")


def cut_line(line: str, size: int) -> Iterator[str]:
    """Yield parts of at most `size` tokens that make up `line`, leaving out blank ones.

    Cuts after a sentence if one ends in the second half of a part, else at a blank, else between
    two characters, but not within an accented letter, a flag or a composed emoji.
    """
    start = 0
    while start < len(line):
        end = _fitting(line, start, 4 * size)
        if end < len(line):
            end = _cut_before(line, start, end)
        part = line[start:end]
        if not part.isspace():
            yield part
        start = end


def _fitting(line: str, start: int, weight: int) -> int:
    """Return the furthest end of a part from `start` that weighs at most `weight`, at least one."""
    end = min(len(line), start + weight)
    if weigh(line[start:end]) <= weight:
        return end
    low = start + max(1, weight // 4)  # every character weighs four at most
    while low < end:
        middle = (low + end + 1) // 2
        if weigh(line[start:middle]) <= weight:
            low = middle
        else:
            end = middle - 1
    return low


def _cut_before(line: str, start: int, end: int) -> int:
    half = start + (end - start + 1) // 2
    for boundary in (_SENTENCE_END, _BLANKS):
        ends = [found.end() for found in boundary.finditer(line, half, end)]
        if ends:
            return ends[-1]
    # Some writers stack hundreds of marks on a letter; those may be parted.
    for cut in range(end, max(start, end - 64), -1):
        if not _is_within_character(line, start, cut):
            return cut
    return end


def _is_within_character(line: str, start: int, at: int) -> bool:
    here, before = line[at], line[at - 1]
    if here.isascii():
        return False
    if _FLAG_HALF.match(here) and _FLAG_HALF.match(before):
        first = at
        while first > start and _FLAG_HALF.match(line[first - 1]):
            first -= 1
        return (at - first) % 2 == 1
    joined = before == "\u200d" or _ATTACHED.match(here)
    return bool(joined) or unicodedata.category(here).startswith("M")
