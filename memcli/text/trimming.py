"""Cut a conversation to its limit: which records go, which stay, and the text without the former.

The kept records keep their very bytes, so that a provider's prompt cache, which reads from the
start, holds until the next cut. The limit is over the whole history, so one cut is always enough.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from memcli.text import previous
from memcli.text.tokens import weigh
from memcli.text.turns import SYSTEM

if TYPE_CHECKING:
    from memcli.text.messages import Conversation
    from memcli.text.turns import Record

SHARE = 0.6  # of a limit that the newest messages may fill after a cut


@dataclass(frozen=True, slots=True)
class Limits:
    """What a history may have at most; 0 is no limit."""

    tokens: int
    messages: int = 0

    def are_passed_by(self, conversation: Conversation, records: Sequence[Record]) -> bool:
        """Whether these records are more than is allowed."""
        return bool(
            (self.tokens and tokens(conversation, records) > self.tokens)
            or (self.messages and count(records) > self.messages)
        )


@dataclass(frozen=True, slots=True)
class Parts:
    """A conversation taken apart, each part in order."""

    opening: tuple[Record, ...]  # system prompts, which are never cut and not counted
    carried: tuple[Record, ...]  # the summary of what was cut before
    history: tuple[Record, ...]


def parts(conversation: Conversation) -> Parts:
    """Take off what is no history: the carried summary, and in JSON the system prompts before it.

    Without a summary yet, the system prompts are all that the conversation begins with.
    """
    records = conversation.records
    size = 0
    while size < len(records) and _is_system(records[size]):
        if previous.is_carried(records[size]):
            return Parts(records[:size], (records[size],), records[size + 1 :])
        size += 1
    if conversation.shape in ("text", "document"):
        size = 0
    return Parts(records[:size], (), records[size:])


def tokens(conversation: Conversation, records: Sequence[Record]) -> int:
    """How many tokens the records have, estimated over all of them."""
    return (sum(weight(conversation, one) for one in records) + 3) // 4


def weight(conversation: Conversation, record: Record) -> int:
    """Four times a record's tokens: of what is said in JSON, of all that stands there in text."""
    if conversation.shape in ("text", "document"):
        return weigh(conversation.text[record.start : record.end])
    return sum(weigh(one.text) for one in record.messages)


def count(records: Sequence[Record]) -> int:
    """How many of the records say anything."""
    return sum(1 for one in records if one.messages)


def split(
    conversation: Conversation, history: Sequence[Record], limits: Limits
) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
    """Part the history into what goes and the newest that stay, within SHARE of every limit.

    What a tool answered never stays without its call.
    """
    room = 4 * int(limits.tokens * SHARE)
    number = int(limits.messages * SHARE)
    start = len(history)
    while start > 0:
        record = history[start - 1]
        room -= weight(conversation, record)
        number -= bool(record.messages)
        if (limits.tokens and room < 0) or (limits.messages and number < 0):
            break
        start -= 1
    start = whole_from(history, start)
    return tuple(history[:start]), tuple(history[start:])


def whole_from(history: Sequence[Record], start: int) -> int:
    """The first place from `start` on from which no answer lacks the call that it answers."""
    called: set[str] = set()
    for place in range(start, len(history)):
        for one in history[place].messages:
            if one.role == "call":
                called.add(one.id)
            elif one.role == "tool" and one.id and one.id not in called:
                start = place + 1
                called.clear()  # those calls go as well
    return start


def composed(conversation: Conversation, kept: Sequence[Record], said: str) -> bytes:
    """The source with only the records `kept`, and what is `said` of the others before these.

    System prompts stay, before that. Raises ValueError for an export, whose records have no
    place.
    """
    opening = parts(conversation).opening
    shape = conversation.shape
    if shape == "export":
        raise ValueError("an export of chats cannot be cut")
    if shape == "array":
        text = _array(conversation, opening, kept, said)
    elif shape == "lines":
        line = f"{_json(conversation, said)}{_line_end(conversation.text)}" if said else ""
        text = _slices(conversation, opening) + line + _slices(conversation, kept)
    else:
        block = previous.render(said, is_conversation=shape == "text") if said else ""
        text = block + _slices(conversation, kept)
    return text.encode("utf-8", "surrogateescape")


def _is_system(record: Record) -> bool:
    return bool(record.messages) and all(one.role == SYSTEM for one in record.messages)


def _slices(conversation: Conversation, records: Sequence[Record]) -> str:
    return "".join(conversation.text[one.start : one.end] for one in records)


def _array(
    conversation: Conversation, opening: Sequence[Record], kept: Sequence[Record], said: str
) -> str:
    text, records = conversation.text, conversation.records
    between = next((text[a.end : b.start] for a, b in pairwise(records)), ", ")
    elements = [
        *(text[one.start : one.end] for one in opening),
        *([_json(conversation, said)] if said else []),
        *_runs(conversation, kept),
    ]
    return text[: records[0].start] + between.join(elements) + text[records[-1].end :]


def _runs(conversation: Conversation, kept: Sequence[Record]) -> list[str]:
    """The kept records of an array, neighbours with the very bytes that stand between them."""
    places = {record.start: place for place, record in enumerate(conversation.records)}
    runs: list[list[Record]] = []
    for record in kept:
        if runs and places[runs[-1][-1].start] + 1 == places[record.start]:
            runs[-1].append(record)
        else:
            runs.append([record])
    return [conversation.text[run[0].start : run[-1].end] for run in runs]


def _json(conversation: Conversation, said: str) -> str:
    """The message that carries `said`, in the words of the transcript."""
    text = previous.message(said)
    first = next((one for one in conversation.records if one.messages), None)
    source = conversation.text[first.start : first.end] if first else ""
    is_wrapped = '"type"' in source and '"message"' in source
    line = (
        {"type": "summary", "summary": text} if is_wrapped else {"role": "system", "content": text}
    )
    return json.dumps(line, ensure_ascii=False)


def _line_end(text: str) -> str:
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
