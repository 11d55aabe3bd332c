"""The vector of a question: kept from the last time, or asked of the embedder."""

from __future__ import annotations

from memcli.errors import ProviderError, UsageError
from memcli.workspace import Workspace


def query_vector(workspace: Workspace, text: str, *, is_required: bool) -> bytes | None:
    """The question's vector as float32; None where it cannot be had or compared, which is noted.

    Where it is required, raises UsageError without an embedder, or where the vectors here are of
    another model, and ProviderError when the embedder fails.
    """
    embedder = workspace.embedder
    if embedder is None:
        if is_required:
            raise UsageError(
                "a search by meaning needs an embedding provider",
                hint="mem config set embedding.provider builtin",
            )
        return None
    backend, name = workspace.backend, embedder.name
    kept = backend.model()
    if kept != name and _has_vectors(workspace):
        differ = f"the vectors here are of {kept}, the settings say {name}"
        _refuse(workspace, differ, is_required=is_required)
        return None
    vector = backend.query_vector(name, text)
    if vector is None:
        try:
            vector = made = embedder.embed_query(text)
        except ProviderError as error:
            if is_required:
                raise
            workspace.notes.append(f"searched by keyword only, no embedding: {error.with_hint}")
            return None
        workspace.write_if_free("search", lambda: backend.keep_query(name, text, made))
    size, dimension = len(vector) // 4, backend.dimension()
    if kept == name and dimension not in (0, size) and _has_vectors(workspace):
        differ = f"the vectors here have {dimension} values, {kept} makes {size} now"
        _refuse(workspace, differ, is_required=is_required)
        return None
    return vector


def _refuse(workspace: Workspace, why: str, *, is_required: bool) -> None:
    if is_required:
        raise UsageError(f"re-embed needed: {why}", hint="mem index")
    workspace.notes.append(f"re-embed needed: {why}; searched by keyword; run: mem index")


def _has_vectors(workspace: Workspace) -> bool:
    _, chunks, pending = workspace.backend.counts()
    return pending < chunks
