"""Ask the servers that the settings name whether they do their part."""

from __future__ import annotations

from memcli.errors import ProviderError
from memcli.workspace import Workspace


def failing(workspace: Workspace) -> list[tuple[str, ProviderError]]:
    """The sections whose server fails now, each with its error; what stays here is not asked.

    One that failed before is asked all the same, and if it does its part again, by all commands.
    """
    found = []
    embedder, llm = workspace.embedder, workspace.llm
    with workspace.asking_anyway():
        if embedder is not None and embedder.is_remote:
            try:
                embedder.embed_query("memory")
            except ProviderError as error:
                found.append(("embedding", error))
        if llm is not None:
            try:
                llm.complete("Answer with one word: yes")
            except ProviderError as error:
                found.append(("llm", error))
    return found
