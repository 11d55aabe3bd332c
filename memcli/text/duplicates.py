"""Which of many texts say the same, and which nearly do, without comparing all pairs.

`similar` knows when two facts are equal but for articles, plurals and spelling. Here more ways of
writing one thing are brought to one form before it is asked: units, dates, clock times, number
words, abbreviations, British and American endings, full-width letters, code ticks. What stays is
then held against the texts as they stand: names, code, and words that mean another thing with a
capital letter. Whatever differs in one of these is not the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.similar import signature

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEAR = 0.8  # likeness from which two texts are shown as perhaps the same
_RAREST = 12  # words of a text by which partners are looked up
_WINDOW = 64  # of texts that share a word, so many of the latest are compared

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("January", "Jan"), ("February", "Feb"), ("March", "Mar"), ("April", "Apr"), ("May",),
            ("June", "Jun"), ("July", "Jul"), ("August", "Aug"), ("September", "Sept", "Sep"),
            ("October", "Oct"), ("November", "Nov"), ("December", "Dec"),
        ),
        start=1,
    )
    for name in names
}  # fmt: skip
_MONTH = "|".join(_MONTHS)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS = {
    "%": ("percent", "per cent"),
    "ms": ("milliseconds?", "msecs?"),
    "s": ("seconds?", "secs?"),
    "min": ("minutes?", "mins?"),
    "h": ("hours?", "hrs?"),
    "d": ("days?",),
    "KiB": (),
    "MiB": (),
    "GiB": (),
    "kB": (),
    "MB": (),
    "GB": (),
    "TB": (),
    "Hz": (),
    "°C": (),
    "K": (),
}
_SHORT = {
    "e.g.": "for example",
    "i.e.": "that is",
    "w/o": "without",
    "w/": "with",
    "repo": "repository",
    "repos": "repositories",
    "config": "configuration",
    "configs": "configurations",
    "db": "database",
    "dbs": "databases",
    "docs": "documentation",
    "env": "environment",
    "prod": "production",
    "app": "application",
    "apps": "applications",
    "dir": "directory",
    "dirs": "directories",
    "admin": "administrator",
    "admins": "administrators",
}
_BRITISH = {
    f"{stem}our": f"{stem}or" for stem in ("behavi", "col", "fav", "flav", "hon", "lab", "neighb")
} | {"centre": "center", "licence": "license", "catalogue": "catalog", "grey": "gray"}
# Each means one thing with a capital letter and another without.
_TWO_FACED = {
    *("us", "it", "who", "may", "march", "august", "will", "mark", "bill", "polish", "turkey"),
    *("sie", "ihr", "ihnen"),
}

_LITERAL = re.compile(r"(`+[^`]+`+|\"[^\"]*\"|“[^”]*”|«[^»]*»|「[^」]*」)")
_QUOTES = '`"“”«»「」'
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_HAN_GAP = re.compile(rf"(?<=[{_HAN}])[ ]+(?=[{_HAN}])")
_HAN_EDGE = re.compile(rf"(?<=[{_HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{_HAN}])")
_YEAR = r"(?:,? (?P<year>\d{4}))?"
_DAY_MONTH = re.compile(
    rf"\b(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\.? (?:of )?(?P<month>{_MONTH})\b\.?{_YEAR}"
)
_MONTH_DAY = re.compile(
    rf"\b(?P<month>{_MONTH})\.? (?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b(?![:.]\d){_YEAR}"
)
_CLOCK = re.compile(r"\b(1[0-2]|0?[1-9])(?::([0-5]\d))? ?([ap])\.?m\b\.?")
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_UNIT = [
    (re.compile(rf"(?<=\d)[ -]?(?:{'|'.join((re.escape(unit), *names))})(?!\w)"), unit)
    for unit, names in _UNITS.items()
]
_VERSION = re.compile(r"\bv(?=\d+\.\d)")
_BRIEF = re.compile(
    rf"(?<![\w./-])({'|'.join(map(re.escape, _SHORT))})(?![\w/-])(?!\.\w)", re.IGNORECASE
)
_TICKED = re.compile(r"`([\w/@-](?:[\w./:@-]*[\w/])?(?:\(\))?)`")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LONE_CAPITAL = re.compile(r"(?<![\w.])[B-HJ-Z](?![\w.])")
_LEADING_A = re.compile(r"\W*A\b")


class NearPair(NamedTuple):
    """Two places in a sequence of texts, the earlier first, and how alike they are (Dice)."""

    first: int
    second: int
    likeness: float


def same(one: str, other: str) -> bool:
    """Say whether two facts say the same thing in different spelling. Symmetric."""
    return meaning(one) == meaning(other) != () and _agree(one, other) and _agree(other, one)


@lru_cache(maxsize=8192)
def meaning(text: str) -> tuple[str, ...]:
    """Return what texts that are the `same` have in common: a key to look others up by."""
    bare = _TICKED.sub(r"\1", spelt(text))
    return tuple(_spelling(part) for part in signature(bare))


@lru_cache(maxsize=8192)
def spelt(text: str) -> str:
    """Return `text` with units, dates, times and abbreviations written in one way.

    Code spans and quoted strings stay as they are.
    """
    pieces = _LITERAL.split(text.translate(_WIDE))
    return "".join(
        piece if number % 2 else _rewritten(piece) for number, piece in enumerate(pieces)
    )


def groups(texts: Sequence[str]) -> list[list[int]]:
    """Return the places of texts that are the same, two or more together, each in order."""
    buckets: dict[tuple[str, ...], list[list[int]]] = defaultdict(list)
    to_the_letter: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        key = meaning(text)
        if text in to_the_letter:
            to_the_letter[text].append(place)
            continue
        if not key:
            continue
        # With all of a group, since what agrees with two need not agree between the two.
        home = next(
            (group for group in buckets[key] if all(same(text, texts[it]) for it in group)), None
        )
        if home is None:
            home = []
            buckets[key].append(home)
        home.append(place)
        to_the_letter[text] = home
    found = [group for bucket in buckets.values() for group in bucket if len(group) > 1]
    return sorted(found)


def near_pairs(texts: Sequence[str], least: float = NEAR) -> list[NearPair]:
    """Return pairs of texts whose words are alike by `least` or more, but that are not the same.

    Candidates come from the prefix filter: with the words of each text ordered from the rarest
    on, two texts that are alike must share one of their first few (Chaudhuri, Ganti and Kaushik,
    "A primitive operator for similarity joins", ICDE 2006). That finds all pairs. Two cuts keep
    the work near linear: a dozen of these words are enough for a long text, and of texts that
    share a word with very many others the latest alone are compared.
    """
    keys = [meaning(text) for text in texts]
    frequency = Counter(word for key in keys for word in set(key))
    overlap = least / (2 - least)  # Dice as Jaccard's measure, for which the filter is stated
    posted: dict[str, list[int]] = defaultdict(list)
    words = [sorted(set(key), key=lambda word: (frequency[word], word)) for key in keys]
    found: list[NearPair] = []
    for place, own in enumerate(words):
        prefix = own[: len(own) - ceil(overlap * len(own)) + 1] if own else []
        prefix = [word for word in prefix if frequency[word] > 1][:_RAREST]
        for other in sorted(_partners(place, prefix, posted)):
            if keys[other] == keys[place]:
                continue
            likeness = 2 * len({*own} & {*words[other]}) / (len(own) + len(words[other]))
            if likeness >= least:
                found.append(NearPair(other, place, likeness))
        for word in prefix:
            posted[word].append(place)
    return sorted(found)


def _partners(place: int, prefix: Sequence[str], posted: dict[str, list[int]]) -> set[int]:
    return {other for word in prefix for other in posted[word][-_WINDOW:] if other != place}


def _rewritten(text: str) -> str:
    text = _HAN_EDGE.sub(" ", _HAN_GAP.sub("", text))
    text = _MONTH_DAY.sub(_iso, _DAY_MONTH.sub(_iso, text))
    text = _CLOCK.sub(_hours, text)
    text = _NUMBER_WORD.sub(lambda found: str(_NUMBERS.index(found[0].lower())), text)
    for pattern, unit in _UNIT:
        text = pattern.sub(unit, text)
    text = _VERSION.sub("", text)
    return _BRIEF.sub(lambda found: _SHORT[found[0].lower()], text)


def _iso(found: re.Match[str]) -> str:
    if not 1 <= int(found["day"]) <= 31:
        return found[0]
    return f"{found['year'] or '-'}-{_MONTHS[found['month']]:02d}-{int(found['day']):02d}"


def _hours(found: re.Match[str]) -> str:
    hour = int(found[1]) % 12 + 12 * (found[3] == "p")
    return f"{hour:02d}:{found[2] or '00'}"


def _spelling(word: str) -> str:
    """Bring British endings, and plurals that `similar` leaves in two forms, to one form."""
    word = _BRITISH.get(word, word)
    if len(word) > 5:
        for ending, other in (("ise", "ize"), ("ised", "ized"), ("ising", "izing")):
            if word.endswith(ending):
                return word[: -len(ending)] + other
        if word.endswith("isation"):
            return word[:-7] + "ization"
    if len(word) > 4 and word.endswith("ie"):
        return word[:-2] + "y"
    if len(word) > 4 and word.endswith(("xe", "che", "she", "sse")):
        return word[:-1]
    return word


def _agree(one: str, other: str) -> bool:
    """Say whether every detail of `one` stands in `other` to the letter."""
    ours, theirs = spelt(one), spelt(other)
    for literal in _LITERAL.findall(ours):
        if not re.search(rf"(?<!\w){re.escape(literal.strip(_QUOTES))}(?!\w)", theirs):
            return False
    if _LONE_CAPITAL.search(ours) and bool(_LEADING_A.match(ours)) != bool(
        _LEADING_A.match(theirs)
    ):
        return False
    there = [found[0] for found in _WORD.finditer(theirs)]
    folded = {word.casefold() for word in there}
    for word in _inner_words(ours):
        fold = word.casefold()
        if word[0].isupper() and fold not in folded:
            return False
        if fold in _TWO_FACED and word not in there and fold in folded:
            return False
    return True


def _inner_words(text: str) -> Iterator[str]:
    """Yield the words that do not begin a sentence, where a capital letter means something."""
    for found in _WORD.finditer(text):
        before = text[: found.start()].rstrip(" \t*_([\"'“„«")
        if before and before[-1] not in ".!?:;—–-":
            yield found[0]
