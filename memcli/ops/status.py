"""What is remembered, how fresh the index is, and by which model it searches."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from memcli import layout
from memcli.edit import read
from memcli.model import IndexState
from memcli.ops import queue
from memcli.ops.differ import differ
from memcli.ops.index import confirmed
from memcli.ops.pinned_budget import budget_notes
from memcli.ops.refresh import state_of
from memcli.text.dates import date_of
from memcli.text.decode import decode
from memcli.text.facts import PinnedFact, parse
from memcli.text.limits import characters
from memcli.workspace import Workspace

WEEKS = 52  # that are shown at most
USED = 3  # files that are named


@dataclass(frozen=True, slots=True)
class WeekSize:
    """The dated files of one week."""

    week: str  # "2026-W07"
    bytes: int


@dataclass(frozen=True, slots=True)
class Used:
    """A memory file that a search or a recall has shown."""

    path: str
    used_at: datetime  # when last


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
    unused_vectors: int  # cached, of passages that are gone
    questions: int  # with a cached vector
    sqlite: str
    journal: str
    bytes_by_kind: dict[str, int] = field(default_factory=dict)
    weeks: tuple[WeekSize, ...] = ()  # the last ones, oldest first, also those without a log
    facts: int = 0  # in force
    fact_chars: int = 0
    used_files: int = 0  # that a search or a recall has shown
    used: tuple[Used, ...] = ()  # the last of them, newest first
    jobs: dict[str, int] = field(default_factory=dict)  # in the queue, by state
    notes: tuple[str, ...] = ()


def status(workspace: Workspace) -> Status:
    """Look at everything and change nothing."""
    difference = confirmed(workspace, differ(workspace))
    found = {path: stat for path, stat in layout.scan(workspace.layout) if stat is not None}
    sizes = {path: stat.st_size for path, stat in found.items()}
    kinds, taken = _by_kind(sizes)
    facts, notes = _pinned(workspace)
    about = workspace.backend.about()
    state = state_of(workspace, behind=difference.behind, is_partial=False)
    embedder = workspace.embedder
    uses = sorted(workspace.backend.last_uses().items(), key=lambda one: (-one[1], one[0]))
    return Status(
        root=workspace.layout.root,
        index=state,
        by_kind=kinds,
        bytes=sum(sizes.values()),
        database_bytes=_size(workspace.layout.database) + _size(workspace.layout.sidecar),
        backend=about.backend,
        embedder=embedder.name if embedder else "",
        vectors_of=workspace.backend.model(),
        embedded=state.chunks - workspace.backend.counts()[2],
        is_packed=about.is_packed,
        unused_vectors=about.unused_vectors,
        questions=about.questions,
        sqlite=about.sqlite,
        journal=about.journal,
        bytes_by_kind=taken,
        weeks=_weeks(sizes),
        facts=sum(it.fact.enabled for it in facts),
        fact_chars=characters(facts),
        used_files=len(uses),
        used=tuple(Used(path, datetime.fromtimestamp(at).astimezone()) for path, at in uses[:USED]),
        jobs=queue.counts(workspace),
        notes=(*workspace.notes, *notes),
    )


def _by_kind(sizes: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Files and bytes of each kind that there is, in the order of a listing."""
    files: dict[str, int] = dict.fromkeys(layout.LISTING, 0)
    taken: dict[str, int] = dict.fromkeys(layout.LISTING, 0)
    for path, size in sizes.items():
        files[layout.kind_of(path)] += 1
        taken[layout.kind_of(path)] += size
    kinds = [kind for kind in layout.LISTING if files[kind]]
    return {kind: files[kind] for kind in kinds}, {kind: taken[kind] for kind in kinds}


def _weeks(sizes: Mapping[str, int]) -> tuple[WeekSize, ...]:
    """What each week added, up to the last one with a dated file."""
    taken: Counter[date] = Counter()
    for path, size in sizes.items():
        day = date_of(path)
        if day:
            at = date.fromisoformat(day)
            taken[at - timedelta(days=at.weekday())] += size
    if not taken:
        return ()
    last = max(taken)
    count = min(WEEKS, (last - min(taken)).days // 7 + 1)
    mondays = [last - timedelta(weeks=back) for back in reversed(range(count))]
    return tuple(WeekSize(f"{monday:%G-W%V}", taken[monday]) for monday in mondays)


def _pinned(workspace: Workspace) -> tuple[tuple[PinnedFact, ...], list[str]]:
    facts = parse(decode(read(workspace.layout, layout.MEMORY_FILE) or b"")[0]).facts
    return facts, budget_notes(workspace, facts)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
