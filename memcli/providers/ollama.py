"""Embeddings from a local Ollama server, by its official client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.errors import ProviderError
from memcli.providers.replies import prefixes, unit_vectors

if TYPE_CHECKING:
    from memcli.config import Settings
    from memcli.providers.base import Embedder

MODEL = "nomic-embed-text"
BATCH = 16  # texts a request, so that none outlasts the time-out on a slow machine


def open_embedder(settings: Settings) -> Embedder:
    """An embedder that asks nothing of the server yet."""
    return OllamaEmbedder(
        settings.embedding_model or MODEL, settings.embedding_url, settings.embedding_timeout
    )


class OllamaEmbedder:
    """One model of one server. An empty `url` means the client's own rule (OLLAMA_HOST)."""

    is_remote = True

    def __init__(self, model: str, url: str, timeout: float) -> None:
        self._model = model
        self._url = url
        self._timeout = timeout
        self._dimension = 0

    @property
    def name(self) -> str:
        return f"ollama:{self._model}"

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
        from ollama import Client, ResponseError

        try:
            client = Client(host=self._url or None, timeout=self._timeout)
            answer = client.embed(model=self._model, input=texts, truncate=True)
        except ResponseError as error:
            raise self._refusal(error.status_code, error.error) from error
        except (ConnectionError, httpx.HTTPError) as error:
            place = f" at {self._url}" if self._url else ""
            raise ProviderError(
                f"Ollama does not answer{place} ({type(error).__name__})",
                hint="ollama serve, or: mem config set embedding.provider builtin",
            ) from error
        except ValueError as error:  # not JSON, or not the reply of an embedding model
            raise ProviderError(f"Ollama answered nonsense: {error}", reason="reply") from error
        vectors = unit_vectors(answer.embeddings, len(texts), "Ollama")
        self._dimension = len(vectors[0]) // 4
        return vectors

    def _refusal(self, status: int, message: str) -> ProviderError:
        if status == 404:
            return ProviderError(
                f"Ollama has no model {self._model}",
                hint=f"ollama pull {self._model}",
                reason="model",
            )
        reason = {401: "key", 403: "key", 429: "busy"}.get(status, "down")
        return ProviderError(f"Ollama refused with {status}: {message}", reason=reason)
