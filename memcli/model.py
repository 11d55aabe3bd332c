"""The nouns of a search, which several rooms share: frozen records without I/O.

To make a record takes longer than to look up a word, so every other one stands with what reads and
writes it (`Fact` in ``text.facts``, `Entry` in ``text.daily``, `Revision` in ``text.revisions``),
and what a verb answers with the verb.

Lines are 1-based and inclusive. ``path`` is always relative to the memory folder, with ``/``.
Every score grows with relevance. ``k`` is always the number of results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

Progress = Callable[[str, int, int], None]  # called with what is done, how far, and of how much


class Chunk(NamedTuple):
    """A slice of one memory file; ``body`` is exactly lines ``start_line`` to ``end_line``."""

    id: str  # sha256 of path, start line and body, in hex
    path: str
    ord: int  # 0-based place within the file
    start_line: int
    end_line: int
    heading: str  # the heading path, "Design > Storage"
    tokens: int  # estimated
    body: str


class SearchOptions(NamedTuple):
    """How to search; None means "not set", never 0."""

    k: int = 8
    mode: str = "hybrid"  # hybrid, keyword or vector
    alpha: float | None = None  # weight of BM25; outside 0..1 counts as 0.5
    fusion: str = "blend"  # blend or rrf
    within: str | None = None  # a glob on paths
    kind: str | None = None  # pinned, dreams, daily, task, archive or note
    since: str | None = None  # ISO dates, inclusive
    until: str | None = None
    max_chars: int | None = None  # of all bodies together
    min_score: float | None = None
    refresh: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage found. A leg that did not find it has None as its score and rank."""

    path: str
    start_line: int
    end_line: int
    heading: str
    score: float
    bm25: float | None  # FTS5's BM25 with its sign turned
    cosine: float | None
    body: str
    chunk_id: str = ""
    date: str | None = None  # ISO, of a dated file
    kind: str = ""
    scope: str = "project"
    bm25_rank: int | None = None  # from 1
    cosine_rank: int | None = None
    fused: float = 0.0
    decay: float = 1.0
    bonus: float = 0.0
    is_cut: bool = False  # the body was shortened to fit --max-chars

    @property
    def scoped_path(self) -> str:
        return scoped(self.scope, self.path)


def scoped(scope: str, place: str) -> str:
    """A path or a place in a file with its scope before it, but for the project's own."""
    return place if scope == "project" else f"{scope}:{place}"


@dataclass(frozen=True, slots=True)
class IndexState:
    """How well the index matched the files when an answer was given."""

    state: str  # fresh, stale or partial
    files: int = 0
    chunks: int = 0
    pending: int = 0  # chunks without a vector yet
    behind: int = 0  # files known to differ from the index


@dataclass(frozen=True, slots=True)
class Hits:
    """The answer of ``mem search``."""

    query: str
    hits: tuple[Hit, ...]
    index: IndexState
    mode: str
    terms: tuple[str, ...] = ()  # the words searched for, to light them up
    notes: tuple[str, ...] = ()
