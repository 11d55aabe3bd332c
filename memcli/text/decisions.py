"""The decisions that a document states: bullets under headings that say so.

A heading opens a section when it holds a marker as a whole word ("11. Locked decisions"), unless
its other words say that nothing was decided there ("Decision drivers", "Open decisions"). A line
that is only a bold label is a heading below all others. What counts as a decision within a
section, and which words speak against it, is in `wording`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from memcli.model import Fact
from memcli.text import wording
from memcli.text.blocks import scan
from memcli.text.decode import split_lines
from memcli.text.facts import BOM, clean_source, clean_text, fact_hash
from memcli.text.items import item_text
from memcli.text.lines import plain_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memcli.text.blocks import Block
    from memcli.text.wording import Markers

MARKERS = ("decision", "constraint", "principle")

_LABEL_LEVEL = 7


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision on one line, and where the document says it."""

    text: str
    heading: str  # plain title of the nearest heading or label, "" before the first
    start_line: int
    end_line: int

    def fact(self, path: str) -> Fact:
        """The fact that promoting it from the file `path` makes."""
        source = clean_source(f"{path}#{self.heading}" if self.heading else path)
        return Fact(self.text, source=source, hash=fact_hash(self.text))


@dataclass(frozen=True, slots=True)
class Bare:
    """A heading that promises decisions and has none that could be taken."""

    heading: str
    line: int
    holds: str  # "a table", "prose", "code", "no decision in its bullets" or "nothing"


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found in one document, so that finding nothing can be explained."""

    decisions: tuple[Decision, ...]
    headings: int  # that opened a section
    bare: tuple[Bare, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that say why there is less than one may expect."""
        if not self.headings and not self.decisions:
            return ("no heading says that decisions follow",)
        return tuple(f"line {it.line}: '{it.heading}' holds {it.holds}" for it in self.bare)


def extract(text: str, markers: Sequence[str] = MARKERS) -> Extracted:
    """Find the decisions of a markdown document, in its order. Never raises."""
    lines = split_lines(text.removeprefix(BOM))
    reader = _Reader(wording.Markers(markers), lines)
    reader.run()
    return Extracted(tuple(reader.decisions), reader.headings, tuple(reader.bare))


class _Reader:
    """The open section while the blocks of a document go by."""

    def __init__(self, markers: Markers, lines: Sequence[str]) -> None:
        self.markers = markers
        self.lines = lines
        self.blocks = scan(lines)
        self.decisions: list[Decision] = []
        self.headings = 0
        self.bare: list[Bare] = []
        self.heading = ""
        self.opened: int | None = None  # level of the heading that opened the section
        self.skipped: int | None = None  # level of the heading whose part says something else
        self.opener: tuple[str, int, int] = ("", 0, 0)  # its title, line, decisions before it
        self.held = ""

    def run(self) -> None:
        before: Block | None = None
        for block in self.blocks:
            if block.kind == "heading":
                self._turn(plain_title(block.text), block.level, block.start_line)
            elif block.kind == "paragraph":
                label = wording.label(block.lines[0])
                if label:
                    self._turn(plain_title(label), _LABEL_LEVEL, block.start_line)
                self._read_fields(block)
                if len(block.lines) > bool(label):
                    self._hold("prose")
            elif block.kind == "list":
                # "We rejected:" stands for its list alone, unlike a label or heading.
                if not (before and wording.leads_away(" ".join(before.lines))):
                    self._read_list(block)
                self._hold("no decision in its bullets")
            elif block.kind == "quote":
                self._read_callout(block)
            elif block.kind == "table":
                self._hold("a table")
            elif block.kind in ("fence", "indented_code"):
                self._hold("code")
            before = block
        self._finish()

    def _turn(self, title: str, level: int, line: int) -> None:
        """Go on to the part that a heading or label begins."""
        if self.skipped is not None and level <= self.skipped:
            self.skipped = None
        if self.opened is not None and level <= self.opened:
            self._finish()
        self.heading = title.rstrip(" :") if level == _LABEL_LEVEL else title
        opens = self.markers.open(title)
        scope = level
        if opens and level == 1:
            opens, scope = self._open_title(title, line)
        if self.opened is None and opens:
            self.opened, self.skipped = scope, None
            self.opener = (self.heading, line, len(self.decisions))
            self.headings += 1
        elif self.skipped is None and not opens and level > 1 and self._says_else(title):
            self.skipped = level

    def _says_else(self, title: str) -> bool:
        return wording.speaks_of_else(title) or self.markers.occur(title)

    def _finish(self) -> None:
        """Close the section; one that gave nothing is reported."""
        title, line, count = self.opener
        if self.opened is not None and len(self.decisions) == count:
            self.bare.append(Bare(title, line, self.held or "nothing"))
        self.opened = self.skipped = None
        self.held = ""

    def _hold(self, what: str) -> None:
        # A table outranks the sentence that leads to it.
        if self.skipped is None and (not self.held or what == "a table"):
            self.held = what if self.opened is not None else ""

    def _open_title(self, title: str, line: int) -> tuple[bool, int]:
        """Say whether a heading of level 1 opens a section, and down to which level it reaches.

        One that names a whole record does not; one that names a list of decisions reaches only to
        the first heading below it, unless these are the entries of a log.
        """
        headings = [it for it in self.blocks if it.kind == "heading"]
        place = next(number for number, it in enumerate(headings) if it.start_line == line)
        below = takewhile(lambda it: it.level > 1, headings[place + 1 :])
        is_log = all(wording.is_dated(plain_title(it.text)) for it in below)
        if is_log or (place and self.markers.alone(title)):
            return True, 1
        return self.markers.alone(title), 6

    def _add(self, text: str, block: Block) -> None:
        tidy = clean_text(wording.tidy(text))
        if tidy and not wording.is_placeholder(text):
            self.decisions.append(Decision(tidy, self.heading, block.start_line, block.end_line))

    def _read_list(self, block: Block) -> None:
        """Take a list, in parts where a label without an empty line before it cuts in."""
        part: list[Block] = []
        for item in block.children:
            label, line = self._cut_label(item)
            part.append(item)
            if label:
                self._read_items(part)
                self._turn(label, _LABEL_LEVEL, line)
                part = []
        self._read_items(part)

    def _cut_label(self, item: Block) -> tuple[str, int]:
        """Take a bold label or field off the end of an item, which markdown would read on into."""
        leaf = item
        while leaf.children:
            leaf = leaf.children[-1]
        for number in range(1, len(leaf.lines)):
            line = self.lines[leaf.start_line - 1 + number]
            label = wording.label(line)
            if line.startswith(("**", "__")) and (label or wording.field(line)):
                leaf.lines = leaf.lines[:number]
                item.end_line = leaf.start_line - 1 + number
                return plain_title(label), item.end_line + 1
        return "", 0

    def _read_items(self, items: Sequence[Block]) -> None:
        if self.skipped is not None:
            return
        items = [it for it in items if not (it.children and it.children[0].kind == "heading")]
        texts = [item_text(item.children) for item in items]
        fields = [wording.field(text) for text in texts]
        is_record = any(field and self.markers.name(field[0]) for field in fields)
        for item, text, field in zip(items, texts, fields, strict=True):
            if self._read_nested(item):
                continue
            if field and self.markers.name(field[0]):
                self._add(field[1], item)
            elif self.opened is not None and not (
                field and (is_record or wording.is_aside(field[0]))
            ):
                self._add(text, item)

    def _read_nested(self, item: Block) -> bool:
        """Take an item that is a record of fields, or a label over the decisions themselves."""
        nested = _items(item.children)
        if not nested:
            return False
        own = item_text([it for it in item.children if it.kind != "list"])
        label = wording.label(own)
        if label and self.markers.open(plain_title(label)):
            for it in nested:
                self._add(item_text(it.children), it)
            return True
        fields = [(it, wording.field(item_text(it.children))) for it in nested]
        stated = [(it, field[1]) for it, field in fields if field and self.markers.name(field[0])]
        for it, text in stated:
            self._add(f"{own.rstrip(' :')}: {text}" if own else text, it)
        return bool(stated)

    def _read_fields(self, block: Block) -> None:
        """Take ``**Decision:** …`` from the lines of a paragraph."""
        if self.skipped is not None:
            return
        for text in wording.paragraph_fields(block.lines):
            field = wording.field(text)
            if field and self.markers.name(field[0]):
                self._add(field[1], block)

    def _read_callout(self, block: Block) -> None:
        """Take ``> [!decision] Title`` with the text below it."""
        first = block.children[0] if block.children else None
        callout = wording.callout(first.lines[0]) if first and first.kind == "paragraph" else None
        if first is None or callout is None or not self.markers.name(callout[0]):
            return
        title, rest = callout[1], list(block.children[1:])
        body = [*first.lines[1:], *([item_text(rest)] if title or not _items(rest) else [])]
        if title or any(body):
            lead = f"{title}:" if any(body) and title[-1:] not in ("", *".:!?") else title
            self._add(" ".join([lead, *body]), block)
        else:
            for item in _items(rest):
                self._add(item_text(item.children), item)


def _items(blocks: Iterable[Block]) -> list[Block]:
    return [item for block in blocks if block.kind == "list" for item in block.children]
