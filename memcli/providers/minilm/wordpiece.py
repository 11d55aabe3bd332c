"""Turns text into the model's token ids: BERT's uncased WordPiece, id for id.

Words are what remains between white space, punctuation and ideographs of lower-cased text without
accents; a word is cut greedily into the longest pieces the vocabulary has (Schuster and Nakajima
2012, as in BERT). ``[SEP]`` and its like are plain characters in a text, not the model's marks.
"""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import normalize

from memcli.providers.minilm.characters import (
    IDEOGRAPHS,
    MARKS,
    PUNCTUATION,
    REMOVED,
    SPACES,
    is_in,
)

CLS = 101
SEP = 102
UNKNOWN = 100
LONGEST_WORD = 100
"""Characters; a longer word is one unknown token, whatever it is made of."""


class _Folding(dict[int, str]):
    """What each character becomes, filled as characters are met.

    One at a time is exact: decomposition reorders combining marks only, and those are dropped, or
    make their word unknown in any order, since no piece of the vocabulary holds one. Lower-casing
    one at a time is also what keeps a final sigma from becoming another letter.
    """

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold(code)
        return folded


def _fold(code: int) -> str:
    if is_in(code, SPACES):
        return " "
    if is_in(code, REMOVED):
        return ""
    decomposed = normalize("NFD", chr(code))
    base = "".join(c for c in decomposed if not is_in(ord(c), MARKS)).lower()
    padded = "".join(f" {c} " if is_in(ord(c), PUNCTUATION) else c for c in base)
    return f" {padded} " if is_in(code, IDEOGRAPHS) else padded


class WordPiece:
    """A tokenizer over one vocabulary: a piece a line, the line number is its id."""

    def __init__(self, vocabulary: str) -> None:
        # Not splitlines: some pieces are characters that it would split at.
        pieces = vocabulary.removesuffix("\n").split("\n")
        self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        self._longest = max(map(len, pieces))
        self._folding = _Folding()

    def words(self, text: str) -> Iterator[list[int]]:
        """The ids of each word in order, without the marks at the ends. Any string is legal."""
        ids = self._ids
        for word in text.translate(self._folding).split(" "):
            if not word:
                continue
            whole = ids.get(word)
            yield self._pieces(word) if whole is None else [whole]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [UNKNOWN]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return [UNKNOWN]
            pieces.append(piece)
            start = end
        return pieces
