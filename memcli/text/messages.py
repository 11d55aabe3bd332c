"""Read a conversation or a document, whatever it was written in, into who says what.

The place of each record in the source is kept, so that a part of it can be taken out byte by byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memcli.text import previous, transcripts
from memcli.text.decode import decode, split_lines
from memcli.text.recalled import BEGIN, END, without_recalled
from memcli.text.turns import (
    ASSISTANT,
    BOLD,
    CHAT,
    HEADING,
    PERSON,
    PLAIN,
    SYSTEM,
    UNSAID,
    Message,
    Record,
    role_of,
    unescape,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORMS = (BOLD, HEADING, PLAIN, CHAT)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_PIECE = re.compile(r"(?s)\S.*?(?:\n[ \t]*\r?(?:\n[ \t\r]*)+(?=\S)|\Z)|\s+\Z")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A source and its records in order; ``messages`` are those that say anything."""

    text: str  # bytes that are not UTF-8 as lone surrogates, so that they come out again
    shape: str  # lines, array, export, text (with speakers) or document (without)
    records: tuple[Record, ...]
    note: str = ""

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(one for record in self.records for one in record.messages)


def read(data: bytes) -> Conversation:
    """Read a conversation or, when nobody speaks in it, a document; never raises.

    Blocks that `recall` printed are left out of every text: they would be remembered as news.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = decode(data)[0].encode("utf-8", "surrogateescape")
    text = data.decode("utf-8", "surrogateescape")
    found = transcripts.read(text)
    if found is not None:
        shape, records = found
        stretches = (text[one.start : one.end] for one in records if shape == "lines")
        bad = sum(1 for one in stretches if _is_broken(one))
        note = f"{bad} of {len(records)} lines are no JSON objects" if bad else ""
        return Conversation(text, shape, tuple(map(_fresh, records)), note)
    note = decode(data)[1] or ""
    carried = previous.block(text)
    start = carried.end if carried else 0
    records = _spoken(text, start, is_known=bool(carried and carried.is_conversation))
    shape = "text" if records else "document"
    records = records or _whole(text, start)
    if carried:
        records.insert(0, Record(0, start, (Message(SYSTEM, carried.text),)))
    return Conversation(text, shape, tuple(map(_fresh, records)), note)


def pieces(conversation: Conversation) -> Conversation:
    """A document cut at its empty lines into records; a conversation as it is."""
    if conversation.shape != "document":
        return conversation
    text = conversation.text
    carried = [one for one in conversation.records if previous.is_carried(one)]
    start = carried[0].end if carried else 0
    found = [
        Record(one.start(), one.end(), _unsaid(text[one.start() : one.end()]))
        for one in _PIECE.finditer(text, start)
    ]
    if found:
        found[0] = replace(found[0], start=start)
    return replace(conversation, records=(*carried, *map(_fresh, found)))


def _fresh(record: Record) -> Record:
    """A record without what was recalled, and without turns that then say nothing."""
    told = [replace(one, text=without_recalled(one.text)) for one in record.messages]
    return replace(record, messages=tuple(one for one in told if one.text.strip()))


def _is_broken(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not (bare[0] == "{" and bare[-1] == "}")


def _whole(text: str, start: int) -> list[Record]:
    return [Record(start, len(text), _unsaid(text[start:]))] if text[start:] else []


def _unsaid(text: str) -> tuple[Message, ...]:
    return (Message(UNSAID, _decoded(text)),)


def _decoded(text: str) -> str:
    plain = decode(text.encode("utf-8", "surrogateescape"))[0] if not text.isascii() else text
    return plain.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _spoken(text: str, base: int, *, is_known: bool) -> list[Record]:
    """The turns of a text from `base` on, none when no speakers are named in it.

    All are named in the form of the first. Unless it is known for a conversation it takes two: a
    person and an assistant, or in a form that is no "key: value" a person right after the title.
    """
    form, found = _speakers(text, base)
    roles = {role for _, _, role, _, _ in found}
    before = text[base : found[0][0]].lstrip("\ufeff") if found else ""
    is_marked = form is not PLAIN and PERSON in roles and _is_title(before)
    is_clear = len(found) > 1 and ({PERSON, ASSISTANT} <= roles or is_marked)
    if not found or not (is_known or is_clear):
        return []
    records = []
    starts = [start for start, *_ in found]
    if before.strip():
        records.append(Record(base, starts[0], _unsaid(before)))
    else:
        starts[0] = base
    for start, end, (_, after, role, name, time) in zip(
        starts, [*starts[1:], len(text)], found, strict=True
    ):
        said = unescape(_decoded(text[after:end]).strip())
        records.append(Record(start, end, (Message(role, said, name=name, time=time),)))
    return records


def _is_title(text: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def _speakers(
    text: str, base: int
) -> tuple[re.Pattern[str] | None, list[tuple[int, int, str, str, str]]]:
    """The form of the labels, and for each where it begins, where the text behind it begins, and
    its role, name and time.
    """
    form: re.Pattern[str] | None = None
    found: list[tuple[int, int, str, str, str]] = []
    for at, line in _open_lines(text, base):
        for pattern in (form,) if form else _FORMS:
            label = pattern.match(line)
            if label is None:
                continue
            form = pattern
            given = label.groupdict()
            role = role_of(given.get("role") or "person") or PERSON
            name, time = given.get("name") or "", given.get("time") or ""
            if pattern is CHAT:
                role = role_of(name) or PERSON
            found.append((at, at + label.end(), role, name.strip(), time.strip()))
            break
    return form, found


def _open_lines(text: str, at: int) -> Iterator[tuple[int, str]]:
    """The lines that may name a speaker, each with its place: none within a recalled block, and
    none within a fence that is closed again, but in our own form, which escapes them.
    """
    is_recalled = False
    fence = ""
    held: list[tuple[int, str]] = []  # within a fence that may yet be left open
    for line in split_lines(text[at:]):
        start, at = at, at + len(line)
        mark = line.lstrip(" \t>")
        if is_recalled or mark.startswith(BEGIN):
            is_recalled = not mark.startswith(END)
            continue
        ticks = _FENCE.match(line)
        if ticks and not fence:
            fence, held = ticks[1], []
        elif ticks and ticks[1].startswith(fence) and not line[ticks.end() :].strip():
            yield from ((there, inner) for there, inner in held if BOLD.match(inner))
            fence = ""
        elif fence:
            held.append((start, line))
        else:
            yield start, line
    if fence:
        yield from held
