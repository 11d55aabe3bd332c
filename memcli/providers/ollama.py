"""Embeddings and prose from a local Ollama server, by its official client.

How long a model stays loaded is left to the server (OLLAMA_KEEP_ALIVE), and a missing one is never
pulled: that is gigabytes, so the command for it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from memcli.errors import ProviderError
from memcli.providers.remote import RemoteEmbedder, RemoteLLM, Task
from memcli.providers.replies import within

if TYPE_CHECKING:
    from ollama import Client

    from memcli.config import Settings
    from memcli.providers.base import LLM, Embedder
    from memcli.providers.http import Server

T = TypeVar("T")

MODEL = "nomic-embed-text"
CHAT_MODEL = "llama3.2"
BATCH = 16  # texts a request, so that none outlasts the time-out on a slow machine
# Ollama's own window is smaller than our prompts, and it cuts them without a word.
WINDOW = 16_384  # tokens


def open_embedder(settings: Settings) -> Embedder:
    """An embedder that asks nothing of the server yet.

    An empty address means the client's own rule (OLLAMA_HOST).
    """
    model, timeout = settings.embedding_model or MODEL, settings.embedding_timeout

    def ask(texts: list[str], is_query: bool, seconds: float) -> Sequence[Sequence[float]]:
        def embed(client: Client) -> Sequence[Sequence[float]]:
            return client.embed(model=model, input=texts, truncate=True).embeddings

        url, key = settings.embedding_url, settings.embedding_key
        return _asked("embedding", url, model, key, seconds, embed)

    return RemoteEmbedder("ollama", model, batch=BATCH, who="Ollama", timeout=timeout, ask=ask)


def open_llm(settings: Settings) -> LLM:
    """An LLM that asks nothing of the server yet."""
    model = settings.llm_model or CHAT_MODEL

    def ask(task: Task, seconds: float) -> tuple[object, bool]:
        options = {"temperature": 0, "num_predict": task.max_tokens, "num_ctx": WINDOW}

        def chat(client: Client) -> tuple[str, bool]:
            # As it is written: then an answer that broke off is known by its missing end.
            parts = client.chat(
                model=model,
                messages=task.messages,
                format=task.schema,
                options=options,
                stream=True,
            )
            text = []
            for part in parts:
                text.append(part.message.content or "")
                if part.done:
                    return "".join(text), part.done_reason == "length"
            raise ProviderError("Ollama broke off its answer")

        return _asked("llm", settings.llm_url, model, settings.llm_key, seconds, chat)

    return RemoteLLM("ollama", model, who="Ollama", timeout=settings.llm_timeout, ask=ask)


def _asked(
    section: str, url: str, model: str, key: str, seconds: float, ask: Callable[[Client], T]
) -> T:
    """What `ask` gets from a client. Raises ProviderError, sorted."""
    # Here, not above: these imports cost more than a search whose query vector is cached.
    from ollama import Client

    from memcli.providers.http import Server, bounded

    server = Server(section, "Ollama", url, model, key)
    try:
        client = Client(
            host=url or None,
            follow_redirects=False,  # the key is for this address alone
            timeout=seconds,
            headers={"Authorization": f"Bearer {key}"} if key else None,
            event_hooks={"response": [bounded(server.title, seconds)]},
        )
    except ValueError as error:
        raise ProviderError(
            f"{server.title}: that is no address", hint=f"mem config get {section}.url"
        ) from error
    with _sorted_errors(server):
        return within(seconds, server.title, lambda: ask(client))


@contextmanager
def _sorted_errors(server: Server) -> Iterator[None]:
    """Turn whatever the client raises into a ProviderError with its reason."""
    import httpx
    from ollama import ResponseError

    try:
        yield
    except ResponseError as error:
        raise _refusal(server, error.status_code, error.error) from error
    except httpx.TimeoutException as error:
        raise ProviderError(
            f"{server.title} does not answer in time",
            hint=f"it may still load {server.model}: try again, or raise {server.section}.timeout",
        ) from error
    except (ConnectionError, httpx.HTTPError, httpx.InvalidURL) as error:
        other = "builtin" if server.section == "embedding" else "none"
        raise ProviderError(
            f"{server.title} does not answer ({type(error).__name__})",
            hint=f"ollama serve, or: mem config set {server.section}.provider {other}",
        ) from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        # What the client meets in a reply that is no JSON, or another one than it asked for.
        raise ProviderError(
            f"Ollama answered nonsense ({type(error).__name__})", reason="reply"
        ) from error


def _refusal(server: Server, status: int, text: object) -> ProviderError:
    from memcli.providers.http import refusal

    said = str(text).lower()
    if status == 404 or ("not found" in said and "pull" in said):
        return ProviderError(
            f"Ollama has no model {server.model}",
            hint=f"ollama pull {server.model}",
            reason="model",
        )
    if "does not support" in said:
        kind = "embeddings" if server.section == "embedding" else "answers"
        return ProviderError(
            f"{server.model} is no model for {kind}",
            hint=f"mem config get {server.section}.model",
            reason="model",
        )
    return refusal(server, status, str(text))
