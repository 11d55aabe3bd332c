"""Whether two facts say the same: equal but for spelling, or copies that differ in no detail.

Both tests are exact. A score would call "rotated daily" and "rotated weekly" alike in any sentence
that is long enough, so here every word, number, name and sign counts, in its order, but for those
listed as saying nothing. Equal keys and signatures can be looked up in a dict.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

# Words that change nothing when left out. No pronoun that points, no negation, no quantity, no
# modal verb, no time: those are what two facts differ in.
_SILENT = frozenset(("a", "an", "the", "we", "our", "also", "just", "simply", "please", "very"))
_SAME = {"are": "is", "does": "do", "has": "have", "cannot": "can not", "&": "and"}
_NEGATED = {"can't": "can not", "won't": "will not", "shan't": "shall not"}
_NO_PLURALS = frozenset(("news", "goods", "customs"))

_MARKER = re.compile(r"\A(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?")
_STARS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])(.+?)(?<=[^\s*])\1(?![\w*])")
_BARS = re.compile(r"(?<![\w_])_(?=[^\s_])(.+?)(?<=[^\s_])_(?![\w_])")
# What is compared to the letter: code spans and quoted strings. The rest goes by words.
_EXACT = re.compile(
    r"(`+)(?!`)(.+?)(?<!`)\1(?!`)|[\"“„]([^\"“”„]+)[\"”“]|«([^«»]+)»|「([^「」]+)」"
)
_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_CAMEL = re.compile(r"[a-z][A-Z]")
_AROUND = ".,;:!…。、，！；：'\"“”„‘’«»()[]"
_AT_END = " \t.,;:!…。！；，"


@lru_cache(maxsize=4096)
def key(text: str) -> str:
    """Return `text` without what is only spelling, for telling exact copies.

    Left out are case (but of code, quoted strings, identifiers and paths), spacing, the end stop, a
    list marker or task box, emphasis; Unicode is composed.
    """
    pieces = [
        piece if exact else " ".join(_fold(chunk) for chunk in piece.split())
        for piece, exact in _pieces(_plain(text), marked=True)
    ]
    return " ".join(" ".join(pieces).split()).rstrip(_AT_END)


@lru_cache(maxsize=4096)
def signature(text: str) -> tuple[str, ...]:
    """Return all that `text` says, in order, for telling copies: see `is_near_copy`.

    Articles and fillers are left out, plurals and contractions made alike. Numbers, dates,
    versions, units, signs, code, quoted strings, identifiers, paths, addresses and words of
    negation or scope all stay as they are.
    """
    parts: list[str] = []
    for piece, exact in _pieces(_plain(text), marked=False):
        if exact:
            parts.append(piece)
            continue
        for chunk in piece.split():
            parts += _parts(chunk, first=not parts)
    return tuple(parts)


def is_near_copy(one: str, other: str) -> bool:
    """Say whether the two facts differ in nothing but spelling, articles, fillers and plurals."""
    return signature(one) == signature(other) != ()


def likeness(one: str, other: str) -> float:
    """Return how much two facts have in common, from 0 to 1: Dice's measure of what they say."""
    first, second = Counter(signature(one)), Counter(signature(other))
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def _plain(text: str) -> str:
    bare = _MARKER.sub("", unicodedata.normalize("NFC", text).strip())
    for pattern, inner in ((_STARS, r"\2"), (_BARS, r"\1")):
        bare = pattern.sub(inner, bare)
    return bare.replace("’", "'")


def _pieces(text: str, *, marked: bool) -> list[tuple[str, bool]]:
    """Cut `text` at code spans and quoted strings; True goes with these, quoted as they stand
    when `marked`."""
    pieces: list[tuple[str, bool]] = []
    last = 0
    for found in _EXACT.finditer(text):
        inner = found[2] or found[3] or found[4] or found[5]
        pieces += [(text[last : found.start()], False), (found[0] if marked else inner, True)]
        last = found.end()
    return [*pieces, (text[last:], False)]


def _fold(chunk: str) -> str:
    core = chunk.strip(_AROUND)
    ordinary = _WORD.fullmatch(core) and not _CAMEL.search(core)
    return chunk.casefold() if ordinary else chunk


def _parts(chunk: str, *, first: bool) -> list[str]:
    question = ["?"] if chunk.endswith("?") else []
    core = chunk.rstrip("?").strip(_AROUND) if not chunk.endswith("()") else chunk
    if core in _SAME:
        return [*_SAME[core].split(), *question]
    if not core:
        return question
    if not _WORD.fullmatch(core) or _CAMEL.search(core):
        return [core, *question]
    # A capital A in the middle is a name, as in "plan A".
    if core == "A" and not first:
        return [core, *question]
    words = [part for word in core.casefold().split("-") for part in _normal(word)]
    return [*(word for word in words if word not in _SILENT), *question]


def _normal(word: str) -> list[str]:
    if word in _NEGATED:
        return _NEGATED[word].split()
    if word.endswith("n't"):
        return [_SAME.get(word[:-3], word[:-3]), "not"]
    if word in _SAME:
        return _SAME[word].split()
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return [word[:-1]] if plural and word not in _NO_PLURALS else [word]
