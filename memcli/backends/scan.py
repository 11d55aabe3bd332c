"""An index in memory, made again by every process: for checkouts that may not be written.

It is also the yardstick of the contract tests: it asks no SQLite, so what it finds by keyword any
other backend must find.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from memcli import rank
from memcli.backends.base import About, Owner
from memcli.model import Chunk
from memcli.store.chunks import Place
from memcli.store.embeddings import Pending, passage_key
from memcli.store.stamps import Stamp
from memcli.store.vectors import best_cosine, quantise, unpack
from memcli.text.matching import bm25, count, matches, stored_tokens
from memcli.text.query import Part, Query, Word
from memcli.text.words import normalise


def open_backend(owner: Owner, *, anew: bool = False) -> ScanBackend:
    """An empty index; `anew` changes nothing."""
    return ScanBackend()


@dataclass(frozen=True, slots=True)
class _Row:
    chunk: Chunk
    key: bytes
    columns: tuple[list[str], list[str], list[str]]  # tokens of heading, body and extra


class ScanBackend:
    """A search index that lasts as long as the process."""

    is_lasting = False

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp] = {}
        self._ids: dict[str, list[int]] = {}
        self._rows: dict[int, _Row] = {}
        self._vectors: dict[bytes, bytes] = {}
        self._queries: dict[tuple[str, str], bytes] = {}
        self._dimension = 0
        self._retrievals: dict[str, int] = {}
        self._used: dict[str, int] = {}  # when last, in unix seconds
        self._model = ""
        self._next = 1

    def signatures(self) -> Mapping[str, bytes]:
        return {stamp.path: stamp.signature for stamp in self._stamps.values()}

    def stamps(self, paths: Collection[str] | None = None) -> Mapping[str, Stamp]:
        wanted = self._stamps if paths is None else paths
        return {path: self._stamps[path] for path in wanted if path in self._stamps}

    def put(self, files: Sequence[tuple[Stamp, Sequence[Chunk]]]) -> None:
        for stamp, found in files:
            self.drop([stamp.path])
            self._stamps[stamp.path] = stamp
            ids = self._ids[stamp.path] = []
            for one in found:
                columns = stored_tokens(one.heading, one.body)
                self._rows[self._next] = _Row(one, passage_key(one.heading, one.body), columns)
                ids.append(self._next)
                self._next += 1

    def restamp(self, stamps: Sequence[Stamp]) -> None:
        self._stamps.update({stamp.path: stamp for stamp in stamps})

    def drop(self, paths: Collection[str]) -> None:
        for path in paths:
            self._stamps.pop(path, None)
            for chunk in self._ids.pop(path, []):
                del self._rows[chunk]

    def keyword(
        self, query: Query, n: int, *, within: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        if not query.parts:
            return []
        found = [
            (chunk, score)
            for chunk, score in self._scores(query.parts, query.phrases).items()
            if (within is None or self._rows[chunk].chunk.path in within)
            and matches(query, self._rows[chunk].columns)
        ]
        best = sorted(found, key=lambda pair: (-pair[1], pair[0]))[:n]
        if not query.pairs or len(best) < 2:
            return best
        return rank.reward(best, self._scores(query.pairs))

    def _scores(self, parts: Sequence[Part], phrases: Sequence[Part] = ()) -> dict[int, float]:
        """The BM25 of every chunk for some parts of a query."""
        counts = []
        for row in self._rows.values():
            columns = list(zip(rank.COLUMN_WEIGHTS, row.columns, strict=True))
            counts.append([sum(w * count(part, column) for w, column in columns) for part in parts])
        lengths = [sum(map(len, row.columns)) for row in self._rows.values()]
        # A phrase stands twice in the expression for FTS5, which then counts it twice.
        weights = [1 + (part in phrases) for part in parts]
        return dict(zip(self._rows, bm25(counts, lengths, weights=weights), strict=True))

    def rarities(self, query: Query) -> dict[Word, float]:
        held = [self.held(query, chunk) for chunk in self._rows]
        total = len(self._rows)
        return {it: rank.rarity(total, sum(it in words for words in held)) for it in query.words}

    def held(self, query: Query, chunk: int) -> set[Word]:
        columns = self._rows[chunk].columns
        return {
            word
            for word in query.words
            if any(count(part, column) for part in word.forms for column in columns)
        }

    def substring(self, needle: str, n: int, *, within: Collection[str] | None = None) -> list[int]:
        wanted = normalise(needle)
        found = [
            (row.chunk.path, row.chunk.start_line, row.chunk.ord, chunk)
            for chunk, row in self._rows.items()
            if (within is None or row.chunk.path in within)
            and wanted in normalise(f"{row.chunk.heading}\n{row.chunk.body}")
        ]
        return [place[-1] for place in sorted(found)[:n]]

    def nearest(
        self, vector: bytes, n: int, *, within: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        ids = [i for i, row in self._rows.items() if within is None or row.chunk.path in within]
        best = self.cosines(vector, ids)
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:n]

    def cosines(self, vector: bytes, ids: Collection[int]) -> dict[int, float]:
        query = unpack(vector)
        found = {i: self._vectors[key] for i in ids if (key := self._key(i)) in self._vectors}
        return {i: best_cosine(query, rows) for i, rows in found.items()}

    def _key(self, chunk: int) -> bytes:
        row = self._rows.get(chunk)
        return row.key if row else b""

    def places(self, ids: Collection[int]) -> dict[int, Place]:
        return {
            i: Place(chunk.path, chunk.start_line, self._retrievals.get(chunk.id, 0))
            for i, chunk in self.found(ids).items()
        }

    def found(self, ids: Collection[int]) -> dict[int, Chunk]:
        return {i: self._rows[i].chunk for i in ids if i in self._rows}

    def use_model(self, name: str) -> None:
        if name != self._model:
            self._vectors.clear()
            self._queries.clear()
            self._dimension = 0
        self._model = name

    def model(self) -> str:
        return self._model

    def dimension(self) -> int:
        return self._dimension

    def outgrow(self) -> bool:
        return False  # it asks as often as it embeds

    def pending(self, n: int, *, first: Collection[int] | None = None) -> list[Pending]:
        ids = sorted(self._rows, reverse=True) if first is None else first
        waiting = [i for i in ids if i in self._rows and self._rows[i].key not in self._vectors]
        rows = [(i, self._rows[i]) for i in waiting[:n]]
        return [Pending(i, row.key, row.chunk.heading, row.chunk.body) for i, row in rows]

    def put_vectors(self, model: str, made: Sequence[tuple[bytes, bytes]], dimension: int) -> None:
        self._vectors.update({key: quantise(joined, dimension) for key, joined in made})
        self._dimension = dimension

    def query_vector(self, model: str, text: str) -> bytes | None:
        return self._queries.get((model, text))

    def keep_query(self, model: str, text: str, vector: bytes) -> None:
        self._queries[model, text] = vector

    def record(self, chunk_ids: Collection[str], now: int) -> None:
        for chunk in chunk_ids:
            self._retrievals[chunk] = self._retrievals.get(chunk, 0) + 1
            self._used[chunk] = now

    def note_uses(self, paths: Collection[str], now: int) -> None:
        for path in paths:
            self._used.update((self._rows[id_].chunk.id, now) for id_ in self._ids.get(path, ()))

    def tidy(self) -> None:
        """Nothing is kept, so nothing needs tidying."""

    def counts(self) -> tuple[int, int, int]:
        keys = [row.key for row in self._rows.values()]
        return len(self._stamps), len(keys), sum(key not in self._vectors for key in keys)

    def waiting(self, seconds: float) -> AbstractContextManager[None]:
        return nullcontext()

    def beat(self, at: int) -> None:
        """Nobody watches what ends with the process."""

    def beaten_at(self) -> int:
        return 0

    def inventory(self) -> dict[str, tuple[int, int]]:
        return {
            path: (len(ids), sum(self._retrievals.get(self._rows[i].chunk.id, 0) for i in ids))
            for path, ids in self._ids.items()
        }

    def last_uses(self) -> dict[str, int]:
        used = {
            path: max((self._used.get(self._rows[i].chunk.id, 0) for i in ids), default=0)
            for path, ids in self._ids.items()
        }
        return {path: at for path, at in used.items() if at}

    def faults(self) -> list[str]:
        return []

    def about(self) -> About:
        return About("scan", "", "none", is_packed=False)

    def close(self) -> None:
        """Nothing is open."""
