"""Estimate how many tokens a language model makes of a text, without any model's vocabulary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOT_DIGITS: Final = bytes(sorted(set(range(256)) - set(b"0123456789")))
_NOT_DIGITS_OR_ENDS: Final = _NOT_DIGITS.replace(b"\n", b"")
_ASCII: Final = bytes(range(128))
# Digits and letters outside the Latin blocks; what is left of `\w` without these.
_WIDE: Final = re.compile(
    r"[^\W_A-Za-zªºÀ-ÖØ-öø-ʸˠ-ˤᴀ-ᴥᴬ-ᵜᵢ-ᵥᵫ-ᵷᵹ-ᶾḀ-ỿⱠ-ⱿꜢ-ꞇꞋ-ꟿꬰ-ꭤꭦ-ꭨﬀ-ﬆＡ-Ｚａ-ｚↄ\U0001df00-\U0001dfff]+"
)


def estimate(text: str, data: bytes | None = None) -> int:
    """Count each digit and each letter of a non-Latin script as one token, the rest by fours.

    `data` is the text as UTF-8, where that is at hand.
    """
    return (weigh(text, data) + 3) // 4


def weigh(text: str, data: bytes | None = None) -> int:
    """Return four times the tokens of `text`, not rounded, so that weights of parts add up."""
    # Deleting bytes is several times faster than matching characters, and most text is ASCII.
    if data is None:
        data = text.encode("utf-8", "surrogatepass")
    wide = len(data.translate(None, _NOT_DIGITS))
    if len(data) != len(text):
        rest = data.translate(None, _ASCII).decode("utf-8", "surrogatepass")
        wide += sum(map(len, _WIDE.findall(rest)))
    return len(text) + 3 * wide


def weigh_each(lines: Sequence[str]) -> list[int]:
    """Return what each line weighs."""
    text = "".join(lines)
    digits = text.encode("utf-8", "surrogatepass").translate(None, _NOT_DIGITS_OR_ENDS).split(b"\n")
    if len(digits) - text.endswith("\n") != len(lines):
        return [weigh(line) for line in lines]  # they end otherwise
    if text.isascii():
        pairs = zip(map(len, lines), map(len, digits), strict=False)
        return [length + 3 * wide for length, wide in pairs]
    return [
        len(line) + 3 * len(found) if line.isascii() else weigh(line)
        for line, found in zip(lines, digits, strict=False)
    ]
