"""Text in, vectors out: the tokenizer, the windows and the engine put together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

from memcli.providers.minilm.engine import Engine
from memcli.providers.minilm.weights import VOCABULARY, damaged
from memcli.providers.minilm.windows import cut, head
from memcli.providers.minilm.wordpiece import CLS, SEP, WordPiece

WINDOW_TOKENS = 256
"""Most tokens behind one vector, the marks at its two ends included."""

WINDOW_OVERLAP = 0
"""Most tokens that two neighbouring windows of one text share."""

_TEXT_TOKENS = WINDOW_TOKENS - 2
_FOLDER = os.path.dirname(os.path.abspath(__file__))


class Model:
    """all-MiniLM-L6-v2 as shipped. Raises ProviderError if its files are missing or damaged.

    A text without a word, the empty one included, has the vector of the two end marks alone.
    """

    def __init__(self, folder: str = _FOLDER) -> None:
        self._tokenizer = WordPiece(_read_vocabulary(os.path.join(folder, "vocab.txt")))
        self._engine = Engine(os.path.join(folder, "weights.bin"))

    def embed_query(self, text: str) -> bytes:
        """The vector of the first window, as little-endian float32: a query is short or is cut."""
        tokens = head(self._tokenizer.words(text), size=_TEXT_TOKENS)
        return self._engine.embed([[CLS, *tokens, SEP]]).astype("<f4").tobytes()

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of every window of each text, joined in their order: at least one."""
        windows: list[list[int]] = []
        ends = [0]
        for text in texts:
            pieces = cut(self._tokenizer.words(text), size=_TEXT_TOKENS, overlap=WINDOW_OVERLAP)
            windows += [[CLS, *tokens, SEP] for tokens in pieces] or [[CLS, SEP]]
            ends.append(len(windows))
        vectors = self._engine.embed(windows).astype("<f4")
        return [vectors[a:b].tobytes() for a, b in pairwise(ends)]


def _read_vocabulary(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            vocabulary = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise damaged(path) from error
    if vocabulary.count("\n") != VOCABULARY:
        raise damaged(path)
    return vocabulary
