"""Embeddings and prose from any server that speaks OpenAI's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcli.errors import ProviderError
from memcli.providers.remote import RemoteEmbedder
from memcli.providers.replies import prose, within

if TYPE_CHECKING:
    import httpx

    from memcli.config import Settings
    from memcli.providers.base import LLM, Embedder

URL = "https://api.openai.com/v1"
MODEL = "text-embedding-3-small"
CHAT_MODEL = "gpt-4o-mini"
BATCH = 64


def open_embedder(settings: Settings) -> Embedder:
    """An embedder that asks nothing of the server yet."""
    model = settings.embedding_model or MODEL
    url = (settings.embedding_url or URL).rstrip("/")

    def ask(texts: list[str]) -> list[list[float]]:
        body = {"model": model, "input": texts, "encoding_format": "float"}
        key, timeout = settings.embedding_key, settings.embedding_timeout
        return _rows(_ask("embedding", url, "embeddings", key, body, timeout))

    return RemoteEmbedder("openai", model, batch=BATCH, who=url, ask=ask)


def open_llm(settings: Settings) -> LLM:
    """An LLM that asks nothing of the server yet."""
    return OpenAILLM(
        settings.llm_model or CHAT_MODEL,
        (settings.llm_url or URL).rstrip("/"),
        settings.llm_key,
        settings.llm_timeout,
    )


class OpenAILLM:
    """One chat model at one address. The key goes into a header and nowhere else."""

    def __init__(self, model: str, url: str, key: str, timeout: float) -> None:
        self._model = model
        self._url = url
        self._key = key
        self._timeout = timeout

    @property
    def name(self) -> str:
        return f"openai:{self._model}"

    def complete(
        self,
        prompt: str,
        *,
        system: str = "",
        schema: dict[str, Any] | None = None,
        max_tokens: int = 1_000,
    ) -> str:
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        if schema is not None:
            named = {"name": "answer", "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        answer = _ask("llm", self._url, "chat/completions", self._key, body, self._timeout)
        try:
            choice = answer.json()["choices"][0]
            text, reason = choice["message"]["content"], choice.get("finish_reason")
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ProviderError(
                f"the LLM server answered no message ({type(error).__name__})", reason="reply"
            ) from error
        return prose(text, self._url, is_cut=reason == "length")


def _ask(
    section: str, url: str, path: str, key: str, body: dict[str, Any], timeout: float
) -> httpx.Response:
    """Post `body`; the answer has status 200. Raises ProviderError, sorted."""
    # Here, not above: this import costs more than a search whose query vector is cached.
    import httpx

    who = "LLM" if section == "llm" else section
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = within(
            timeout,
            f"the {who} server at {url}",
            lambda: httpx.post(f"{url}/{path}", json=body, headers=headers, timeout=timeout),
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ProviderError(
            f"the {who} server does not answer at {url} ({type(error).__name__})",
            hint=f"mem config get {section}.url",
        ) from error
    status = answer.status_code
    if status == 200:
        return answer
    # The body of a refusal may repeat the key, so the code alone is told.
    where = f"the {who} server at {url} refused with {status}"
    if status in (401, 403):
        raise ProviderError(where, hint=f"set MEM_{section.upper()}_KEY", reason="key")
    if status == 404:
        raise ProviderError(f"{where}: no model {body['model']}?", reason="model")
    raise ProviderError(where, reason="busy" if status in (408, 429, 503) else "down")


def _rows(answer: Any) -> list[list[float]]:
    """The vectors of a reply in the order of the texts. Raises ProviderError for another shape."""
    try:
        data = sorted(answer.json()["data"], key=lambda row: row["index"])
        return [[float(value) for value in row["embedding"]] for row in data]
    except (ValueError, KeyError, TypeError) as error:
        raise ProviderError(
            f"the embedding server answered no vectors ({type(error).__name__})", reason="reply"
        ) from error
