"""Embeddings and prose over a network: batches, tries and checks, whatever the server speaks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from memcli.errors import ProviderError
from memcli.providers.replies import prefixes, prose, unit_vectors

T = TypeVar("T")

ATTEMPTS = 3
QUESTION_ATTEMPTS = 2  # somebody waits for the answer, and has one by keyword
PASSING = ("busy", "down")  # what another try may mend
_PAUSES = (0.01, 0.05)  # before the next try, as shares of the time that there is


def retried(seconds: float, ask: Callable[[float], T], *, attempts: int = ATTEMPTS) -> T:
    """What `ask` returns, which is told how many seconds are left of `seconds`.

    Asked again only where that may help, and where the server's own wish for a pause leaves time
    for it. Raises the last ProviderError.
    """
    deadline = time.monotonic() + seconds
    for share in _PAUSES[: attempts - 1]:
        try:
            return ask(deadline - time.monotonic())
        except ProviderError as error:
            pause = max(share * seconds, error.after)
            if error.reason not in PASSING or time.monotonic() + pause >= deadline:
                raise
        time.sleep(pause)
    return ask(deadline - time.monotonic())


class RemoteEmbedder:
    """One model of one server; ``name`` is provider and model.

    `ask` gets at most `batch` texts, whether they are questions, and its seconds; it answers their
    vectors, raising ProviderError. `who` is how messages call the server.
    """

    is_remote = True

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        batch: int,
        who: str,
        timeout: float,
        ask: Callable[[list[str], bool, float], Sequence[Sequence[float]]],
    ) -> None:
        self.name = f"{provider}:{model}"
        self.dimension = 0
        self._before_query, self._before_passage = prefixes(model)
        self._batch = batch
        self._who = who
        self._timeout = timeout
        self._ask = ask

    def embed_query(self, text: str) -> bytes:
        (vector,) = self._embed([self._before_query + text], is_query=True)
        self.dimension = len(vector) // 4
        return vector

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        vectors: list[bytes] = []
        for at in range(0, len(texts), self._batch):
            batch = texts[at : at + self._batch]
            vectors += self._embed([self._before_passage + text for text in batch], is_query=False)
        if len({len(vector) for vector in vectors}) > 1:
            raise ProviderError(
                f"{self._who} changed the dimension of its vectors meanwhile", reason="reply"
            )
        if vectors:
            self.dimension = len(vectors[0]) // 4
        return vectors

    def _embed(self, texts: list[str], *, is_query: bool) -> list[bytes]:
        answer = retried(
            self._timeout,
            lambda seconds: self._ask(texts, is_query, seconds),
            attempts=QUESTION_ATTEMPTS if is_query else ATTEMPTS,
        )
        return unit_vectors(answer, len(texts), self._who)


@dataclass(frozen=True, slots=True)
class Task:
    """What an LLM is asked for."""

    prompt: str
    system: str
    schema: dict[str, Any] | None
    max_tokens: int

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as Ollama's and OpenAI's interfaces take it."""
        first = [{"role": "system", "content": self.system}] if self.system else []
        return [*first, {"role": "user", "content": self.prompt}]


class RemoteLLM:
    """One chat model of one server; ``name`` is provider and model.

    `ask` gets the task and its seconds; it answers a text and whether that was cut off at its
    limit, raising ProviderError.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        who: str,
        timeout: float,
        ask: Callable[[Task, float], tuple[object, bool]],
    ) -> None:
        self.name = f"{provider}:{model}"
        self._who = who
        self._timeout = timeout
        self._ask = ask

    def complete(
        self,
        prompt: str,
        *,
        system: str = "",
        schema: dict[str, Any] | None = None,
        max_tokens: int = 1_000,
    ) -> str:
        task = Task(prompt, system, schema, max_tokens)
        text, is_cut = retried(self._timeout, lambda seconds: self._ask(task, seconds))
        return prose(text, self._who, is_cut=is_cut)
