"""How vectors are kept: 8-bit rows with their signs in front, and the two steps of comparing.

A row of dimension d is d/8 bytes of signs, a little-endian float32 scale and d signed bytes; a
value is scale x byte. A chunk's BLOB is one row or more. Comparing is cheap by signs (the number of
differing bits orders rows nearly as the angle does) and exact by values for the few that are left.
Neither step needs numpy, whose import alone costs more than comparing 100,000 rows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from operator import mul

SCALE = struct.Struct("<f")


def row_size(dimension: int) -> int:
    """Bytes of a row."""
    return dimension // 8 + SCALE.size + dimension


def quantise(vectors: bytes, dimension: int) -> bytes:
    """Float32 vectors of `dimension`, joined, as rows, joined.

    Raises ValueError where the bytes are no whole number of finite vectors.
    """
    if dimension % 8 or not vectors or len(vectors) % (4 * dimension):
        raise ValueError(f"{len(vectors)} bytes are no vectors of {dimension} dimensions")
    rows = []
    for values in struct.iter_unpack(f"<{dimension}f", vectors):
        scale = max(map(abs, values)) / 127
        if not 0 < scale < 1e30:
            raise ValueError("a vector of zeros, or with a value that is no number")
        body = struct.pack(f"{dimension}b", *[round(value / scale) for value in values])
        rows.append(signs(values) + SCALE.pack(scale) + body)
    return b"".join(rows)


def signs(values: Sequence[float]) -> bytes:
    """One bit a value, set where it is above zero, the first value in the highest bit."""
    bits = "".join(["1" if value > 0 else "0" for value in values])
    return int(bits, 2).to_bytes(len(values) // 8, "big")


def unpack(vector: bytes) -> tuple[float, ...]:
    """The values of one float32 vector."""
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(query: Sequence[float], scaled: memoryview) -> float:
    """Cosine of a unit `query` and the scale and values of one row."""
    (scale,) = SCALE.unpack_from(scaled)
    return round(float(scale * sum(map(mul, query, scaled[SCALE.size :].cast("b")))), 5)


def best_cosine(query: Sequence[float], rows: bytes) -> float:
    """Cosine of a unit `query` and the nearest of a chunk's rows."""
    size = row_size(len(query))
    skip = len(query) // 8
    view = memoryview(rows)
    return max(cosine(query, view[at + skip : at + size]) for at in range(0, len(rows), size))


def best_cosines(query: Sequence[float], blobs: Sequence[bytes]) -> list[float]:
    """`best_cosine` of several chunks."""
    return [best_cosine(query, rows) for rows in blobs]


def distances(query: Sequence[float], all_signs: Iterable[bytes]) -> list[int]:
    """For each row's signs the number of bits that differ from the query's."""
    wanted = int.from_bytes(signs(query), "little")
    read = int.from_bytes
    return [(read(row, "little") ^ wanted).bit_count() for row in all_signs]


def shortlisted(
    query: Sequence[float], all_signs: memoryview, rows: Sequence[int], shortlist: int
) -> list[int]:
    """Those of `rows` whose signs are no farther from the query's than the `shortlist`-th."""
    width = len(query) // 8
    if len(rows) * width == len(all_signs):
        packed = (one for (one,) in struct.iter_unpack(f"{width}s", all_signs))
    else:
        packed = (bytes(all_signs[width * row : width * (row + 1)]) for row in rows)
    far = distances(query, packed)
    limit = _nth_smallest(far, shortlist, 8 * width)
    return [row for row, distance in zip(rows, far, strict=True) if distance <= limit]


def cosines(query: Sequence[float], scaled: memoryview, rows: Sequence[int]) -> list[float]:
    """Cosines of a unit `query` and these rows of scales and values."""
    size = SCALE.size + len(query)
    return [cosine(query, scaled[size * row : size * (row + 1)]) for row in rows]


def _nth_smallest(values: Sequence[int], n: int, most: int) -> int:
    """The value that at least `n` of the `values`, all between 0 and `most`, do not exceed."""
    histogram = [0] * (most + 1)
    for value in values:
        histogram[value] += 1
    seen = 0
    for value, times in enumerate(histogram):
        seen += times
        if seen >= n:
            return value
    return most
