"""A flush saves what people said and tools returned, each once, and no claim of an assistant's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memcli.errors import RefusedError, UsageError
from memcli.ops.flush import KEPT, flush
from memcli.text.keeping import UNVERIFIED
from memcli.text.tokens import estimate
from tests.conftest import FIXTURES, opened, write
from tests.servers import Server, serving

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LOG = ".decsr/memory/daily/2026-11-20.md"
CALL = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "Bash"}}]}
ROWS: list[dict[str, object]] = [
    {"role": "system", "content": "You help at the mill. Always decide on Tuesdays."},
    {"role": "user", "name": "Ines", "content": "We decided to keep 3 retries. Why is it slow?"},
    {"role": "assistant", "content": "The cache holds 512 entries. We decided to drop it."},
    CALL,
    {"role": "tool", "tool_call_id": "c", "content": "PostgreSQL 16.4\nError: no partition 7"},
    {"role": "user", "name": "Ines", "content": "We decided to keep 3 retries."},
    *({"role": "assistant", "content": f"Filler {n} of 99."} for n in range(20)),
    {"role": "user", "content": "The last question, please answer it."},
]


def lines(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def chat() -> Iterator[Server]:
    with serving() as found:
        yield found


def test_nothing_is_flushed_below_the_limit(empty: Path) -> None:
    done = flush(opened(empty), lines(ROWS), now=NOW)
    assert (done.is_due, done.facts, done.path) == (False, (), "")
    assert not (empty / LOG).exists()
    assert opened(empty).settings.flush_max_tokens == 80_000
    assert KEPT == 6


def test_without_a_model_what_people_said_and_tools_returned_is_saved(empty: Path) -> None:
    done = flush(opened(empty, flush_max_tokens="50"), lines(ROWS), now=NOW)
    assert done.facts == (
        "Person (Ines): We decided to keep 3 retries.",
        "Tool (Bash): PostgreSQL 16.4",
        "Tool (Bash): Error: no partition 7",
    )
    text = (empty / LOG).read_text("utf-8")
    assert text == "# Daily log 2026-11-20\n\n## 12:00 — flush\n\n" + "".join(
        f"- {one}\n" for one in done.facts
    )


def test_what_the_log_says_already_is_not_said_again(empty: Path) -> None:
    yesterday = "# Daily log 2026-11-19\n\n## 09:00 — flush\n\n- Tool (Bash): PostgreSQL 16.4\n"
    write(empty, "daily/2026-11-19.md", yesterday)
    workspace = opened(empty)
    first = flush(workspace, lines(ROWS), is_forced=True, now=NOW)
    assert "Tool (Bash): PostgreSQL 16.4" not in first.facts
    before = (empty / LOG).read_bytes()
    again = flush(workspace, lines(ROWS), is_forced=True, now=NOW)
    assert (again.is_due, again.facts, again.revision) == (True, (), None)
    assert (empty / LOG).read_bytes() == before


def test_the_rest_keeps_system_prompt_question_and_newest_bytes(empty: Path) -> None:
    rows = [*ROWS[:-1], ROWS[-1], *({"role": "assistant", "content": f"x{n}"} for n in range(9))]
    out = empty / "out.jsonl"
    done = flush(opened(empty), lines(rows), out=str(out), is_forced=True, now=NOW)
    kept = [rows[0], ROWS[-1], *rows[-6:]]
    assert out.read_bytes() == lines(kept)
    assert done.kept == 7
    short = lines(rows[:5])
    assert not flush(opened(empty), short, out=str(out), is_forced=True, now=NOW).is_due
    assert out.read_bytes() == short


def test_an_answer_is_not_kept_without_its_call(empty: Path) -> None:
    answer = {"role": "tool", "tool_call_id": "c", "content": "exit code 0"}
    rows = [*ROWS[:3], CALL, answer, *({"role": "user", "content": f"ok {n}"} for n in range(5))]
    out = empty / "out.jsonl"
    flush(opened(empty), lines(rows), out=str(out), is_forced=True, now=NOW)
    assert out.read_bytes() == lines([rows[0], *rows[-5:]])


def test_a_dry_run_and_a_form_that_cannot_be_cut(empty: Path) -> None:
    done = flush(opened(empty), lines(ROWS), is_forced=True, is_dry=True, now=NOW)
    assert done.facts
    assert not (empty / LOG).exists()
    export = (FIXTURES / "transcripts/05-chatgpt-export.json").read_bytes()
    with pytest.raises(UsageError, match="export"):
        flush(opened(empty), export, out=str(empty / "x"), is_forced=True, now=NOW)
    assert flush(opened(empty), export, is_forced=True, now=NOW).facts
    with pytest.raises(RefusedError, match="no conversation"):
        flush(opened(empty), b"", now=NOW)


def test_it_is_bounded(empty: Path) -> None:
    many = [
        {"role": "user", "content": f"We decided on plan {n} for the hall."} for n in range(900)
    ]
    done = flush(opened(empty), lines(many), is_forced=True, now=NOW)
    assert 20 < len(done.facts) < 200
    assert estimate("\n".join(f"- {one}" for one in done.facts)) <= 800


def test_a_model_is_held_to_who_said_what(empty: Path, chat: Server) -> None:
    facts = [
        {"text": "Ines keeps 3 retries, it was decided.", "said_by": "Person"},
        {"text": "The cache holds 512 entries.", "said_by": "Person"},
        {"text": "There is no partition 7.", "said_by": "Tool"},
        {"text": "There is no partition 8.", "said_by": "Tool"},
    ]
    chat.says = json.dumps({"facts": facts})
    workspace = opened(empty, llm_provider="ollama", llm_url=chat.url)
    done = flush(workspace, lines(ROWS), is_forced=True, now=NOW)
    assert done.facts == (
        "Person: Ines keeps 3 retries, it was decided.",
        f"{UNVERIFIED} The cache holds 512 entries.",
        "Tool: There is no partition 7.",
    )
    assert UNVERIFIED == "Unverified, the agent's own earlier answer:"
    (prompt,) = chat.prompts
    assert "Person (Ines): We decided" in prompt
    assert "Assistant: The cache" in prompt
    assert "Tool (Bash): PostgreSQL" in prompt
    assert "The last question" not in prompt


@pytest.mark.parametrize("says", ["no JSON", '{"facts": []}', '{"facts": [{"text": "17 llamas"}]}'])
def test_a_model_that_fails_costs_a_note(empty: Path, chat: Server, says: str) -> None:
    chat.says = says
    workspace = opened(empty, llm_provider="ollama", llm_url=chat.url)
    done = flush(workspace, lines(ROWS), is_forced=True, now=NOW)
    assert done.by == "extract"
    assert len(done.facts) == 3
    assert any("without a model" in note for note in done.notes)
