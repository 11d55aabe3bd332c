"""Who says what is told from names before lines, and from what a flush noted."""

from __future__ import annotations

from memcli.text.keeping import UNVERIFIED
from memcli.text.messages import read
from memcli.text.stretches import stretches, told
from memcli.text.tokens import estimate
from memcli.text.turns import ASSISTANT, CALL, PERSON, TOOL, UNSAID, Message
from memcli.text.voices import names, voices


def heard(text: str) -> list[tuple[str, str, str, int]]:
    return [
        (one.message.role, one.message.name, one.message.text, one.line)
        for one in voices(read(text.encode()))
    ]


def test_a_chat_that_was_copied_as_text_has_its_speakers() -> None:
    chat = "Anna: I prefer tabs.\nBen Wu: No.\nAnna: Why?\nmore of it\nBen Wu: So.\nBot: I know.\n"
    assert heard(chat) == [
        (PERSON, "Anna", "I prefer tabs.", 1),
        (PERSON, "Ben Wu", "No.", 2),
        (PERSON, "Anna", "Why?\nmore of it", 3),
        (PERSON, "Ben Wu", "So.", 5),
        (ASSISTANT, "", "I know.\n", 6),
    ]
    timed = "\n".join(f"[12.03.2026, 10:1{n}] {['Anna', 'Bo'][n % 2]}: x{n}" for n in range(6))
    assert [one[1] for one in heard(timed)] == ["Anna", "Bo"] * 3


def test_keys_and_values_are_no_chat() -> None:
    text = "Name: mill\nPort: 80\nHost: heron\nOwner: Anna\nZone: UTC\n"
    assert heard(text) == [(UNSAID, "", text, 1)]


def test_a_flush_in_a_log_keeps_its_speakers() -> None:
    log = (
        "# Daily log 2026-11-20\n\n## 12:00 — flush\n\n- Person (Ines): I prefer tabs.\n"
        f"- {UNVERIFIED} It is 5.\n- Tool (Bash): 3 ok\n\n## 13:00 — plan\n\nNever again.\n"
    )
    assert [one[:3] for one in heard(log)][1:4] == [
        (PERSON, "Ines", "I prefer tabs."),
        (ASSISTANT, "", "It is 5."),
        (TOOL, "Bash", "3 ok"),
    ]
    assert heard(log)[1][3] == 5
    assert heard(log)[-1][2].startswith("\n## 13:00") or "## 13:00" in heard(log)[-1][2]
    fenced = "```\n- Person (Ines): I prefer tabs.\n```\n"
    assert [one[0] for one in heard(fenced)] == [UNSAID]


def test_lines_are_those_of_the_source() -> None:
    rows = b'{"role": "user", "content": "one"}\n{"role": "user", "content": "two"}\n'
    assert [one.line for one in voices(read(rows))] == [1, 2]
    labels = b"User: one\n\nAssistant: two\n\nUser: three\n"
    assert [one.line for one in voices(read(labels))] == [1, 3, 5]


def test_names_are_those_of_persons_in_their_order() -> None:
    talk = "Bo: x\nAnna: y\nBot: z\nBo: x\nAnna: w\n"
    assert names(voices(read(talk.encode()))) == ["Bo", "Anna"]


def test_stretches_are_bounded_and_lose_no_word_of_a_person() -> None:
    messages = [
        Message(PERSON, "a b " * 900 + "\n" + "end"),
        Message(ASSISTANT, "c " * 5_000),
        Message(CALL, "never"),
        Message(TOOL, "d " * 5_000),
        Message(PERSON, "five\n\nsix"),
    ]
    found = stretches(messages, 300)
    said = " ".join(one.message.text for it in found for one in it if one.message.role == PERSON)
    assert said.split() == " ".join(m.text for m in messages if m.role == PERSON).split()
    assert all(sum(estimate(one.message.text) for one in it) <= 450 for it in found)
    assert all(one.turn != 2 for it in found for one in it)
    assert told(found[-1]).endswith("Person: five\n\nsix")


def test_what_only_an_assistant_says_is_no_stretch() -> None:
    assert stretches([Message(ASSISTANT, "I know it all.")], 300) == []
    assert stretches([], 300) == []
