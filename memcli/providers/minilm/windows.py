"""Cuts the tokens of a long text into windows that the model can read, each about equally long."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence


def head(words: Iterable[Sequence[int]], *, size: int) -> list[int]:
    """The first window alone, of at most ``size`` tokens, reading no further than it must."""
    tokens: list[int] = []
    for word in words:
        if len(tokens) + len(word) > size:
            return tokens or list(word[:size])
        tokens += word
    return tokens


def cut(words: Iterable[Sequence[int]], *, size: int, overlap: int) -> Iterator[list[int]]:
    """Windows of at most ``size`` tokens that cover every word; none for no words.

    A window ends and the next begins between two words, unless one word alone is longer than a
    window. ``overlap`` is how many tokens at most two neighbours share (whole words, less than
    ``size``).
    """
    tokens: list[int] = []
    starts: list[int] = []
    for word in words:
        starts.append(len(tokens))
        tokens += word
    begin = 0
    while len(tokens) - begin > size:
        end = _end(begin, len(tokens), starts, size=size, overlap=overlap)
        yield tokens[begin:end]
        begin = _next_begin(begin, end, starts, overlap=overlap)
    if begin < len(tokens):
        yield tokens[begin:]


def _end(begin: int, total: int, starts: Sequence[int], *, size: int, overlap: int) -> int:
    """The last word boundary within an even share of what is left."""
    left = total - begin - overlap
    count = -(-left // (size - overlap))
    even = begin + overlap - (-left // count)
    boundary = starts[bisect_right(starts, even) - 1]
    if boundary > begin:
        return boundary
    following = starts[bisect_right(starts, even)] if starts[-1] > even else total
    return min(following, begin + size)


def _next_begin(begin: int, end: int, starts: Sequence[int], *, overlap: int) -> int:
    """The first word boundary that shares at most ``overlap`` tokens, and is further on."""
    if starts[-1] < end - overlap:
        return end
    boundary = starts[bisect_left(starts, end - overlap)]
    return boundary if begin < boundary <= end else end
