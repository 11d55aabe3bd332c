"""What logs and archived conversations say, in stretches that one question to a model holds.

Each goes by its mark: an entry of a log by its own words, since a log grows, and a stretch of an
archived file by the whole file, which is written once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple, TypeVar

from memcli.edit import read
from memcli.ops.marks import FACTS, mark
from memcli.text import messages
from memcli.text.daily import parse
from memcli.text.decode import decode
from memcli.text.tokens import estimate
from memcli.text.turns import ASSISTANT, CALL, PERSON, SYSTEM, TOOL, UNSAID
from memcli.workspace import Workspace

TOKENS = 1_500  # of the text of one job
PARTS = 16  # of one job: the marks of entries stand in the note of a revision

K = TypeVar("K")

_ROLES = {PERSON: "user", ASSISTANT: "assistant", TOOL: "tool"}


class Part(NamedTuple):
    """Some lines that one voice says; at most TOKENS of them."""

    text: str
    role: str = UNSAID
    name: str = ""
    heading: str = ""  # of an entry


def entries(path: str, data: bytes) -> dict[str, Part]:
    """The parts of a daily log by their marks, in order: an entry, or a stretch of a long one."""
    day = path.removeprefix("daily/").removesuffix(".md")
    found = {}
    for one in parse(decode(data)[0], datetime.fromisoformat(day)):
        entry = one.entry
        heading = f"## {entry.timestamp:%H:%M} — {entry.stage}"
        for text in _stretches(entry.body):
            content = f"{day}\0{heading}\0{text}".encode("utf-8", "replace")
            found[mark(FACTS, content)] = Part(text, heading=heading)
    return found


def archived(data: bytes) -> dict[str, list[Part]]:
    """The stretches of an archived file by their marks, in order."""
    spoken = messages.pieces(messages.read(data)).messages
    parts = [
        Part(text, one.role, one.name)
        for one in spoken
        if one.role not in (CALL, SYSTEM)
        for text in _stretches(one.text)
    ]
    found = bounded(dict(enumerate(parts)))
    return {
        mark(FACTS, b"%d\0" % number + data): [parts[place] for place in places]
        for number, places in enumerate(found)
    }


def bounded(parts: dict[K, Part]) -> Iterator[tuple[K, ...]]:
    """Neighbours that go into one job."""
    group: list[K] = []
    size = 0
    for key, part in parts.items():
        tokens = estimate(part.text)
        if group and (len(group) == PARTS or size + tokens > TOKENS):
            yield tuple(group)
            group, size = [], 0
        group.append(key)
        size += tokens
    if group:
        yield tuple(group)


def material(workspace: Workspace, path: str, marks: Iterable[str]) -> bytes:
    """What these marks name, for `messages.read`; what was changed since is left out."""
    data = read(workspace.layout, path) or b""
    if path.startswith("daily/"):
        there = entries(path, data)
        parts = [there[one] for one in there if one in set(marks)]
    else:
        parts = [part for one, those in archived(data).items() if one in marks for part in those]
    return _rendered(parts).encode("utf-8", "replace")


def _rendered(parts: list[Part]) -> str:
    if any(part.role != UNSAID for part in parts):
        # As objects: of a part of the turns it could not be told any more that it is one.
        return "".join(f"{json.dumps(_turn(part))}\n" for part in parts)
    return "\n\n".join(f"{part.heading}\n\n{part.text}".strip() for part in parts)


def _turn(part: Part) -> dict[str, str]:
    # What stands before the first speaker is a title, which bears out nothing.
    turn = {"role": _ROLES.get(part.role, "system"), "content": part.text}
    return {**turn, "name": part.name} if part.name else turn


def _stretches(text: str) -> Iterator[str]:
    """A text as it is, or cut at its lines where it is too long for one question."""
    if estimate(text) <= TOKENS:
        yield from [text] * bool(text.strip())
        return
    kept, size = "", 0
    for line in text.splitlines(keepends=True):
        # A token is a character at least, so that a piece of so many characters always fits.
        for piece in (line[at : at + TOKENS] for at in range(0, len(line), TOKENS)):
            tokens = estimate(piece)
            if size + tokens > TOKENS:
                yield kept.strip("\n")
                kept, size = "", 0
            kept, size = kept + piece, size + tokens
    if kept.strip():
        yield kept.strip("\n")
