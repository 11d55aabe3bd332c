"""What is remembered, how fresh the index is, and by which model it searches."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memcli import layout
from memcli.model import IndexState
from memcli.ops.differ import differ
from memcli.ops.index import confirmed
from memcli.ops.refresh import state_of
from memcli.workspace import Workspace


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


def status(workspace: Workspace) -> Status:
    """Look at everything and change nothing."""
    difference = confirmed(workspace, differ(workspace))
    kinds: dict[str, int] = {}
    found = {path: stat for path, stat in layout.scan(workspace.layout) if stat is not None}
    for kind in layout.LISTING:
        count = sum(layout.kind_of(path) == kind for path in found)
        if count:
            kinds[kind] = count
    size = sum(stat.st_size for stat in found.values())
    about = workspace.backend.about()
    state = state_of(workspace, behind=difference.behind, is_partial=False)
    embedder = workspace.embedder
    return Status(
        root=workspace.layout.root,
        index=state,
        by_kind=kinds,
        bytes=size,
        database_bytes=_size(workspace.layout.database) + _size(workspace.layout.sidecar),
        backend=about.backend,
        embedder=embedder.name if embedder else "",
        vectors_of=workspace.backend.model(),
        embedded=state.chunks - workspace.backend.counts()[2],
        is_packed=about.is_packed,
        sqlite=about.sqlite,
        journal=about.journal,
        notes=tuple(workspace.notes),
    )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
