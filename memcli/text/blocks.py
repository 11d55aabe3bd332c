"""Find the block structure of markdown as CommonMark defines it, in one pass over the lines.

Inline markup is left alone, but for `plain_title`. Beyond CommonMark: tables (as GitHub has them)
and front matter. What the structure is used for is the business of the chunker and of `promote`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from memcli.text.lines import (
    ATX,
    FENCE,
    HTML_END,
    HTML_START,
    HTML_TAG,
    ITEM,
    UNDERLINE,
    atx_title,
    cells_match,
    count_definitions,
    front_matter_end,
    is_rule,
    strip_indent,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Kind = Literal[
    "heading",
    "paragraph",
    "list",
    "list_item",
    "fence",
    "indented_code",
    "html",
    "comment",
    "table",
    "quote",
    "thematic_break",
    "front_matter",
]

# Deeper lists and quotes are read as text, so that a line of a thousand `>` costs no more than one.
MAX_DEPTH: Final = 32

# Only lines that begin so can be anything but text, at the top level.
_SPECIAL: Final = frozenset("\n\r \t#>-+*_=`~<|:0123456789")

_NO: Final = 0  # the line does not start such a block
_DONE: Final = 1  # it does, and is used up
_OPENED: Final = 2  # it opens a container; the rest of the line is looked at again

_NEVER: Final = 1 << 30  # the width of an item that can take no more lines


@dataclass(slots=True)
class Block:
    """One block; its last line is never blank, unless it is code or HTML that was left open."""

    kind: Kind
    start_line: int
    end_line: int
    level: int = 0  # of a heading 1 to 6, of a list item its depth among lists from 1
    text: str = ""  # a heading's title with its inline markup, a fence's info string
    marker: str = (
        ""  # of a list item "-", "*", "+", "3." or "3)"; of a fence its back-ticks or tildes
    )
    lines: Sequence[str] = ()  # of a paragraph: its lines without indent and container marks
    children: Sequence[Block] = ()  # of a list, a list item or a quote


class _Container:
    """An open quote (width 0) or list item (width: the indent that its content has)."""

    __slots__ = ("block", "children", "items", "level", "list", "width")

    def __init__(self, block: Block, children: list[Block], width: int = 0) -> None:
        self.block = block
        self.children = children
        self.width = width
        self.level = 0  # lists around the content
        self.list: Block | None = None
        self.items: list[Block] = []

    def close(self) -> None:
        block = self.block
        if self.children:
            block.end_line = max(block.end_line, self.children[-1].end_line)
        if self.list is not None:
            self.list.end_line = block.end_line


def scan(lines: Sequence[str], opens: Callable[[str], object] | None = None) -> list[Block]:
    """Return the top-level blocks of `lines` in order; blank lines belong to none.

    `lines` keep their line ends (see `decode.split_lines`). Headings in lists and quotes stand
    among the children of these. A line for which `opens` is true is a heading of the file whatever
    it stands in, also in a fence or comment that was left open: entries of a daily log. It must
    begin with hashes.
    """
    scanner = _Scanner(lines, opens)
    scanner.run()
    return scanner.blocks


class _Scanner:
    """The open blocks while the lines go by: containers around at most one open leaf."""

    __slots__ = (
        "blocks",
        "body",
        "code_end",
        "column",
        "depth",
        "indent",
        "into",
        "leaf",
        "lines",
        "not_header",
        "open",
        "opens",
        "text",
        "until",
    )

    def __init__(self, lines: Sequence[str], opens: Callable[[str], object] | None) -> None:
        self.lines = lines
        self.opens = opens
        self.blocks: list[Block] = []
        self.into = self.blocks  # the children of the innermost open container
        self.open: list[_Container] = []
        self.leaf: Block | None = None
        self.text: list[str] = []  # the open paragraph's lines, kept only within containers
        self.until: re.Pattern[str] | None = None  # what ends the open HTML; None is a blank line
        self.code_end = 0  # last line of open indented code that was not blank
        self.not_header = 0  # last paragraph line that cannot be a table's header
        # The line at hand: containers it continues, columns of blanks left, the rest, its column.
        self.depth = 0
        self.indent = 0
        self.body = ""
        self.column = 0

    def run(self) -> None:
        """Read all lines; those that can only be text, code or empty are settled here."""
        lines, opens, containers = self.lines, self.opens, self.open
        number = front_matter_end(lines)
        if number:
            self.blocks.append(Block("front_matter", 1, number))
        for line in lines[number:] if number else lines:
            number += 1
            first = line[0]
            if opens is not None and first in "# " and opens(line):
                self.depth = self.indent = 0
                self.body = line.strip()
                self._heading(number)
                continue
            if not containers:
                leaf = self.leaf
                if leaf is None:
                    if first == "\n":
                        continue
                    if first not in _SPECIAL:
                        self.leaf = leaf = Block("paragraph", number, number)
                        self.blocks.append(leaf)
                        continue
                elif leaf.kind == "paragraph":
                    if first not in _SPECIAL:
                        continue
                    if first == "\n":
                        self._close(0, number)
                        continue
                elif leaf.kind == "fence":
                    mark = leaf.marker
                    if first != mark[0] and (first not in " \t" or mark not in line):
                        continue
            elif len(containers) == 1 and self._is_sibling(line):
                self._plain_item(number, line)
                continue
            self._take(number, line)
        self._close(0, number + 1)

    def _is_sibling(self, line: str) -> bool:
        """Say whether the line is one more bullet with text, of the only list that is open."""
        box = self.open[0]
        return (
            line[0] == box.block.marker
            and box.width == 2
            and line[1:2] == " "
            and len(line) > 2
            and line[2] not in _SPECIAL
            and (self.leaf is None or self.leaf.kind == "paragraph")
        )

    def _plain_item(self, number: int, line: str) -> None:
        """Take a line that `_is_sibling`; `_take` would do the same in twice the time."""
        box = self.open[0]
        self._close(0, number)
        paragraph = Block("paragraph", number, number)
        children = [paragraph]
        item = Block("list_item", number, number, 1, "", line[0], (), children)
        box.items.append(item)
        inner = _Container(item, children, 2)
        inner.list, inner.items, inner.level = box.list, box.items, 1
        self.open.append(inner)
        self.into = children
        self.leaf = paragraph
        self.text.append(line[2:])

    def _take(self, number: int, line: str) -> None:
        self.body, self.indent = line.rstrip("\r\n"), 0
        if line[0] in " \t":
            self.body, self.indent = strip_indent(self.body, 0)
        self.column = self.indent
        self.depth = 0
        if self.open:
            self._match(number)
        leaf = self.leaf
        whole = self.depth == len(self.open)
        if leaf is not None and leaf.kind != "paragraph" and leaf.kind != "table":
            if whole and self._goes_on(number, leaf):
                return
            self._close(self.depth, number)
        elif not self.body:
            self._close(self.depth, number)
        if not self.body:
            return
        while self.indent < 4:
            start = _STARTS.get(self.body[0])
            outcome = start(self, number) if start is not None else _NO
            if outcome == _DONE:
                return
            if outcome == _NO:
                break
            if not self.body:
                return
        self._text(number)

    def _match(self, number: int) -> None:
        """Go through the open containers and take their marks from the line."""
        for box in self.open:
            if box.width == 0:
                if self.indent > 3 or self.body[:1] != ">":
                    return
                box.block.end_line = number
                self._consume(1)
                if self.indent:
                    self.indent -= 1
            elif not self.body:
                # An item may begin with one empty line, not with two.
                if not box.children and number > box.block.start_line:
                    box.width = _NEVER
            elif self.indent >= box.width:
                self.indent -= box.width
            else:
                return
            self.depth += 1

    def _consume(self, width: int) -> None:
        """Take a marker off the line, and measure the blanks behind it."""
        self.column += width
        self.body, self.indent = strip_indent(self.body[width:], self.column)
        self.column += self.indent

    def _goes_on(self, number: int, leaf: Block) -> bool:
        """Say whether open code or HTML takes this line."""
        if leaf.kind == "fence":
            mark = leaf.marker
            closes = self.indent < 4 and self.body.startswith(mark)
            if closes and not self.body.rstrip(" \t").strip(mark[0]):
                self._close(self.depth, number + 1)
            return True
        if leaf.kind == "indented_code":
            if self.body and self.indent < 4:
                return False
            if self.body:
                self.code_end = number
            return True
        if self.until is None:
            return bool(self.body)
        if self.until.search(self.body):
            self._close(self.depth, number + 1)
        return True

    def _text(self, number: int) -> None:
        """Take the line as text of the open paragraph, a table's row, code, or a new paragraph."""
        leaf = self.leaf
        whole = self.depth == len(self.open)
        if leaf is not None and leaf.kind == "paragraph":
            if self.open:
                self.text.append(self.body)
            if self.indent > 3 or not whole:
                self.not_header = number
            return
        if leaf is not None and whole and self.indent < 4:
            return
        if self.indent > 3:
            self._add("indented_code", number, open_=True)
            self.code_end = number
            return
        self._add("paragraph", number, open_=True)
        if self.open:
            self.text.append(self.body)

    def _paragraph(self) -> Block | None:
        """The open paragraph, if this line stands in the same container."""
        leaf = self.leaf
        if leaf is None or leaf.kind != "paragraph" or self.depth < len(self.open):
            return None
        return leaf

    def _add(self, kind: Kind, number: int, *, open_: bool = False) -> Block:
        self._close(self.depth, number)
        block = Block(kind, number, number)
        self.into.append(block)
        if open_:
            self.leaf = block
        return block

    def _close(self, depth: int, number: int) -> None:
        """Close the open leaf and all containers below `depth`; line `number` is not theirs."""
        leaf = self.leaf
        if leaf is not None:
            leaf.end_line = self.code_end if leaf.kind == "indented_code" else number - 1
            if leaf.kind == "paragraph":
                leaf.lines = self._paragraph_lines(leaf, number)
            self.leaf = None
        if len(self.open) == depth:
            return
        while len(self.open) > depth:
            self.open.pop().close()
        self.into = self.open[-1].children if self.open else self.blocks

    def _paragraph_lines(self, leaf: Block, number: int) -> list[str]:
        if self.open:
            taken: Sequence[str] = self.text
            self.text = []
        else:
            taken = self.lines[leaf.start_line - 1 : number - 1]
        return [line.strip(" \t\r\n") for line in taken]

    # Starts of blocks, by the first character of the line.

    def _quote(self, number: int) -> int:
        if self.depth >= MAX_DEPTH:
            return _NO
        children: list[Block] = []
        block = self._add("quote", number)
        block.children = children
        box = _Container(block, children)
        box.level = self.open[-1].level if self.open else 0
        self._enter(box)
        self._consume(1)
        if self.indent:
            self.indent -= 1
        return _OPENED

    def _enter(self, box: _Container) -> None:
        self.open.append(box)
        self.depth += 1
        self.into = box.children

    def _item(self, number: int) -> int:
        found = ITEM.match(self.body)
        if found is None or self.depth >= MAX_DEPTH:
            return _NO
        marker = found[0]
        blank = self.body.endswith((marker, " ", "\t")) and not self.body[len(marker) :].strip(
            " \t"
        )
        # Only an item with text and, if numbered, with a 1 may interrupt a paragraph.
        ordinal = marker[:-1]
        if (blank or (ordinal and int(ordinal) != 1)) and self._paragraph() is not None:
            return _NO
        box = self.open[self.depth] if self.depth < len(self.open) else None
        indent = self.indent
        if box is None or box.list is None or box.block.marker[-1] != marker[-1]:
            items: list[Block] = []
            list_ = self._add("list", number)
            list_.children = items
        else:
            list_, items = box.list, box.items
            self._close(self.depth, number)
        self._consume(len(marker))
        gap = 1 if blank or self.indent > 4 else self.indent
        self.indent = 0 if blank else self.indent - gap
        level = self.open[-1].level + 1 if self.open else 1
        children: list[Block] = []
        item = Block("list_item", number, number, level=level, marker=marker, children=children)
        items.append(item)
        inner = _Container(item, children, indent + len(marker) + gap)
        inner.list, inner.items, inner.level = list_, items, level
        self._enter(inner)
        return _OPENED

    def _heading(self, number: int) -> int:
        found = ATX.match(self.body)
        if found is None:
            return _NO
        block = self._add("heading", number)
        block.level = len(found[1])
        block.text = atx_title(self.body)
        return _DONE

    def _fence(self, number: int) -> int:
        found = FENCE.match(self.body)
        if found is None:
            return _NO
        block = self._add("fence", number, open_=True)
        block.marker = found[1] or found[3]
        block.text = (found[2] or found[4] or "").strip()
        return _DONE

    def _html(self, number: int) -> int:
        found = HTML_START.match(self.body)
        if found is not None:
            until = HTML_END[found.lastgroup or ""]
        elif self.leaf is None and HTML_TAG.match(self.body):
            until = None
        else:
            return _NO
        self._add("comment" if self.body.startswith("<!--") else "html", number, open_=True)
        self.until = until
        if until is not None and until.search(self.body):
            self._close(self.depth, number + 1)
        return _DONE

    def _underline(self, number: int) -> int:
        """Make the open paragraph a heading, but for link definitions at its beginning."""
        leaf = self._paragraph()
        found = UNDERLINE.match(self.body)
        if leaf is None or found is None:
            return _NO
        title = self._paragraph_lines(leaf, number)
        skipped = count_definitions(title)
        if skipped == len(title):
            self.text = title if self.open else []
            return _NO
        self.leaf = None
        if skipped:
            leaf.lines = title[:skipped]
            leaf.end_line = leaf.start_line + skipped - 1
            leaf = Block("heading", leaf.end_line + 1, number)
            self.into.append(leaf)
        leaf.kind = "heading"
        leaf.end_line = number
        leaf.level = 1 if found[0][0] == "=" else 2
        leaf.text = " ".join(title[skipped:])
        return _DONE

    def _delimiter(self, number: int) -> int:
        """Make the last line of the open paragraph a table's header."""
        leaf = self._paragraph()
        if leaf is None or self.not_header == number - 1:
            return _NO
        header = self.text[-1] if self.open else self.lines[number - 2].strip(" \t\r\n")
        if not cells_match(header, self.body):
            return _NO
        if leaf.start_line < number - 1:
            if self.open:
                self.text.pop()
            self._close(self.depth, number - 1)
            leaf = self._add("table", number - 1, open_=True)
        self.text = []
        leaf.kind = "table"
        return _DONE

    def _dash(self, number: int) -> int:
        if self.body[1:2] == " " and self.body[2:3] not in "- \t":
            return self._item(number)
        return (
            self._delimiter(number)
            or self._underline(number)
            or self._rule(number)
            or self._item(number)
        )

    def _star(self, number: int) -> int:
        return self._rule(number) or self._item(number)

    def _rule(self, number: int) -> int:
        if not is_rule(self.body):
            return _NO
        self._add("thematic_break", number)
        return _DONE


_STARTS: Final[dict[str, Callable[[_Scanner, int], int]]] = {
    ">": _Scanner._quote,
    "#": _Scanner._heading,
    "`": _Scanner._fence,
    "~": _Scanner._fence,
    "<": _Scanner._html,
    "=": _Scanner._underline,
    "-": _Scanner._dash,
    "*": _Scanner._star,
    "_": _Scanner._rule,
    "+": _Scanner._item,
    "|": _Scanner._delimiter,
    ":": _Scanner._delimiter,
    **dict.fromkeys("0123456789", _Scanner._item),
}
