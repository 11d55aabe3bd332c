"""Whether a new fact says again, in other words, what an older one says already.

A cosine cannot tell: of two facts that differ in one number or name it is as high as of two that
say the same. So here all that could be otherwise must be equal first: numbers, dates, versions,
names, code, negation, scope, order. Only words that mean the same anywhere may stand for each
other, and only the older fact may say more. What passes is few enough to be held against vectors.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.contradict import Details, details
from memcli.text.stem import stem

if TYPE_CHECKING:
    from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that change nothing; and those that say how much, when or whether: none may differ.
_QUIET = _words(
    "a an the of to in on at by for from with and is are be it its that this we our you your i my"
    " me us do does shall get gets has have as there here also just please so very really"
    " must should need needs happen happens take takes place user users person"
)
_LIMITING = _words(
    "if every when whenever once unless until only except but or usually often sometimes"
    " rarely seldom perhaps maybe mostly nearly almost about up more less over under than first"
    " last before after while during without within each per"
    " was were been being did will got had they them their he him his she her can could may might"
    " would always never not no none nor some any all both either other own new old"
    " wenn falls sobald außer nur manchmal meist fast oder si sauf quand parfois seulement cuando"
    " salvo solo excepto"
    " если когда кроме только иногда"
)
_MEANINGS = {
    stem(word): group.split()[0]
    for group in (
        "prefer like favour favor",
        "short concise brief terse",
        "answer reply respond response",
        "use utilise utilize employ",
        "keep retain preserve",
        "delete remove erase",
        "begin start",
        "finish end complete",
        "fix repair mend",
        "show display",
        "big large",
        "quick fast rapid",
        "folder directory",
        "change modify alter",
        "create make",
        "dislike hate",
        "clear empty",
        "call name",
        "choose pick select",
        "mandatory required obligatory",
        "forbidden prohibited",
        "allow permit",
        "error failure",
    )
    for word in group.split()
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LITERAL = re.compile(r"`[^`]+`|\"[^\"]+\"|“[^”]+”|«[^»]+»")
_HUMP = re.compile(r"[^\W\d_][A-Z]")
_LONE = re.compile(r"(?<![\w.])[B-HJ-Z](?![\w.])")  # a letter that is a name
# Scripts without capitals or without spaces: neither names nor words can be told apart by these.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\u0590-\u07ff\u0900-\u0dff\uac00-\ud7af]"
)


class _Wording(NamedTuple):
    details: Details
    limits: Counter[str]
    words: tuple[str, ...]
    capitals: frozenset[str]
    exact: tuple[str, ...]  # code, quotations, words with a capital inside, sorted
    asks: bool


def may_restate(new: str, old: str) -> bool:
    """Say whether `new` adds nothing to `old`, as far as words tell; not symmetric.

    Never so for two facts that differ in a number, date, version, name, identifier or negation, nor
    for texts in scripts that write names and words alike.
    """
    if _UNSPACED.search(new) or _UNSPACED.search(old):
        return False
    mine, theirs = _wording(new), _wording(old)
    if not mine.words or mine.asks != theirs.asks:
        return False
    if mine.details != theirs.details or mine.limits != theirs.limits:
        return False
    if mine.exact != theirs.exact or _LONE.search(new) or _LONE.search(old):
        return False
    folded = ({word.casefold() for word in _WORD.findall(text)} for text in (new, old))
    in_new, in_old = folded
    if not (mine.capitals <= in_old and theirs.capitals <= in_new):
        return False
    return _is_within(mine.words, theirs.words)


@lru_cache(maxsize=4096)
def _wording(text: str) -> _Wording:
    found = [word.replace("’", "'") for word in _WORD.findall(text)]
    lowered = [word.casefold() for word in found]
    capitals = frozenset(
        word.casefold() for word in found[1:] if word[0].isupper() and len(word) > 1
    )
    return _Wording(
        details(text),
        Counter(word for word in lowered if word in _LIMITING),
        tuple(
            _MEANINGS.get(stem(word), stem(word))
            for word in lowered
            if word not in _QUIET and word not in _LIMITING
        ),
        capitals,
        tuple(sorted([*_LITERAL.findall(text), *(it for it in found if _HUMP.search(it))])),
        "?" in text,
    )


def _is_within(new: Sequence[str], old: Sequence[str]) -> bool:
    """Say whether the words of `new` stand in `old` in their order, but for one at an end."""
    if Counter(new) - Counter(old):
        return False
    if len(old) > 2 * len(new) + 1:
        return False
    if _in_order(new, old):
        return True
    # "Each night the cache is emptied" and "The cache is emptied each night".
    is_moved = (new[0] == old[-1] and _in_order(new[1:], old[:-1])) or (
        new[-1] == old[0] and _in_order(new[:-1], old[1:])
    )
    return len(new) > 2 and is_moved


def _in_order(some: Sequence[str], of: Sequence[str]) -> bool:
    rest = iter(of)
    return all(word in rest for word in some)
