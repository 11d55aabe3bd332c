"""A markdown list item as one line of text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memcli.text.blocks import Block

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BOX = re.compile(r"\[[ xX]\](?:[ \t]+|$)")
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


def _pieces(children: Sequence[Block]) -> Iterator[str]:
    for number, block in enumerate(children):
        if block.kind == "list":
            for item in block.children:
                yield from _pieces(item.children)
        elif block.kind in ("paragraph", "heading"):
            piece = block.text or "\n".join(block.lines)
            yield _BOX.sub("", piece, count=1) if number == 0 and _BOX.match(piece) else piece
