"""The way with numpy and the way without find the same."""

from __future__ import annotations

import random
import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.store import arrays, vectors

DIMENSION = 64


def rows_of(seed: int, count: int) -> tuple[memoryview, memoryview, tuple[float, ...]]:
    """Signs and values of `count` random rows as they lie in memory.vec, and a unit query."""
    chance = random.Random(seed)
    made = [
        vectors.quantise(
            struct.pack(f"<{DIMENSION}f", *(chance.gauss(0, 1) for _ in range(DIMENSION))),
            DIMENSION,
        )
        for _ in range(count)
    ]
    width = DIMENSION // 8
    signs = b"".join(row[:width] for row in made)
    scaled = b"".join(row[width:] for row in made)
    query = [chance.gauss(0, 1) for _ in range(DIMENSION)]
    length = sum(value * value for value in query) ** 0.5
    return memoryview(signs), memoryview(scaled), tuple(value / length for value in query)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 80), st.data())
def test_both_ways_give_the_same_rows_and_cosines(
    seed: int, count: int, data: st.DataObject
) -> None:
    signs, scaled, query = rows_of(seed, count)
    rows = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=2)))
    shortlist = data.draw(st.integers(1, len(rows)))
    kept = vectors.shortlisted(query, signs, rows, shortlist)
    assert len(kept) >= shortlist
    assert kept == arrays.shortlisted(query, signs, rows, shortlist)
    assert vectors.shortlisted(query, signs, range(count), 1) == arrays.shortlisted(
        query, signs, range(count), 1
    )
    one, other = vectors.cosines(query, scaled, kept), arrays.cosines(query, scaled, kept)
    assert all(abs(a - b) <= 1e-5 for a, b in zip(one, other, strict=True))
