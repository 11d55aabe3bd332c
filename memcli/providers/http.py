"""One way to post JSON to a server within a fixed time, and to sort what it refuses."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from memcli.errors import ProviderError
from memcli.providers.replies import within

MOST_BYTES = 8 << 20  # of a reply: 64 vectors of 4,096 values are 6 MB
_DETAIL_CHARS = 200

# What a 429 says when no waiting helps. Gemini says "quota" and "billing" of its limits by the
# minute too, so that the name of the limit, where there is one, comes first.
_SPENT = ("insufficient_quota", "billing", "credit_balance", "spend_limit", "usage_limit")
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]+)?")
_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_LOGIN = re.compile(r"//[^/@]*@")


@dataclass(frozen=True, slots=True)
class Server:
    """Where one section of the settings sends its requests; the key goes into headers alone."""

    section: str  # "embedding" or "llm"
    who: str
    url: str  # empty where the client knows its own
    model: str
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """How messages call it: without a name and password in its address."""
        return f"{self.who} at {_LOGIN.sub('//…@', self.url)}" if self.url else self.who


def post(server: Server, path: str, body: Mapping[str, Any], seconds: float) -> Any:
    """The JSON that the server answers. Raises ProviderError, sorted."""
    try:
        status, headers, data = within(
            seconds, server.title, lambda: _posted(server, path, body, seconds)
        )
    except httpx.TimeoutException as error:
        raise ProviderError(
            f"{server.title} does not answer in time",
            hint=f"try again, or raise {server.section}.timeout",
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise ProviderError(
            f"{server.title} does not answer ({type(error).__name__})",
            hint=f"mem config get {server.section}.url",
        ) from error
    if status != 200:
        raise refusal(server, status, data.decode("utf-8", "replace"), headers)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ProviderError(f"{server.title} answered no JSON", reason="reply") from error


def _posted(
    server: Server, path: str, body: Mapping[str, Any], seconds: float
) -> tuple[int, httpx.Headers, bytes]:
    hooks = {"response": [bounded(server.title, seconds)]}
    # Redirects are not followed: the key is for this address alone.
    with httpx.Client(timeout=seconds, event_hooks=hooks, follow_redirects=False) as client:
        answer = client.post(f"{server.url}/{path}", json=body, headers=dict(server.headers))
        return answer.status_code, answer.headers, answer.content


def bounded(title: str, seconds: float) -> Callable[[httpx.Response], None]:
    """A response hook under which a body that is too long, or comes for too long, is an error."""
    deadline = time.monotonic() + seconds

    def hook(response: httpx.Response) -> None:
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Bounded(response.stream, title, deadline)

    return hook


class _Bounded(httpx.SyncByteStream):
    """The body of a reply as it comes in."""

    def __init__(self, stream: httpx.SyncByteStream, title: str, deadline: float) -> None:
        self._stream = stream
        self._title = title
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if size > MOST_BYTES:
                raise ProviderError(
                    f"{self._title} answered more than {MOST_BYTES >> 20} MB", reason="reply"
                )
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("the answer took too long")
            yield part

    def close(self) -> None:
        self._stream.close()


def refusal(
    server: Server, status: int, text: str, headers: Mapping[str, str] | None = None
) -> ProviderError:
    """The error for a reply with another status than 200; `text` is its body."""
    reason = _reason(status, text)
    where = f"{server.title} refused with {status}"
    if reason == "key":  # its message repeats parts of the key
        return ProviderError(where, hint=f"set MEM_{server.section.upper()}_KEY", reason=reason)
    if 300 <= status < 400:
        return ProviderError(
            f"{where}: it sends elsewhere, which is not followed",
            hint=f"mem config get {server.section}.url",
            reason=reason,
        )
    if reason == "model":
        where += f": no model {server.model}?"
    detail = _detail(server, text)
    sentence = f"{where}: {detail}" if detail else where
    hint = "see your plan at the provider's" if reason == "quota" else ""
    return ProviderError(sentence, hint, reason, after=_after(headers or {}, text))


def _reason(status: int, text: str) -> str:
    said = text.lower()
    if status in (401, 403) or (status == 400 and "api_key_invalid" in said):
        return "key"
    if status == 404:
        return "model"
    if status == 402 or (status == 429 and _is_spent(said)):
        return "quota"
    if status in (408, 425, 429, 503, 529):
        return "busy"
    return "down" if status < 300 or (status >= 500 and status != 501) else "request"


def _is_spent(said: str) -> bool:
    if "perday" in said or "perminute" in said:
        return "perday" in said
    return any(mark in said for mark in _SPENT)


def _after(headers: Mapping[str, str], text: str) -> float:
    """In how many seconds the server wants to be asked again; 0 where it does not say."""
    told = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(told):
        return float(told)
    try:
        return max(0.0, (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a zone
        found = _DELAY.search(text)
        return float(found[1]) if found else 0.0


def _detail(server: Server, text: str) -> str:
    """What the server says about it, on one line and without the key."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = {} if "<" in text else {"error": text}  # a page is for browsers
    error = found.get("error", found.get("message")) if isinstance(found, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    if not isinstance(said, str):
        return ""
    if server.key:
        said = said.replace(server.key, "…")
    line = "".join(char for char in " ".join(said.split()) if char.isprintable())
    return line if len(line) <= _DETAIL_CHARS else f"{line[:_DETAIL_CHARS]}…"
