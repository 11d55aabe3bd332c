"""Rows of 8-bit values: how near they stay to the vectors they were made of."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.store import vectors

# A value is off by half a step of 1/127 of the largest, so a cosine of unit vectors is off by at
# most half a step times the query's length in the 1-norm, sqrt(d); in practice far less.
DIMENSIONS = st.sampled_from([8, 16, 64, 384])


@st.composite
def unit_vectors(draw: st.DrawFn, dimension: int) -> tuple[float, ...]:
    values = draw(
        st.lists(
            st.floats(-1, 1, allow_subnormal=False), min_size=dimension, max_size=dimension
        ).filter(lambda found: math.hypot(*found) > 0.01)
    )
    length = math.hypot(*values)
    return tuple(value / length for value in values)


def packed(values: tuple[float, ...]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


@settings(max_examples=60)
@given(data=st.data(), dimension=DIMENSIONS)
def test_cosines_stay_near(data: st.DataObject, dimension: int) -> None:
    query, value = data.draw(unit_vectors(dimension)), data.draw(unit_vectors(dimension))
    rows = vectors.quantise(packed(value), dimension)
    assert len(rows) == vectors.row_size(dimension)
    true = sum(a * b for a, b in zip(query, value, strict=True))
    half_step = max(map(abs, value)) / 127 / 2
    bound = half_step * sum(map(abs, query)) + 1e-5
    assert vectors.best_cosine(query, rows) == pytest.approx(true, abs=bound)
    assert vectors.best_cosine(value, rows) > 0.99


@settings(max_examples=40)
@given(data=st.data(), dimension=st.sampled_from([8, 16]))
def test_of_several_rows_the_nearest_counts(data: st.DataObject, dimension: int) -> None:
    query = data.draw(unit_vectors(dimension))
    several = data.draw(st.lists(unit_vectors(dimension), min_size=1, max_size=4))
    together = vectors.quantise(b"".join(map(packed, several)), dimension)
    alone = [vectors.best_cosine(query, vectors.quantise(packed(v), dimension)) for v in several]
    assert vectors.best_cosine(query, together) == max(alone)


@settings(max_examples=60)
@given(data=st.data(), dimension=st.sampled_from([8, 16, 64]))
def test_distance_counts_differing_signs(data: st.DataObject, dimension: int) -> None:
    query = data.draw(unit_vectors(dimension))
    others = data.draw(st.lists(unit_vectors(dimension), min_size=1, max_size=5))
    wanted = [
        sum((a > 0) != (b > 0) for a, b in zip(query, other, strict=True)) for other in others
    ]
    assert vectors.distances(query, map(vectors.signs, others)) == wanted


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        bytes(31),
        bytes(32),  # a vector of zeros
        struct.pack("<8f", *[math.nan] * 8),
        struct.pack("<8f", math.inf, *[0] * 7),
        struct.pack("<8f", 1, math.nan, *[0] * 6),
    ],
    ids=["empty", "cut", "zeros", "nan", "infinite", "one nan"],
)
def test_what_is_no_vector_is_refused(bad: bytes) -> None:
    with pytest.raises(ValueError):
        vectors.quantise(bad, 8)


def test_a_dimension_that_is_no_multiple_of_8_is_refused() -> None:
    with pytest.raises(ValueError):
        vectors.quantise(bytes(4 * 12), 12)
