"""The command line of the queue: what it prints, its exit codes, and a worker that goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pytest

from memcli.ops import queue
from memcli.ops.marks import FACTS
from memcli.store import jobs
from memcli.store.jobs import Job
from tests.conftest import Program, opened, write
from tests.queue_worker import entry
from tests.servers import Server, serving

FACT = "The importer retries five times."
TODAY = f"{datetime.now(UTC):%Y-%m-%d}"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        found.says = json.dumps({"facts": [{"text": FACT, "kind": "FACT"}]})
        yield found


@pytest.fixture
def asking(mem: Program, server: Server, empty: Path) -> Program:
    """The program in an empty memory, with a model."""
    mem.cwd = empty
    mem.env.update(
        MEM_LLM_PROVIDER="ollama",
        MEM_LLM_URL=server.url,
        MEM_JOBS_PER_MINUTE="0",
        MEM_JOBS_SETTLE="0",
    )
    return mem


def note(root: Path, *bodies: str) -> None:
    text = "".join(entry("00:00", body) for body in bodies)
    write(root, f"daily/{TODAY}.md", f"# Daily log {TODAY}\n{text}")


def failed_job(root: Path) -> None:
    with queue.opened(opened(root)) as database:
        jobs.add(database, [Job(0, FACTS, "daily/x.md, 1 entry", ("0" * 12,))], 1)
        taken = jobs.take(database, [FACTS], now=2)
        assert taken is not None
        jobs.fail(database, taken.id, error="it was \x1b[31mred", now=3)


def test_a_run_says_what_it_did_and_a_second_one_that_there_is_nothing(
    asking: Program, empty: Path
) -> None:
    note(empty, FACT)
    would = asking("jobs", "run", "--dry-run", code=0).out
    assert "would queue 1" in would
    first = asking("jobs", "run", code=0).out
    assert f"fact_extract  daily/{TODAY}.md, 1 entry: 1 fact added (revision 1)" in first
    assert "1 done, 0 failed, 0 waiting; 1 call of the model" in first
    assert asking("jobs", "run", code=0).out == "nothing to do\n"
    assert asking("jobs", "list", code=0).out == first.splitlines(keepends=True)[0]
    (row,) = asking("jobs", "list", "--json", code=0).json["jobs"]
    assert (row["state"], row["kind"], row["revision"]) == ("done", FACTS, 1)


def test_without_a_model_one_line_says_how_to_have_one(mem: Program) -> None:
    ran = mem("jobs", "run", code=0)
    assert "memory_consolidate" in ran.out
    assert ran.err.count("mem config set llm.provider") == 1


def test_a_server_that_is_gone_is_exit_four_and_nothing_is_lost(
    asking: Program, empty: Path
) -> None:
    note(empty, FACT)
    ran = asking("jobs", "run", env={"MEM_LLM_URL": "http://127.0.0.1:9"}, code=4)
    assert "pending" in ran.out and "again after" in ran.out
    assert "jobs       1 pending" in asking("status", code=0).out


def test_a_failed_job_is_shown_retried_and_cleared(asking: Program, empty: Path) -> None:
    assert asking("jobs", "retry", code=1).err.startswith("mem: no job has failed")
    failed_job(empty)
    shown = asking("jobs", "list", "--state", "failed", code=0).out
    assert "it was" in shown and "\x1b" not in shown
    assert "jobs-failed" in asking("doctor", code=1).out
    assert "jobs       1 failed" in asking("status", code=0).out
    assert asking("jobs", "clear", "--done", code=0).out == "cleared: 0 jobs\n"
    assert asking("jobs", "retry", "1", code=0).out == "queued again: 1 job\n"
    assert "changed since" in asking("jobs", "run", code=0).out
    assert asking("jobs", "clear", code=0).out == "cleared: 1 job\n"
    assert asking("jobs", "list", code=0).out == "no jobs\n"
    asking("jobs", "retry", "x", code=2)
    asking("jobs", "clear", "--done", "--failed", code=2)
    asking("jobs", "run", "--watch", "--dry-run", code=2)


def test_every_format_shows_a_run(asking: Program, empty: Path) -> None:
    failed_job(empty)
    for name in ("pretty", "markdown", "jsonl"):
        assert "daily/x.md" in asking("jobs", "list", "--format", name, code=0).out


@contextmanager
def watching(mem: Program) -> Iterator[IO[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "memcli", "jobs", "run", "--watch", "--json"],
        cwd=mem.cwd,
        env=mem.environ(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout as lines:
        try:
            yield lines
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_a_watch_notices_what_is_written_and_ends_clean(
    asking: Program, server: Server, empty: Path
) -> None:
    note(empty, FACT)
    with watching(asking) as lines:
        first = json.loads(lines.readline())
        assert [job["state"] for job in first["jobs"]] == ["done"]
        assert "at work here already" in asking("jobs", "run", code=0).out
        note(empty, FACT, "And that is that.")
        second = json.loads(lines.readline())
        assert second["calls"] == 1
    assert len(server.requests) == 2
    assert asking("jobs", "run", code=0).out == "nothing to do\n"


def test_a_watch_with_a_wrong_key_ends_with_exit_four(
    asking: Program, server: Server, empty: Path
) -> None:
    note(empty, FACT)
    server.fault = "401"
    ran = asking("jobs", "run", "--watch", code=4)
    assert "not asked again" in ran.out
