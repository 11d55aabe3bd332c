"""A session is archived, then cut; whenever a run is killed, nothing is lost or done twice."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli import history
from memcli.edit import recover
from memcli.errors import ConflictError, RefusedError, UsageError, WorkspaceError
from memcli.layout import Layout
from memcli.ops.session import SUMMARY_CHARS, Session, SessionCut, cut_session, limits_of
from memcli.ops.undo import undo
from memcli.text import previous
from memcli.text.messages import read
from memcli.text.recalled import BEGIN, END
from memcli.workspace import Workspace
from tests.conftest import FIXTURES, opened
from tests.kill_sweep import EIO, HAS_STRACE, KILL, NO_STRACE, Struck, sweep
from tests.servers import Server, serving

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TOKEN = "ghp_" + "Z7" * 18


def talk(turns: int, words: int = 40) -> bytes:
    rows = [
        {
            "role": ("user", "assistant")[n % 2],
            "content": f"Turn {n}: we keep plan {n}. " + "word " * words,
        }
        for n in range(turns)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def cut(workspace: Workspace, data: bytes, out: Path, **how: object) -> SessionCut:
    session = Session(data, "2026 talk", str(out), str(how.pop("source", "")))
    return cut_session(workspace, session, now=NOW, **how)  # type: ignore[arg-type]  # is_dry


def archives(root: Path) -> dict[str, str]:
    folder = root / ".decsr/memory/archive"
    return {one.name: one.read_text("utf-8") for one in folder.glob("*")}


@pytest.fixture
def chat() -> Iterator[Server]:
    with serving() as found:
        yield found


def test_the_defaults_are_those_of_the_design(empty: Path) -> None:
    assert limits_of(opened(empty)).tokens == 40_000
    assert limits_of(opened(empty)).messages == 0
    by_messages = limits_of(opened(empty, session_max_tokens="0", flush_max_tokens="0"))
    assert (by_messages.tokens, by_messages.messages) == (0, 40)
    held = limits_of(opened(empty, session_max_tokens="0"))
    assert (held.tokens, held.messages) == (40_000, 40)
    assert limits_of(opened(empty, flush_max_tokens="1000")).tokens == 500
    assert SUMMARY_CHARS == 500


def test_within_its_limit_a_session_goes_out_as_it_is(empty: Path) -> None:
    data = talk(10)
    done = cut(opened(empty), data, empty / "out.jsonl")
    assert not done.is_cut
    assert (empty / "out.jsonl").read_bytes() == data
    assert not archives(empty)


def test_a_session_past_its_limit_is_archived_and_cut(empty: Path) -> None:
    workspace = opened(empty, session_max_tokens="1000")
    data = talk(40)
    done = cut(workspace, data, empty / "out.jsonl")
    assert done.is_cut
    assert done.tokens > 1_000
    assert done.tokens_after <= 600
    lines = data.splitlines(keepends=True)
    after = (empty / "out.jsonl").read_bytes()
    assert after.endswith(b"".join(lines[-done.kept :]))
    first = json.loads(after.splitlines()[0])
    assert first["role"] == "system"
    assert first["content"] == f"PREVIOUS CONTEXT\n\n{done.summary}"
    assert f"in full: {done.archive}" in done.summary
    assert len(done.summary) <= 500
    ((name, text),) = archives(empty).items()
    assert f"archive/{name}" == done.archive
    assert name.startswith("2026-11-20-2026-talk-")
    told = read(text.encode()).messages
    assert [one.text for one in told if one.role] == [
        json.loads(line)["content"].strip() for line in lines[: -done.kept]
    ]


def test_a_second_run_changes_nothing_and_a_later_cut_adds_a_paragraph(empty: Path) -> None:
    workspace = opened(empty, session_max_tokens="1000")
    out = empty / "talk.jsonl"
    out.write_bytes(talk(40))
    summaries = []
    for _ in range(12):
        before = out.read_bytes()
        done = cut(workspace, before, out, source=out)
        assert done.is_cut
        summaries.append(done.summary)
        after = out.read_bytes()
        assert not cut(workspace, after, out, source=out).is_cut
        assert out.read_bytes() == after
        said = previous.paragraphs(json.loads(after.splitlines()[0])["content"])
        assert len(said) == done.carried <= 4_000
        assert "\n\n".join(summaries).endswith(said)
        kept = after.splitlines(keepends=True)[1:]
        assert before.endswith(b"".join(kept))
        more = talk(30).replace(b"Turn", f"Round {len(summaries)} turn".encode())
        out.write_bytes(after + more)
    assert len(archives(empty)) == 12
    assert "\n\n".join(summaries) != said


def test_forty_messages_count_when_tokens_do_not(empty: Path) -> None:
    workspace = opened(empty, session_max_tokens="0", flush_max_tokens="0")
    assert not cut(workspace, talk(40), empty / "a.jsonl").is_cut
    done = cut(workspace, talk(41), empty / "b.jsonl")
    assert (done.messages, done.kept) == (41, 24)


@given(turns=st.integers(1, 60), words=st.integers(0, 60), limit=st.integers(20, 2_000))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_hold(empty: Path, turns: int, words: int, limit: int) -> None:
    workspace = opened(empty, session_max_tokens=str(limit))
    out = empty / f"{turns}-{words}-{limit}.jsonl"
    done = cut(workspace, talk(turns, words), out)
    assert done.is_cut == (done.tokens > limit)
    assert len(done.summary) <= 500
    if done.is_cut:
        assert done.tokens_after <= 0.6 * limit
        assert (empty / ".decsr/memory" / done.archive).exists()
    assert not cut(workspace, out.read_bytes(), empty / "again.jsonl").is_cut


def test_a_dry_run_writes_nothing(empty: Path) -> None:
    workspace = opened(empty, session_max_tokens="500")
    done = cut(workspace, talk(40), empty / "out.jsonl", is_dry=True)
    assert done.is_cut
    assert done.summary
    assert not (empty / "out.jsonl").exists()
    assert not archives(empty)
    assert not history.ids(workspace.layout)


def test_the_archive_can_be_taken_back(empty: Path) -> None:
    workspace = opened(empty, session_max_tokens="500")
    cut(workspace, talk(40), empty / "out.jsonl")
    undo(workspace.layout, now=NOW)
    assert not archives(empty)


def test_secrets_and_recalled_memory_stay_out_of_the_archive(empty: Path) -> None:
    rows = [
        {"role": "user", "content": f"We decided to use {TOKEN}. " + "word " * 200},
        {"role": "user", "content": f"before\n{BEGIN}\nremembered\n{END}\nafter"},
        {"role": "user", "content": "last"},
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    done = cut(opened(empty, session_max_tokens="40"), data, empty / "out.jsonl")
    ((_, text),) = archives(empty).items()
    assert "[masked:" in text
    assert "ghp_" not in text + done.summary
    assert "remembered" not in text
    assert json.loads((empty / "out.jsonl").read_bytes().splitlines()[-1]) == rows[-1]


@pytest.mark.parametrize(
    "name", sorted({*os.listdir(FIXTURES / "transcripts")} - {"expected.jsonl"})
)
def test_every_transcript_is_cut_once(empty: Path, name: str) -> None:
    data = (FIXTURES / "transcripts" / name).read_bytes()
    workspace = opened(empty, session_max_tokens="120")
    if read(data).shape == "export":
        with pytest.raises(UsageError, match="export"):
            cut(workspace, data, empty / name)
        return
    done = cut(workspace, data, empty / name)
    assert done.tokens_after <= 72 or not done.is_cut
    assert not cut(workspace, (empty / name).read_bytes(), empty / "again").is_cut
    if name.endswith(".jsonl"):
        for line in (empty / name).read_text("utf-8").splitlines():
            json.loads(line)
    elif name.endswith(".json"):
        json.loads((empty / name).read_text("utf-8"))


def test_a_model_writes_the_paragraph_and_its_failure_costs_a_note(
    empty: Path, chat: Server
) -> None:
    chat.says = "We keep plan 1 and plan 2. The moon is made of 77 cheeses. " + "Turn 3. " * 100
    workspace = opened(
        empty, session_max_tokens="500", llm_provider="openai", llm_url=chat.url, llm_model="m"
    )
    done = cut(workspace, talk(40), empty / "a.jsonl")
    assert done.by == "openai:m"
    assert "We keep plan 1 and plan 2." in done.summary
    assert "cheeses" not in done.summary
    assert len(done.summary) <= 500
    chat.fault = "500"
    done = cut(workspace, talk(41), empty / "b.jsonl")
    assert done.by == "extract"
    assert any("without a model" in note for note in done.notes)


def test_what_cannot_be_is_refused(empty: Path) -> None:
    workspace = opened(empty)
    with pytest.raises(RefusedError, match="no conversation"):
        cut(workspace, b" \n", empty / "out")
    with pytest.raises(UsageError, match="into the memory"):
        cut(workspace, talk(4), empty / ".decsr/memory/x.md")
    with pytest.raises(WorkspaceError, match="cannot write"):
        cut(workspace, talk(4), empty / "no such folder" / "x")
    source = empty / "talk.jsonl"
    source.write_bytes(talk(41))
    with pytest.raises(ConflictError, match="changed"):
        cut(opened(empty, session_max_tokens="500"), talk(40), source, source=source)
    assert source.read_bytes() == talk(41)
    assert len(archives(empty)) == 1


def command(root: str) -> Sequence[str]:
    talked = os.path.join(root, "talk.jsonl")
    words = ["summarize", "--session", talked, "--out", talked, "--root", root]
    return [sys.executable, "-m", "memcli", *words]


def build(root: str) -> None:
    os.makedirs(os.path.join(root, ".decsr/memory"))
    Path(root, "talk.jsonl").write_bytes(talk(40))
    Path(root, ".decsr/config.toml").write_text("[session]\nmax_tokens = 500\n")


def whole(struck: Struck) -> None:
    """The source is as before or completely cut; cut only when all of it is archived."""
    root = Path(struck.root)
    recover(Layout(struck.root))
    before, after = talk(40), (root / "talk.jsonl").read_bytes()
    stored = archives(root)
    if after != before:
        (text,) = stored.values()
        rows = [json.loads(line)["content"] for line in after.splitlines()]
        assert rows[0].startswith(previous.HEAD)
        told = [one.text for one in read(text.encode()).messages if one.role]
        told += [row.strip() for row in rows[1:]]
        assert told == [json.loads(line)["content"].strip() for line in before.splitlines()]
    workspace = opened(root)
    again = cut(workspace, after, root / "talk.jsonl", source=root / "talk.jsonl")
    assert again.is_cut == (after == before)
    assert len(archives(root)) == 1
    workspace.close()


@pytest.mark.slow
@pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)
@pytest.mark.parametrize("fault", [KILL, EIO])
def test_killed_at_any_call_nothing_is_lost_or_done_twice(fault: str) -> None:
    assert sweep(command, build, whole, fault=fault) > 8
