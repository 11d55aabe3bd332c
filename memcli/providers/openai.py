"""Embeddings and prose from any server that speaks OpenAI's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.errors import ProviderError
from memcli.providers.remote import RemoteEmbedder, RemoteLLM, Task

if TYPE_CHECKING:
    from memcli.config import Settings
    from memcli.providers.base import LLM, Embedder

URL = "https://api.openai.com/v1"
MODEL = "text-embedding-3-small"
CHAT_MODEL = "gpt-4o-mini"
BATCH = 64
EMBEDDER, CHAT = "the embedding server", "the LLM server"


def open_embedder(settings: Settings) -> Embedder:
    """An embedder that asks nothing of the server yet."""
    model = settings.embedding_model or MODEL
    url = (settings.embedding_url or URL).rstrip("/")

    def ask(texts: list[str], is_query: bool, seconds: float) -> list[list[float]]:
        body = {"model": model, "input": texts, "encoding_format": "float"}
        return _rows(_post("embedding", url, model, settings.embedding_key, body, seconds))

    timeout = settings.embedding_timeout
    return RemoteEmbedder("openai", model, batch=BATCH, who=EMBEDDER, timeout=timeout, ask=ask)


def open_llm(settings: Settings) -> LLM:
    """An LLM that asks nothing of the server yet."""
    model = settings.llm_model or CHAT_MODEL
    url = (settings.llm_url or URL).rstrip("/")

    def ask(task: Task, seconds: float) -> tuple[object, bool]:
        # OpenAI's own newer models refuse the old name, other servers do not know the new one.
        limit = "max_completion_tokens" if url == URL else "max_tokens"
        body: dict[str, Any] = {
            "model": model,
            "messages": task.messages,
            "temperature": 0,
            limit: task.max_tokens,
        }
        if task.schema is not None:
            named = {"name": "answer", "schema": task.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return _message(_post("llm", url, model, settings.llm_key, body, seconds))

    return RemoteLLM("openai", model, who=CHAT, timeout=settings.llm_timeout, ask=ask)


def _post(
    section: str, url: str, model: str, key: str, body: dict[str, Any], seconds: float
) -> Any:
    # Here, not above: this import costs more than a search whose query vector is cached.
    from memcli.providers.http import Server, post

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    path = "embeddings" if section == "embedding" else "chat/completions"
    server = Server(section, EMBEDDER if section == "embedding" else CHAT, url, model, key, headers)
    return post(server, path, body, seconds)


def _rows(answer: Any) -> list[list[float]]:
    """The vectors of a reply in the order of the texts. Raises ProviderError for another shape."""
    try:
        data = sorted(answer["data"], key=lambda row: row["index"])
        return [[float(value) for value in row["embedding"]] for row in data]
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise ProviderError(
            f"{EMBEDDER} answered no vectors ({type(error).__name__})", reason="reply"
        ) from error


def _message(answer: Any) -> tuple[object, bool]:
    """The text of a reply and whether it was cut off. Raises ProviderError for another shape."""
    try:
        choice = answer["choices"][0]
        text, reason = choice["message"]["content"], choice.get("finish_reason")
    except (LookupError, TypeError, AttributeError) as error:
        raise ProviderError(
            f"{CHAT} answered no message ({type(error).__name__})", reason="reply"
        ) from error
    if reason == "content_filter":
        raise ProviderError(f"{CHAT} withheld its answer (content_filter)", reason="reply")
    return text, reason == "length"
