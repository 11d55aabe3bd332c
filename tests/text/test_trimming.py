"""A cut holds its limit, keeps the newest bytes as they are, and one is always enough."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text import previous
from memcli.text.messages import Conversation, pieces, read
from memcli.text.tokens import estimate
from memcli.text.trimming import Limits, Parts, composed, count, parts, split, tokens
from memcli.text.turns import CALL, TOOL

WORDS = st.text("ab 1я字\n", max_size=60)
ROLE = st.sampled_from(["user", "assistant", "tool", "system"])
ITEM = st.builds(lambda role, text: {"role": role, "content": text}, ROLE, WORDS)
CALLS = st.sampled_from(["c1", "c2"])
CALLED = st.builds(
    lambda key: {"role": "assistant", "tool_calls": [{"id": key, "function": {"name": "f"}}]}, CALLS
)
ANSWER = st.builds(
    lambda k, text: {"role": "tool", "tool_call_id": k, "content": text}, CALLS, WORDS
)
ITEMS = st.lists(st.one_of(ITEM, CALLED, ANSWER), min_size=1, max_size=25)
LIMITS = st.builds(Limits, st.integers(0, 80), st.integers(0, 12)).filter(
    lambda one: one.tokens or one.messages
)


def as_lines(items: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in items).encode()


def as_array(items: list[dict[str, object]]) -> bytes:
    return json.dumps({"messages": items, "n": 1}, indent=1, ensure_ascii=False).encode()


def as_text(items: list[dict[str, object]]) -> bytes:
    told = [(one["role"], str(one.get("content") or "")) for one in items]
    title = "# T\n\n" if len(items) % 2 else ""
    return (title + "".join(f"**{role}:** {text}\n\n" for role, text in told)).encode()


def as_document(items: list[dict[str, object]]) -> bytes:
    return "\n\n".join(str(one.get("content") or "") for one in items).encode()


SOURCES = st.tuples(st.sampled_from([as_lines, as_array, as_text, as_document]), ITEMS).map(
    lambda one: one[0](one[1])
)


def opened(data: bytes) -> tuple[Conversation, Parts]:
    conversation = pieces(read(data))
    return conversation, parts(conversation)


def bytes_of(conversation: Conversation, records: Sequence[object]) -> bytes:
    spans = [(one.start, one.end) for one in records]  # type: ignore[attr-defined]  # records
    return "".join(conversation.text[a:b] for a, b in spans).encode("utf-8", "surrogateescape")


@given(SOURCES, LIMITS)
@settings(max_examples=300)
def test_the_newest_within_the_share_are_kept(data: bytes, limits: Limits) -> None:
    conversation, taken = opened(data)
    gone, kept = split(conversation, taken.history, limits)
    assert (*gone, *kept) == taken.history
    if limits.tokens:
        assert tokens(conversation, kept) <= limits.tokens * 0.6
    if limits.messages:
        assert count(kept) <= limits.messages * 0.6
    called: set[str] = set()
    for one in (one for record in kept for one in record.messages):
        called.update({one.id} if one.role == CALL else ())
        assert one.role != TOOL or not one.id or one.id in called
    if gone and not any(one.id for record in taken.history for one in record.messages):
        more = (gone[-1], *kept)
        assert (limits.tokens and tokens(conversation, more) > int(limits.tokens * 0.6)) or (
            limits.messages and count(more) > int(limits.messages * 0.6)
        )


@given(SOURCES, LIMITS, st.text("x\n<!->", max_size=30))
@settings(max_examples=300)
def test_one_cut_is_enough_and_keeps_the_bytes(data: bytes, limits: Limits, said: str) -> None:
    conversation, taken = opened(data)
    if not limits.are_passed_by(conversation, taken.history):
        return
    _, kept = split(conversation, taken.history, limits)
    after = composed(conversation, kept, f"- {said}x")
    again, anew = opened(after)
    assert not limits.are_passed_by(again, anew.history)
    assert tokens(again, anew.history) == tokens(conversation, kept)
    assert bytes_of(again, anew.opening) == bytes_of(conversation, taken.opening)
    if conversation.shape == "array":
        document = json.loads(after)
        assert document["n"] == 1
        assert [r for r in document["messages"] if not is_carried(r)] == [
            json.loads(bytes_of(conversation, [one])) for one in (*taken.opening, *kept)
        ]
    else:
        assert after.endswith(bytes_of(conversation, kept))
    (carried,) = anew.carried
    assert previous.paragraphs(carried.messages[0].text).startswith("-")


def is_carried(row: dict[str, str]) -> bool:
    return str(row.get("content", "")).startswith(previous.HEAD)


@given(st.lists(st.text("ab\n", min_size=1, max_size=900), max_size=12))
@settings(max_examples=200)
def test_what_is_carried_keeps_its_newest_characters(told: list[str]) -> None:
    carried = ""
    for one in told:
        carried = previous.joined(carried, one)
        assert len(carried) <= previous.CHARS
        assert carried.endswith(one)
    whole = "\n\n".join(told)
    assert whole.endswith(carried)
    assert len(whole) <= previous.CHARS or len(carried) >= previous.CHARS - 900 - 2
    assert previous.CHARS == 4_000


@given(st.text("abc 019яж字あ,.", max_size=200))
@settings(max_examples=200)
def test_tokens_are_counted_as_everywhere(text: str) -> None:
    data = json.dumps(
        [{"role": "user", "content": text}, {"role": "user", "content": "a"}]
    ).encode()
    conversation, taken = opened(data)
    single = sum(char.isdigit() or char in "яж字あ" for char in text)
    told = len(text) if text.strip() else 0
    expected = (4 * (single if told else 0) + told - (single if told else 0) + 1 + 3) // 4
    assert tokens(conversation, taken.history) == expected
    assert estimate("1я字あ") == 4


def test_a_giant_message_goes_too_and_the_system_prompt_never() -> None:
    system = {"role": "system", "content": "rule " * 500}
    data = as_lines([system, {"role": "user", "content": "x" * 9_000}])
    conversation, taken = opened(data)
    gone, kept = split(conversation, taken.history, Limits(100))
    assert (len(taken.opening), len(gone), kept) == (1, 1, ())
    after = composed(conversation, kept, "- it")
    rows = [json.loads(line) for line in after.splitlines()]
    assert rows == [system, {"role": "system", "content": "PREVIOUS CONTEXT\n\n- it"}]


def test_claude_code_gets_a_line_of_its_own_kind_and_windows_its_line_ends() -> None:
    line = json.dumps({"type": "user", "message": {"role": "user", "content": "hello"}})
    conversation, taken = opened(f"{line}\r\n{line}\r\n".encode())
    after = composed(conversation, taken.history[1:], "- it").decode()
    first, _, rest = after.partition("\r\n")
    assert json.loads(first) == {"type": "summary", "summary": "PREVIOUS CONTEXT\n\n- it"}
    assert rest == f"{line}\r\n"
