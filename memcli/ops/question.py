"""The vector of a question: kept from the last time, or asked of the embedder."""

from __future__ import annotations

from memcli.errors import ProviderError, UsageError
from memcli.workspace import Workspace


def query_vector(workspace: Workspace, text: str, *, is_required: bool, now: float) -> bytes | None:
    """The question's vector as float32; None where it cannot be had or compared, which is noted.

    Where it is required, raises UsageError without an embedder and ProviderError when that fails.
    """
    embedder = workspace.embedder
    if embedder is None:
        if is_required:
            raise UsageError(
                "a search by meaning needs an embedding provider",
                hint="mem config set embedding.provider builtin",
            )
        return None
    backend = workspace.backend
    kept = backend.model()
    is_ours = kept == embedder.name
    if kept and not is_ours and _has_vectors(workspace):
        workspace.notes.append(
            f"re-embed needed: the vectors here are of {kept}, the settings say {embedder.name};"
            " searched by keyword; run: mem index"
        )
        return None
    vector = backend.query_vector(text) if is_ours else None
    if vector is None:
        try:
            vector = embedder.embed_query(text)
        except ProviderError as error:
            if is_required:
                raise
            workspace.notes.append(f"searched by keyword only, no embedding: {error.with_hint}")
            return None
        _keep(workspace, text, vector, now)
    if is_ours and embedder.is_remote and not _fits(workspace, vector):
        return None
    return vector


def _keep(workspace: Workspace, text: str, vector: bytes, now: float) -> None:
    backend, embedder = workspace.backend, workspace.embedder
    assert embedder is not None

    def keep() -> None:
        if backend.model() != embedder.name:
            backend.use_model(embedder.name)
        backend.keep_query(text, vector, int(now))

    workspace.write_if_free("search", keep)


def _fits(workspace: Workspace, vector: bytes) -> bool:
    """Whether a question's vector can be compared; if not, that is noted."""
    size, kept = len(vector) // 4, workspace.backend.dimension()
    if not kept or size == kept or not _has_vectors(workspace):
        return True
    workspace.notes.append(
        f"re-embed needed: the vectors here have {kept} values, {workspace.backend.model()} makes"
        f" {size} now; searched by keyword; run: mem index"
    )
    return False


def _has_vectors(workspace: Workspace) -> bool:
    _, chunks, pending = workspace.backend.counts()
    return pending < chunks
