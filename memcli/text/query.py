"""Turn any string into a search: an FTS5 expression and its parts.

Every verb that searches builds its query here. Nothing typed is an operator but a pair of double
quotes around a phrase; every term reaches FTS5 in quotes, so no string is a syntax error.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.words import clean, humps, normalise, parts, pieces, sign_names, tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_MOST_PARTS = 96  # a pasted log must not become a thousand-term query
_LONGEST_PHRASE = 32  # words; what follows them hardly ever decides
_LONGEST_NEEDLE = 200  # characters
_WIDEST_PAIR = 4  # words, the stop words between the two included

# In a text with more words than this around its quotes, the quotes are prose and not an operator:
# on the evaluation sets, where no quote was meant as one, that is worth 1.4 points of nDCG@10.
_MOST_AROUND_QUOTES = 6

# A word that may be two typed as one, and each of these, in letters.
_LONGEST_WHOLE = 32
_SHORTEST_HALF = 3

# English words that say nothing about the subject. "not", "no" and the like stay out: they are
# rare in notes and often the point. With them go the halves that the apostrophe leaves.
_STOP = """
    a about after all also am an and any are as at be because been before being between both
    but by can could did do does doing during each few for from further had has have having he her
    here hers him his how i if in into is it its itself just me might more most must my of on once
    or other our ours out over own same shall she should so some such than that the their theirs
    them then there these they this those through to too under until up us very was we were what
    when where which while who whom whose why will with would you your yours
    don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ll ve re
"""
STOP_WORDS = frozenset(_STOP.split())

# A pattern, not compiled: few queries have quotes.
_QUOTED = r"""(?:(?<=[\s(\[])|^)["“”„]([^"“”„]+)["“”](?=[\s.,;:!?)\]]|$)"""
_QUOTES = frozenset('"“”„')
_COMPOUND = re.compile(r"[^\W_]+(?:[-_.]+[^\W_]+)*")


class Part(NamedTuple):
    """One thing to look for: a word, or words in a row."""

    words: tuple[str, ...]  # in comparison form, not stemmed

    @property
    def match(self) -> str:
        """The part as an FTS5 string."""
        return '"' + " ".join(self.words) + '"'

    @property
    def tokens(self) -> tuple[str, ...]:
        """The part as FTS5 stores it."""
        return tuple(token for word in self.words for token in tokens(word))


class Word(NamedTuple):
    """A word of the query, which stands in a chunk where any of its forms does."""

    forms: tuple[Part, ...]  # as typed and, of a camel-case identifier, its parts in a row

    @property
    def match(self) -> str:
        """The word as an expression for FTS5."""
        return " OR ".join(part.match for part in self.forms)


class Query(NamedTuple):
    """What to look for. ``match`` and ``parts`` are empty when a text has no searchable word."""

    text: str
    match: str  # FTS5 expression
    parts: tuple[Part, ...]  # any of them makes a hit, each may be left out by `expression`
    phrases: tuple[Part, ...]  # must all occur; they are among the parts too
    pairs: tuple[Part, ...]  # words that stand side by side in the text: to reward closeness
    terms: tuple[str, ...]  # as typed but for case, without stop words: to light up
    needle: str  # comparison form, for the substring search when nothing else is found
    words: tuple[Word, ...]  # single words as typed: what `coverage` is reckoned by
    is_foreign: bool  # most letters are of other scripts than Latin


def build(text: str) -> Query:
    """Build a query from any string, of any length."""
    # Only the beginning is read: 96 parts are found in far less, or there are none.
    typed = clean(text[:20_000])
    if not typed.isascii():
        typed = unicodedata.normalize("NFC", typed)
    quoted: list[Part] = []
    phrases: list[Part] = []
    if not _QUOTES.isdisjoint(typed):
        quoted = [part for inner in re.findall(_QUOTED, typed) for part in _phrases(inner)]
        if len(re.sub(_QUOTED, " ", typed).split()) <= _MOST_AROUND_QUOTES:
            phrases = quoted
        typed = re.sub(_QUOTED, r" \1 ", typed)
    chunks = typed.split()
    found = list(quoted)
    single: list[Part] = []
    humped: dict[Part, Part] = {}
    shown: list[str] = []
    row: list[str] = []
    for chunk in chunks:
        segments = [segment for half in _halves(chunk) for segment in _segments(half)]
        compounds = [one for half in _halves(chunk) for one in _COMPOUND.findall(half)]
        found += _parts_of(segments, compounds) + [Part((name,)) for name in sign_names(chunk)]
        single += [Part((word,)) for segment in segments for word in segment.singles]
        humped |= _humped(compounds)
        shown += _words_of(chunk)
        # An empty word where the row of plain words is broken.
        row += [word for s in segments for word in (s.words if s.is_plain else ("",))]
        if len(found) > 4 * _MOST_PARTS:
            break
    found += _parted([part.words[0] for part in single], is_alone=len(chunks) == 1)
    kept = _without_stop_words(dict.fromkeys(found), quoted)[:_MOST_PARTS]
    words = [word for word in dict.fromkeys(shown) if word not in STOP_WORDS]
    return Query(
        text=text,
        match=expression(kept, phrases),
        parts=tuple(kept),
        phrases=tuple(dict.fromkeys(phrases)),
        pairs=tuple(dict.fromkeys(_pairs(row)))[:_MOST_PARTS],
        terms=tuple(words or dict.fromkeys(shown))[:_MOST_PARTS],
        needle=normalise(" ".join(chunks)[:_LONGEST_NEEDLE]),
        words=tuple(
            Word((part, humped[part]) if part in humped else (part,))
            for part in _without_stop_words(dict.fromkeys(single))[:_MOST_PARTS]
        ),
        is_foreign=_is_foreign(typed),
    )


def expression(kept: Iterable[Part], phrases: Iterable[Part] = ()) -> str:
    """Return the FTS5 expression for some parts, all ``phrases`` required; "" for no parts.

    The store leaves out parts that stand in most chunks when a rarer one is there.
    """
    any_of = " OR ".join(part.match for part in kept)
    all_of = " AND ".join(part.match for part in dict.fromkeys(phrases))
    if not any_of or not all_of:
        return any_of or all_of
    return f"{all_of} AND ({any_of})"


def closeness(query: Query, kept: Iterable[Part]) -> str:
    """Return the expression of the pairs, without those of words that are not ``kept``.

    Its BM25, weighed by ``rank.PAIR_WEIGHT``, is added to that of chunks already found.
    """
    words = {part.words[0] for part in kept if len(part.words) == 1}
    return expression(
        pair for pair in query.pairs if pair.words[0] in words and pair.words[-1] in words
    )


def coverage(query: Query, held: Collection[Word], weights: Mapping[Word, float]) -> float:
    """Return which share of the query's words stands in a chunk, from 0 to 1, by weight.

    ``held`` are those that do; ``weights`` has the idf of each of ``query.words``.
    """
    total = sum(weights[word] for word in query.words)
    return sum(weights[word] for word in query.words if word in held) / total if total else 0.0


def _is_foreign(text: str) -> bool:
    if text.isascii():
        return False
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(char > "\u024f" for char in letters) > len(letters)


def _humped(compounds: Iterable[str]) -> dict[Part, Part]:
    """Return the parts in a row of each camel-case identifier, by its joined form."""
    split = {one: humps(one) for one in compounds if one.isalnum()}
    return {Part((one.lower(),)): Part(tuple(row)) for one, row in split.items() if len(row) > 1}


def _parts_of(segments: Sequence[_Segment], compounds: Iterable[str]) -> list[Part]:
    """Return what to look for because of one stretch of text without spaces."""
    found = [Part(segment.words) for segment in segments]
    found += [Part((word,)) for segment in segments for word in segment.singles]
    return found + [part for compound in compounds for part in _identifier(compound)]


def _parted(words: Iterable[str], *, is_alone: bool) -> list[Part]:
    """Return the phrases that words typed as one may stand for: rule0042 is also RULE-0042.

    Letters alone (appenddaily) are parted only where they are all that was typed: each of the many
    ways to do so is looked for, and beside other words they say little.
    """
    found = []
    for word in words:
        if not word.isascii() or word in STOP_WORDS:
            continue
        letters = word.rstrip("0123456789")
        if letters.isalpha() and letters != word:
            found.append(Part((letters, word[len(letters) :])))
        elif is_alone and word.isalpha() and len(word) <= _LONGEST_WHOLE:
            cuts = range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1)
            halves = [(word[:cut], word[cut:]) for cut in cuts]
            found += [Part(pair) for pair in halves if pair[0] not in STOP_WORDS]
    return found


def _pairs(row: list[str]) -> list[Part]:
    """Return each two neighbours that mean something, with the stop words between them."""
    at = [i for i, word in enumerate(row) if len(word) > 1 and word not in STOP_WORDS]
    return [
        Part(tuple(row[left : right + 1]))
        for left, right in pairwise(at)
        if right - left < _WIDEST_PAIR and all(row[left:right])
    ]


def _halves(chunk: str) -> list[str]:
    """Cut at apostrophes; of "don't" and "l'été" only the half that carries the meaning stays."""
    halves = [half for half in chunk.replace("’", "'").replace("`", "'").split("'") if half]
    return [half for half in halves if len(half) > 2] or halves


def _identifier(compound: str) -> list[Part]:
    split = humps(compound) if compound.isalnum() else []
    joined = [Part((part,)) for part in parts(compound)]
    return [Part(tuple(split)), *joined] if len(split) > 1 else joined


class _Segment(NamedTuple):
    """Words that stand side by side in one column of the index."""

    words: tuple[str, ...]
    singles: list[str]  # those worth looking for alone
    is_plain: bool  # they stand in the heading or body, as written


def _segments(text: str) -> list[_Segment]:
    """Cut a text into stretches of words that stand side by side in one column of the index.

    Words that FTS5 stores as they are compared stand in the body; every other word stands in the
    column of further words, and a run of an unspaced script there as its grams. The phrase of such
    a run begins and ends with a bigram, so it matches exactly where the run is a substring.
    """
    if text.isascii():
        row = pieces(text.lower())
        return [_plain(row)] if row else []
    from memcli.text import scripts  # local: see words

    found: list[_Segment] = []
    row = []
    for word in pieces(text):
        folded = normalise(word)
        if not scripts.forms([word]):
            row += pieces(folded)
            continue
        found += [_plain(row)] if row else []
        row = []
        for run, is_unspaced in [run for part in pieces(folded) for run in scripts.runs(part)]:
            units = scripts.grams(run) if is_unspaced else [run]
            units = units[1:-1] or units
            found.append(_Segment(tuple(units[:_LONGEST_PHRASE]), units[::2], False))
    return found + ([_plain(row)] if row else [])


def _plain(row: list[str]) -> _Segment:
    singles = [word for word in row if len(word) > 1] if len(row) > 1 else row
    return _Segment(tuple(row[:_LONGEST_PHRASE]), singles or row, True)


def _phrases(inner: str) -> list[Part]:
    return [Part(segment.words) for segment in _segments(inner)]


def _words_of(chunk: str) -> list[str]:
    """Return the words of a stretch of text for display."""
    return [word.lower() for half in _halves(chunk) for word in pieces(half)]


def _without_stop_words(found: Collection[Part], kept: Collection[Part] = ()) -> list[Part]:
    """Leave out words that say nothing, but not those ``kept`` and not all of them."""
    rest = [
        part
        for part in found
        if part in kept or len(part.words) > 1 or not _says_nothing(part.words[0])
    ]
    return rest or list(found)


def _says_nothing(word: str) -> bool:
    # Japanese endings and particles are written in hiragana.
    return word in STOP_WORDS or all("\u3041" <= char <= "\u309f" for char in word)
