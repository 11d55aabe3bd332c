"""What makes vectors and what writes prose, as this program needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Embedder(Protocol):
    """Turns text into vectors.

    A vector is little-endian float32 bytes of length 4 x ``dimension``, of unit length. Vectors are
    plain bytes here so that a search with a cached query vector needs no array library.
    """

    @property
    def name(self) -> str:
        """Provider and model, as in "ollama:nomic-embed-text"; other names are never compared."""

    @property
    def dimension(self) -> int:
        """Values in one vector, a multiple of 8; 0 until a remote model has answered once."""

    @property
    def is_remote(self) -> bool:
        """Whether it goes over a network: then no search ever waits for it to embed passages."""

    def embed_query(self, text: str) -> bytes:
        """One vector. Raises ProviderError."""

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        """For each text its vectors joined: several when it is longer than the model's window.

        Raises ProviderError; then nothing of this batch counts.
        """


class LLM(Protocol):
    """Writes prose or JSON from a prompt, at temperature 0."""

    @property
    def name(self) -> str:
        """Provider and model, as in "ollama:llama3.2"."""

    def complete(
        self,
        prompt: str,
        *,
        system: str = "",
        schema: dict[str, Any] | None = None,
        max_tokens: int = 1_000,
    ) -> str:
        """What the model answers, never blank; asked for JSON of that JSON Schema if one is given.

        A schema is a wish: the answer may be anything. Raises ProviderError, also for an answer
        that was cut off at `max_tokens`.
        """
