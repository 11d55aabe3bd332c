"""The index brought in step before an answer is given."""

from __future__ import annotations

from memcli.errors import ConflictError, WorkspaceError
from memcli.model import IndexState
from memcli.ops.differ import Difference, differ, differ_quickly, some_files
from memcli.store.db import DamagedError
from memcli.workspace import Workspace

AT_ONCE_FILES = 2_000  # what a search takes in before it answers: a second's work or so
AT_ONCE_BYTES = 16 << 20

BEAT = 5  # seconds for which a watcher's word is taken instead of a walk ...
WALKED_ANYWAY = 500  # ... but not for so few files: a walk of them costs nothing that is felt


def refresh(workspace: Workspace, *, now: float) -> IndexState:
    """What a search does first: take in what changed, or say how far behind the index is.

    Never waits: when another writer is at work, or when so much changed that a person would wonder,
    the answer comes from what is there.
    """
    backend = workspace.backend
    if 0 <= now - backend.beaten_at() <= BEAT and backend.counts()[0] > WALKED_ANYWAY:
        return state_of(workspace, behind=0, is_partial=False)
    if backend.is_lasting and backend.counts()[0] > workspace.settings.index_walk_limit:
        difference = differ_quickly(workspace)
    else:
        difference = differ(workspace)
    behind = _take_in(workspace, difference, now) if difference.behind else 0
    return state_of(workspace, behind=behind, is_partial=difference.is_partial)


def _take_in(workspace: Workspace, difference: Difference, now: float) -> int:
    """Index what changed, or note why that is not done; how many files the index is behind."""
    # Reader and chunker, spared where nothing changed.
    from memcli.ops.index import apply, confirmed

    behind = difference.behind
    if workspace.backend.is_lasting and (
        behind > AT_ONCE_FILES or difference.bytes > AT_ONCE_BYTES
    ):
        workspace.notes.append(f"the index is behind by {behind} files; run: mem index")
        return behind
    reason = f"{workspace.layout.database} may not be written"
    try:
        if not workspace.backend.is_lasting:
            workspace.notes += apply(workspace, difference, now=now).notes
            return 0
        if workspace.is_writable:
            with workspace.lock_if_free("search"):
                workspace.notes += apply(workspace, difference, now=now).notes
                return 0
    except DamagedError:
        raise
    except (ConflictError, WorkspaceError) as error:
        reason = str(error)
    behind = confirmed(workspace, difference).behind
    if behind:
        workspace.notes.append(f"the index is behind by {some_files(behind)}: {reason}")
    return behind


def state_of(workspace: Workspace, *, behind: int, is_partial: bool) -> IndexState:
    """The index as an answer reports it."""
    files, chunks, pending = workspace.backend.counts()
    if workspace.settings.embedding_provider == "none":
        pending = 0
    state = "stale" if behind else "partial" if is_partial else "fresh"
    return IndexState(state, files=files, chunks=chunks, pending=pending, behind=behind)
