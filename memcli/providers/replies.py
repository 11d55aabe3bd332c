"""What remote models answer, checked before any of it counts."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from threading import Thread
from typing import TypeVar

from memcli.errors import ProviderError

T = TypeVar("T")

_SLACK = 0.5  # seconds in which the client's own time-out, which tells more, comes first

# What a model wants before a question and before a passage, from the models' own cards.
_PREFIXES = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
    "gemini-embedding-2": ("task: search result | query: ", "title: none | text: "),
    "gemini-embedding-2-preview": ("task: search result | query: ", "title: none | text: "),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages: ", ""),
}


def within(seconds: float, who: str, ask: Callable[[], T]) -> T:
    """What `ask` returns. Raises ProviderError when the whole of it takes longer than `seconds`.

    The time-outs of a socket begin anew with every byte, so that a server could answer for ever.
    """
    outcome: list[tuple[T, None] | tuple[None, BaseException]] = []

    def run() -> None:
        try:
            outcome.append((ask(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds + _SLACK)
    if not outcome:
        raise ProviderError(f"{who} does not answer within {seconds:.3g} s")
    answer, error = outcome[0]
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]  # without an error it is what `ask` returned


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
