"""Text from files and arguments made harmless for a terminal: memory is data, it drives nothing."""

from __future__ import annotations

# C0 but tab and newline, DEL and C1 move cursors and set titles; bidi controls reorder what is
# read; tag characters and other invisible ones hide text from people.
_HARMFUL = {
    **dict.fromkeys([*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)], "�"),
    0x0D: None,
    **dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "�"),
    **dict.fromkeys([0x2028, 0x2029, 0xFEFF, *range(0xFFF9, 0xFFFC)], "�"),
    **dict.fromkeys(range(0xE0000, 0xE0080), None),
}


def printable(text: str) -> str:
    """`text` without what could steer a terminal; tabs and newlines stay."""
    if text.isprintable():
        return text
    return text.translate(_HARMFUL)


def one_line(text: str) -> str:
    """`text` as a single harmless line."""
    return printable(" ".join(text.split()))
