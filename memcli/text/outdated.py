"""Whether a newer fact surely takes the place of an older one that it contradicts, without a model.

What is in doubt is for a person: events, which are true whatever came later, rules that forbid two
things, lists that grow, likings for two things at once, and all that differs in more than one value
or in scope alone.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from memcli.text.contradict import details

if TYPE_CHECKING:
    from memcli.text.contradict import Clash

DECIDING = frozenset(("number", "date", "version", "name", "negation", "preference"))

_PAST = (
    r"(?:met|went|got|saw|ran|made|sent|took|had|did|was|were|wrote|found|lost|cut|paid|spent|came"
    r"|gave|told|said|left|built|broke|grew|fell|rose|began|[a-z]{2,}ed)\b"
)
# Somebody did something. "Is kept" and "was decided" tell what holds, not what happened.
_EVENT = re.compile(
    rf"\b(?:we|I|they|he|she|team|[A-Z]\w+) (?:have |has |had |just |then |also )*"
    rf"(?!decided\b|need\b|agreed\b){_PAST}|\b(?:yesterday|last (?:week|month|night|year)|ago)\b"
)
# There may be more than one of what these are about.
_ADDING = re.compile(
    r"\b(?:support|accept|speak|allow|know|cover|include|offer|sell|like|love|has|have|visit|depend"
    r"|contain|test|run the tests)(?:s|es)?\b",
    re.IGNORECASE,
)
# What forbids to pass a bound sets one.
_BOUND = re.compile(
    r"\b(?:more|longer|later|larger|bigger|less|fewer|smaller) than\b|\bbeyond\b|\bexceed"
)
_LIKING = re.compile(r"\b(?:prefers?|bevorzugt?|préfère|prefiere|предпочитает)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:over|for|in|when|with|as|to|instead|rather)\b", re.IGNORECASE)


def doubt(clash: Clash, old: str, new: str) -> str:
    """Why both facts may hold; empty where the newer one surely replaces the older."""
    if clash.what not in DECIDING:
        return f"they differ in {clash.what}"
    if _EVENT.search(old) or _EVENT.search(new):
        return "they may tell of two events"
    one, other = details(old), details(new)
    if clash.what != "negation" and one.negations and other.negations and not _BOUND.search(old):
        return "both forbid something"
    if clash.what in ("number", "date", "version"):
        apart = Counter(one.values) - Counter(other.values)
        if apart.total() > 1:
            return "they differ in more than one value"
        if _ADDING.search(old):
            return "there may be more than one"
    if clash.what == "preference" and _LIKING.search(old) and not _CHOICE.search(old):
        return "one may like both"
    return ""
