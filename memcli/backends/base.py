"""What the verbs ask of a search index, whatever it is kept in.

``within`` limits an answer to some paths; None means all. Chunks go by whole-number ids that an
index gives out and never gives to another chunk.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from memcli.config import Settings
from memcli.layout import Layout
from memcli.model import Chunk
from memcli.store.chunks import Place
from memcli.store.embeddings import Pending
from memcli.store.stamps import Stamp
from memcli.text.query import Query, Word


class Owner(Protocol):
    """What an index asks of the workspace that it belongs to."""

    layout: Layout
    notes: list[str]

    @property
    def settings(self) -> Settings: ...

    @property
    def is_writable(self) -> bool: ...

    def lock(self, verb: str) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class About:
    """What an index is kept in, as status and doctor tell it."""

    backend: str
    sqlite: str  # version of the library, empty where none is used
    journal: str  # "wal", or what SQLite falls back to
    is_packed: bool  # memory.vec is there and current
    unused_vectors: int = 0  # cached, of passages that are gone
    questions: int = 0  # with a cached vector


class Backend(Protocol):
    """A search index. What it cannot do raises StoreError."""

    @property
    def is_lasting(self) -> bool:
        """Whether what is put is still there in the next process."""

    def signatures(self) -> Mapping[str, bytes]:
        """The signature of every file, as in its stamp."""

    def stamps(self, paths: Collection[str] | None = None) -> Mapping[str, Stamp]:
        """The full stamps of these files, or of all, but for those that are not indexed."""

    def put(self, files: Sequence[tuple[Stamp, Sequence[Chunk]]]) -> None:
        """Make the index say what these files say, all of them or none."""

    def restamp(self, stamps: Sequence[Stamp]) -> None:
        """Note new stamps of files whose bytes did not change."""

    def drop(self, paths: Collection[str]) -> None:
        """Forget files."""

    def keyword(
        self, query: Query, n: int, *, within: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        """The best `n` chunks by BM25, ties by id; nothing for a query without a word."""

    def rarities(self, query: Query) -> Mapping[Word, float]:
        """How much each of the query's words says: its smoothed inverse document frequency."""

    def held(self, query: Query, chunk: int) -> set[Word]:
        """Those of the query's words that stand in a chunk."""

    def substring(self, needle: str, n: int, *, within: Collection[str] | None = None) -> list[int]:
        """Chunks whose text holds `needle`, case aside, ordered by place."""

    def nearest(
        self, vector: bytes, n: int, *, within: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        """The `n` chunks nearest in meaning to a float32 vector, best first, with their cosine."""

    def cosines(self, vector: bytes, ids: Collection[int]) -> dict[int, float]:
        """The cosine of these chunks; one without a vector is left out."""

    def places(self, ids: Collection[int]) -> dict[int, Place]:
        """Where these chunks are; one that is gone is left out."""

    def found(self, ids: Collection[int]) -> dict[int, Chunk]:
        """The chunks with these ids; one that is gone is left out."""

    def use_model(self, name: str) -> None:
        """Keep vectors of the embedder `name` from now on."""

    def model(self) -> str:
        """Whose vectors are kept; empty before any."""

    def dimension(self) -> int:
        """How many values a kept vector has; 0 before any."""

    def outgrow(self) -> bool:
        """Drop vectors that have another dimension than the last question's; whether it was so."""

    def pending(self, n: int, *, first: Collection[int] | None = None) -> list[Pending]:
        """Up to `n` chunks that wait for vectors: of `first` only, in its order, or the newest."""

    def put_vectors(self, model: str, made: Sequence[tuple[bytes, bytes]], dimension: int) -> None:
        """Store float32 vectors (joined where a key has several) of `model` by key.

        Raises ValueError for bytes that are no vectors of that dimension.
        """

    def query_vector(self, model: str, text: str) -> bytes | None:
        """The cached vector that `model` made of a question."""

    def keep_query(self, model: str, text: str, vector: bytes) -> None:
        """Cache the vector of a question."""

    def record(self, chunk_ids: Collection[str], now: int) -> None:
        """Count a retrieval of each chunk that was shown."""

    def note_uses(self, paths: Collection[str], now: int) -> None:
        """Note that files were shown for other reasons than a search, which counts for no ranking.

        What is not indexed is passed over.
        """

    def tidy(self) -> None:
        """After a change: whatever makes the next process faster."""

    def counts(self) -> tuple[int, int, int]:
        """How many files, chunks, and chunks that wait for a vector there are."""

    def waiting(self, seconds: float) -> AbstractContextManager[None]:
        """Within this, wait so long where another program holds the index."""

    def beat(self, at: int) -> None:
        """Note that a watcher kept the index in step at `at` (unix seconds); 0 when it ends."""

    def beaten_at(self) -> int:
        """When a watcher last did; 0 without one."""

    def inventory(self) -> dict[str, tuple[int, int]]:
        """For each file its number of chunks and how often any of them was shown."""

    def last_uses(self) -> dict[str, int]:
        """When each file was last shown, in unix seconds; files never shown are left out."""

    def faults(self) -> list[str]:
        """What is wrong inside the index, each in a sentence; the files are not looked at."""

    def about(self) -> About:
        """What the index is kept in."""

    def close(self) -> None:
        """Let go of everything."""
