"""An embedder over a network: batches, prefixes and checks, whatever the server speaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.providers.replies import prefixes, unit_vectors


class RemoteEmbedder:
    """One model of one server; ``name`` is provider and model.

    `ask` gets at most `batch` texts and answers their vectors, raising ProviderError; `who` is how
    messages call the server.
    """

    is_remote = True

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        batch: int,
        who: str,
        ask: Callable[[list[str]], Sequence[Sequence[float]]],
    ) -> None:
        self.name = f"{provider}:{model}"
        self.dimension = 0
        self._before_query, self._before_passage = prefixes(model)
        self._batch = batch
        self._who = who
        self._ask = ask

    def embed_query(self, text: str) -> bytes:
        return self._embed([self._before_query + text])[0]

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        vectors = []
        for at in range(0, len(texts), self._batch):
            batch = texts[at : at + self._batch]
            vectors += self._embed([self._before_passage + text for text in batch])
        return vectors

    def _embed(self, texts: list[str]) -> list[bytes]:
        vectors = unit_vectors(self._ask(texts), len(texts), self._who)
        self.dimension = len(vectors[0]) // 4
        return vectors
