"""What a model answered, held against its source: what is not borne out by that is left out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from memcli.text.contradict import clashes, details
from memcli.text.facts import one_line
from memcli.text.kinds import INSTRUCTION, is_lasting
from memcli.text.prompts import LASTING_FACTS, LASTING_KINDS, VERDICTS
from memcli.text.statements import clipped, sentences
from memcli.text.turns import PERSON, TOOL, UNSAID
from memcli.text.words import normalise, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)
# What a retelling must not change: numbers, versions, dates, paths, identifiers.
_EXACT = re.compile(
    r"`([^`]+)`|(?<!\w)([\w@./:+-]*(?:\d|\w_\w|\w/\w|[a-z]\.[a-z]{1,4}\b)[\w@./:+-]*)"
)
_EDGES = ".,:;!?/-+()"
_LIST = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+")
_CAPITAL = re.compile(r"(?<![\w'-])[A-ZÀ-ÞА-Я][\w'-]+")
# What a sentence may begin with though its source does not say it.
_OPENING = _words(
    "the a an this that we i you user person people team everyone all every each any never always"
    " do not no use in on at by for to of from with when if after before while and our your their"
    " his her its my there der die das ein eine wir le la les un une nous el los las il lo"
)
_SPEAKERS = ("Person", "Tool", "Assistant")

# The part of its words that a sentence must share with its source.
_RETOLD = 0.3
_FACT = 0.5
_LASTING, _SUMMARY = 0.65, 0.8
_LONGEST_FACT = 300  # characters


class Source:
    """A text that answers are held against."""

    def __init__(self, text: str) -> None:
        self._text = normalise(" ".join(text.split()))
        self._words = set(tokens(self._text))

    def bears_out(self, claim: str, share: float = _RETOLD) -> bool:
        """Whether each figure and name of `claim` stands in the source, and enough of its words."""
        exact = [a or b for a, b in _EXACT.findall(claim)]
        if any(normalise(one.strip(_EDGES)) not in self._text for one in exact):
            return False
        words = _telling(claim)
        return sum(word in self._words for word in words) >= max(1, share * len(words))

    def share(self, claim: str) -> float:
        """The part of the claim's words that stand in the source."""
        words = _telling(claim)
        return sum(word in self._words for word in words) / max(1, len(words))

    def names(self, claim: str) -> bool:
        """Whether each word of `claim` with a capital letter stands in the source."""
        return all(
            one.lower() in _OPENING or self._words.issuperset(tokens(normalise(one)))
            for one in _CAPITAL.findall(claim)
        )


def _telling(claim: str) -> list[str]:
    told = tokens(normalise(claim))
    return [word for word in told if len(word) > 3 or not word.isascii()] or told


def summary(answer: str, source: Source) -> dict[str, tuple[str, ...]] | None:
    """The sections of a task summary, or None for nonsense: another shape, or nothing true."""
    found = _object(answer)
    if found is None:
        return None
    goal = found.get("goal")
    sections = {
        name: _held(found.get(name), source) for name in ("done", "decisions", "open_ends", "files")
    }
    sections["goal"] = _held(sentences(goal) if isinstance(goal, str) else goal, source)[:3]
    return sections if sections["goal"] or sections["done"] or sections["decisions"] else None


def paragraph(answer: str, source: Source, limit: int) -> str:
    """A summary in at most `limit` characters, whole sentences; empty for nonsense."""
    kept = ""
    for line in answer.strip().strip('"').split("\n"):
        for one in sentences(_LIST.sub("", line).strip()):
            more = f"{kept} {one}".strip()
            if source.bears_out(one) and len(more) <= limit:
                kept = more
    return kept


def facts(answer: str, by_speaker: dict[str, Source]) -> list[tuple[str, str]] | None:
    """Each fact with who said it, or None for nonsense.

    Only who really said so counts: what the words of persons and tools do not bear out is the
    assistant's, and what nobody's words bear out is left out.
    """
    found = _object(answer)
    rows = found.get("facts") if found else None
    if not isinstance(rows, list):
        return None
    kept = []
    for row in rows:
        text = row.get("text") if isinstance(row, dict) else None
        if not isinstance(text, str) or not text.strip():
            continue
        text = clipped(text)
        claimed = row.get("said_by")
        order = [claimed, *_SPEAKERS] if claimed in _SPEAKERS else list(_SPEAKERS)
        speaker = next(
            (one for one in order if one in by_speaker and by_speaker[one].bears_out(text, _FACT)),
            "",
        )
        if speaker:
            kept.append((speaker, text))
    return kept


class Claim(NamedTuple):
    """What was said in one turn, and the role of who said it."""

    text: str
    role: str


class Lasting(NamedTuple):
    """A fact for the memory, its kind in small letters, and the claim that bears it out."""

    text: str
    kind: str
    claim: int  # its place among the claims


def lasting(answer: str, claims: Sequence[Claim]) -> list[Lasting] | None:
    """The facts of an answer that one claim each bears out, at most LASTING_FACTS.

    None for nonsense: another shape, or nothing true. An assistant's claims count for nothing, and
    what a tool returned bears out a fact alone, none that asks for something. A fact that denies
    its claim is left out, and so are one with a name that its claim has not, and one that guesses,
    asks, or holds for the moment. A summary may rest on all claims together.
    """
    found = _object(answer)
    rows = found.get("facts") if found else None
    if not isinstance(rows, list):
        return None
    sources = [
        (place, Source(one.text), one)
        for place, one in enumerate(claims)
        if one.role in (PERSON, TOOL, UNSAID) and one.text.strip()
    ]
    whole = Source("\n".join(one.text for _, _, one in sources))
    kept: list[Lasting] = []
    for row in rows:
        text = row.get("text") if isinstance(row, dict) else None
        kind = row.get("kind") if isinstance(row, dict) else None
        if not isinstance(text, str) or not isinstance(kind, str):
            continue
        text = _LIST.sub("", one_line(text))
        if kind.upper() not in LASTING_KINDS or not 0 < len(text) <= _LONGEST_FACT:
            continue
        if not is_lasting(text) or "?" in text:
            continue
        place = _claimed(text, kind.lower(), sources, whole)
        if place is not None:
            kept.append(Lasting(text, kind.lower(), place))
    return kept[:LASTING_FACTS] if kept or not rows else None


def _claimed(
    text: str, kind: str, sources: Sequence[tuple[int, Source, Claim]], whole: Source
) -> int | None:
    """The place of the claim that has most of the words of `text` and bears it out."""
    best, found = 0.0, None
    is_summed = kind == "summary" and whole.bears_out(text, _SUMMARY) and whole.names(text)
    for place, source, claim in sources:
        if claim.role == TOOL and (kind != "fact" or INSTRUCTION.is_in(text)):
            continue
        share = source.share(text)
        is_borne = source.bears_out(text, _LASTING) and source.names(text)
        if share > best and (is_summed or (is_borne and _agree(text, claim.text))):
            best, found = share, place
    return found


def _agree(text: str, said: str) -> bool:
    """Say whether the sentence most like `text` denies as much as it does, and does not clash."""
    parts = sentences(" ".join(said.split("\n"))) or [said]
    shares = [Source(part).share(text) for part in parts]
    is_denying = bool(details(text).negations)
    return any(
        is_denying == bool(details(part).negations) and not clashes([part, text])
        for part, share in zip(parts, shares, strict=True)
        if share == max(shares)
    )


def verdict(answer: str) -> str:
    """One of VERDICTS; what is nonsense is unclear."""
    found = _object(answer)
    told = found.get("verdict") if found else None
    told = " ".join(told.lower().replace("_", " ").split()) if isinstance(told, str) else ""
    return told if told in VERDICTS else "unclear"


def _object(answer: str) -> dict[str, Any] | None:
    """The JSON object in an answer, also where prose or a fence stands around it."""
    fenced = _FENCED.search(answer)
    text = fenced[1] if fenced else answer
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        found = json.loads(text[start : end + 1], strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _held(values: Any, source: Source) -> tuple[str, ...]:
    texts: Iterable[Any] = values if isinstance(values, list) else ()
    kept = [clipped(_LIST.sub("", one)) for one in texts if isinstance(one, str) and one.strip()]
    return tuple(dict.fromkeys(one for one in kept if source.bears_out(one)))
