"""Make the vectors that chunks wait for, in batches that are each kept at once."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from memcli.errors import ConflictError, ProviderError, WorkspaceError
from memcli.model import IndexState, Progress
from memcli.store.embeddings import Pending, passage
from memcli.workspace import Workspace

QUIET_BATCH = 4  # chunks between two looks at what changed meanwhile
BATCH = 32  # chunks between two commits: some seconds of the built-in model


def embed_pending(
    workspace: Workspace, *, progress: Progress | None = None
) -> tuple[int, list[str]]:
    """Embed all that is pending, newest first; how many, and what there is to say.

    Stopped at any point it goes on there the next time. A provider that fails is a note: keyword
    search has these chunks already. One that failed before is asked all the same.
    """
    embedder = workspace.embedder
    if embedder is None:
        return 0, []
    follow_model(workspace)
    if embedder.is_remote:
        with workspace.lock("index"):
            workspace.backend.outgrow()
    done = 0
    total = workspace.backend.counts()[2]
    while waiting := workspace.backend.pending(BATCH):
        if progress:
            progress("embedding", done, total)
        try:
            with workspace.asking_anyway():
                _embed(workspace, waiting)
        except ProviderError as error:
            return done, [f"{total - done} chunks have no vectors yet: {error.with_hint}"]
        done += len(waiting)
    return done, []


def embed_newest(workspace: Workspace) -> int:
    """Embed a few of the newest that are pending; how many. Raises ProviderError.

    A provider that failed before is asked all the same: to wait is the caller's part. Raises
    ConflictError where another model counts, since somebody may have changed the settings.
    """
    kept, own = workspace.backend.model(), workspace.embedder
    if own is not None and kept != own.name:
        raise ConflictError(
            f"the vectors here are of {kept} now, not of {own.name}", hint="start mem watch again"
        )
    waiting = workspace.backend.pending(QUIET_BATCH)
    if waiting:
        with workspace.asking_anyway():
            _embed(workspace, waiting)
    return len(waiting)


def embed_found(workspace: Workspace, chunks: Sequence[int], state: IndexState) -> IndexState:
    """Spend a small slice on the pending chunks that this query found, and say what is left."""
    assert workspace.embedder is not None
    seconds = workspace.settings.embedding_slice_ms / 1000
    done = 0
    if seconds and chunks and not workspace.embedder.is_remote and workspace.is_writable:
        try:
            with workspace.lock_if_free("search"):
                follow_model(workspace)  # of no other are there vectors, or the question had none
            done = _embed_slice(workspace, chunks, seconds=seconds)
        except (ConflictError, WorkspaceError, ProviderError) as error:
            workspace.notes.append(f"no vectors were made: {error}")
    left = state.pending - done
    if left:
        workspace.notes.append(
            f"{left} of {state.chunks} chunks have no vectors yet and are found by keyword only;"
            " run: mem index"
        )
    return replace(state, pending=left)


def _embed_slice(workspace: Workspace, chunks: Sequence[int], *, seconds: float) -> int:
    """Embed what is pending of `chunks`, in their order, one by one until the time is spent."""
    deadline = time.monotonic() + seconds
    done = 0
    for waiting in workspace.backend.pending(len(chunks), first=chunks):
        if time.monotonic() >= deadline:
            break
        _embed(workspace, [waiting])
        done += 1
    return done


def follow_model(workspace: Workspace) -> None:
    """Make the embedder's vectors those that count. Vectors of two models never meet."""
    assert workspace.embedder is not None
    if workspace.backend.model() != workspace.embedder.name:
        with workspace.lock("index"):
            workspace.backend.use_model(workspace.embedder.name)


def _embed(workspace: Workspace, waiting: Collection[Pending]) -> None:
    assert workspace.embedder is not None
    texts = [passage(one.heading, one.body) for one in waiting]
    vectors = workspace.embedder.embed_passages(texts)
    made = [(one.key, vector) for one, vector in zip(waiting, vectors, strict=True)]
    with workspace.lock("embed"):
        workspace.backend.put_vectors(workspace.embedder.name, made, workspace.embedder.dimension)
