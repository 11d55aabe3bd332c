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


def distances(query: Sequence[float], all_signs: Iterable[bytes]) -> list[int]:
    """For each row's signs the number of bits that differ from the query's."""
    wanted = int.from_bytes(signs(query), "little")
    read = int.from_bytes
    return [(read(row, "little") ^ wanted).bit_count() for row in all_signs]
