"""Embeddings and prose from a local Ollama server, by its official client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memcli.errors import ProviderError
from memcli.providers.remote import RemoteEmbedder
from memcli.providers.replies import prose, within

if TYPE_CHECKING:
    from memcli.config import Settings
    from memcli.providers.base import LLM, Embedder

MODEL = "nomic-embed-text"
CHAT_MODEL = "llama3.2"
BATCH = 16  # texts a request, so that none outlasts the time-out on a slow machine
# Ollama's own window is smaller than our prompts, and it cuts them without a word.
WINDOW = 16_384  # tokens


def open_embedder(settings: Settings) -> Embedder:
    """An embedder that asks nothing of the server yet.

    An empty address means the client's own rule (OLLAMA_HOST).
    """
    model, url = settings.embedding_model or MODEL, settings.embedding_url
    timeout = settings.embedding_timeout

    def ask(texts: list[str]) -> Sequence[Sequence[float]]:
        # Here, not above: this import costs more than a search whose query vector is cached.
        from ollama import Client

        with _sorted_errors(model, url, "embedding"):
            client = Client(host=url or None, timeout=timeout)
            answer = within(
                timeout, "Ollama", lambda: client.embed(model=model, input=texts, truncate=True)
            )
        return answer.embeddings

    return RemoteEmbedder("ollama", model, batch=BATCH, who="Ollama", ask=ask)


def open_llm(settings: Settings) -> LLM:
    """An LLM that asks nothing of the server yet."""
    return OllamaLLM(settings.llm_model or CHAT_MODEL, settings.llm_url, settings.llm_timeout)


class OllamaLLM:
    """One chat model of one server. An empty `url` means the client's own rule (OLLAMA_HOST)."""

    def __init__(self, model: str, url: str, timeout: float) -> None:
        self._model = model
        self._url = url
        self._timeout = timeout

    @property
    def name(self) -> str:
        return f"ollama:{self._model}"

    def complete(
        self,
        prompt: str,
        *,
        system: str = "",
        schema: dict[str, Any] | None = None,
        max_tokens: int = 1_000,
    ) -> str:
        from ollama import Client  # here, not above: it costs more than a search

        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        options = {"temperature": 0, "num_predict": max_tokens, "num_ctx": WINDOW}
        with _sorted_errors(self._model, self._url, "llm"):
            client = Client(host=self._url or None, timeout=self._timeout)
            answer = within(
                self._timeout,
                "Ollama",
                lambda: client.chat(
                    model=self._model, messages=messages, format=schema, options=options
                ),
            )
        return prose(answer.message.content, "Ollama", is_cut=answer.done_reason == "length")


@contextmanager
def _sorted_errors(model: str, url: str, section: str) -> Iterator[None]:
    """Turn whatever the client raises into a ProviderError with its reason."""
    import httpx
    from ollama import ResponseError

    try:
        yield
    except ResponseError as error:
        raise _refusal(model, error.status_code, error.error) from error
    except (ConnectionError, httpx.HTTPError) as error:
        place = f" at {url}" if url else ""
        other = "builtin" if section == "embedding" else "none"
        raise ProviderError(
            f"Ollama does not answer{place} ({type(error).__name__})",
            hint=f"ollama serve, or: mem config set {section}.provider {other}",
        ) from error
    except (ValueError, TypeError) as error:  # not JSON, or not the reply that was asked for
        raise ProviderError(f"Ollama answered nonsense: {error}", reason="reply") from error


def _refusal(model: str, status: int, message: str) -> ProviderError:
    if status == 404:
        return ProviderError(
            f"Ollama has no model {model}", hint=f"ollama pull {model}", reason="model"
        )
    reason = {401: "key", 403: "key", 429: "busy"}.get(status, "down")
    return ProviderError(f"Ollama refused with {status}: {message}", reason=reason)
