"""The block that `recall` prints: quoting what is in it, and taking it out of a text again.

Remembered text that comes back into a memory would be remembered as news each time it is recalled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memcli.text.printable import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

BEGIN: Final = "<!-- mem: recalled memory, do not store -->"
END: Final = "<!-- mem: end of recalled memory -->"

LINE_CHARS: Final = 1_000  # of a quoted line; a longer one is broken, so that it can be cut

_MARK: Final = "<!-- mem:"
# Compiled on first use: what hooks append hardly ever holds a block.
_BLOCK: Final = rf"(?ms)^[ \t>]*{re.escape(BEGIN)}.*?(?:^[ \t>]*{re.escape(END)}[^\n]*\n?|\Z)"


def without_recalled(text: str) -> str:
    """`text` without the blocks that `recall` marked; one that was cut off ends with the text."""
    return re.sub(_BLOCK, "", text) if BEGIN in text else text


def quoted(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines as a markdown quote that none of them can leave, end or mark as something else."""
    return tuple(
        f"> {piece}".rstrip()
        for line in lines
        for row in harmless(printable(line)).split("\n")
        for piece in _pieces(row)
    )


def harmless(text: str) -> str:
    """`text` without the beginning of a mark, which only `recall` itself may write."""
    return text.replace(_MARK, "&lt;!-- mem:") if _MARK in text else text


def named(text: str) -> str:
    """A name that stands outside of the quotes: one line without marks of markdown."""
    return "".join(char for char in one_line(text) if char not in "*`<>[]|\\")


def _pieces(line: str) -> Iterable[str]:
    while len(line) > LINE_CHARS:
        space = line.rfind(" ", LINE_CHARS // 2, LINE_CHARS)
        end = space if space > 0 else LINE_CHARS
        yield line[:end]
        line = line[end:].lstrip(" ")
    yield line
