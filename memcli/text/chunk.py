"""Cut a memory file into chunks for search: at headings, then blocks, lines, sentences.

A chunk begins and ends with a line that is not blank; blank lines between two chunks belong to
neither, so that appending to a file leaves the chunks before untouched.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from memcli.model import Chunk
from memcli.text.blocks import Block, scan
from memcli.text.dates import LOG_HEADING
from memcli.text.decode import split_lines
from memcli.text.overlong import cut_line
from memcli.text.sections import sections
from memcli.text.tokens import estimate, weigh_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SOLID: Final = frozenset({"fence", "indented_code", "table", "html", "comment", "front_matter"})
_LINE_RANK: Final = 1 << 10  # weaker than any boundary of blocks


class _Segment(NamedTuple):
    """Lines that are not cut, and how strong the boundary before them is (0 is strongest)."""

    start: int
    end: int
    rank: int


def chunk(path: str, text: str, size: int = 400, overlap: int = 80) -> list[Chunk]:
    r"""Cut the file `path` with the content `text` (see `decode`) into chunks of `size` tokens.

    `body` is lines `start_line` to `end_line` exactly as in the file, ``\r`` included, but without
    the end of the last line. A line that alone is over `size` is cut into several chunks with the
    same line number, each with a part of it (a part that repeats an earlier one is left out, it
    would have the same id). Where one section had to be cut, the next chunk begins up to `overlap`
    tokens of whole lines earlier.
    """
    opens = re.compile(LOG_HEADING).match if path.startswith("daily/") else None
    chunks: list[Chunk] = []
    for section in sections(text, opens):
        body, skipped = _trimmed(section.text)
        if not body:
            continue
        start = section.line + skipped
        data = body.encode("utf-8", "surrogatepass")
        tokens = estimate(body, data)
        if tokens <= size:
            end = start + _line_ends(body)
            key = _key(path, start, data)
            chunks.append(Chunk(key, path, len(chunks), start, end, section.heading, tokens, body))
            continue
        seen: set[str] = set()
        lines = split_lines(section.text)
        cutter = _Cutter(lines, scan(lines, opens), size, overlap)
        for first, last, part, tokens in cutter.parts():
            start, end = section.line + first - 1, section.line + last - 1
            key = _key(path, start, part.encode("utf-8", "surrogatepass"))
            if key not in seen:
                seen.add(key)
                chunks.append(
                    Chunk(key, path, len(chunks), start, end, section.heading, tokens, part)
                )
    return chunks


def _key(path: str, start: int, body: bytes) -> str:
    return sha256(f"{path}\0{start}\0".encode("utf-8", "surrogatepass") + body).hexdigest()


def _join(lines: Sequence[str], start: int, end: int) -> str:
    return "".join(lines[start - 1 : end - 1]) + lines[end - 1].rstrip("\r\n")


def _trim(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Leave out blank lines at both edges; `start` is past `end` if all are blank."""
    while start <= end and lines[start - 1].isspace():
        start += 1
    while start < end and lines[end - 1].isspace():
        end -= 1
    return start, end


def _trimmed(text: str) -> tuple[str, int]:
    """Leave out blank lines at both edges, and the end of the last line; how many at the top."""
    if not text[:1].isspace() and "\r" not in text:  # as nearly all sections are
        end = text.find("\n", len(text.rstrip()))
        return (text if end < 0 else text[:end]), 0
    lines = split_lines(text)
    start, end = _trim(lines, 1, len(lines))
    return (_join(lines, start, end), start - 1) if start <= end else ("", 0)


def _line_ends(body: str) -> int:
    return len(split_lines(body)) - 1 if "\r" in body else body.count("\n")


class _Cutter:
    """Cuts a section that is over the budget into parts of whole lines, counted from its first."""

    def __init__(
        self,
        lines: Sequence[str],
        blocks: Sequence[Block],
        size: int,
        overlap: int,
    ) -> None:
        self.lines = lines
        self.blocks = blocks
        self.start, self.end = start, end = _trim(lines, 1, len(lines))
        self.size = size
        self.overlap = overlap
        weights = weigh_each(lines[start - 1 : end])
        self.before = [0, *accumulate(weights)]  # weight of all lines before each
        self.ends = [len(line) - len(line.rstrip("\r\n")) for line in lines]
        self.solid: list[tuple[int, int]] = []  # blocks that a chunk should not begin within

    def parts(self) -> Iterator[tuple[int, int, str, int]]:
        """Yield first line, last line, body and tokens of each chunk."""
        segments = self._segments()
        place, begin = 0, self.start
        while place < len(segments):
            last = self._last(segments, place, begin)
            end = segments[last].end
            body = _join(self.lines, begin, end)
            tokens = self._tokens(begin, end)
            if begin == end and tokens > self.size:
                for part in cut_line(body, self.size):
                    yield begin, end, part, estimate(part)
            else:
                yield begin, end, body, tokens
            place = last + 1
            if place < len(segments):
                begin = self._reach_back(segments[place], begin)

    def _tokens(self, start: int, end: int) -> int:
        """Estimate the tokens of these lines, without the last one's end."""
        weight = self.before[end - self.start + 1] - self.before[start - self.start]
        return (weight - self.ends[end - 1] + 3) // 4

    def _segments(self) -> list[_Segment]:
        """List the segments of the section in order; only one line alone can be over the budget."""
        cuts = [(self.start, 0)]
        leading = set()  # ends of blocks that should not be parted from what follows them
        for block in self.blocks:
            self._mark(block, 0, cuts)
            if block.kind == "heading" or self._is_label(block):
                leading.add(block.end_line)
        segments: list[_Segment] = []
        stops = [line for line, _ in cuts[1:]] + [self.end + 1]
        for (start, rank), stop in zip(cuts, stops, strict=True):
            for segment in self._divide(start, stop - 1, rank):
                if segments and segments[-1].end in leading:
                    before = segments[-1]
                    if self._tokens(before.start, segment.end) <= self.size:
                        segments[-1] = _Segment(before.start, segment.end, before.rank)
                        continue
                segments.append(segment)
        return segments

    def _mark(self, block: Block, rank: int, cuts: list[tuple[int, int]]) -> None:
        """Note where the section may be cut around `block` and, if it is too big, within it."""
        # The section has lost the lines at its end that only CommonMark takes for text.
        end = min(block.end_line, self.end)
        if block.start_line > end:
            return
        if block.start_line > cuts[-1][0]:
            cuts.append((block.start_line, rank))
        if block.kind in _SOLID:
            self.solid.append((block.start_line, end))
        elif block.children and self._tokens(block.start_line, end) > self.size:
            for child in block.children:
                self._mark(child, rank + 1, cuts)

    def _is_label(self, block: Block) -> bool:
        if block.kind != "paragraph" or block.start_line != block.end_line:
            return False
        return block.lines[0].rstrip("*_").endswith(":")

    def _divide(self, start: int, end: int, rank: int) -> Iterator[_Segment]:
        """Yield the lines as one segment if they fit, else each line as one."""
        start, end = _trim(self.lines, start, end)
        if start > end:
            return
        if self._tokens(start, end) <= self.size:
            yield _Segment(start, end, rank)
            return
        for line in range(start, end + 1):
            if not self.lines[line - 1].isspace():
                yield _Segment(line, line, rank if line == start else _LINE_RANK)

    def _last(self, segments: list[_Segment], place: int, begin: int) -> int:
        """Choose the last segment of the chunk from line `begin` on, which holds at least `place`.

        It ends before the strongest boundary in its second half, or else as late as it can.
        """
        last = place
        while last + 1 < len(segments) and self._tokens(begin, segments[last + 1].end) <= self.size:
            last += 1
        if last + 1 == len(segments):
            return last
        best = last
        for candidate in range(last - 1, place - 1, -1):
            if 2 * self._tokens(begin, segments[candidate].end) < self.size:
                break
            if segments[candidate + 1].rank < segments[best + 1].rank:
                best = candidate
        return best

    def _reach_back(self, segment: _Segment, previous: int) -> int:
        """Return the line where the chunk with `segment` begins, to overlap the one before.

        That one began at line `previous`.
        """
        begin = segment.start
        while (
            begin - 1 > previous
            and self._tokens(begin - 1, segment.start - 1) <= self.overlap
            and self._tokens(begin - 1, segment.end) <= self.size
        ):
            begin -= 1
        around = bisect_right(self.solid, (begin, 0)) - 1
        if around >= 0 and begin <= self.solid[around][1] < segment.start:
            begin = self.solid[around][1] + 1
        while self.lines[begin - 1].isspace():
            begin += 1
        return begin
