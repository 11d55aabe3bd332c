"""Who says what, in every form that conversations are kept in, and where it stands."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text import previous
from memcli.text.messages import Conversation, pieces, read
from memcli.text.recalled import BEGIN, END
from memcli.text.turns import ASSISTANT, CALL, LABELS, PERSON, SYSTEM, TOOL, UNSAID, Message, render

LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00\x0b\x0c\x85\u2028\u2029"))
HARD = st.sampled_from(
    ["**Assistant:** forged", "\\**User:** x", "```", "````\nx", "## User", "- item", "# comment"]
)
TEXT = st.lists(st.one_of(LINE, HARD), min_size=1, max_size=5).map("\n".join)
NAME = st.text(st.characters(categories=["Lu", "Ll", "Nd"]), max_size=12)
MESSAGE = st.builds(Message, st.sampled_from(list(LABELS)), TEXT, NAME).filter(
    lambda one: one.text.strip() and BEGIN not in one.text
)


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in conversation.messages]


def lines(*items: object) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in items).encode()


@given(st.binary(max_size=400) | TEXT.map(str.encode))
@settings(max_examples=150)
def test_any_bytes_are_read_and_every_one_has_its_place(data: bytes) -> None:
    for conversation in (read(data), pieces(read(data))):
        if conversation.shape in ("text", "document"):
            whole = "".join(conversation.text[one.start : one.end] for one in conversation.records)
            assert whole == conversation.text
        for one in conversation.messages:
            assert one.text.strip()
            one.text.encode()  # no lone surrogate is left


@given(st.lists(MESSAGE, min_size=2, max_size=6))
@settings(max_examples=150)
def test_what_is_rendered_is_read_back_and_none_can_forge_a_speaker(told: list[Message]) -> None:
    found = read(render(told).encode())
    if found.shape == "document":  # a lone kind of speaker behind no title: made known by a mark
        start = previous.render("x", is_conversation=True)
        found = read((start + render(told)).encode())
        assert found.messages[0].role == SYSTEM
        back = found.messages[1:]
    else:
        back = found.messages
    assert [(one.role, one.name) for one in back] == [(one.role, one.name) for one in told]
    for one, it in zip(back, told, strict=True):
        assert one.text.split() == it.text.split()


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), LINE), min_size=1, max_size=6))
@settings(max_examples=100)
def test_json_shapes_agree(turns: list[tuple[str, str]]) -> None:
    items = [{"role": role, "content": text} for role, text in turns]
    whole = json.dumps(items, ensure_ascii=False)
    found = [
        read(lines(*items)),
        read(whole.encode("utf-8", "surrogatepass")),
        read(json.dumps({"model": "m", "messages": items}, indent=2).encode()),
    ]
    told = [(PERSON if role == "user" else ASSISTANT, text) for role, text in turns if text.strip()]
    for conversation in found if told else ():
        assert [(role, text.split()) for role, text in said(conversation)] == [
            (role, text.split()) for role, text in told
        ]
        for record in conversation.records:
            json.loads(conversation.text[record.start : record.end])


def test_claude_code_lines() -> None:
    found = read(
        lines(
            {"type": "file-history-snapshot", "snapshot": {}},
            {"type": "user", "isMeta": True, "message": {"role": "user", "content": "Caveat"}},
            {
                "type": "user",
                "timestamp": "2026-10-01T09:00:00Z",
                "message": {
                    "role": "user",
                    "content": "Fix it.<system-reminder>x</system-reminder>",
                },
            },
            {
                "type": "assistant",
                "message": {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "secret thought"},
                        {"type": "text", "text": "I look."},
                        {
                            "type": "tool_use",
                            "id": "t",
                            "name": "Edit",
                            "input": {"file_path": "a.py"},
                        },
                    ],
                },
            },
            {
                "type": "user",
                "message": {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t",
                            "content": [{"type": "text", "text": "updated"}],
                        },
                        {"type": "text", "text": "Go on."},
                    ],
                },
            },
            {"type": "summary", "summary": "Fixing it"},
        )
    )
    assert found.shape == "lines"
    assert said(found) == [
        (SYSTEM, "Caveat"),
        (PERSON, "Fix it."),
        (ASSISTANT, "I look."),
        (CALL, "file_path: a.py"),
        (TOOL, "updated"),
        (PERSON, "Go on."),
        (SYSTEM, "Fixing it"),
    ]
    assert found.messages[1].time == "2026-10-01T09:00:00Z"
    assert found.messages[3].files == ("a.py",)
    assert (found.messages[4].name, found.messages[4].id) == ("Edit", "t")
    assert not found.note
    assert read(lines({"role": "user", "content": "x"}) + b"{cut o").note == (
        "1 of 2 lines are no JSON objects"
    )


def test_openai_chat_with_tools_and_parts() -> None:
    call = {
        "id": "c",
        "function": {"name": "apply_patch", "arguments": '{"input": "*** Update File: x/y.go"}'},
    }
    found = read(
        json.dumps(
            {
                "messages": [
                    {"role": "developer", "content": "Be brief."},
                    {"role": "user", "name": "Jo", "content": [{"type": "text", "text": "Why?"}]},
                    {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": "c", "content": "42"},
                    {"role": "narrator", "content": "nobody knows who says this"},
                ]
            }
        ).encode()
    )
    assert [(one.role, one.name) for one in found.messages] == [
        (SYSTEM, ""),
        (PERSON, "Jo"),
        (CALL, "apply_patch"),
        (TOOL, "apply_patch"),
    ]
    assert found.messages[2].files == ("x/y.go",)


def test_chatgpt_export_takes_the_branch_that_was_shown() -> None:
    def node(role: str, text: str, parent: str | None) -> dict[str, object]:
        message = {
            "author": {"role": role},
            "create_time": 1_790_000_000,
            "content": {"parts": [text]},
        }
        return {"message": message, "parent": parent}

    mapping = {
        "root": {"message": None, "parent": None},
        "a": node("user", "Which?", "root"),
        "b": node("assistant", "The first.", "a"),
        "c": node("assistant", "The second.", "a"),
    }
    found = read(json.dumps([{"mapping": mapping, "current_node": "c"}]).encode())
    assert found.shape == "export"
    assert said(found) == [(PERSON, "Which?"), (ASSISTANT, "The second.")]
    assert found.messages[0].time.startswith("2026-09-21T")


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("**User:** a\n\n**Assistant:** b\n", [PERSON, ASSISTANT]),
        ("**Human**: a\n\n**AI**: b\n", [PERSON, ASSISTANT]),
        ("## User\n\na\n\n## Assistant\n\nb\n", [PERSON, ASSISTANT]),
        ("User: a\nAssistant: b\nUser: c", [PERSON, ASSISTANT, PERSON]),
        ("[10:02] <ines> a\n[10:03] <anton> b\n", [PERSON, PERSON]),
        ("# T\n\n**Person (Ines):** a\n\n**Tool (Bash):** b\n", [UNSAID, PERSON, TOOL]),
        ("User: only one speaker, so a document", [UNSAID]),
        ("user: bob\nhost: example.org\ntool: git\n", [UNSAID]),
        ("# Notes\n\nTool: a hammer\n\nAnd so on.\n\nModel: T-34\n", [UNSAID]),
        ("User: a\n```\nAssistant: b\n```\nAssistant: c", [PERSON, ASSISTANT]),
        ("User: a\n```\nnever closed\nAssistant: c", [PERSON, ASSISTANT]),
        ('{"name": "package", "version": 1}', [UNSAID]),
        ('["a", "b"]', [UNSAID]),
        ("{broken", [UNSAID]),
    ],
)
def test_text_forms(text: str, roles: list[str]) -> None:
    assert [one.role for one in read(text.encode()).messages] == roles


def test_recalled_blocks_are_left_out_and_their_speakers_are_none() -> None:
    block = f"{BEGIN}\n**Person:** remembered\n{END}\n"
    text = f"**User:** before\n{block}after\n\n**Assistant:** yes\n"
    assert [one for _, one in said(read(text.encode()))] == ["before\nafter", "yes"]
    item = {"role": "user", "content": f"before\n{block}after"}
    assert [one for _, one in said(read(lines(item)))] == ["before\nafter"]
    assert read(block.encode()).messages == ()


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"messages": ' + b"[" * 100_000,
        b'[{"role": "user", "content": ' + b"9" * 5000 + b"}]",
        b'{"role": "user", "content": "cut o',
        b"\xff\xfe" + "User: a\nAssistant: b".encode("utf-16-le"),
        b"\xef\xbb\xbfUser: a\nAssistant: b",
        b'{"role": "user", "content": "\\ud800 lone"}\n',
        b"User: Gr\xfc\xdfe\nAssistant: b",
    ],
)
def test_hard_sources_are_read(data: bytes) -> None:
    found = read(data)
    assert found.messages
    assert all(one.text.encode() for one in found.messages)


def test_a_long_source_is_read_in_time() -> None:
    text = "word " * 20 + "\n"
    assert len(pieces(read((text + "\n").encode() * 5_000)).records) == 5_000
    turns = "".join(f"**User:** {text}\n**Assistant:** {text}\n" for _ in range(5_000))
    assert len(read(turns.encode()).records) == 10_000
