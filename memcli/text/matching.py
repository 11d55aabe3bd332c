"""What FTS5 finds, and how it scores that, without FTS5: where there is no database."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from memcli.text.extra import extra_terms
from memcli.text.words import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.text.query import Part, Query

_K1 = 1.2  # both as fixed in FTS5
_B = 0.75
_LEAST_IDF = 1e-6


def stored_tokens(heading: str, body: str) -> tuple[list[str], list[str], list[str]]:
    """Return the tokens of the three indexed columns of a chunk: heading, body, extra."""
    return tokens(heading), tokens(body), tokens(extra_terms(heading, body))


def count(part: Part, stored: Sequence[str]) -> int:
    """Count how often a part occurs in the tokens of one column."""
    wanted = part.tokens
    if not wanted:
        return 0
    first = wanted[0]
    if len(wanted) == 1:
        return stored.count(first)
    size = len(wanted)
    return sum(
        token == first and tuple(stored[at : at + size]) == wanted
        for at, token in enumerate(stored)
    )


def matches(query: Query, columns: Sequence[Sequence[str]]) -> bool:
    """Say whether FTS5 would return a chunk with these columns for ``query.match``."""

    def occurs(part: Part) -> bool:
        return any(count(part, column) for column in columns)

    return all(map(occurs, query.phrases)) and any(map(occurs, query.parts))


def bm25(
    counts: Sequence[Sequence[float]], lengths: Sequence[int], *, weights: Sequence[float] = ()
) -> list[float]:
    """Score documents as FTS5's ``bm25()`` does, with the sign turned.

    ``counts`` has a row for each document of the collection: how often each part of the query
    occurs in it (over columns, already weighted); ``lengths`` are their sizes in tokens.
    ``weights`` multiplies parts; 1 each when left out.
    """
    total = len(counts)
    mean = sum(lengths) / total if total and any(lengths) else 1.0
    parts = range(len(counts[0]) if counts else 0)
    idf = [_idf(total, sum(row[part] > 0 for row in counts)) for part in parts]
    return [
        sum(
            (weights[part] if weights else 1.0)
            * idf[part]
            * row[part]
            * (_K1 + 1)
            / (row[part] + _K1 * (1 - _B + _B * length / mean))
            for part in parts
            if row[part] > 0
        )
        for row, length in zip(counts, lengths, strict=True)
    ]


def _idf(total: int, having: int) -> float:
    return max(log((total - having + 0.5) / (having + 0.5)), _LEAST_IDF)
