"""A markdown list item as one line of text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memcli.text import bullets, wording
from memcli.text.lines import plain_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memcli.text.blocks import Block

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BOX = re.compile(r"\[[ xX]\](?:[ \t]+|$)")
_END = re.compile(r"[\s,;.]+(?:(?:and|or)\s*)?$")
_STOPS = ".,:;!?…。、，：；！？"


def item_text(children: Sequence[Block]) -> str:
    """Join the paragraphs of an item and those of the items nested in it.

    A piece that does not end in punctuation gets a semicolon before the next. Code, tables, quotes
    and HTML are left out, and so are task boxes and comments.
    """
    joined = ""
    for piece in _pieces(children):
        bare = " ".join(_COMMENT.sub("", piece).split())
        if joined and bare:
            joined += " " if joined.rstrip("*_")[-1:] in _STOPS else "; "
        joined += bare
    return joined


def items_in(blocks: Iterable[Block]) -> list[Block]:
    """Return the items of the lists among `blocks`, without those nested in them."""
    return [item for block in blocks if block.kind == "list" for item in block.children]


def is_led_away(before: Block, block: Block) -> bool:
    """Say whether a list tells of what stands right before it: a sentence, or code by its names."""
    first = item_text(block.children[0].children) if block.children else ""
    if before.kind == "paragraph":
        sentence = " ".join(before.lines)
        if before.end_line + 1 == block.start_line:
            sentence = sentence.rstrip(" .:") + ":"  # no empty line between: they go together
        return wording.leads_away(sentence) or bullets.explains(first)
    return before.kind in ("fence", "indented_code") and bullets.defines(first)


def limited(before: Block, block: Block) -> str:
    """Return a list as one text with the sentence before it that its bullets cannot do without."""
    named = before.text if before.kind == "heading" else " ".join(before.lines)
    limit = wording.limit(named) if before.kind in ("heading", "paragraph") else ""
    if not limit:
        return ""
    texts = [_END.sub("", item_text(item.children)) for item in block.children]
    stated = [text for text in texts if not bullets.is_placeholder(text)]
    return f"{limit} {'; '.join(stated)}" if stated else ""


def cut_label(item: Block, lines: Sequence[str]) -> tuple[str, int]:
    """Take a bold label or field off the end of an item, which markdown would read on into.

    Returns the label's title and its line, or "" and 0. `lines` are the document's.
    """
    leaf = item
    while leaf.children:
        leaf = leaf.children[-1]
    for number in range(1, len(leaf.lines)):
        line = lines[leaf.start_line - 1 + number]
        label = bullets.label(line)
        if line.startswith(("**", "__")) and (label or bullets.field(line)):
            leaf.lines = leaf.lines[:number]
            item.end_line = leaf.start_line - 1 + number
            return plain_title(label), item.end_line + 1
    return "", 0


def _pieces(children: Sequence[Block]) -> Iterator[str]:
    for number, block in enumerate(children):
        if block.kind == "list":
            for item in block.children:
                yield from _pieces(item.children)
        elif block.kind in ("paragraph", "heading"):
            piece = block.text or "\n".join(block.lines)
            yield _BOX.sub("", piece, count=1) if number == 0 and _BOX.match(piece) else piece
