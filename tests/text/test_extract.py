"""A summary without a model tells each decision and open end, and not a word that nobody said."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.extract import TITLES, digest, extract, render
from memcli.text.keeping import worth_keeping
from memcli.text.messages import read
from memcli.text.similar import key
from memcli.text.statements import clipped, sentences
from memcli.text.tokens import estimate
from memcli.text.turns import ASSISTANT, PERSON, TOOL, Message
from tests.conftest import FIXTURES

TRANSCRIPTS = FIXTURES / "transcripts"
EXPECTED = [
    json.loads(line) for line in (TRANSCRIPTS / "expected.jsonl").read_text("utf-8").splitlines()
]
BUDGET = 1_000
SECTIONS = ("decisions", "open_ends", "outcomes")

SOURCE = st.lists(
    st.builds(
        Message,
        st.sampled_from([PERSON, ASSISTANT, TOOL, ""]),
        st.lists(
            st.sampled_from(
                [
                    "We decided to keep it. ",
                    "Still open: who pays? ",
                    "- [ ] ask Ines\n",
                    "- [x] fixed `a.py`\n",
                    "# Next steps\n",
                    "1. use UTC\n   - always\n",
                    "```\nError: no such file\n```\n",
                    "\n\n| a | b |\n|---|---|\n| we go with x | 2 |\n",
                    "> quoted\n",
                    "決定した。まだ未定。",
                    "**Decision:** one of [two](x.md)\n",
                    "\n\n",
                    "word " * 150,
                    "e.g. 3.5 kg. Then v1.2 it is.\n",
                ]
            ),
            min_size=1,
            max_size=8,
        ).map("".join),
    ),
    min_size=1,
    max_size=5,
)


def plain(text: str) -> str:
    """A text without markup and with single spaces: what a reader compares."""
    text = re.sub(r"\[([^\[\]]+)\](?:\([^()]*\)|\[[^\[\]]*\])", r"\1", text)
    text = re.sub(r"^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", " ", text, flags=re.M)
    return " ".join(re.sub(r"[*_`\\]|^#+ |^\|", "", text, flags=re.M).split())


def is_from(source: str, line: str) -> bool:
    """Whether each part of a line of a summary stands in the source as it is."""
    parts = re.split(r"; | — (?=\S)", line.removesuffix("…"))
    return plain(line.removesuffix("…")) in source or all(
        not plain(part) or plain(part) in source for part in parts
    )


def source_of(messages: tuple[Message, ...] | list[Message]) -> str:
    files = " ".join(name for one in messages for name in one.files)
    return plain("\n\n".join(one.text for one in messages)) + " " + plain(files)


def invented(messages: tuple[Message, ...] | list[Message], lines: list[str]) -> list[str]:
    source = source_of(messages)
    return [line for line in lines if not is_from(source, line)]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda one: str(one["file"]))
def test_each_decision_and_open_end_of_a_transcript_is_told(expected: dict[str, Any]) -> None:
    conversation = read((TRANSCRIPTS / expected["file"]).read_bytes())
    body = " ".join(render(extract(conversation.messages, BUDGET).sections).split())
    wanted = [one for name in SECTIONS for one in expected.get(name, ())]
    assert wanted
    assert [one for one in wanted if one not in body] == []


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda one: str(one["file"]))
def test_nothing_is_told_that_is_not_in_the_transcript(expected: dict[str, Any]) -> None:
    conversation = read((TRANSCRIPTS / expected["file"]).read_bytes())
    told = extract(conversation.messages, BUDGET).sections
    lines = [text for name in TITLES for text in told[name]]
    assert lines
    assert invented(conversation.messages, lines) == []
    short = digest(conversation.messages, 500)
    assert invented(conversation.messages, short.removeprefix("- ").split("\n- ")) == []


def test_every_transcript_has_its_expectations_and_they_are_many() -> None:
    names = {path.name for path in TRANSCRIPTS.iterdir()} - {"expected.jsonl"}
    assert {one["file"] for one in EXPECTED} == names
    assert len(names) >= 20
    assert sum(path.stat().st_size for path in TRANSCRIPTS.iterdir()) < 300_000
    for one in EXPECTED:
        text = source_of(read((TRANSCRIPTS / one["file"]).read_bytes()).messages)
        for name in SECTIONS:
            assert all(plain(wanted) in text for wanted in one.get(name, ())), one["file"]


@given(SOURCE, st.integers(20, 400))
@settings(max_examples=150)
def test_any_source_is_told_within_the_budget_and_in_its_own_words(
    messages: list[Message], budget: int
) -> None:
    told = extract(messages, budget)
    assert estimate(render(told.sections)) <= budget
    lines = [text for name in TITLES for text in told.sections[name]]
    assert invented(messages, lines) == []
    more = extract(messages, budget + 200)
    assert sum(map(len, more.sections.values())) >= len(lines)
    assert told.left_out >= more.left_out


@given(SOURCE, st.integers(0, 600))
@settings(max_examples=150)
def test_a_digest_keeps_to_its_characters_and_words(messages: list[Message], limit: int) -> None:
    told = digest(messages, limit)
    assert len(told) <= limit
    assert invented(messages, [one.removeprefix("- ") for one in told.split("\n")]) == []


@given(SOURCE, st.integers(20, 400))
@settings(max_examples=150)
def test_what_is_kept_was_said_by_people_or_returned_by_tools(
    messages: list[Message], budget: int
) -> None:
    kept = worth_keeping(messages, budget)
    assert estimate("\n".join(f"- {one}" for one in kept)) <= budget
    theirs = [one for one in messages if one.role != ASSISTANT]
    bare = [re.sub(r"^(?:Person|Tool): ", "", one) for one in kept]
    assert invented(theirs, bare) == []
    assert len({key(one) for one in kept}) == len(kept)
    assert (
        worth_keeping(messages, budget, {key(one) for one in worth_keeping(messages, 9_999)}) == []
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("It costs 3.5 kg, e.g. flour. Dr. Ito agrees.", None),
        ("Use `a. B` here. Then go.", ["Use `a. B` here.", "Then go."]),
        ("決定した。まだ未定。", ["決定した。", "まだ未定。"]),
        ("So ist es. Äpfel bleiben.", ["So ist es.", "Äpfel bleiben."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = ["It costs 3.5 kg, e.g. flour.", "Dr. Ito agrees."]
    assert sentences(text) == expected


@given(st.text(max_size=300), st.integers(2, 100))
@settings(max_examples=150)
def test_a_clipped_text_begins_as_it_did(text: str, limit: int) -> None:
    cut = clipped(text, limit)
    joined = " ".join(text.split())
    assert len(cut) <= limit
    assert cut == joined or (cut[-1] == "…" and joined.startswith(cut[:-1]))


def test_a_question_and_its_answer_are_one_decision() -> None:
    told = extract(
        [
            Message(ASSISTANT, "I read the schema. SQLite or PostgreSQL?"),
            Message(PERSON, "The small one."),
        ],
        BUDGET,
    )
    assert told.sections["decisions"] == ("SQLite or PostgreSQL? — The small one.",)


def test_what_is_not_decided_is_open() -> None:
    told = extract(
        [Message(PERSON, "We have not decided on the colour. We keep the size.")], BUDGET
    )
    assert told.sections["open_ends"] == ("We have not decided on the colour.",)
    assert told.sections["decisions"] == ("We keep the size.",)
