"""The index in ``memory.db``: FTS5 for words, vector BLOBs and their sidecar for meaning."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memcli.errors import StoreError
from memcli.model import Chunk
from memcli.rank import COLUMN_WEIGHTS, rarity, reward
from memcli.store import access, chunks, db, embeddings, fulltext
from memcli.store.chunks import Place
from memcli.store.embeddings import Pending
from memcli.store.stamps import Stamp
from memcli.text.query import Part, Query, Word, closeness, expression

if TYPE_CHECKING:
    from memcli.backends.base import About, Owner

MOST_PAIRS = 1_000  # chunks with neighbouring words of the query that are asked for
MANY_CHUNKS = 2_000  # from here on the words of most chunks are worth dropping from a query


def open_backend(owner: Owner, *, anew: bool = False) -> SqliteBackend:
    """Open ``memory.db``; make, migrate or replace it where it must be. Raises StoreError.

    `anew` empties it first but keeps what the files do not say, where it can be read: the vectors
    made so far, what was shown how often, and the queue of jobs.
    """
    layout = owner.layout
    path = layout.database
    try:
        database = db.connect(path, wait=owner.settings.index_wait)
        if not anew and db.is_current(database):
            return SqliteBackend(owner, database)
        database.close()
        if database.is_readonly:
            raise StoreError(f"{path} is of an older mem and may not be written")
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
    from memcli.store import jobs, meaning  # spared a search, whose index is there

    kept: list[tuple[ModuleType, Any]] = []  # what the files do not say
    try:
        database = db.connect(path, create=True)
        is_older = not db.is_current(database)
        database.migrate()
        if not anew:
            if is_older:
                # An older memory.vec may not be readable any more.
                meaning.tidy(database, owner.layout.sidecar, embeddings.model(database))
            return database
        for room in (embeddings, access, jobs):
            with suppress(StoreError):
                kept.append((room, room.everything(database)))
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
    for room, rows in kept:
        room.restore(database, rows)
    return database


class SqliteBackend:
    """A search index in one SQLite file."""

    is_lasting = True

    def __init__(self, owner: Owner, database: db.Database) -> None:
        self._owner = owner
        self._database = database
        self._counted: tuple[tuple[int, int], tuple[int, int, int]] | None = None

    def signatures(self) -> Mapping[str, bytes]:
        return chunks.signatures(self._database)

    def stamps(self, paths: Collection[str] | None = None) -> Mapping[str, Stamp]:
        return chunks.stamps(self._database, paths)

    def put(self, files: Sequence[tuple[Stamp, Sequence[Chunk]]]) -> None:
        with self._database.transaction():
            chunks.put(self._database, files, self.model())

    def restamp(self, stamps: Sequence[Stamp]) -> None:
        with self._database.transaction():
            chunks.restamp(self._database, stamps)

    def drop(self, paths: Collection[str]) -> None:
        with self._database.transaction():
            chunks.drop(self._database, paths)

    def keyword(
        self, query: Query, n: int, *, within: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        kept = self._kept(query)
        match = expression(kept, query.phrases)
        if not match:
            return []
        found = self._scores(match, n, within)
        closer = closeness(query, kept)
        if not closer or len(found) < 2:
            return found
        return reward(found, dict(self._scores(closer, MOST_PAIRS, within)))

    def _scores(
        self, match: str, n: int, within: Collection[str] | None
    ) -> list[tuple[int, float]]:
        return fulltext.keyword(self._database, match, n, weights=COLUMN_WEIGHTS, within=within)

    def _kept(self, query: Query) -> tuple[Part, ...]:
        """The query without the parts that are in over half of the chunks, if a rarer one is left.

        FTS5 gives such parts next to no weight but scores every chunk that has one.
        """
        largest = self._database.value("SELECT max(id) FROM chunks") or 0
        if largest < MANY_CHUNKS or len(query.parts) < 2:
            return query.parts
        half = largest // 2
        return (
            tuple(
                part
                for part in query.parts
                if fulltext.frequency(self._database, part.match, half) < half
            )
            or query.parts
        )

    def rarities(self, query: Query) -> dict[Word, float]:
        total = self.counts()[1]
        return {
            word: rarity(total, fulltext.frequency(self._database, word.match, total))
            for word in query.words
        }

    def held(self, query: Query, chunk: int) -> set[Word]:
        return {one for one in query.words if fulltext.holds(self._database, one.match, chunk)}

    def substring(self, needle: str, n: int, *, within: Collection[str] | None = None) -> list[int]:
        return fulltext.substring(self._database, needle, n, within=within)

    def nearest(
        self, vector: bytes, n: int, *, within: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        from memcli.store import meaning  # this and what it loads is spared a search by words

        path = self._owner.layout.sidecar
        notes = self._owner.notes
        return meaning.nearest(
            self._database, path, self.model(), vector, n, within=within, notes=notes
        )

    def cosines(self, vector: bytes, ids: Collection[int]) -> dict[int, float]:
        from memcli.store import meaning  # as above

        path = self._owner.layout.sidecar
        return meaning.cosines(self._database, path, self.model(), vector, ids)

    def places(self, ids: Collection[int]) -> dict[int, Place]:
        return chunks.places(self._database, ids)

    def found(self, ids: Collection[int]) -> dict[int, Chunk]:
        return chunks.found(self._database, ids)

    def use_model(self, name: str) -> None:
        embeddings.use_model(self._database, name)

    def model(self) -> str:
        return embeddings.model(self._database)  # anew: another process may have changed it

    def dimension(self) -> int:
        return embeddings.dimension(self._database, self.model())

    def outgrow(self) -> bool:
        return embeddings.outgrow(self._database, self.model())

    def pending(self, n: int, *, first: Collection[int] | None = None) -> list[Pending]:
        return embeddings.pending(self._database, n, first=first)

    def put_vectors(self, model: str, made: Sequence[tuple[bytes, bytes]], dimension: int) -> None:
        from memcli.store import vectors  # as above

        rows = [(key, vectors.quantise(joined, dimension)) for key, joined in made]
        embeddings.put(self._database, model, rows, dimension)

    def query_vector(self, model: str, text: str) -> bytes | None:
        return embeddings.query_vector(self._database, model, text)

    def keep_query(self, model: str, text: str, vector: bytes) -> None:
        embeddings.keep_query(self._database, model, text, vector)

    def record(self, chunk_ids: Collection[str], now: int) -> None:
        access.record(self._database, chunk_ids, now)

    def note_uses(self, paths: Collection[str], now: int) -> None:
        access.note_uses(self._database, paths, now)

    def tidy(self) -> None:
        from memcli.store import meaning  # as above

        meaning.tidy(self._database, self._owner.layout.sidecar, self.model())

    def counts(self) -> tuple[int, int, int]:
        state = self._database.state()
        if self._counted is None or self._counted[0] != state:
            files, number = chunks.counts(self._database)
            pending = embeddings.count_state(self._database, embeddings.PENDING)
            self._counted = state, (files, number, pending)
        return self._counted[1]

    def waiting(self, seconds: float) -> AbstractContextManager[None]:
        return self._database.waiting(seconds)

    def beat(self, at: int) -> None:
        access.beat(self._database, at)

    def beaten_at(self) -> int:
        return access.beaten_at(self._database)

    def inventory(self) -> dict[str, tuple[int, int]]:
        return chunks.inventory(self._database)

    def last_uses(self) -> dict[str, int]:
        return chunks.last_uses(self._database)

    def faults(self) -> list[str]:
        from memcli.store import faults, meaning  # as above

        found = faults.find(self._database)
        path = self._owner.layout.sidecar
        if not meaning.is_packed_well(self._database, path, self.model()):
            found.append("memory.vec does not hold the vectors that it should")
        return found

    def about(self) -> About:
        from memcli.backends.base import About
        from memcli.store import sidecar  # as above

        path = self._owner.layout.sidecar
        packed = sidecar.open_sidecar(path, self._database, self.model())
        unused, questions = embeddings.count_unused(self._database)
        return About(
            "sqlite",
            self._database.library,
            self._database.value("PRAGMA journal_mode"),
            is_packed=packed is not None,
            unused_vectors=unused,
            questions=questions,
        )

    def close(self) -> None:
        self._database.close()
