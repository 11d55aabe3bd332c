"""The built-in embedder: all-MiniLM-L6-v2, which needs no server, no key and no download."""

from __future__ import annotations

import _thread  # for one lock; threading is spared a search
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.providers.minilm.model import Model

NAME = "builtin:all-MiniLM-L6-v2"
"""Vectors of one name are compared: a change that makes them incomparable changes the name."""


class Builtin:
    """Opens the model with the first text, so that to name the embedder loads no array library."""

    name = NAME
    dimension = 384
    is_remote = False

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._opened: Model | None = None

    def embed_query(self, text: str) -> bytes:
        """One vector, of the first window of a text that is longer."""
        return self._model().embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        """For each text the vectors of its windows joined, at least one."""
        return self._model().embed_passages(texts)

    def _model(self) -> Model:
        # Imported here: numpy alone takes longer than a search that has its query vector cached.
        from memcli.providers.minilm.model import Model

        with self._lock:
            if self._opened is None:
                self._opened = Model()
            return self._opened


def open_embedder(settings: object) -> Builtin:
    """The embedder; there is nothing to set."""
    return Builtin()
