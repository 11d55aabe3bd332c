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


@settings(max_examples=60)
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


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 3), max_size=9))
def test_both_ways_give_the_same_best_cosine_of_several_rows(seed: int, sizes: list[int]) -> None:
    signs, scaled, query = rows_of(seed, sum(sizes) or 1)
    width, size = DIMENSION // 8, vectors.SCALE.size + DIMENSION
    rows = [
        bytes(signs[width * at : width * (at + 1)]) + bytes(scaled[size * at : size * (at + 1)])
        for at in range(sum(sizes))
    ]
    blobs = [b"".join(rows.pop() for _ in range(count)) for count in sizes]
    one, other = vectors.best_cosines(query, blobs), arrays.best_cosines(query, blobs)
    assert all(abs(a - b) <= 1e-5 for a, b in zip(one, other, strict=True))


def test_blocks_join_without_a_seam() -> None:
    signs, scaled, query = rows_of(3, arrays.BLOCK + 70)
    rows = range(arrays.BLOCK + 70)
    assert arrays.shortlisted(query, signs, rows, 300) == vectors.shortlisted(
        query, signs, rows, 300
    )
    near = zip(
        arrays.cosines(query, scaled, rows), vectors.cosines(query, scaled, rows), strict=True
    )
    assert all(abs(a - b) <= 1e-5 for a, b in near)
