"""Who says what in a conversation or a text, each voice with the line where it begins.

Beside the speakers that `messages` knows these are the names in a chat that was copied as text
("Anna: …" line for line), and those that a flush notes in a daily log ("- Person (Anna): …").
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.keeping import UNVERIFIED
from memcli.text.turns import ASSISTANT, PERSON, UNSAID, Message, role_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memcli.text.messages import Conversation

_TIME = r"(?:\[?[\d./:-]{4,10}(?:[, T]+\d\d?:\d\d(?::\d\d)?)?(?: ?[AaPp][Mm])?\]?[ ,–-]*)?"
_NAMED = re.compile(
    rf"{_TIME}(?P<name>(?=[^\W\d_])[^\W_][\w.'-]{{0,30}}(?: (?=[^\W\d_])[\w.'-]{{1,30}}){{0,2}}):["
    rf" \t]+(?P<text>\S.*)"
)
_NOTED = re.compile(
    rf"[-*+] (?:(?P<doubt>{re.escape(UNVERIFIED)})|(?P<role>Person|Tool"
    rf"|Assistant)(?: \((?P<name>[^()]+)\))?:) "
)
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")

_LEAST_LINES = 4  # of a chat
_LEAST_SHARE = 0.6  # of its lines that begin with a name
_MOST_NAMES = 12


class Voice(NamedTuple):
    """One turn and the line of the source that it begins on; 0 where lines mean nothing."""

    message: Message
    line: int


def voices(conversation: Conversation) -> list[Voice]:
    """The turns of a conversation in order, a text that names its speakers cut into theirs."""
    found: list[Voice] = []
    text = conversation.text
    at, line = 0, 1
    for record in conversation.records:
        if conversation.shape == "export":
            found += [Voice(one, 0) for one in record.messages]
            continue
        begin = record.start + len(text[record.start :]) - len(text[record.start :].lstrip())
        line += text.count("\n", at, max(begin, at))
        at = max(begin, at)
        for message in record.messages:
            is_unsaid = message.role == UNSAID
            found += _split(message, line) if is_unsaid else [Voice(message, line)]
    return found


def names(voiced: Sequence[Voice]) -> list[str]:
    """The persons who are named, in the order in which they first speak."""
    told = (one.message.name for one in voiced if one.message.role == PERSON)
    return list(dict.fromkeys(name for name in told if name))


def _split(message: Message, line: int) -> list[Voice]:
    lines = message.text.lstrip("\n").split("\n")
    if _is_chat(lines):
        return list(_chat(lines, line))
    return list(_noted(message, lines, line))


def _is_chat(lines: Sequence[str]) -> bool:
    told = [one for one in lines if one.strip()]
    labels = [found["name"] for one in told if (found := _NAMED.match(one))]
    count = Counter(labels)
    return (
        len(labels) >= max(_LEAST_LINES, _LEAST_SHARE * len(told))
        and 2 <= len(count) <= _MOST_NAMES
        and sum(times > 1 for times in count.values()) >= 2
    )


def _chat(lines: Sequence[str], first: int) -> Iterator[Voice]:
    said: list[str] = []
    speaker, start = Message(UNSAID, ""), first
    for number, one in enumerate(lines, first):
        found = _NAMED.match(one)
        if not found:
            said.append(one)
            continue
        if any(it.strip() for it in said):
            yield Voice(replace(speaker, text="\n".join(said)), start)
        name = found["name"]
        role = role_of(name)
        speaker = Message(role, "") if role else Message(PERSON, "", name=name)
        said, start = [found["text"]], number
    if any(it.strip() for it in said):
        yield Voice(replace(speaker, text="\n".join(said)), start)


def _noted(message: Message, lines: Sequence[str], first: int) -> Iterator[Voice]:
    """A text as it is, but for the lines of a flush, each of which is its speaker's."""
    own: list[str] = []
    start = first
    is_fenced = False
    for number, one in enumerate(lines, first):
        is_fenced ^= bool(_FENCE.match(one))
        found = None if is_fenced else _NOTED.match(one)
        if not found:
            own.append(one)
            continue
        if any(it.strip() for it in own):
            yield Voice(replace(message, text="\n".join(own)), start)
        role = ASSISTANT if found["doubt"] else role_of(found["role"]) or ASSISTANT
        yield Voice(Message(role, one[found.end() :], name=found["name"] or ""), number)
        own, start = [], number + 1
    if any(it.strip() for it in own):
        yield Voice(replace(message, text="\n".join(own)), start)
