"""What people said and tools returned that is worth keeping, when no model chooses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.text import cues
from memcli.text.budget import Item, Section, share_out
from memcli.text.findings import is_outcome, is_question
from memcli.text.similar import key
from memcli.text.statements import statements
from memcli.text.turns import PERSON, TOOL, UNSAID, label

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memcli.text.statements import Statement
    from memcli.text.turns import Message

UNVERIFIED = "Unverified, the agent's own earlier answer:"

_SHORTEST = 12  # characters of a sentence that says something
_FEW_LINES = 3  # of a tool's answer that is an answer, and no listing
_SHARES = {"told": 0.7, "returned": 0.3}


def worth_keeping(
    messages: Sequence[Message], tokens: int, known: Collection[str] = ()
) -> list[str]:
    """Lines with who said it, in the order of the conversation, within `tokens`.

    `known` are keys (see `similar.key`) of lines to leave out. An assistant's own words are never
    taken. What people decide and ask for goes before what else they say.
    """
    told: list[tuple[int, int, str]] = []
    returned: list[tuple[int, int, str]] = []
    seen = set(known)
    lines = _line_counts(messages)
    for place, one in enumerate(statements(messages)):
        message = messages[one.turn]
        rank = _worth(one, lines[one.turn])
        if rank is None:
            continue
        # A text that nobody says is nobody's claim.
        line = one.text if message.role == UNSAID else f"{label(message)}: {one.text}"
        mark = key(line)
        if mark and mark not in seen:
            seen.add(mark)
            (returned if message.role == TOOL else told).append((rank, place, line))
    sections = [
        Section(name, share, [Item((f"- {line}",)) for _, _, line in sorted(of)])
        for (name, share), of in zip(_SHARES.items(), (told, returned), strict=True)
    ]
    taken = share_out(sections, 4 * tokens).taken
    kept = sorted(told)[: taken["told"].items] + sorted(returned)[: taken["returned"].items]
    return [line for _, _, line in sorted(kept, key=lambda one: one[1])]


def _line_counts(messages: Sequence[Message]) -> list[int]:
    return [sum(1 for line in one.text.split("\n") if line.strip()) for one in messages]


def _worth(one: Statement, lines: int) -> int | None:
    """How early a statement is taken, from 0; None for one that is never."""
    if one.kind == "title" or is_question(one.text):
        return None
    if one.role == TOOL:
        if is_outcome(one.text):
            return 0
        return 1 if lines <= _FEW_LINES else None
    if one.role not in (PERSON, UNSAID) or (one.text.isascii() and len(one.text) < _SHORTEST):
        return None
    if one.kind == "line":
        return 1 if is_outcome(one.text) else None
    if cues.DECIDED.is_in(one.text) or cues.ASKED_FOR.is_in(one.text):
        return 0
    return 1 if cues.OPEN.is_in(one.text) or any(char.isdigit() for char in one.text) else 2
