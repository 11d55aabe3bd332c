"""Cut a conversation into stretches that a model reads one by one, all that persons say in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.tokens import estimate
from memcli.text.turns import ASSISTANT, PERSON, TOOL, UNSAID, label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memcli.text.turns import Message

# Characters of a turn that only helps to follow; a person's words are never cut.
_SHOWN = {ASSISTANT: 400, TOOL: 600}


class Said(NamedTuple):
    """A turn, or a part of a long one, and its place in the conversation."""

    turn: int
    message: Message


def stretches(messages: Sequence[Message], tokens: int) -> list[list[Said]]:
    """Stretches of about `tokens` in the order of the conversation, those without a claim left out.

    Calls and system prompts say nothing.
    """
    found: list[list[Said]] = []
    stretch: list[Said] = []
    size = 0
    for one in _parts(messages, tokens):
        own = estimate(one.message.text)
        if stretch and size + own > tokens:
            found.append(stretch)
            stretch, size = [], 0
        stretch.append(one)
        size += own
    found.append(stretch)
    return [one for one in found if any(it.message.role != ASSISTANT for it in one)]


def told(stretch: Sequence[Said]) -> str:
    """A stretch as a prompt holds it, each turn behind its speaker."""
    return "\n\n".join(
        one.message.text
        if one.message.role == UNSAID
        else f"{label(one.message)}: {one.message.text}"
        for one in stretch
    )


def _parts(messages: Sequence[Message], tokens: int) -> Iterator[Said]:
    for turn, message in enumerate(messages):
        if message.role in _SHOWN:
            text = message.text[: _SHOWN[message.role]]
            yield Said(turn, replace(message, text=text))
        elif message.role in (PERSON, UNSAID):
            for text in _cut(message.text, tokens):
                yield Said(turn, replace(message, text=text))


def _cut(text: str, tokens: int) -> Iterator[str]:
    """A long text in parts that end with a line, or where even a line is too long, anywhere."""
    part: list[str] = []
    size = 0
    for line in text.split("\n"):
        for start in range(0, max(len(line), 1), tokens):
            piece = line[start : start + tokens]
            own = estimate(piece) + 1
            if part and size + own > tokens:
                yield "\n".join(part)
                part, size = [], 0
            part.append(piece)
            size += own
    yield "\n".join(part)
