"""Embeddings from any server that speaks OpenAI's interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memcli.errors import ProviderError
from memcli.providers.replies import prefixes, unit_vectors

if TYPE_CHECKING:
    from memcli.config import Settings
    from memcli.providers.base import Embedder

URL = "https://api.openai.com/v1"
MODEL = "text-embedding-3-small"
BATCH = 64


def open_embedder(settings: Settings) -> Embedder:
    """An embedder that asks nothing of the server yet."""
    return OpenAIEmbedder(
        settings.embedding_model or MODEL,
        (settings.embedding_url or URL).rstrip("/"),
        settings.embedding_key,
        settings.embedding_timeout,
    )


class OpenAIEmbedder:
    """One model at one address. The key goes into a header and nowhere else."""

    is_remote = True

    def __init__(self, model: str, url: str, key: str, timeout: float) -> None:
        self._model = model
        self._url = url
        self._key = key
        self._timeout = timeout
        self._dimension = 0

    @property
    def name(self) -> str:
        return f"openai:{self._model}"

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed_query(self, text: str) -> bytes:
        return self._embed([prefixes(self._model)[0] + text])[0]

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        prefix = prefixes(self._model)[1]
        vectors = []
        for at in range(0, len(texts), BATCH):
            vectors += self._embed([prefix + text for text in texts[at : at + BATCH]])
        return vectors

    def _embed(self, texts: list[str]) -> list[bytes]:
        # Here, not above: this import costs more than a search whose query vector is cached.
        import httpx

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            answer = httpx.post(
                f"{self._url}/embeddings",
                json={"model": self._model, "input": texts, "encoding_format": "float"},
                headers=headers,
                timeout=self._timeout,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ProviderError(
                f"the embedding server does not answer at {self._url} ({type(error).__name__})",
                hint="mem config get embedding.url",
            ) from error
        if answer.status_code != 200:
            raise self._refusal(answer.status_code)
        vectors = unit_vectors(_rows(answer), len(texts), self._url)
        self._dimension = len(vectors[0]) // 4
        return vectors

    def _refusal(self, status: int) -> ProviderError:
        # The body of a refusal may repeat the key, so the code alone is told.
        where = f"the embedding server at {self._url} refused with {status}"
        if status in (401, 403):
            return ProviderError(where, hint="set MEM_EMBEDDING_KEY", reason="key")
        if status == 404:
            return ProviderError(f"{where}: no model {self._model}?", reason="model")
        return ProviderError(where, reason="busy" if status in (408, 429, 503) else "down")


def _rows(answer: Any) -> list[list[float]]:
    """The vectors of a reply in the order of the texts. Raises ProviderError for another shape."""
    try:
        data = sorted(answer.json()["data"], key=lambda row: row["index"])
        return [[float(value) for value in row["embedding"]] for row in data]
    except (ValueError, KeyError, TypeError) as error:
        raise ProviderError(
            f"the embedding server answered no vectors ({type(error).__name__})", reason="reply"
        ) from error
