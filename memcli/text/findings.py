"""Which sentences of a conversation say what: its goal, decisions, open ends, outcomes, files.

Chosen is what people say when they decide, finish or leave something open (`cues`), what stands
under headings that say so, and what programs print when they fail or succeed.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from memcli.text import cues
from memcli.text.decisions import extract as decisions_of
from memcli.text.similar import key
from memcli.text.statements import Statement, clipped
from memcli.text.turns import ASSISTANT, CALL, PERSON, SYSTEM, TOOL, UNSAID

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memcli.text.turns import Message

_MOST_LINES = 12  # of errors and outcomes
_LATE = 2 / 3  # of a conversation: from here on what "should" be done is still open
_ANSWER = 160  # characters of an answer that settles a question
_ASKS = re.compile(r"[?？؟][\"')*_`]*$")
_WORDS = re.compile(r"\w")
_CHANGING = re.compile(r"\d+(?:[.:,]\d+)*|0x[0-9a-f]+|[0-9a-f]{8,}")
_PATH = re.compile(r"(?<![\w./-])(?:[\w@.-]+/)*[\w@.-]*\w\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/])")
_TOUCHED = re.compile(
    r"^(?:\+\+\+ b/|rename to |\s*(?:modified|new file|deleted|renamed):\s+|create mode \d+ "
    r"|delete mode \d+ )(?P<path>\S.*?)\s*$"
)
_STAT = re.compile(r"^\s?(?P<path>\S+)\s+\|\s+\d+ [+-]+$")


def is_outcome(line: str) -> bool:
    """Say whether a program says here that something failed or succeeded."""
    is_error = cues.ERROR.is_in(line) and not cues.NO_OUTCOME.is_in(line)
    return bool(is_error or cues.OUTCOME.is_in(line))


def is_question(text: str) -> bool:
    """Say whether a sentence asks."""
    return bool(_ASKS.search(text))


def decisions(messages: Sequence[Message], said: Sequence[Statement]) -> list[str]:
    """Decisions in the order of the conversation: under headings, in words, and as answers."""
    by_turn: dict[int, list[str]] = {}
    for turn, message in enumerate(messages):
        if message.role not in (TOOL, CALL, SYSTEM):
            found = decisions_of(message.text).decisions
            by_turn[turn] = [clipped(one.text) for one in found]
    for one in said:
        told = by_turn.get(one.turn)
        if told is not None and _decides(one) and not any(_holds(it, one.text) for it in told):
            told.append(one.text)
    for turn, text in _answers(messages, said):
        by_turn.setdefault(turn, []).append(text)
    return [text for turn in sorted(by_turn) for text in by_turn[turn]]


def _holds(decision: str, text: str) -> bool:
    return key(text) in key(decision) or key(decision) in key(text)


def _decides(one: Statement) -> bool:
    if one.kind not in ("sentence", "item", "line", "row") or is_question(one.text):
        return False
    if cues.UNDECIDED.is_in(one.text) or one.box == "open" or _is_open_title(one.heading):
        return False
    if one.role == PERSON and cues.ASKED_FOR.is_in(one.text):
        return True
    if one.kind != "line" and cues.DECIDED_TITLE.is_in(one.heading):
        return True
    return cues.DECIDED.is_in(one.text)


def _answers(messages: Sequence[Message], said: Sequence[Statement]) -> Iterator[tuple[int, str]]:
    """A question at the end of a turn with the short answer to it in one line, and its rest."""
    by_turn: dict[int, list[Statement]] = {}
    for one in said:
        if one.kind in ("sentence", "item"):
            by_turn.setdefault(one.turn, []).append(one)
    spoken = [turn for turn, it in enumerate(messages) if it.role in (PERSON, ASSISTANT)]
    for asking, answering in pairwise(turn for turn in spoken if turn in by_turn):
        question, answers = by_turn[asking][-1], by_turn[answering]
        if messages[asking].role != ASSISTANT or messages[answering].role != PERSON:
            continue
        if not is_question(question.text) or len(messages[answering].text) > _ANSWER:
            continue
        for place, one in enumerate(answers):
            if not (is_question(one.text) or _decides(one) or _is_open(one.text)):
                yield answering, one.text if place else f"{question.text} — {one.text}"


def open_ends(messages: Sequence[Message], said: Sequence[Statement]) -> list[str]:
    spoken = [turn for turn, it in enumerate(messages) if it.role not in (TOOL, CALL, SYSTEM)]
    late = int(len(messages) * _LATE) if len(spoken) > 1 else 0
    last = spoken[-1] if spoken else -1
    found = []
    for one in said:
        if one.role in (TOOL, SYSTEM) or one.kind == "title" or one.box == "done":
            continue
        is_told = one.box == "open" or _is_open_title(one.heading)
        if one.kind in ("line", "row"):
            is_told = is_told or bool(re.search(r"\b(?:TODO|FIXME|XXX)\b", one.text))
        elif is_question(one.text):
            is_told = is_told or one.turn == last
        elif not is_told:
            is_told = _is_open(one.text)
            if not is_told and one.role != UNSAID and one.turn >= late:
                is_told = cues.SHOULD.is_in(one.text)
        if is_told and _WORDS.search(one.text):
            found.append(one.text)
    return found


def _is_open_title(title: str) -> bool:
    return bool(title) and cues.OPEN_TITLE.is_in(title)


def goal(said: Sequence[Statement]) -> Iterator[str]:
    """What was wanted: said to be the goal, or else what a person or the text begins with."""
    told = []
    for one in said:
        if one.kind not in ("sentence", "item") or one.role in (TOOL, SYSTEM):
            continue
        field = cues.GOAL_FIELD.match(one.text)
        if field:
            told.append(field["text"])
        elif cues.GOAL_TITLE.is_in(one.heading) and len(told) < 2:
            told.append(one.text)
    if told:
        yield from told[:2]
        return
    roles = {one.role for one in said}
    first = PERSON if PERSON in roles else UNSAID
    spoken = [it for it in said if it.role == first and it.kind in ("sentence", "item")]
    # What else it tells at once is told under its own heading.
    apart = [it for it in spoken if not (cues.DECIDED.is_in(it.text) or _is_open(it.text))]
    long = [it for it in apart if len(it.text) > 15] or apart
    yield from (it.text for it in long[:2] if it.turn == long[0].turn)


def _is_open(text: str) -> bool:
    return bool(cues.OPEN.is_in(text) or cues.UNDECIDED.is_in(text))


def done(said: Sequence[Statement]) -> Iterator[str]:
    for one in said:
        if one.role in (TOOL, SYSTEM) or one.kind in ("title", "line", "row"):
            continue
        if is_question(one.text) or cues.NOT_DONE.is_in(one.text):
            continue
        if one.box == "done" or (
            one.box != "open"
            and (
                (one.kind == "item" and cues.DONE_TITLE.is_in(one.heading))
                or cues.DONE.is_in(one.text)
            )
        ):
            yield one.text


def outcomes(said: Sequence[Statement]) -> tuple[str, ...]:
    """Lines in which programs fail or succeed, alike ones once, the first and the last of many."""
    alike: dict[str, str] = {}
    for one in said:
        if one.kind != "line" or not _WORDS.search(one.text):
            continue
        if is_outcome(one.text):
            alike.setdefault(_CHANGING.sub("0", one.text), clipped(one.text, 200))
    found = list(alike.values())
    if len(found) > _MOST_LINES:
        half = _MOST_LINES // 2
        found = found[:half] + found[-half:]
    return tuple(found)


def files(messages: Sequence[Message]) -> list[str]:
    """Files that calls wrote to or that a diff names; without any, those that the text names."""
    touched: dict[str, None] = {}
    named: dict[str, None] = {}
    for message in messages:
        touched.update(dict.fromkeys(message.files))
        if message.role in (CALL, SYSTEM):
            continue
        for line in message.text.split("\n"):
            found = _TOUCHED.match(line) or _STAT.match(line)
            if found:
                touched[found["path"]] = None
            elif message.role != TOOL and "`" in line:
                spans = re.findall(r"`([^`\s]+)`", line)
                named.update(dict.fromkeys(span for span in spans if _PATH.fullmatch(span)))
    return list(touched or named)[:30]


def outline(said: Sequence[Statement]) -> list[str]:
    """The headings of a document; those of a conversation are its own sentences' business."""
    titles = [one.text for one in said if one.kind == "title" and one.role == UNSAID]
    return titles if len(titles) > 1 else []


def told(said: Sequence[Statement]) -> list[str]:
    """What persons, or a document, say beside that: what matters to them in words no cue knows."""
    return [
        one.text
        for one in said
        if one.role in (PERSON, UNSAID) and one.kind in ("sentence", "item")
        if not is_question(one.text) and (" " in one.text or not one.text.isascii())
    ]


def ends(said: Sequence[Statement]) -> list[str]:
    """The first and the last thing that was said, and of a log or of output its ends."""
    spoken = [one for one in said if one.role not in (TOOL, SYSTEM) and one.kind != "title"]
    if any(one.role in (PERSON, ASSISTANT) for one in spoken):
        spoken = [one for one in spoken if one.role != UNSAID]
    prose = [one for one in spoken if one.kind in ("sentence", "item")] or spoken or list(said)
    if not prose:
        return []
    last = [one for one in prose if one.turn == prose[-1].turn]
    return [prose[0].text, *(one.text for one in last[:1]), last[-1].text]
