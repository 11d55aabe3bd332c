"""Facts that cannot both hold: what they speak of is the same, what they say of it is not.

The words of each fact are sorted into what it is about and what could be otherwise: numbers,
dates, versions, names, negation, scope, and choices such as "use X for Y". Facts about the same
are found by a key, so nothing is compared with everything. What comes out are questions for a
person; a pair like "port 80 is open", "port 81 is open", where the number says which thing is
meant, is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.duplicates import meaning, same, spelt

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

_MOST = 16  # facts about one thing; of more, the latest are compared


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# As `meaning` spells them, so "always" without what it takes for a plural.
_QUIET = _words(
    "alway do a an the of to in on at by for from with and or is are be it that this per its their"
    " into as le la les de des du un une et est sont à der die das den dem ist sind und im am mit"
    " für von el"
    " los las en y es son o os as e é são в на и за для с"
)
_NEGATIONS = _words(
    "not no never without cannot nobody none neither nor nicht kein keine keinen keiner nie"
    " ohne ne pas jamais sans aucun sin nunca jamás não sem nunca не нет никогда без لا नहीं न"
)
_OPPOSITES = {
    word: f"{left}/{right}"
    for left, right in (
        ("enabled", "disabled"), ("enable", "disable"), ("allow", "forbid"),
        ("allowed", "forbidden"), ("accept", "reject"), ("accepted", "rejected"),
        ("on", "off"), ("open", "closed"),
        ("public", "private"), ("before", "after"), ("minimum", "maximum"), ("least", "most"),
        ("newest", "oldest"), ("first", "last"), ("required", "optional"), ("include", "exclude"),
        ("ascending", "descending"), ("synchronous", "asynchronous"), ("safe", "unsafe"),
        ("supported", "unsupported"), ("reversible", "irreversible"), ("hourly", "daily"),
        ("weekly", "monthly"), ("newer", "older"), ("mutable", "immutable"),
    )
    for word in (left, right)
}  # fmt: skip
_SCOPES = {
    **dict.fromkeys(("must", "shall", "should", "may", "can", "might"), "duty"),
    **dict.fromkeys(("all", "every", "each", "some", "most", "only", "any"), "scope"),
    **dict.fromkeys(("alle", "einige", "nur", "tous", "certains", "todas", "algunas"), "scope"),
}
_VERBS = _words(
    "is was were be wait retry must shall should may might can will have had do need require"
    " use take run live get raise hold keep own lead start stop end begin expire stay remain"
    " cost last belong go decided agreed chose settled picked answer reply respond speak"
    " est sont doit ist sind muss wird bleibt bleiben es son está debe é são deve"
)
_BEING = _words("is run live")
_ANSWERING = _words("answer reply respond speak")
_OWNING = _words("own lead maintain approve host chair")
_CHOOSING = _words("use prefer choose take pick adopt prefere")
_TOWARDS = _words("for in as to over when with because on at instead if")

_DATE = re.compile(r"(?:\d{4}|-)-\d\d-\d\d|\d{4}-\d\d")
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:-\w+)?")
_NUMBER = re.compile(r"[-+<>$€£]?\d[\d.,:_]*[^\W\d_%°]{0,6}%?(?:°[CF])?")
_NAMED = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-ZÀ-ÞА-Я][\w-]*")
_MONTHS_AND_DAYS = _words(
    "january february march april june july august september october november december monday"
    " tuesday wednesday thursday friday saturday sunday spring summer autumn winter"
)
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_HAN_NOT = re.compile("しません|しない|ません|ない|不|没有|勿")
_HAN_DO = re.compile("します|する|有(?=上|下|限)")


class Clash(NamedTuple):
    """Two facts that contradict each other, by their place, the earlier first."""

    first: int
    second: int
    what: str  # number, date, version, name, negation, scope or preference
    one: str  # what the first says where the other says `other`
    other: str


@dataclass(frozen=True, slots=True)
class _Claim:
    """A fact taken apart."""

    words: tuple[str, ...]
    about: frozenset[str]  # the words that say what it speaks of
    names: tuple[tuple[str, bool], ...]  # each with whether it stands behind the verb
    values: tuple[tuple[str, str, bool], ...]  # kind, value, and the same
    sides: tuple[tuple[str, str], ...]  # pairs of opposites and degrees, with the side taken
    is_negated: bool


class Details(NamedTuple):
    """All that could be otherwise in a fact, whatever it is about."""

    values: tuple[tuple[str, str], ...]  # kind and value of numbers, dates, versions, sorted
    names: tuple[str, ...]  # and identifiers, paths, code, in their order
    sides: tuple[tuple[str, str], ...]
    negations: tuple[str, ...]  # sorted


def details(text: str) -> Details:
    """Return what two facts must have in common to say the same."""
    claim = _take_apart(text)
    return Details(
        tuple(sorted((kind, value) for kind, value, _ in claim.values)),
        tuple(name for name, _ in claim.names),
        claim.sides,
        tuple(sorted(word for word in claim.words if word in _NEGATIONS)),
    )


def clashes(texts: Sequence[str]) -> list[Clash]:
    """Return the pairs of facts among `texts` that cannot both hold, in their order."""
    claims = [_take_apart(text) for text in texts]
    found: dict[tuple[int, int], Clash] = {}
    for compare, keys in ((_differ, _keys), (_chosen, _choices)):
        buckets: dict[Hashable, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            for key in keys(claims[place]):
                for other in buckets[key][-_MOST:]:
                    pair = (other, place)
                    if pair in found or same(texts[other], text):
                        continue
                    said = compare(claims[other], claims[place])
                    if said:
                        found[pair] = Clash(other, place, *said)
                buckets[key].append(place)
    return sorted(found.values())


def _take_apart(text: str) -> _Claim:
    words = meaning(text)
    found = _NAMED.findall(spelt(text).replace("`", ""))
    named = {word for name in found for word in (name, *meaning(name))}
    verb = next((place for place, word in enumerate(words) if word in _VERBS), None)
    about: set[str] = set()
    names: list[tuple[str, bool]] = []
    values: list[tuple[str, str, bool]] = []
    sides: list[tuple[str, str]] = []
    negations = 0
    for place, word in enumerate(words):
        # Without a verb that is known, "Noun 5 …" names a thing and anything later says something.
        behind = place > 1 or words[0] in _CHOOSING if verb is None else place > verb
        if _HAN.search(text):
            behind = words[place + 1 : place + 2] == () or words[place + 1][0] not in "はが番号是"
        kind = _kind(word)
        if kind:
            values.append((kind, word, behind))
        elif word in _NEGATIONS:
            negations += word != "ne" or _NEGATIONS.isdisjoint(words[place + 1 :])  # "ne … pas"
        elif words[place : place + 2] == ("no", "longer"):
            negations += 1
        elif words[max(place - 1, 0) : place + 1] == ("no", "longer"):
            continue
        elif word in _OPPOSITES:
            sides.append((_OPPOSITES[word], word))
        elif word in _SCOPES:
            sides.append((_SCOPES[word], word))
        elif word in named or not word.isalpha():
            names.append((word, behind))
        elif _HAN.search(word):
            negations += len(_HAN_NOT.findall(word))
            about.add(_HAN_DO.sub("", _HAN_NOT.sub("", word)))
        elif word not in _QUIET:
            about.add(word)
    return _Claim(
        words=words,
        about=frozenset(about),
        names=tuple(names),
        values=tuple(values),
        sides=tuple(sorted(sides)),
        is_negated=negations % 2 == 1,
    )


def _kind(word: str) -> str:
    if _DATE.fullmatch(word) or word.casefold() in _MONTHS_AND_DAYS:
        return "date"
    if _VERSION.fullmatch(word):
        return "version"
    return "number" if _NUMBER.fullmatch(word) else ""


def _keys(claim: _Claim) -> Iterator[Hashable]:
    if claim.about or claim.names:
        yield (
            claim.about,
            len(claim.names),
            tuple(kind for kind, _, _ in claim.values),
            frozenset(group for group, _ in claim.sides),
        )


def _differ(left: _Claim, right: _Claim) -> tuple[str, str, str] | None:
    """Say in what two claims about the same differ, if it is one thing and no part of the name."""
    if len(left.sides) != len(right.sides):
        return None
    values = [
        (a, b)
        for a, b in zip(left.values, right.values, strict=True)
        if a[1].replace(",", "") != b[1].replace(",", "")
    ]
    names = [(a, b) for a, b in zip(left.names, right.names, strict=True) if a[0] != b[0]]
    sides = [(a, b) for a, b in zip(left.sides, right.sides, strict=True) if a[1] != b[1]]
    if left.is_negated != right.is_negated:
        is_all = not values and not names and not sides
        return ("negation", *(("not", "") if left.is_negated else ("", "not"))) if is_all else None
    if values and not names and not sides:
        return _other_values(values)
    if len(names) == 1 and not values and not sides:
        return _other_name(*names[0], left)
    if len(sides) == 1 and not values and not names:
        (group, one), (_, other) = sides[0]
        return "scope" if group in _SCOPES.values() else "negation", one, other
    return None


def _other_values(
    values: Sequence[tuple[tuple[str, str, bool], tuple[str, str, bool]]],
) -> tuple[str, str, str] | None:
    if not all(one[2] and other[2] for one, other in values):
        return None
    one, other = (" ".join(value for _, value, _ in side) for side in zip(*values, strict=True))
    return values[0][0][0], one, other


def _other_name(
    one: tuple[str, bool], other: tuple[str, bool], claim: _Claim
) -> tuple[str, str, str] | None:
    is_said = one[1] and other[1] and len(claim.about) > 0
    words = claim.words
    if not _ANSWERING.isdisjoint(words):
        # In another language, not to somebody else.
        is_said = is_said and words[words.index(one[0]) - 1] == "in"
    elif _BEING.isdisjoint(words):
        return None
    return ("name", one[0], other[0]) if is_said else None


def _choices(claim: _Claim) -> Iterator[Hashable]:
    """Yield what a choice is made for: "use … for caching", "Anna prefers …", "… owns billing"."""
    words = claim.words
    for place, word in enumerate(words):
        if word in _CHOOSING or word in _OWNING:
            before, thing, rest = _parted(words, place)
            if not thing or claim.is_negated:
                return
            if word in _OWNING:
                yield word, tuple(words[place + 1 :])
            elif rest or word == "prefer":
                yield word, before, rest if word != "prefer" or rest[:1] != ("over",) else ()
            return


def _parted(
    words: tuple[str, ...], place: int
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What stands before the verb, what is chosen, and what for."""
    after = words[place + 1 :]
    end = next((at for at, word in enumerate(after) if word in _TOWARDS), len(after))
    return words[:place], after[:end], after[end:]


def _chosen(left: _Claim, right: _Claim) -> tuple[str, str, str] | None:
    first, second = _choice(left.words), _choice(right.words)
    if first == second:
        return None
    verb = next(word for word in left.words if word in _CHOOSING or word in _OWNING)
    return "name" if verb in _OWNING else "preference", " ".join(first), " ".join(second)


def _choice(words: tuple[str, ...]) -> tuple[str, ...]:
    for place, word in enumerate(words):
        if word in _OWNING:
            return words[:place]
        if word in _CHOOSING:
            return _parted(words, place)[1]
    return ()
