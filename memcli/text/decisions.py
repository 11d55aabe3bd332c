"""The decisions that a document states: bullets under headings that say so.

A heading opens a section when it holds a marker as a whole word ("11. Locked decisions"), unless
its other words say that nothing was decided there ("Decision drivers", "Open decisions"). A line
that is only a bold label is a heading below all others. What counts as a decision within a
section, and which words speak against it, is in `wording` and `bullets`; which parts are no longer
in force, in `standing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from memcli.text import bullets, wording
from memcli.text.blocks import scan
from memcli.text.decode import split_lines
from memcli.text.facts import BOM, Fact, clean_source, clean_text, fact_hash
from memcli.text.items import cut_label, is_led_away, item_text, items_in, limited
from memcli.text.lines import plain_title
from memcli.text.standing import ended, parts_of
from memcli.text.tags import is_tag, without_own_tags

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    heading: str  # "" for the document
    line: int
    holds: str  # "a table", "prose", "nothing" and the like, or "decisions that are superseded"

    def __str__(self) -> str:
        place = f"'{self.heading}'" if self.heading else "the document"
        return f"line {self.line}: {place} holds {self.holds}"


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
        return tuple(str(it) for it in self.bare)


def extract(text: str, markers: Sequence[str] = MARKERS) -> Extracted:
    """Find the decisions of a markdown document, in its order. Never raises."""
    lines = without_own_tags(split_lines(text.removeprefix(BOM)))
    reader = _Reader(wording.Markers(markers), lines)
    reader.run()
    parts = parts_of((it.start_line for it in reader.decisions), ended(lines, reader.blocks))
    both = list(zip(reader.decisions, parts, strict=True))
    left_out = (
        Bare(part.heading, part.start, f"decisions that are {part.word}")
        for part in dict.fromkeys(part for _, part in both if part)
    )
    standing = tuple(it for it, part in both if not part)
    return Extracted(standing, reader.headings, (*reader.bare, *left_out))


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
        is_away = False
        for block in self.blocks:
            if block.kind == "heading":
                self._turn(plain_title(block.text), block.level, block.start_line)
            elif block.kind == "paragraph":
                self._part(block)
                label = bullets.label(block.lines[0])
                if label:
                    self._turn(plain_title(label), _LABEL_LEVEL, block.start_line)
                self._read_fields(block)
                if len(block.lines) > bool(label):
                    self._hold("prose")
                if self.skipped is None and wording.is_else(" ".join(block.lines)):
                    self.skipped = self.opened
            elif block.kind == "list":
                # "We rejected:" stands for its list alone, or several lists in a row.
                if not before or before.kind != "list":
                    is_away = bool(before and is_led_away(before, block))
                if not is_away:
                    self._read_list_below(before, block)
                self._hold("no decision in its bullets")
            elif block.kind == "html":
                self._part(block)
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

    def _part(self, block: Block) -> None:
        """End what a label began where a tag alone on its line begins something else."""
        if self.opened == _LABEL_LEVEL and is_tag(self.lines[block.start_line - 1]):
            self._finish()

    def _says_else(self, title: str) -> bool:
        if self.opened is not None and wording.speaks_of_work(title):
            return True
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
        the first heading below it, unless these are the entries of a log. One that names
        principles or constraints reaches over all of them.
        """
        headings = [it for it in self.blocks if it.kind == "heading"]
        place = next(number for number, it in enumerate(headings) if it.start_line == line)
        below = takewhile(lambda it: it.level > 1, headings[place + 1 :])
        is_log = all(wording.is_dated(plain_title(it.text)) for it in below)
        if is_log or self.markers.gather(title) or (place and self.markers.alone(title)):
            return True, 1
        return self.markers.alone(title), 6

    def _add(self, text: str, block: Block) -> None:
        tidy = clean_text(bullets.tidy(text))
        if tidy and not bullets.is_placeholder(text):
            self.decisions.append(Decision(tidy, self.heading, block.start_line, block.end_line))

    def _read_list_below(self, before: Block | None, block: Block) -> None:
        """Take a list; a short line above it ("Constraints:") is a heading for it alone."""
        line = wording.last_of(before.lines[0]) if before and len(before.lines) == 1 else ""
        whole = limited(before, block) if before else ""
        if whole and self.opened is not None and self.skipped is None:
            self._add(whole, block)
            return
        if before is None or not self.markers.announce(line) or self.opened or self.skipped:
            self._read_list(block)
            return
        heading = self.heading
        self._turn(line.strip(), _LABEL_LEVEL, before.start_line)
        self._read_list(block)
        self._finish()
        self.heading = heading

    def _read_list(self, block: Block) -> None:
        """Take a list, in parts where a label without an empty line before it cuts in."""
        part: list[Block] = []
        for item in block.children:
            label, line = cut_label(item, self.lines)
            part.append(item)
            if label:
                self._read_items(part)
                self._turn(label, _LABEL_LEVEL, line)
                part = []
        self._read_items(part)

    def _read_items(self, items: Sequence[Block]) -> None:
        items = [it for it in items if not (it.children and it.children[0].kind == "heading")]
        texts = [item_text(item.children) for item in items]
        if self.skipped is not None or bullets.narrate(texts):
            return
        fields = [bullets.field(text) for text in texts]
        is_record = any(field and self.markers.name(field[0]) for field in fields)
        has_choice = any(field and bullets.is_choice(field[0]) for field in fields)
        for item, text, field in zip(items, texts, fields, strict=True):
            if self._read_nested(item):
                continue
            if has_choice and not is_record and not (field and bullets.is_choice(field[0])):
                continue  # what was chosen is followed by why
            if field and self.markers.name(field[0]):
                self._add(field[1], item)
            elif self.opened is not None and not (
                field and (is_record or bullets.is_aside(field[0]))
            ):
                self._add(text, item)

    def _read_nested(self, item: Block) -> bool:
        """Take an item that is a record of fields, or a label over the decisions themselves."""
        nested = items_in(item.children)
        if not nested:
            return False
        own = item_text([it for it in item.children if it.kind != "list"])
        label = bullets.label(own)
        if bullets.is_aside(own):
            return True
        if label and self.markers.open(plain_title(label)):
            for it in nested:
                self._add(item_text(it.children), it)
            return True
        fields = [(it, bullets.field(item_text(it.children))) for it in nested]
        stated = [(it, field[1]) for it, field in fields if field and self.markers.name(field[0])]
        for it, text in stated:
            self._add(f"{own.rstrip(' :')}: {text}" if own else text, it)
        return bool(stated)

    def _read_fields(self, block: Block) -> None:
        """Take ``**Decision:** …`` from the lines of a paragraph."""
        if self.skipped is not None:
            return
        for text in bullets.paragraph_fields(block.lines):
            field = bullets.field(text)
            if field and self.markers.name(field[0]):
                self._add(field[1], block)

    def _read_callout(self, block: Block) -> None:
        """Take ``> [!decision] Title`` with the text below it."""
        first = block.children[0] if block.children else None
        callout = bullets.callout(first.lines[0]) if first and first.kind == "paragraph" else None
        if first is None or callout is None or not self.markers.name(callout[0]):
            return
        title, rest = callout[1], list(block.children[1:])
        body = [*first.lines[1:], *([item_text(rest)] if title or not items_in(rest) else [])]
        if title or any(body):
            lead = f"{title}:" if any(body) and title[-1:] not in ("", *".:!?") else title
            self._add(" ".join([lead, *body]), block)
        else:
            for item in items_in(rest):
                self._add(item_text(item.children), item)
