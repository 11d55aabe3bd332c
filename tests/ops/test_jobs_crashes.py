"""Workers at once, workers killed, queues lost: no job is lost and none is done twice."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memcli import history
from memcli.errors import ConflictError, RefusedError
from memcli.layout import IGNORED
from memcli.ops import queue
from memcli.ops.doctor import doctor
from memcli.ops.jobs import clear_jobs
from memcli.ops.kinds import Kind, Outcome
from memcli.ops.marks import FACTS
from memcli.ops.undo import undo
from memcli.ops.worker import Ran
from memcli.store.jobs import DONE, Job
from memcli.workspace import Workspace
from tests.conftest import opened
from tests.kill_sweep import HAS_STRACE, NO_STRACE, Struck, kill_at_random, sweep
from tests.queue_worker import (
    clock,
    effects,
    found,
    log,
    run,
    states,
    with_model,
    write_marks,
)
from tests.servers import Request, Server, serving


def worker(root: str) -> list[str]:
    return [sys.executable, "-m", "tests.queue_worker", root]


def test_of_two_workers_one_works_and_each_job_is_done_once(empty: Path) -> None:
    for day in range(8, 21):
        log(empty, "one", "two", day=f"2026-11-{day:02d}")
    processes = [
        subprocess.Popen(worker(str(empty)), stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, said
    assert any("13 jobs" in one for one in said)
    assert len(effects(empty)) == len(set(effects(empty))) == 26


def test_a_second_run_says_who_works(empty: Path) -> None:
    log(empty, "one")
    with queue.alone(with_model(empty)):
        said: list[Ran] = []
        thread = threading.Thread(target=lambda: said.append(run(empty)))
        thread.start()
        thread.join()
    assert said[0].at_work.startswith("process ")
    assert effects(empty) == []


def test_a_worker_whose_lock_was_removed_stops(empty: Path) -> None:
    log(empty, "one")
    log(empty, "two", day="2026-11-19")

    def remove(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
        Path(workspace.layout.jobs).unlink()
        return write_marks(workspace, job, now=now)

    with pytest.raises(ConflictError, match="lock"):
        run(empty, {FACTS: Kind(remove, is_model=True)})
    assert run(empty).waiting == 0
    assert len(effects(empty)) == len(set(effects(empty))) == 2


def build(root: str) -> None:
    (Path(root) / ".decsr/memory").mkdir(parents=True)
    (Path(root) / ".decsr/.gitignore").write_text(IGNORED)
    for day in (18, 19, 20):
        log(Path(root), "one", "two", day=f"2026-11-{day}")
    log(Path(root), "long ago", day="2026-01-02")
    with queue.opened(with_model(Path(root))):
        pass


def is_whole(struck: Struck) -> None:
    """Whatever was struck, two more runs leave each effect once, and nothing undone."""
    root = Path(struck.root)
    assert "Traceback" not in struck.output, struck.output
    if struck.at % 3 == 0:
        for path in root.glob(".decsr/memory.db*"):
            path.unlink()
    for _ in range(2):
        assert run(root).failed == 0
    assert len(effects(root)) == len(set(effects(root))) == 6, effects(root)
    assert set(states(root)) <= {DONE}
    dreams = (root / ".decsr/memory/DREAMS.md").read_text()
    assert dreams.count("long ago") == 1
    workspace = opened(root)
    assert doctor(workspace, now=clock().timestamp()).problems == ()
    workspace.close()


@pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)
def test_a_worker_killed_at_some_writes_loses_nothing_and_repeats_nothing() -> None:
    assert sweep(worker, build, is_whole, step=80) > 1


@pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)
@pytest.mark.slow
def test_a_worker_killed_at_any_write_loses_nothing_and_repeats_nothing() -> None:
    assert sweep(worker, build, is_whole) > 50


@pytest.mark.slow
def test_a_worker_killed_at_any_moment_loses_nothing_and_repeats_nothing() -> None:
    assert kill_at_random(worker, build, is_whole, runs=200, seconds=1.0, seed=5) > 50


SAID = (
    "Backups run at night.",
    "The importer retries five times.",
    "Releases are signed with the key of the team.",
    "Invoices are kept for ten years.",
)


def program(url: str) -> Callable[[str], list[str]]:
    """The command line of a run that asks the model at `url`."""
    settings = ("PROVIDER=ollama", f"URL={url}", "TIMEOUT=5")
    return lambda root: [
        "env", *(f"MEM_LLM_{one}" for one in settings), "MEM_JOBS_PER_MINUTE=0",
        sys.executable, "-m", "memcli", "jobs", "run", "--root", root,
    ]  # fmt: skip


def listening(server: Server) -> None:
    """Make a server find what was SAID in what it is asked."""
    answer = server.reply

    def reply(request: Request, fault: str) -> tuple[int, bytes]:
        facts = [{"text": one, "kind": "FACT"} for one in SAID if one in request.prompt]
        server.says = json.dumps({"facts": facts})
        return answer(request, fault)

    server.reply = reply  # type: ignore[method-assign]  # a server's answer, not our code


def spoken(root: str) -> None:
    """A memory in which each of SAID was said on a day of its own."""
    (Path(root) / ".decsr/memory").mkdir(parents=True)
    (Path(root) / ".decsr/.gitignore").write_text(IGNORED)
    for back, sentence in enumerate(SAID):
        day = f"{datetime.now() - timedelta(days=back):%Y-%m-%d}"
        log(Path(root), f"We talked. {sentence}", day=day)


def is_pinned_once(url: str) -> Callable[[Struck], None]:
    def check(struck: Struck) -> None:
        root = Path(struck.root)
        assert "Traceback" not in struck.output, struck.output
        if struck.at % 3 == 0:
            for path in root.glob(".decsr/memory.db*"):
                path.unlink()
        for _ in range(2):
            done = subprocess.run(program(url)(struck.root), capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        text = (root / ".decsr/memory/MEMORY.md").read_text()
        assert [text.count(one) for one in SAID] == [1] * len(SAID), text
        workspace = opened(root)
        notes = [one.note for one in history.revisions(workspace.layout)]
        assert len(notes) == len(set(notes)) == len(SAID)
        assert set(states(root)) <= {DONE}
        assert doctor(workspace, now=time.time()).problems == ()
        workspace.close()

    return check


@pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)
@pytest.mark.slow
def test_a_run_that_asks_a_model_killed_at_any_write_pins_each_fact_once() -> None:
    with serving() as server:
        listening(server)
        assert sweep(program(server.url), spoken, is_pinned_once(server.url), step=3) > 20


@pytest.mark.slow
def test_a_run_that_asks_a_model_killed_at_any_moment_pins_each_fact_once() -> None:
    with serving() as server:
        listening(server)
        check = is_pinned_once(server.url)
        assert kill_at_random(program(server.url), spoken, check, runs=60, seconds=3.0, seed=7) > 20


class Machine(RuleBasedStateMachine):
    """Entries come, workers die, the database is lost, a person takes back: each effect once."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / ".decsr/memory").mkdir(parents=True)
        self.bodies: dict[int, list[str]] = {}

    @rule(day=st.integers(15, 20), body=st.sampled_from("abcdefgh"))
    def append(self, day: int, body: str) -> None:
        self.bodies.setdefault(day, []).append(f"{body} {len(self.bodies.get(day, []))}")
        log(self.root, *self.bodies[day], day=f"2026-11-{day}")

    @rule()
    def work(self) -> None:
        assert run(self.root).failed == 0

    @rule(does_write=st.booleans())
    def die(self, does_write: bool) -> None:
        class DeathError(BaseException):
            pass

        def die(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
            if does_write:
                write_marks(workspace, job, now=now)
            raise DeathError

        try:
            run(self.root, {FACTS: Kind(die, is_model=True)})
        except DeathError:
            return

    @rule()
    def lose(self) -> None:
        for path in self.root.glob(".decsr/memory.db*"):
            path.unlink()

    @rule()
    def take_back(self) -> None:
        try:
            undo(with_model(self.root).layout, None, now=clock())
        except RefusedError:
            return

    @rule()
    def clear(self) -> None:
        clear_jobs(with_model(self.root), now=clock())

    @invariant()
    def once(self) -> None:
        written = self._written()
        assert len(written) == len(set(written))

    def teardown(self) -> None:
        run(self.root)
        wanted = {mark for job in found(self.root) for mark in job.marks}
        assert wanted <= set(self._written()), "an entry was lost"
        self.once()
        self.folder.cleanup()

    def _written(self) -> list[str]:
        layout = with_model(self.root).layout
        notes = [one.note for one in history.revisions(layout) if one.note.startswith("lines of ")]
        return [mark for note in notes for mark in note.split()[2:]]


Machine.TestCase.settings = settings(max_examples=10, stateful_step_count=12)
TestMachine = Machine.TestCase
