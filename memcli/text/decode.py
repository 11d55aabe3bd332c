"""Turn the bytes of a note into text and lines, whatever its encoding."""

from __future__ import annotations

import codecs
import io
from typing import Final

# What `surrogateescape` makes of a byte that is not UTF-8, and what Windows means by that byte;
# five bytes mean nothing there and stay control characters, as in Latin-1.
_WINDOWS: Final = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(128, 256)
}


def decode(data: bytes) -> tuple[str, str | None]:
    """Return the text of `data`, and why it may not be what the author saw (None if it is).

    A byte order mark is taken off. UTF-8 and, with a mark, UTF-16 are read as they are. Bytes
    that are not UTF-8 are read as Windows-1252 one by one, so that a stray one does not spoil the
    rest. Never raises; lines keep their numbers.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16"), None
        except UnicodeDecodeError as error:
            return data.decode("utf-16", "replace"), f"damaged UTF-16 ({error.reason})"
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        line = len(split_lines(data[: error.start].decode("utf-8") + "."))
        note = f"not UTF-8 (line {line}: byte 0x{data[error.start]:02x}), read as Windows-1252"
    return data.decode("utf-8", "surrogateescape").translate(_WINDOWS), note


def split_lines(text: str) -> list[str]:
    r"""Split at ``\n``, ``\r\n`` and lone ``\r``, keeping these ends.

    `str.splitlines` knows eight more separators, which editors and `grep -n` do not count.
    """
    lines = text.splitlines(keepends=True)
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    if len(lines) == ends + (not text.endswith(("\n", "\r")) and text != ""):
        return lines
    return list(io.StringIO(text, newline=""))
