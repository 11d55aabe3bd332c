"""The further words under which a chunk must be found, where FTS5 alone falls short: see ``words``.

All text that is indexed comes here, so what takes few steps for the most of it comes first.
"""

from __future__ import annotations

import re
from typing import Final

from memcli.text.words import humps, sign_names

# The shape of a text, a byte for each of its UTF-8: "0" for a digit, "A" and "a" for letters, "X"
# for what is not ASCII, else a space. Translated and searched at a fraction of any regex's cost.
_SHAPES: Final = (
    b" " * 48 + b"0" * 10 + b" " * 7 + b"A" * 26 + b" " * 6 + b"a" * 26 + b" " * 5 + b"X" * 128
)
# One character in front lets these skip fast.
_HUMP_SHAPE: Final = re.compile(rb"A(?:(?<=aA)|(?<=AA)(?=aa))")
_MIXED_SHAPE: Final = re.compile(rb"X(?:(?<=[0Aa]X)|(?=[0Aa]))")
_ASCII: Final = bytes(range(128))
_WIDE: Final = b" " * 128 + bytes(range(128, 256))


def extra_terms(heading: str, body: str) -> str:
    """Return what the column ``extra`` of the index holds for a chunk.

    Empty for plain prose. Runs of unspaced scripts come as characters and bigrams in turn, so that
    a phrase of bigrams and characters is exactly a substring; camel-case identifiers come in parts
    (AppendDaily: append daily), while a query has the joined form of all others; words whose
    comparison form is not what FTS5 stores come in that form.
    """
    text = f"{heading}\n{body}" if heading else body
    data = text.encode("utf-8", "surrogatepass")
    shape = data.translate(_SHAPES)
    found = sign_names(text)
    if _HUMP_SHAPE.search(shape) is not None:
        found += _humps_within(data, shape.replace(b"X", b" "))
    if found:
        found = list(dict.fromkeys(found))
    if len(data) == len(text):
        return " ".join(found)
    from memcli.text import scripts  # local: most text has no need of its tables

    if scripts.is_foreign(data.translate(None, _ASCII).decode("utf-8", "surrogatepass")):
        # Where no word has letters of both kinds, the ASCII is out of the way in one step.
        if _MIXED_SHAPE.search(shape) is None:
            text = data.translate(_WIDE).decode("utf-8", "surrogatepass")
        found += scripts.forms([word for word in text.split() if not word.isascii()])
    return " ".join(found)


def _humps_within(data: bytes, shape: bytes) -> list[str]:
    """Return the parts of all camel-case words in a text of this shape."""
    found: list[str] = []
    end = 0
    while (hump := _HUMP_SHAPE.search(shape, end)) is not None:
        start, end = shape.rfind(b" ", 0, hump.start()) + 1, shape.find(b" ", hump.end())
        if end < 0:
            end = len(shape)
        found += humps(data[start:end].decode("ascii"))
    return found
