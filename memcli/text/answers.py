"""What a model answered, held against its source: what is not borne out by that is left out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from memcli.text.statements import clipped, sentences
from memcli.text.words import normalise, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)
# What a retelling must not change: numbers, versions, dates, paths, identifiers.
_EXACT = re.compile(
    r"`([^`]+)`|(?<!\w)([\w@./:+-]*(?:\d|\w_\w|\w/\w|[a-z]\.[a-z]{1,4}\b)[\w@./:+-]*)"
)
_EDGES = ".,:;!?/-+()"
_LIST = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+")
_SPEAKERS = ("Person", "Tool", "Assistant")

# The part of its words that a sentence must share with its source.
_RETOLD = 0.3
_FACT = 0.5


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
        told = tokens(normalise(claim))
        words = [word for word in told if len(word) > 3 or not word.isascii()] or told
        return sum(word in self._words for word in words) >= max(1, share * len(words))


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
