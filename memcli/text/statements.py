"""What a conversation or document says, sentence by sentence, each word for word as it stands.

Only spaces are joined, and a sentence that is too long ends in "…" between two words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memcli.text import bullets
from memcli.text.blocks import scan
from memcli.text.cues import LOG_LINE, PRINTED
from memcli.text.decode import split_lines
from memcli.text.lines import plain_title
from memcli.text.turns import CALL, TOOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memcli.text.blocks import Block
    from memcli.text.turns import Message

LONGEST = 400  # characters of a statement

_BOX = re.compile(r"\[(?P<mark>[ xX])\][ \t]+")
_END = re.compile(
    r"[.!?…][\"')\]»”’*_`]*(?=\s+[\"'(\[«“‘*_`¿¡]*[^\W_a-z])|[。！？][」』）]*|[.!?…](?=\s*$)"
)
_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\.B|d\.h|u\.a|bzw|ca|cf|vs|approx|resp|[Nn]r|No|Fig|St|Dr|Mr|Mrs|Ms|Prof)"
    r"|\b[A-Z]|^\d{1,3})\.$"
)
_BARE_LINK = re.compile(r"!?\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])?|<?\w+://\S+>?")
_COMMIT_DATE = re.compile(r"(?:Commit|Author)?Date: ")
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, list item, log line or line of output, on one line."""

    text: str
    kind: str  # sentence, item, line (of a log or of output), row (of a table) or title
    role: str
    name: str
    turn: int  # place of its message, from 0
    heading: str = ""
    box: str = ""  # of a task item "open" or "done"


def statements(messages: Sequence[Message]) -> list[Statement]:
    """All that is said, in order; calls of tools say nothing, their results say lines."""
    return [one for turn, message in enumerate(messages) for one in _said(turn, message)]


def sentences(text: str) -> list[str]:
    """Cut a text on one line into its sentences; code spans and abbreviations end none."""
    spans = [found.span() for found in _CODE.finditer(text)] if "`" in text else []
    found = []
    start = 0
    for end in _END.finditer(text):
        stop = end.end()
        if any(a < stop < b for a, b in spans) or _NO_END.search(text[start:stop]):
            continue
        found.append(text[start:stop].strip())
        start = stop
    return [one for one in [*found, text[start:].strip()] if one]


def clipped(text: str, limit: int = LONGEST) -> str:
    """At most `limit` characters of a text on one line, ending in "…" when it was cut."""
    joined = " ".join(text.split())
    if len(joined) <= limit:
        return joined
    head = joined[: limit - 1]
    cut = head.rfind(" ")
    return (head[:cut] if cut > limit // 2 else head).rstrip() + "…"


def _said(turn: int, message: Message) -> Iterator[Statement]:
    if message.role == CALL:
        return
    lines = split_lines(message.text)
    if message.role == TOOL or _is_log(lines):
        yield from _printed(turn, message, lines)
        return
    yield from _Walker(turn, message, lines).walk(scan(lines))


def _is_log(lines: Sequence[str]) -> bool:
    """Say whether a program printed these lines."""
    texts = [line for line in lines if line.strip()]
    logged = sum(1 for line in texts if LOG_LINE.match(line))
    is_mostly_logged = len(texts) >= 3 and 2 * logged >= len(texts)
    return is_mostly_logged or sum(1 for line in texts if PRINTED.match(line)) >= 2


def _printed(turn: int, message: Message, lines: Sequence[str]) -> Iterator[Statement]:
    """Lines of output one by one, but what stands in a commit's message as prose."""
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.strip():
            yield Statement(clipped(line), "line", message.role, message.name, turn)
        if not _COMMIT_DATE.match(line):
            continue
        start = place
        while place < len(lines) and (not lines[place].strip() or lines[place].startswith("    ")):
            place += 1
        own = [one.removeprefix("    ") for one in lines[start:place]]
        yield from _Walker(turn, message, own).walk(scan(own))


def _leads(block: Block) -> bool:
    """Say whether a paragraph is but the title of the list after it: "Parking lot:"."""
    lines = block.lines if block.kind == "paragraph" else ()
    return len(lines) == 1 and lines[0].endswith((":", "：")) and len(lines[0].split()) <= 5


class _Walker:
    """Goes through the blocks of one message and knows the heading above each."""

    def __init__(self, turn: int, message: Message, lines: Sequence[str]) -> None:
        self.turn = turn
        self.message = message
        self.lines = lines
        self.heading = ""

    def walk(self, blocks: Sequence[Block]) -> Iterator[Statement]:
        for number, block in enumerate(blocks):
            before = blocks[number - 1] if number else None
            if block.kind == "list" and before and _leads(before):
                above, self.heading = self.heading, " ".join(before.lines).rstrip(" :")
                yield from self.walk([block])
                self.heading = above
            elif block.kind == "heading":
                self.heading = plain_title(block.text)
                yield self._made(self.heading, "title")
            elif block.kind == "paragraph":
                yield from self._paragraph(list(block.lines))
            elif block.kind == "list":
                for item in block.children:
                    yield from self._item(item)
            elif block.kind == "table":
                yield from self._rows(block)
            elif block.kind in ("fence", "indented_code"):
                yield from self._lines(block)

    def _made(self, text: str, kind: str, box: str = "") -> Statement:
        message = self.message
        return Statement(
            clipped(text), kind, message.role, message.name, self.turn, self.heading, box
        )

    def _paragraph(self, lines: list[str]) -> Iterator[Statement]:
        label = bullets.label(lines[0]) if lines else ""
        if label:
            self.heading = plain_title(label).rstrip(" :")
            lines = lines[1:]
        if _is_log(lines):
            yield from (self._made(line, "line") for line in lines)
            return
        for one in sentences(" ".join(" ".join(lines).split())):
            yield self._made(one, "sentence")

    def _item(self, item: Block) -> Iterator[Statement]:
        """An item's own text as one statement, and each item nested in it as its own."""
        own = [block for block in item.children if block.kind == "paragraph"]
        for number, block in enumerate(own):
            text = " ".join(block.lines)
            box = _BOX.match(text) if number == 0 else None
            if box:
                yield self._made(
                    text[box.end() :], "item", "open" if box["mark"] == " " else "done"
                )
            elif text.strip() and not _BARE_LINK.fullmatch(text.strip()):
                yield self._made(text, "item")
        yield from self.walk([block for block in item.children if block.kind != "paragraph"])

    def _rows(self, block: Block) -> Iterator[Statement]:
        for line in self.lines[block.start_line + 1 : block.end_line]:
            row = line.strip().strip("|").strip()
            if row:
                yield self._made(row, "row")

    def _lines(self, block: Block) -> Iterator[Statement]:
        inner = self.lines[block.start_line - 1 : block.end_line]
        if block.kind == "fence":
            inner = inner[1:]
            if inner and not inner[-1].strip().strip(block.marker[0]):
                inner = inner[:-1]
        for line in inner:
            if line.strip():
                yield self._made(line, "line")
