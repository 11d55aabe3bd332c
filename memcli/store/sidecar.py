"""``memory.vec``: the vectors of ``memory.db`` packed for reading by a process that just started.

One line padded to HEADER bytes (dimension, rows, chunks, generation, model), then the chunk id of
every row (int64, ascending), then the signs of all rows, then their scales and values. It is
written whole and renamed into place; a generation that is not the database's means that it belongs
to another one.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from types import ModuleType
from typing import NamedTuple

from memcli.errors import StoreError
from memcli.store import embeddings, vectors
from memcli.store.db import Database
from memcli.store.embeddings import CACHED, PACKED

HEADER = 512
_GENERATION = "sidecar.generation"

# So many rows by their signs are compared exactly; on the evaluation sets that keeps the true
# hundred nearest (see tests/store/test_sidecar.py for the bound that is held).
SHORTLIST = 1000


class Sidecar(NamedTuple):
    """An open, mapped ``memory.vec``."""

    dimension: int
    rows: int
    chunks: int
    data: mmap.mmap

    def nearest(
        self,
        query: Sequence[float],
        allowed: Collection[int] | None = None,
        *,
        shortlist: int = SHORTLIST,
    ) -> dict[int, float]:
        """The chunks nearest to `query` by cosine: those of the best `shortlist` rows by sign."""
        rows: Sequence[int] = range(self.rows)
        if allowed is not None:
            rows = [row for row, chunk in enumerate(self._ids) if chunk in allowed]
        if len(rows) > shortlist:
            signs = memoryview(self.data)[self._signs_start : self._values_start]
            rows = fastest_way().shortlisted(query, signs, rows, shortlist)
        return self._best(query, rows)

    def cosines(self, query: Sequence[float], chunks: Iterable[int]) -> dict[int, float]:
        """The cosine of those of the chunks that are here."""
        ids = self._ids
        rows = []
        for chunk in chunks:
            row = bisect_left(ids, chunk)
            while row < len(ids) and ids[row] == chunk:
                rows.append(row)
                row += 1
        return self._best(query, rows)

    def holds(self, chunk: int, blob: bytes) -> bool:
        """Whether the rows of a chunk are these, as they stand in the database."""
        data = memoryview(self.data)
        width, size = self.dimension // 8, vectors.row_size(self.dimension)
        row = bisect_left(self._ids, chunk)
        for at in range(0, len(blob), size):
            signs = self._signs_start + width * row
            values = self._values_start + (size - width) * row
            if row >= self.rows or self._ids[row] != chunk:
                return False
            if data[signs : signs + width] != blob[at : at + width]:
                return False
            if data[values : values + size - width] != blob[at + width : at + size]:
                return False
            row += 1
        return True

    def _best(self, query: Sequence[float], rows: Sequence[int]) -> dict[int, float]:
        """The chunks that have these rows, each with the cosine of its nearest one."""
        ids = self._ids
        values = memoryview(self.data)[self._values_start :]
        best: dict[int, float] = {}
        for row, cosine in zip(rows, fastest_way().cosines(query, values, rows), strict=True):
            if cosine > best.get(ids[row], -2.0):
                best[ids[row]] = cosine
        return best

    @property
    def _ids(self) -> memoryview[int]:
        """The chunk of each row, ascending."""
        return memoryview(self.data)[HEADER : self._signs_start].cast("q")

    @property
    def _signs_start(self) -> int:
        return HEADER + 8 * self.rows

    @property
    def _values_start(self) -> int:
        return self._signs_start + self.dimension // 8 * self.rows


def fastest_way() -> ModuleType:
    """`arrays` where the model has loaded numpy already, else `vectors`: no import for this."""
    if "numpy" not in sys.modules:
        return vectors
    from memcli.store import arrays

    return arrays


def open_sidecar(path: str, database: Database, model: str) -> Sidecar | None:
    """The mapped file, or None when it is missing, cut, of another model or another database."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None  # then the answer is made without it, and says so
    try:
        size = os.fstat(descriptor).st_size
        if size < HEADER:
            return None
        data = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    finally:
        os.close(descriptor)
    head = data[:HEADER]
    try:
        dimension, rows, chunks = map(int, head.split(b" ", 4)[1:4])
    except ValueError:
        return None
    # A model may have changed its dimension under its old name.
    if dimension != embeddings.dimension(database, model):
        return None
    if head != _header(dimension, rows, chunks, generation(database), model):
        return None
    if size != HEADER + rows * (8 + vectors.row_size(dimension)):
        return None
    return Sidecar(dimension, rows, chunks, data)


def _header(dimension: int, rows: int, chunks: int, generation: str, model: str) -> bytes:
    """The first line; what of a long name has no place there is not compared."""
    line = f"mem-vectors-2 {dimension} {rows} {chunks} {generation} {model}"
    return line.encode("utf-8", "replace")[: HEADER - 1].ljust(HEADER - 1) + b"\n"


def generation(database: Database) -> str:
    """Which packing of the vectors the database stands for; empty before the first."""
    return database.value("SELECT value FROM meta WHERE name = ?", [_GENERATION]) or ""


def pack(path: str, database: Database, model: str, dimension: int) -> int:
    """Write all vectors of `model` into ``memory.vec``; answers the number of rows.

    Raises StoreError where that file cannot be written.

    The file is complete before the database names it, so a process killed between the two leaves a
    file that is not believed and is written again.
    """
    size = vectors.row_size(dimension)
    width = dimension // 8
    rows = database.rows(
        """
        SELECT chunk, embeddings.vectors FROM vectors
        JOIN embeddings ON embeddings.model = ? AND embeddings.key = vectors.key
        WHERE state > 0 ORDER BY chunk
        """,
        [model],
    )
    ids: list[int] = []
    all_signs: list[bytes] = []
    values: list[bytes] = []
    for chunk, blob in rows:
        for at in range(0, len(blob) - size + 1, size):
            ids.append(chunk)
            all_signs.append(blob[at : at + width])
            values.append(blob[at + width : at + size])
    mark = os.urandom(8).hex()
    temporary = f"{path}.{mark}"
    try:
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        with open(descriptor, "wb") as file:
            file.write(_header(dimension, len(ids), len(rows), mark, model))
            file.write(struct.pack(f"<{len(ids)}q", *ids))
            file.writelines(all_signs)
            file.writelines(values)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise StoreError(
                f"cannot write {path}: {error.strerror}",
                hint="make room, or remove what is there, then: mem index",
            ) from error
        raise
    with database.transaction():
        database.run("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [_GENERATION, mark])
        database.run(
            "UPDATE vectors SET state = ? WHERE state = ? AND chunk <= ?",
            [PACKED, CACHED, ids[-1] if ids else 0],
        )
    return len(ids)
