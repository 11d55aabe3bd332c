"""The nouns of this program: frozen records without I/O.

Lines are 1-based and inclusive. ``path`` is always relative to the memory folder, with ``/``.
Every score grows with relevance. ``k`` is always the number of results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

Progress = Callable[[str, int, int], None]  # called with what is done, how far, and of how much


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of one memory file; ``body`` is exactly lines ``start_line`` to ``end_line``."""

    id: str  # sha256 of path, start line and body, in hex
    path: str
    ord: int  # 0-based place within the file
    start_line: int
    end_line: int
    heading: str  # the heading path, "Design > Storage"
    tokens: int  # estimated
    body: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One pinned line of MEMORY.md."""

    text: str
    source: str = ""  # "file.md#Heading", empty for a fact written by hand
    kind: str = "fact"  # fact, preference, instruction or summary
    hash: str = ""  # first 12 hex digits of sha256(lower(trim(text)))
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """One dated record of a daily log."""

    timestamp: datetime  # the caller's local time
    stage: str
    body: str


@dataclass(frozen=True, slots=True)
class Change:
    """What a revision did to one memory file.

    ``before`` holds all earlier bytes of a replaced file and is None for a new one. For an append
    ``offset`` says where the new bytes begin, and ``before`` is empty.
    """

    path: str
    kind: str  # create, append, replace or delete
    before: bytes | None
    after: bytes | None  # the added bytes of an append, all bytes otherwise, None for a deletion
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Revision:
    """One recorded change of the memory, the unit of undo."""

    id: int
    op: str  # the verb that made it
    created_at: datetime
    note: str
    changes: tuple[Change, ...]
    undoes: int | None = None
    state: str = "done"  # open while it is being written


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search; None means "not set", never 0."""

    k: int = 8
    mode: str = "hybrid"  # hybrid, keyword or vector
    alpha: float | None = None  # weight of BM25; outside 0..1 counts as 0.5
    fusion: str = "blend"  # blend or rrf
    within: str | None = None  # a glob on paths
    kind: str | None = None  # pinned, dreams, daily, task or archive
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


@dataclass(frozen=True, slots=True)
class Indexed:
    """The answer of ``mem index``."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    pending: int = 0
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Initialised:
    """The answer of ``mem init``."""

    root: str
    created: tuple[str, ...]  # relative to the root; empty when all was there
    hooks: tuple[HookChange, ...] = ()  # with --hooks
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """The answer of ``mem get``: a file or a range of its lines."""

    path: str
    start_line: int
    end_line: int
    body: str


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file of the memory as ``mem list`` shows it."""

    path: str
    kind: str
    date: str | None
    size: int  # bytes
    modified_at: datetime
    chunks: int
    is_indexed: bool  # the index has it as it is now
    note: str = ""
    retrievals: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """The answer of ``mem list``."""

    files: tuple[MemoryFile, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """The answer of ``mem status``."""

    root: str
    index: IndexState
    by_kind: dict[str, int]  # files
    bytes: int  # of the markdown
    database_bytes: int
    backend: str
    embedder: str  # empty: by keyword only
    vectors_of: str  # the model whose vectors are kept, empty for none
    embedded: int  # chunks with vectors
    is_packed: bool  # memory.vec is there and current
    sqlite: str
    journal: str
    writer: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that ``mem doctor`` found."""

    code: str
    message: str
    fix: str  # what to do, or what was done
    is_fixed: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer of ``mem doctor``."""

    problems: tuple[Problem, ...]
    checked: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One setting in force."""

    key: str
    value: object
    origin: str  # "default", a file, a variable or "flag"
    doc: str


@dataclass(frozen=True, slots=True)
class SettingValues:
    """The answer of ``mem config list``."""

    settings: tuple[SettingValue, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModeScore:
    """How well one way of searching answered a set of questions; all measures from 0 to 1."""

    mode: str
    recall_1: float
    recall_5: float
    recall_10: float
    mrr_10: float
    ndcg_10: float


@dataclass(frozen=True, slots=True)
class Missed:
    """A question none of whose expected passages was among the first ten."""

    mode: str
    query: str
    expected: tuple[str, ...]
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The answer of ``mem eval``."""

    queries: int
    scores: tuple[ModeScore, ...]
    missed: tuple[Missed, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer of ``mem append-daily``; an empty path when there was nothing to write."""

    path: str
    revision: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactLine:
    """A pinned fact as `mem fact` shows it."""

    hash: str
    kind: str
    text: str
    source: str
    line: int
    is_enabled: bool
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class FactList:
    """The answer of ``mem fact list``."""

    facts: tuple[FactLine, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactChanged:
    """The answer of the verbs that change one fact."""

    what: str  # added, edited, removed, disabled, enabled or known
    text: str
    hash: str
    revision: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """What `mem promote` found in one document."""

    path: str
    found: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Superseded:
    """A fact whose source says something else now."""

    old: str
    new: str
    source: str


@dataclass(frozen=True, slots=True)
class Promoted:
    """The answer of ``mem promote``."""

    added: tuple[Fact, ...]
    superseded: tuple[Superseded, ...]
    known: int
    passed_over: tuple[Fact, ...]  # removed by hand or by tombstone
    sources: tuple[Source, ...]
    revision: int | None
    diff: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a gate holds against a file."""

    path: str  # relative to the project folder
    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer of ``mem promote --check``."""

    findings: tuple[Finding, ...]
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """A revision as `mem undo --list` shows it."""

    id: int
    created_at: datetime
    op: str
    note: str
    files: tuple[str, ...]
    undoes: int | None
    undone_by: int | None


@dataclass(frozen=True, slots=True)
class RevisionList:
    """The answer of ``mem undo --list``, newest first."""

    revisions: tuple[RevisionLine, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RevisionDiff:
    """The answer of ``mem undo --diff``: a unified diff."""

    revision: int
    diff: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The answer of ``mem undo``. A dry run has no ``revision``."""

    undoes: int
    op: str  # the verb of what was taken back
    revision: int | None
    files: tuple[str, ...]
    diff: str  # what taking it back changes, or would change
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HookChange:
    """What became of one git hook."""

    hook: str  # post-commit or post-merge
    path: str  # absolute
    what: str  # installed, updated, unchanged or removed
    did: tuple[str, ...] = ()  # every file that was touched, in a sentence each


@dataclass(frozen=True, slots=True)
class HooksChanged:
    """The answer of ``mem hooks install`` and ``mem hooks remove``."""

    hooks: tuple[HookChange, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HookState:
    """How one git hook stands."""

    hook: str
    path: str
    state: str  # installed, not installed, outdated, edited, or not run and why
    program: str = ""  # the mem that it runs, empty for the one on git's PATH
    is_program_there: bool = False
    beside: str = ""  # where the hook is that was there before


@dataclass(frozen=True, slots=True)
class HookStates:
    """The answer of ``mem hooks status``."""

    hooks: tuple[HookState, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """Something that recall took or left out."""

    place: str  # "MEMORY.md:12", "daily/2026-02-11.md:13-23"
    tokens: int
    why: str  # "instruction", "found (0.92)", "recent day" …
    lines: int  # of it, taken
    of_lines: int  # it has


@dataclass(frozen=True, slots=True)
class RecalledSection:
    """One section of a recalled fragment."""

    name: str
    heading: str
    body: tuple[str, ...]  # quoted lines
    taken: tuple[RecalledItem, ...]
    left_out: tuple[RecalledItem, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer of ``mem recall``: a fragment for a prompt and the receipt for it."""

    query: str
    text: str  # the fragment, empty when there is nothing to recall
    budget: int  # tokens
    tokens: int  # of the whole fragment
    sections: tuple[RecalledSection, ...]
    index: IndexState
    notes: tuple[str, ...] = ()

    @property
    def omitted(self) -> int:
        """How many items were left out or cut."""
        return sum(
            len(section.left_out) + sum(item.lines < item.of_lines for item in section.taken)
            for section in self.sections
        )
