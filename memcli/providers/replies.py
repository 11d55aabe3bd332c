"""What remote models answer, checked before any of it counts."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from memcli.errors import ProviderError

# What a model wants before a question and before a passage, from the models' own cards.
_PREFIXES = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages: ", ""),
}


def prefixes(model: str) -> tuple[str, str]:
    """What to put before a question and before a passage for a model, its tag aside."""
    name = model.partition(":")[0].rpartition("/")[2]
    return _PREFIXES.get(name, ("", ""))


def unit_vectors(answer: Sequence[Sequence[float]], expected: int, who: str) -> list[bytes]:
    """Each vector of `answer` as float32 bytes of unit length.

    Raises ProviderError when there are not `expected` of them, all of one dimension that is a
    multiple of 8, all finite and not zero.
    """
    if len(answer) != expected:
        raise _nonsense(who, f"{len(answer)} vectors for {expected} texts")
    found = []
    for values in answer:
        if not values or len(values) != len(answer[0]) or len(values) % 8:
            raise _nonsense(who, f"a vector of {len(values)} values")
        length = math.sqrt(math.fsum(value * value for value in values))
        if not 0 < length < math.inf:
            raise _nonsense(who, "a vector of zeros, or with a value that is no number")
        found.append(struct.pack(f"<{len(values)}f", *[value / length for value in values]))
    return found


def prose(text: object, who: str, *, is_cut: bool) -> str:
    """The text of an answer. Raises ProviderError for a blank one and for one that was cut off."""
    if is_cut:
        raise ProviderError(f"the answer of {who} was cut off at its limit", reason="reply")
    if not isinstance(text, str) or not text.strip():
        raise ProviderError(f"{who} answered nothing", reason="reply")
    return text


def _nonsense(who: str, what: str) -> ProviderError:
    return ProviderError(
        f"{who} answered {what}", hint="see that it is a model for embeddings", reason="reply"
    )
