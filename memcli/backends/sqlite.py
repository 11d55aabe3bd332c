"""The index in ``memory.db``: FTS5 for words, vector BLOBs and their sidecar for meaning."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from memcli.backends.base import About, Owner
from memcli.errors import StoreError
from memcli.model import Chunk
from memcli.rank import COLUMN_WEIGHTS
from memcli.store import access, chunks, db, embeddings, sidecar, vectors
from memcli.store.chunks import Stamp, StoredChunk
from memcli.store.embeddings import Pending
from memcli.text.query import Query, expression

# The sidecar is written again when so many chunks are beside it; until then they are read as rows.
REPACK_ROWS = 256
REPACK_SHARE = 0.02
MOST_ROWS = 4096  # read without a sidecar; beyond that only the keyword leg's best are compared
MANY_CHUNKS = 2_000  # from here on the words of most chunks are worth dropping from a query


def open_backend(owner: Owner, *, anew: bool = False) -> SqliteBackend:
    """Open ``memory.db``; make, migrate or replace it where it must be. Raises StoreError.

    `anew` empties it first but keeps the vectors made so far, where they can be read.
    """
    layout = owner.layout
    path = layout.database
    try:
        database = db.connect(path, wait=owner.settings.index_wait)
        if not anew and (database.is_readonly or db.is_current(database)):
            return SqliteBackend(owner, database)
        database.close()
    except db.NewerError:
        if not anew:
            raise
    except db.DamagedError:
        if not owner.is_writable:
            raise
    except StoreError:
        if os.path.exists(path):
            raise
    with owner.lock("index"):
        return SqliteBackend(owner, _made(owner, path, anew=anew))


def _made(owner: Owner, path: str, *, anew: bool) -> db.Database:
    """A database of this schema at `path`, whatever is there now. Needs the writers' lock."""
    kept: embeddings.Cache | None = None
    try:
        database = db.connect(path, create=True)
        database.migrate()
        if not anew:
            return database
        with suppress(StoreError):  # they are only a saving of time
            kept = embeddings.everything(database)
        database.close()
        db.remove(path)
    except db.NewerError:
        db.remove(path, keep_as=f"{path}.newer")
        owner.notes.append(f"the newer index is kept as {path}.newer")
    except db.DamagedError as error:
        db.remove(path, keep_as=f"{path}.damaged")
        owner.notes.append(f"{error}: it is made again from the files and kept as {path}.damaged")
    database = db.connect(path, create=True)
    database.migrate()
    if kept:
        embeddings.restore(database, kept)
    return database


class SqliteBackend:
    """A search index in one SQLite file."""

    is_lasting = True

    def __init__(self, owner: Owner, database: db.Database) -> None:
        self._owner = owner
        self._database = database
        self._model = embeddings.model(database)

    def signatures(self) -> Mapping[str, tuple[int, int, int, int]]:
        return chunks.signatures(self._database)

    def stamps(self, paths: Collection[str] | None = None) -> Mapping[str, Stamp]:
        return chunks.stamps(self._database, paths)

    def put(self, files: Sequence[tuple[Stamp, Sequence[Chunk]]]) -> None:
        with self._database.transaction():
            chunks.put(self._database, files, self._model)

    def restamp(self, stamps: Sequence[Stamp]) -> None:
        with self._database.transaction():
            chunks.restamp(self._database, stamps)

    def drop(self, paths: Collection[str]) -> None:
        with self._database.transaction():
            chunks.drop(self._database, paths)

    def keyword(
        self, query: Query, n: int, *, within: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        match = self._match(query)
        if not match:
            return []
        return chunks.keyword(self._database, match, n, weights=COLUMN_WEIGHTS, within=within)

    def _match(self, query: Query) -> str:
        """The query without the parts that are in over half of the chunks, if a rarer one is left.

        FTS5 gives such parts next to no weight but scores every chunk that has one.
        """
        largest = self._database.value("SELECT max(id) FROM chunks") or 0
        if largest < MANY_CHUNKS or len(query.parts) < 2:
            return query.match
        half = largest // 2
        rarer = [p for p in query.parts if chunks.frequency(self._database, p.match, half) < half]
        return expression(rarer, query.phrases) if rarer else query.match

    def substring(self, needle: str, n: int, *, within: Collection[str] | None = None) -> list[int]:
        return chunks.substring(self._database, needle, n, within=within)

    def nearest(
        self, vector: bytes, n: int, *, within: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        query = vectors.unpack(vector)
        if embeddings.dimension(self._database, self._model) != len(query):
            return []
        allowed = None if within is None else chunks.ids_within(self._database, within)
        packed = self._packed()
        if packed is not None:
            best = packed.nearest(query, allowed)
            beside = embeddings.of_state(self._database, self._model, embeddings.CACHED)
        else:
            best = {}
            beside = embeddings.of_state(self._database, self._model, None, MOST_ROWS)
        for chunk, rows in beside:
            if allowed is None or chunk in allowed:
                best[chunk] = vectors.best_cosine(query, rows)
        ranked = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
        # The sidecar may name chunks that are gone; ids are never used twice, so asking is enough.
        alive = chunks.existing(self._database, [chunk for chunk, _ in ranked])
        return [(chunk, cosine) for chunk, cosine in ranked if chunk in alive][:n]

    def cosines(self, vector: bytes, ids: Collection[int]) -> dict[int, float]:
        query = vectors.unpack(vector)
        if embeddings.dimension(self._database, self._model) != len(query):
            return {}
        rows = embeddings.of_chunks(self._database, self._model, ids)
        return {chunk: vectors.best_cosine(query, blob) for chunk, blob in rows.items()}

    def found(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        return chunks.found(self._database, ids)

    def use_model(self, name: str) -> None:
        embeddings.use_model(self._database, name)
        self._model = name

    def model(self) -> str:
        return self._model

    def pending(self, n: int, *, first: Collection[int] | None = None) -> list[Pending]:
        return embeddings.pending(self._database, n, first=first)

    def put_vectors(self, made: Sequence[tuple[bytes, bytes]], dimension: int, now: int) -> None:
        rows = [(key, vectors.quantise(joined, dimension)) for key, joined in made]
        embeddings.put(self._database, self._model, rows, dimension, now)

    def query_vector(self, text: str) -> bytes | None:
        return embeddings.query_vector(self._database, self._model, text)

    def keep_query(self, text: str, vector: bytes, now: int) -> None:
        embeddings.keep_query(self._database, self._model, text, vector, now)

    def record(self, chunk_ids: Collection[str], now: int) -> None:
        access.record(self._database, chunk_ids, now)

    def tidy(self) -> None:
        """Pack the vectors again when enough are beside memory.vec, and evict unused ones."""
        embeddings.evict(self._database)
        dimension = embeddings.dimension(self._database, self._model)
        if not dimension:
            return
        packed = self._packed()
        beside = embeddings.count_state(self._database, embeddings.CACHED)
        gone = 0
        if packed is not None:
            gone = packed.count - embeddings.count_state(self._database, embeddings.PACKED)
        if packed is None or max(beside, gone) > max(REPACK_ROWS, REPACK_SHARE * packed.count):
            sidecar.pack(self._owner.layout.sidecar, self._database, self._model, dimension)

    def counts(self) -> tuple[int, int, int]:
        files, number = chunks.counts(self._database)
        return files, number, embeddings.count_state(self._database, embeddings.PENDING)

    def inventory(self) -> dict[str, tuple[int, int]]:
        return chunks.inventory(self._database)

    def faults(self) -> list[str]:
        return chunks.faults(self._database)

    def about(self) -> About:
        return About(
            "sqlite",
            self._database.library,
            self._database.value("PRAGMA journal_mode"),
            is_packed=self._packed() is not None,
        )

    def _packed(self) -> sidecar.Sidecar | None:
        path = self._owner.layout.sidecar
        return sidecar.open_sidecar(path, self._database, self._model)

    def close(self) -> None:
        self._database.close()
