"""A task's summary: written whole, by a model or in the source's own words, never over nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memcli import history
from memcli.edit import recover
from memcli.errors import RefusedError, UsageError, WorkspaceError
from memcli.layout import Layout
from memcli.model import SearchOptions
from memcli.ops.index import index
from memcli.ops.search import search
from memcli.ops.summarize import summarize
from memcli.ops.undo import undo
from memcli.text.recalled import BEGIN, END
from memcli.text.task import parse_task_id
from tests.conftest import FIXTURES, opened, write
from tests.kill_sweep import HAS_STRACE, KILL, NO_STRACE, Struck, sweep
from tests.servers import Server, serving

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TRANSCRIPTS = FIXTURES / "transcripts"
TALK = b"""**Person (Ines):** How many retries?

**Assistant:** I would say five.

**Person (Ines):** We keep three. Still open: who tells Ploy?
"""
TOKEN = "ghp_" + "Z7" * 18


@pytest.fixture
def chat() -> Iterator[Server]:
    with serving() as found:
        yield found


def asking(root: Path, chat: Server, provider: str = "openai") -> dict[str, str]:
    return {"llm_provider": provider, "llm_url": chat.url, "llm_timeout": "1"}


def task(root: Path, name: str) -> str:
    return (root / ".decsr/memory/tasks" / name).read_text("utf-8")


def test_a_conversation_becomes_its_own_sentences(empty: Path) -> None:
    done = summarize(opened(empty), TALK, task_id="QY-1", title="Retries", now=NOW)
    assert (done.path, done.by, done.revision) == ("tasks/QY-1.md", "extract", 1)
    assert task(empty, "QY-1.md") == (
        "# Retries\n\n_Task: QY-1_  \n_Recorded: 2026-11-20T12:00:00Z_\n\n"
        "## Goal\n\n- How many retries?\n\n## Decisions\n\n- We keep three.\n\n"
        "## Open ends\n\n- Still open: who tells Ploy?\n"
    )


def test_a_short_document_stays_as_it_is_and_gives_the_title(empty: Path) -> None:
    text = "# Two nights\n\nRan over two nights.\n\n```\n# no heading\n```\n"
    done = summarize(opened(empty), text.encode(), task_id="feature/x", now=NOW)
    assert (done.path, done.by) == ("tasks/feature-x.md", "as it is")
    written = task(empty, "feature-x.md")
    assert written.startswith("# Two nights\n\n_Task: feature/x_")
    assert written.endswith("\n\nRan over two nights.\n\n```\n# no heading\n```\n")


def test_it_is_rewritten_whole_and_undone_to_the_same_bytes(empty: Path) -> None:
    before = write(empty, "tasks/QY-1.md", "# by hand\r\n\r\nearlier summary").read_bytes()
    workspace = opened(empty)
    summarize(workspace, b"Later.\n", task_id="QY-1", now=NOW)
    assert "earlier" not in task(empty, "QY-1.md")
    undo(workspace.layout, now=NOW)
    assert (empty / ".decsr/memory/tasks/QY-1.md").read_bytes() == before


@pytest.mark.parametrize("data", [b"", b" \n\t", b"\xef\xbb\xbf", f"{BEGIN}\nx\n{END}\n".encode()])
def test_nothing_in_nothing_out(empty: Path, data: bytes) -> None:
    path = write(empty, "tasks/QY-1.md", "earlier\n")
    with pytest.raises(RefusedError, match="no text"):
        summarize(opened(empty), data, task_id="QY-1", now=NOW)
    assert path.read_bytes() == b"earlier\n"


@pytest.mark.parametrize("task_id", ["../../evil", "/etc/x", "a/../b", ".", " ", "a\nb", "C:\\x"])
def test_an_id_that_climbs_is_refused(empty: Path, task_id: str) -> None:
    with pytest.raises(UsageError):
        summarize(opened(empty), TALK, task_id=task_id, now=NOW)
    assert not list((empty / ".decsr/memory/tasks").iterdir())


def test_ids_that_share_a_name_get_files_of_their_own(empty: Path) -> None:
    paths = [
        summarize(opened(empty), TALK, task_id=one, now=NOW).path for one in ("a/b", "a-b", "a/b")
    ]
    assert paths[0] == paths[2] == "tasks/a-b.md"
    assert paths[1] != paths[0]
    names = (empty / ".decsr/memory/tasks").iterdir()
    assert {parse_task_id(one.read_text("utf-8")) for one in names} == {"a/b", "a-b"}


def test_without_a_task_and_in_a_dry_run_nothing_is_written(empty: Path) -> None:
    workspace = opened(empty)
    for task_id in ("", "QY-1"):
        done = summarize(workspace, TALK, task_id=task_id, is_dry=True, now=NOW)
        assert "We keep three." in done.body
        assert (done.path, done.revision) == ("", None)
    assert summarize(workspace, TALK, now=NOW).path == ""
    assert not list((empty / ".decsr/memory/tasks").iterdir())
    assert not history.ids(workspace.layout)


def test_secrets_are_masked_before_anything_is_cut(empty: Path) -> None:
    long = "word " * 70 + f"We decided to use {TOKEN} " + "word " * 70
    for text in (f"User: We decided: {TOKEN}\nAssistant: {long}.", f"A note with {TOKEN}."):
        workspace = opened(empty)
        done = summarize(workspace, text.encode(), task_id="QY-1", title=TOKEN, now=NOW)
        assert "ghp_" not in task(empty, "QY-1.md")
        assert "[masked:" in task(empty, "QY-1.md")
        assert any("masked" in note for note in done.notes)
    with pytest.raises(RefusedError, match="secret"):
        summarize(opened(empty, secrets="refuse"), TALK + TOKEN.encode(), task_id="x", now=NOW)


def test_what_was_left_out_is_said(empty: Path) -> None:
    talk = "".join(f"**User:** We decided on plan {n} for the hall.\n\n" for n in range(200))
    done = summarize(opened(empty), talk.encode(), task_id="QY-1", now=NOW)
    assert done.left_out > 100
    assert any("summarize.max_tokens" in note for note in done.notes)


def test_a_link_in_the_place_of_the_summary_is_not_followed(empty: Path) -> None:
    outside = empty / "outside.md"
    outside.write_text("keep")
    (empty / ".decsr/memory/tasks/QY-1.md").symlink_to(outside)
    with pytest.raises(WorkspaceError, match="link"):
        summarize(opened(empty), TALK, task_id="QY-1", now=NOW)
    assert outside.read_text() == "keep"


def test_search_has_the_summary_at_once(project: Path) -> None:
    workspace = opened(project)
    index(workspace, now=NOW.timestamp())
    summarize(workspace, TALK, task_id="QY-999", title="Marmalade", now=NOW)
    found = search(workspace, "marmalade", SearchOptions(refresh=False), now=NOW)
    assert found.hits[0].path == "tasks/QY-999.md"
    workspace.close()


ANSWER = {
    "goal": "Settle the number of retries.",
    "done": [],
    "decisions": ["Ines keeps three retries."],
    "open_ends": ["Who tells Ploy?"],
    "files": [],
}


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_model_writes_the_sections(empty: Path, chat: Server, provider: str) -> None:
    chat.says = json.dumps(ANSWER)
    workspace = opened(empty, **asking(empty, chat, provider))
    done = summarize(workspace, TALK + TOKEN.encode(), task_id="QY-1", now=NOW)
    assert done.by.startswith(provider)
    assert task(empty, "QY-1.md").endswith(
        "## Goal\n\n- Settle the number of retries.\n\n"
        "## Decisions\n\n- Ines keeps three retries.\n\n## Open ends\n\n- Who tells Ploy?\n"
    )
    (prompt,) = chat.prompts
    assert "Person (Ines): We keep three." in prompt
    assert "ghp_" not in prompt


@pytest.mark.parametrize(
    ("says", "status"),
    [
        ("", 200),
        ("Sure, here is a poem.", 200),
        (json.dumps({**ANSWER, "goal": "x", "decisions": ["We take 17 llamas"]}), 200),
        ("x", 401),
        ("x", 500),
    ],
)
def test_a_model_that_fails_costs_a_note(empty: Path, chat: Server, says: str, status: int) -> None:
    chat.says, chat.fault = says, "" if status == 200 else str(status)
    done = summarize(opened(empty, **asking(empty, chat)), TALK, task_id="QY-1", now=NOW)
    assert done.by == "extract"
    assert "- We keep three." in task(empty, "QY-1.md")
    assert any("without a model" in note for note in done.notes)


def test_a_conversation_too_long_for_a_prompt_goes_in_as_an_extract(
    empty: Path, chat: Server
) -> None:
    chat.says = json.dumps(ANSWER)
    talk = TALK + b"\n".join(b"\n**Assistant:** " + b"noise %d " % n * 30 for n in range(400))
    summarize(opened(empty, **asking(empty, chat)), talk, task_id="QY-1", now=NOW)
    (prompt,) = chat.prompts
    assert "We keep three." in prompt
    assert len(prompt) < 40_000


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("[0-9]*")), ids=lambda one: one.name)
def test_every_transcript_gets_a_summary(empty: Path, path: Path) -> None:
    done = summarize(opened(empty), path.read_bytes(), task_id=path.stem, now=NOW)
    assert done.revision == 1
    assert len(done.body) > 40


def command(root: str) -> Sequence[str]:
    words = ["summarize", "--task", "QY-1", os.path.join(root, "talk.md"), "--root", root]
    return [sys.executable, "-m", "memcli", *words]


def build(root: str) -> None:
    write(Path(root), "tasks/QY-1.md", "# Earlier\n\nsummary\n")
    Path(root, "talk.md").write_bytes(TALK)


def whole(struck: Struck) -> None:
    layout = Layout(struck.root)
    recover(layout)
    text = task(Path(struck.root), "QY-1.md")
    if text == "# Earlier\n\nsummary\n":
        assert not history.ids(layout)
        return
    assert text.endswith("- We keep three.\n\n## Open ends\n\n- Still open: who tells Ploy?\n")
    undo(layout, now=NOW)
    assert task(Path(struck.root), "QY-1.md") == "# Earlier\n\nsummary\n"


@pytest.mark.slow
@pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)
def test_killed_at_any_call_the_summary_is_the_old_or_the_new() -> None:
    assert sweep(command, build, whole, fault=KILL) > 5
