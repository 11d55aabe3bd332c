"""Embeddings and prose from Google's Gemini API, over plain HTTP.

The official client brings pydantic, google-auth and websockets, all for two requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.errors import ProviderError
from memcli.providers.remote import RemoteEmbedder, RemoteLLM, Task
from memcli.providers.replies import prefixes

if TYPE_CHECKING:
    from memcli.config import Settings
    from memcli.providers.base import LLM, Embedder

URL = "https://generativelanguage.googleapis.com/v1beta"
MODEL = "gemini-embedding-001"
CHAT_MODEL = "gemini-flash-latest"
BATCH = 64  # the API takes 100
DIMENSION = 768  # its models are trained to be cut there; whole they have 3,072 values
THOUGHTS = 8_192  # tokens that a model may think, which count against the limit of its answer


def open_embedder(settings: Settings) -> Embedder:
    """An embedder that asks nothing of the server yet."""
    model = settings.embedding_model.removeprefix("models/") or MODEL
    url = (settings.embedding_url or URL).rstrip("/")
    # What has a prefix of its own for questions does not take a task.
    has_task = not any(prefixes(model))

    def ask(texts: list[str], is_query: bool, seconds: float) -> list[list[float]]:
        task = {"taskType": "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"}
        requests = [
            {
                "model": f"models/{model}",
                "content": {"parts": [{"text": text}]},
                "outputDimensionality": DIMENSION,
                **(task if has_task else {}),
            }
            for text in texts
        ]
        verb, key = "batchEmbedContents", settings.embedding_key
        return _rows(_post("embedding", url, model, key, verb, {"requests": requests}, seconds))

    timeout = settings.embedding_timeout
    return RemoteEmbedder("gemini", model, batch=BATCH, who="Gemini", timeout=timeout, ask=ask)


def open_llm(settings: Settings) -> LLM:
    """An LLM that asks nothing of the server yet."""
    model = settings.llm_model.removeprefix("models/") or CHAT_MODEL
    url = (settings.llm_url or URL).rstrip("/")

    def ask(task: Task, seconds: float) -> tuple[object, bool]:
        config: dict[str, Any] = {"temperature": 0, "maxOutputTokens": task.max_tokens + THOUGHTS}
        if task.schema is not None:
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = task.schema
        body: dict[str, Any] = {
            "contents": [{"role": "user", "parts": [{"text": task.prompt}]}],
            "generationConfig": config,
        }
        if task.system:
            body["systemInstruction"] = {"parts": [{"text": task.system}]}
        return _text(_post("llm", url, model, settings.llm_key, "generateContent", body, seconds))

    return RemoteLLM("gemini", model, who="Gemini", timeout=settings.llm_timeout, ask=ask)


def _post(
    section: str, url: str, model: str, key: str, verb: str, body: dict[str, Any], seconds: float
) -> Any:
    # Here, not above: this import costs more than a search whose query vector is cached.
    from memcli.providers.http import Server, post

    headers = {"x-goog-api-key": key} if key else {}
    server = Server(section, "Gemini", url, model, key, headers)
    return post(server, f"models/{model}:{verb}", body, seconds)


def _rows(answer: Any) -> list[list[float]]:
    """The vectors of a reply. Raises ProviderError for another shape."""
    try:
        return [[float(value) for value in row["values"]] for row in answer["embeddings"]]
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise ProviderError(
            f"Gemini answered no vectors ({type(error).__name__})", reason="reply"
        ) from error


def _text(answer: Any) -> tuple[object, bool]:
    """The text of a reply, without thoughts, and whether it was cut off.

    Raises ProviderError for another shape, and for what was withheld, with its reason.
    """
    try:
        feedback = answer.get("promptFeedback") or {}
        if blocked := feedback.get("blockReason"):
            raise ProviderError(f"Gemini does not take the prompt ({blocked})", reason="reply")
        candidates = answer.get("candidates") or []
        if not candidates:
            return "", False
        first = candidates[0]
        ended = first.get("finishReason") or "STOP"
        if ended not in ("STOP", "MAX_TOKENS"):
            raise ProviderError(f"Gemini withheld its answer ({ended})", reason="reply")
        parts = (first.get("content") or {}).get("parts") or []
        text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
    except (LookupError, TypeError, AttributeError) as error:
        raise ProviderError(
            f"Gemini answered no message ({type(error).__name__})", reason="reply"
        ) from error
    return text, ended == "MAX_TOKENS"
