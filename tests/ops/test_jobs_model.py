"""Jobs that ask a model over a real socket: what they pin, what they ask, and what faults cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memcli.ops.jobs import list_jobs, run_jobs
from memcli.ops.marks import BELIEFS
from memcli.ops.undo import undo
from memcli.ops.worker import REPLIES, Ran
from memcli.store.jobs import DONE, FAILED, PENDING
from memcli.text.facts import fact_hash
from tests.conftest import opened, write
from tests.queue_worker import clock, log
from tests.servers import Server, serving

FACT = "The importer retries five times."


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        found.says = json.dumps({"facts": [{"text": FACT, "kind": "FACT"}]})
        yield found


def run(root: Path, server: Server | str, ahead: float = 0.0, **settings: str) -> Ran:
    url = server if isinstance(server, str) else server.url
    given = {"llm_provider": "ollama", "llm_url": url, "jobs_per_minute": "0", "llm_timeout": "5"}
    workspace = opened(root, **{**given, **settings})
    try:
        return run_jobs(workspace, clock=lambda: clock() + timedelta(seconds=ahead))
    finally:
        workspace.close()


def memory(root: Path) -> str:
    path = root / ".decsr/memory/MEMORY.md"
    return path.read_text() if path.exists() else ""


def test_a_fact_of_the_log_is_pinned_once_with_its_source(empty: Path, server: Server) -> None:
    log(empty, f"Talked about the importer. {FACT}")
    ran = run(empty, server)
    assert [(job.state, job.note, job.revision) for job in ran.jobs] == [(DONE, "1 fact added", 1)]
    assert memory(empty).count(FACT) == 1
    assert "src=daily/2026-11-20.md" in memory(empty)
    assert ran.calls == len(server.requests) == 1
    assert run(empty, server).calls == 0
    assert len(server.requests) == 1


def test_what_was_taken_back_is_not_asked_for_again_when_the_queue_is_lost(
    empty: Path, server: Server
) -> None:
    log(empty, f"Talked about the importer. {FACT}")
    run(empty, server)
    undo(opened(empty).layout, None, now=clock())
    for path in empty.glob(".decsr/memory.db*"):
        path.unlink()
    run(empty, server)
    assert len(server.requests) == 1
    assert FACT not in memory(empty)


def test_a_model_is_asked_as_often_as_allowed_and_the_rest_waits(
    empty: Path, server: Server
) -> None:
    for day in range(10, 20):
        log(empty, f"On that day: {FACT} " + "word " * 800, "other " * 600, day=f"2026-11-{day}")
    asked = []
    for _ in range(5):
        ran = run(empty, server, jobs_max_calls="6")
        asked.append(ran.calls)
        assert len(server.requests) == sum(asked)
    assert asked == [6, 6, 6, 2, 0]
    assert memory(empty).count(FACT) == 1


@pytest.mark.parametrize("fault", ["429", "500", "503"])
def test_a_server_that_is_ill_costs_an_attempt_and_recovers(
    empty: Path, server: Server, fault: str
) -> None:
    log(empty, FACT)
    log(empty, "Another day.", day="2026-11-19")
    server.fault = fault
    ran = run(empty, server)
    assert ran.fault
    assert [(job.state, job.attempts) for job in ran.jobs] == [(PENDING, 1)]
    assert all("Another day" not in prompt for prompt in server.prompts)
    server.fault = ""
    assert [job.state for job in run(empty, server).jobs] == [DONE]


@pytest.mark.parametrize("fault", ["401", "404", "quota"])
def test_a_server_that_will_never_answer_ends_the_run(
    empty: Path, server: Server, fault: str
) -> None:
    log(empty, FACT)
    log(empty, "Another day.", day="2026-11-19")
    server.fault = fault
    ran = run(empty, server, llm_provider="openai", llm_key="sk-secret", llm_model="m")
    assert len(server.requests) == 1
    assert [(job.state, job.attempts) for job in ran.jobs] == [(PENDING, 0)]
    assert "sk-secret" not in ran.fault


def test_a_server_that_is_gone_costs_one_attempt_a_run(empty: Path) -> None:
    for day in range(10, 20):
        log(empty, "Something.", day=f"2026-11-{day}")
    ran = run(empty, "http://127.0.0.1:9")
    assert (len(ran.jobs), ran.waiting) == (1, 10)
    assert ran.fault


@pytest.mark.parametrize("says", ["I would say that all is well.", "{}", '{"facts": 3}'])
def test_nonsense_is_made_up_for_by_the_words_themselves(
    empty: Path, server: Server, says: str
) -> None:
    log(empty, "We decided that every release is tagged and signed.")
    server.says = says
    ran = run(empty, server)
    assert [job.state for job in ran.jobs] == [DONE]
    assert "tagged and signed" in memory(empty)


def test_a_blank_answer_is_asked_for_again_and_then_fails(empty: Path, server: Server) -> None:
    log(empty, FACT)
    server.fault = "blank"
    tried = [run(empty, server, ahead=hour * 4_000).jobs for hour in range(5)]
    assert [one.state for jobs in tried for one in jobs] == [PENDING, PENDING, FAILED]
    (job,) = list_jobs(opened(empty)).jobs
    assert (job.state, job.attempts) == (FAILED, REPLIES)
    assert job.error


def test_an_archived_conversation_is_read_in_stretches_with_its_speakers(
    empty: Path, server: Server
) -> None:
    turns = "".join(
        f"**Person (Ines):** {number} {'word ' * 200}\n\n**Assistant:** Done, {number}.\n\n"
        for number in range(20)
    )
    path = empty / ".decsr/memory/archive/2026-11-19-talk-0123abcd.md"
    path.parent.mkdir()
    path.write_text(f"# Conversation: talk\n\nRecorded 2026-11-19.\n\n{turns}")
    ran = run(empty, server)
    assert 3 < len(ran.jobs) == ran.calls == len(server.requests) < 12
    told = "\n".join(server.prompts)
    assert all(f"Person (Ines): {number} word" in told for number in range(20))
    assert told.count("Assistant: Done") == 20
    assert run(empty, server).jobs == ()


def pinned(*texts: str) -> str:
    return "".join(f"- {one}  <!-- src=talk hash={fact_hash(one)} -->\n" for one in texts)


def clashing(*older: str) -> str:
    return (
        f"# Project Memory\n\n## 2026-11-01 — promoted\n\n{pinned(*older)}\n"
        f"## 2026-11-18 — promoted\n\n{pinned('The importer retries five times.')}"
    )


@pytest.mark.parametrize(
    ("verdict", "is_superseded"), [("supersedes", True), ("both hold", False), ("?", False)]
)
def test_a_newer_fact_is_judged_once_and_the_older_one_goes_only_if_so_judged(
    empty: Path, server: Server, verdict: str, is_superseded: bool
) -> None:
    before = clashing("The importer retries three times.", "Backups run at night.")
    write(empty, "MEMORY.md", before)
    server.says = json.dumps({"verdict": verdict})
    (job,) = run(empty, server).jobs
    assert (job.kind, job.state) == (BELIEFS, DONE)
    assert len(server.requests) == 1
    assert ("superseded" in memory(empty)) == is_superseded
    assert run(empty, server).jobs == ()
    if not is_superseded:
        return
    undo(opened(empty).layout, None, now=clock())
    for path in empty.glob(".decsr/memory.db*"):
        path.unlink()
    assert run(empty, server).calls == 0
    assert memory(empty) == before
    assert len(server.requests) == 1


def test_the_calls_that_are_left_are_not_passed_by_a_job_that_asks_often(
    empty: Path, server: Server
) -> None:
    older = (f"The importer retries {word} times." for word in ("three", "four", "six"))
    write(empty, "MEMORY.md", clashing(*older))
    log(empty, FACT)
    server.says = json.dumps({"verdict": "both hold", "facts": []})
    asked = []
    for _ in range(4):
        before = len(server.requests)
        ran = run(empty, server, jobs_max_calls="3")
        asked.append(ran.calls)
        assert len(server.requests) - before == ran.calls
    assert (asked, ran.waiting) == ([1, 3, 0, 0], 0)
