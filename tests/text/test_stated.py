"""What persons state that lasts is found by its words, and hardly anything beside it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.stated import attributed, claimed, stated
from memcli.text.turns import ASSISTANT, PERSON, SYSTEM, TOOL, UNSAID, Message
from tests.conftest import FIXTURES

ROWS = [
    json.loads(line) for line in (FIXTURES / "statements.jsonl").read_text("utf-8").splitlines()
]
KINDS = {"fact", "preference", "instruction"}


def kinds_of(text: str, role: str = PERSON, name: str = "") -> list[str]:
    return [one.kind for one in stated([Message(role, text, name=name)], is_shared=False)]


def texts_of(*messages: Message, is_shared: bool = False) -> list[str]:
    return [one.text for one in stated(messages, is_shared=is_shared)]


def test_the_labelled_statements_are_many_and_half_of_them_traps() -> None:
    assert len(ROWS) >= 150
    assert 0.4 < sum(row["kind"] == "none" for row in ROWS) / len(ROWS) < 0.6
    assert len({row["lang"] for row in ROWS}) >= 8
    assert {row["kind"] for row in ROWS} == KINDS | {"none"}


def test_precision_and_recall_on_the_labelled_statements() -> None:
    found = [(row["kind"], kinds_of(row["text"])) for row in ROWS]
    right = sum(kinds == [kind] for kind, kinds in found)
    assert right / sum(bool(kinds) for _, kinds in found) >= 0.97
    assert right / sum(kind != "none" for kind, _ in found) >= 0.95


@pytest.mark.parametrize("role", [ASSISTANT, TOOL, SYSTEM])
def test_only_persons_state_anything(role: str) -> None:
    for row in ROWS:
        assert not kinds_of(row["text"], role)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(ROWS), max_size=6), st.sampled_from(["", "Anna", "Bo Chen"]))
def test_every_statement_stands_word_for_word_in_its_turn(
    rows: list[dict[str, str]], name: str
) -> None:
    messages = [Message(PERSON, row["text"], name=name) for row in rows]
    for one in stated(messages, is_shared=True):
        own = one.text.removeprefix(f"{name}: ") if name else one.text
        own = own.removeprefix(name).strip() if name else own
        said = {word.strip(".,:").lower() for word in messages[one.said.turn].text.split()}
        told = [word.strip(".,:").lower() for word in own.split()]
        # But for the verb that follows a name in the place of "I".
        odd = [word for word in told if word not in said]
        assert len(odd) <= 2, (odd, one.text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I prefer tabs.", "Anna prefers tabs."),
        ("I always use spaces in YAML.", "Anna always uses spaces in YAML."),
        ("I don't like long names.", "Anna does not like long names."),
        ("I'm allergic to peanuts.", "Anna is allergic to peanuts."),
        ("I like my answers short.", "Anna: I like my answers short."),
        ("Always run the linter.", "Anna: Always run the linter."),
        ("I can't stand emoji.", "Anna: I can't stand emoji."),
        ("I wish for peace.", "Anna wishes for peace."),
    ],
)
def test_a_name_takes_the_place_of_the_first_person(text: str, told: str) -> None:
    assert attributed(text, "Anna") == told


def test_who_said_it_is_named_where_it_matters() -> None:
    talk = (
        Message(PERSON, "I prefer small pull requests. We decided on three retries.", name="Anna"),
        Message(PERSON, "Always run the linter before you commit.", name="Ben"),
    )
    assert texts_of(*talk, is_shared=True) == [
        "Anna prefers small pull requests.",
        "We decided on three retries.",
        "Ben: Always run the linter before you commit.",
    ]
    assert texts_of(talk[1]) == ["Always run the linter before you commit."]
    assert texts_of(Message(PERSON, "I prefer small pull requests.")) == [
        "I prefer small pull requests."
    ]


def test_a_text_that_nobody_says_counts_but_for_its_open_ends_and_code() -> None:
    text = (
        "# Rules\n\n- Never push to the release branch.\n- [ ] Always answer in German.\n\n"
        "```\nAlways use tabs in code.\n```\n\n> Never trust a quote.\n\n"
        "## Open questions\n\n- We decided on four retries.\n"
    )
    assert texts_of(Message(UNSAID, text)) == ["Never push to the release branch."]


def test_what_nobody_types_is_no_statement() -> None:
    assert kinds_of("Never push to main.")
    assert not kinds_of("Never push to main.\n" + "x\n" * 50)
    assert not kinds_of("Never push to main. " + "This is the brief of a program. " * 150)
    log = "Failed to update machine: failed to update VM: Services: force is not allowed when tls"
    assert not kinds_of(f"{log}: {log}")


def test_a_claim_is_no_question_guess_quotation_or_code() -> None:
    said = "The cache holds 64 MB. Does it hold more? Maybe it is 128 MB. He said «it is 512 MB»."
    code = "```\ncache = 99\n```"
    assert claimed([Message(PERSON, f"{said}\n\n{code}")]) == ["The cache holds 64 MB.\nHe said ."]
    assert claimed([Message(TOOL, "port 80\nport 81?")]) == ["port 80"]
