"""The queue: what is due is done once, and every fault of a provider ends as it should."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memcli.errors import ProviderError, RefusedError, UsageError, WorkspaceError
from memcli.ops import queue
from memcli.ops.fact import add_fact, list_facts
from memcli.ops.index import index
from memcli.ops.jobs import clear_jobs, list_jobs, retry_jobs, run_jobs, watch_jobs
from memcli.ops.kinds import Kind, Outcome
from memcli.ops.marks import BELIEFS, FACTS
from memcli.ops.undo import undo
from memcli.ops.worker import BACK_OFF, DRAINED, KNOWN, Ran
from memcli.store import jobs
from memcli.store.jobs import DONE, DROPPED, FAILED, PENDING, RUNNING, Job
from memcli.workspace import Workspace
from tests.conftest import opened, write
from tests.queue_worker import (
    LOG,
    TABLE,
    clock,
    effects,
    found,
    log,
    run,
    states,
    with_model,
    write_marks,
)

# Doing it


def test_a_second_run_does_nothing_and_new_entries_alone_are_new(empty: Path) -> None:
    log(empty, "one", "two")
    assert run(empty).calls == 1
    assert run(empty) == Ran(notes=())
    log(empty, "one", "two", "three")
    again = run(empty)
    assert (again.queued, again.calls) == (1, 1)
    assert len(effects(empty)) == len(set(effects(empty))) == 3


def test_a_lost_queue_repeats_no_effect_also_none_that_was_taken_back(empty: Path) -> None:
    log(empty, "one")
    run(empty)
    log(empty, "one", "two")
    run(empty)
    undo(with_model(empty).layout, None, now=clock())
    left = effects(empty)
    assert len(left) == 1
    for path in empty.glob(".decsr/memory.db*"):
        path.unlink()
    assert run(empty).calls == 0
    assert effects(empty) == left


def test_a_worker_that_died_after_it_wrote_is_followed_by_one_that_writes_nothing(
    empty: Path,
) -> None:
    log(empty, "one")

    class DeathError(BaseException):
        pass

    def die(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
        write_marks(workspace, job, now=now)
        raise DeathError

    with pytest.raises(DeathError):
        run(empty, {FACTS: Kind(die, is_model=True)})
    assert states(empty) == [RUNNING]
    (job,) = run(empty).jobs
    assert (job.state, job.note, job.attempts, job.revision) == (DONE, KNOWN, 1, 1)
    assert len(effects(empty)) == 1


def test_a_job_that_kills_its_worker_again_and_again_has_failed(empty: Path) -> None:
    log(empty, "one")

    class DeathError(BaseException):
        pass

    def die(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
        raise DeathError

    for _ in range(3):
        with pytest.raises(DeathError):
            run(empty, {FACTS: Kind(die, is_model=True)}, jobs_attempts="3")
    ran = run(empty, jobs_attempts="3")
    assert (ran.jobs, states(empty)) == ((), [FAILED])
    assert "died" in list_jobs(with_model(empty), state=FAILED).jobs[0].error


def test_an_interrupted_job_waits_without_an_attempt(empty: Path) -> None:
    log(empty, "one")

    def interrupt(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(empty, {FACTS: Kind(interrupt, is_model=True)})
    (job,) = list_jobs(with_model(empty)).jobs
    assert (job.state, job.attempts) == (PENDING, 0)
    assert run(empty).calls == 1


def test_what_can_never_be_done_has_failed_and_the_rest_goes_on(empty: Path) -> None:
    log(empty, "one")
    log(empty, "two", day="2026-11-19")

    def refuse(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
        if job.payload["path"] == LOG:
            raise RefusedError("that log is odd", hint="mend it")
        return write_marks(workspace, job, now=now)

    ran = run(empty, {FACTS: Kind(refuse, is_model=True)})
    assert [job.state for job in ran.jobs] == [FAILED, DONE]
    assert ran.jobs[0].error == "that log is odd (mend it)"


def test_rows_of_an_older_kind_are_drained_and_never_run(empty: Path) -> None:
    with queue.opened(with_model(empty)) as database:
        old = [Job(0, kind, "x", (kind,)) for kind in ("graph_extract", "auto_learn_error")]
        jobs.add(database, old, 1)
        taken = jobs.take(database, ["graph_extract"], now=2)
        assert taken is not None
    assert run(empty).jobs == ()
    found_ = list_jobs(with_model(empty)).jobs
    assert [(job.state, job.note) for job in found_] == [(DONE, DRAINED)] * 2


def test_an_index_made_anew_keeps_the_queue(empty: Path) -> None:
    log(empty, "one")
    run(empty)
    log(empty, "one", "two")
    with queue.opened(with_model(empty)) as database:
        jobs.add(database, found(empty), 1)
    before = list_jobs(with_model(empty)).jobs
    index(with_model(empty), now=clock().timestamp(), is_full=True)
    assert list_jobs(with_model(empty)).jobs == before
    assert [job.state for job in before] == [DONE, PENDING]


def test_what_was_cleared_is_not_queued_again_but_by_name(empty: Path) -> None:
    log(empty, "one")
    workspace = with_model(empty)
    run(empty)
    assert clear_jobs(workspace, now=clock()).count == 1
    assert list_jobs(workspace).jobs == ()
    assert [job.state for job in list_jobs(workspace, state=DROPPED).jobs] == [DROPPED]
    assert run(empty).jobs == ()
    with pytest.raises(RefusedError, match="no job has failed"):
        retry_jobs(workspace)
    with pytest.raises(RefusedError, match="99"):
        retry_jobs(workspace, [1, 99])
    assert retry_jobs(workspace, [1]).count == 1
    assert [job.note for job in run(empty).jobs] == [KNOWN]


def test_a_dry_run_shows_what_waits_and_what_is_due_and_writes_nothing(empty: Path) -> None:
    log(empty, "one")
    workspace = with_model(empty)
    assert run_jobs(workspace, clock=clock, kinds=TABLE, is_dry=True).queued == 1
    assert not list(empty.glob(".decsr/memory.db*"))
    with queue.opened(workspace) as database:
        jobs.add(database, found(empty), 1)
    log(empty, "one", "two")
    shown = run_jobs(workspace, clock=clock, kinds=TABLE, is_dry=True)
    assert [job.state for job in shown.jobs] == [PENDING, "new"]
    assert states(empty) == [PENDING]


def test_jobs_that_wait_are_cleared_only_when_asked(empty: Path) -> None:
    log(empty, "one")
    workspace = with_model(empty)
    with queue.opened(workspace) as database:
        jobs.add(database, found(empty), 1)
    assert clear_jobs(workspace, now=clock()).count == 0
    assert clear_jobs(workspace, [PENDING], now=clock()).count == 1
    assert run(empty).jobs == ()
    with pytest.raises(UsageError):
        list_jobs(workspace, state="lost")


# Faults of the provider


class Provider:
    """Fails as it is told, or writes."""

    def __init__(self, *reasons: str, after: float = 0.0) -> None:
        self.reasons = list(reasons)
        self.after = after
        self.calls = 0

    def __call__(self, workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
        self.calls += 1
        if self.reasons and (reason := self.reasons.pop(0)):
            raise ProviderError("no", reason=reason, after=self.after)
        return write_marks(workspace, job, now=now)


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> datetime:
        return clock() + timedelta(seconds=self.ahead)


def run_at(root: Path, provider: Provider, now: Callable[[], datetime], **settings: str) -> Ran:
    kinds = {FACTS: Kind(provider, is_model=True)}
    return run_jobs(with_model(root, **settings), clock=now, kinds=kinds)


@pytest.mark.parametrize("reason", ["busy", "down"])
def test_a_fault_that_passes_stops_the_run_and_is_tried_later_and_later(
    empty: Path, reason: str
) -> None:
    log(empty, "one")
    log(empty, "two", day="2026-11-19")
    now, provider = Time(), Provider(*[reason] * 4)
    ran = run_at(empty, provider, now)
    assert (provider.calls, ran.fault, ran.waiting, ran.calls) == (1, "no", 2, 1)
    (tried,) = ran.jobs
    assert tried.not_before is not None
    assert BACK_OFF <= (tried.not_before - clock()).total_seconds() <= BACK_OFF + 2
    run_at(empty, provider, now)  # the other one, which was not tried yet
    assert provider.calls == 2
    now.ahead = BACK_OFF - 1
    assert run_at(empty, provider, now).calls == 0
    now.ahead = BACK_OFF + 2
    assert run_at(empty, provider, now).calls == 1
    now.ahead += 2 * BACK_OFF + 2
    assert run_at(empty, provider, now).calls == 1
    now.ahead += 10 * BACK_OFF
    done = run_at(empty, provider, now)
    assert ([job.state for job in done.jobs], done.waiting) == ([DONE, DONE], 0)


def test_a_server_that_says_when_is_not_asked_before(empty: Path) -> None:
    log(empty, "one")
    (job,) = run_at(empty, Provider("busy", after=500), clock).jobs
    assert job.not_before is not None
    assert 500 <= (job.not_before - clock()).total_seconds() < 503


@pytest.mark.parametrize("reason", ["key", "model", "quota"])
def test_a_fault_that_lasts_stops_the_run_and_costs_no_attempt(empty: Path, reason: str) -> None:
    log(empty, "one")
    log(empty, "two", day="2026-11-19")
    ran = run_at(empty, Provider(reason), clock)
    assert (ran.fault, ran.waiting) == ("no", 2)
    assert [(job.state, job.attempts) for job in ran.jobs] == [(PENDING, 0)]


def test_nonsense_is_asked_for_again_a_few_times_and_holds_up_nothing(empty: Path) -> None:
    log(empty, "one")
    log(empty, "two", day="2026-11-19")
    now, provider = Time(), Provider("reply", "", "reply", "reply")
    first = run_at(empty, provider, now)
    assert [job.state for job in first.jobs] == [PENDING, DONE]
    for wait in (BACK_OFF, 2 * BACK_OFF):
        now.ahead += wait + 2
        last = run_at(empty, provider, now)
    assert [(job.state, job.attempts) for job in last.jobs] == [(FAILED, 3)]
    assert retry_jobs(with_model(empty)).count == 1
    assert [job.state for job in run_at(empty, provider, now).jobs] == [DONE]


def test_a_request_that_is_not_taken_has_failed_at_once(empty: Path) -> None:
    log(empty, "one")
    assert [job.state for job in run_at(empty, Provider("request"), clock).jobs] == [FAILED]


def test_the_calls_of_a_run_are_bounded(empty: Path) -> None:
    for day in range(10, 20):
        log(empty, "one", day=f"2026-11-{day}")
    provider = Provider()
    ran = run_at(empty, provider, clock, jobs_max_calls="4")
    assert (provider.calls, ran.calls, ran.waiting) == (4, 4, 6)
    assert any("jobs.max_calls" in note for note in ran.notes)
    assert run_at(empty, provider, clock, jobs_max_calls="0").waiting == 0


def test_calls_keep_to_the_rate(empty: Path) -> None:
    for day in range(18, 21):
        log(empty, "one", day=f"2026-11-{day}")
    started = time.monotonic()
    assert run_at(empty, Provider(), clock, jobs_per_minute="300").calls == 3
    assert time.monotonic() - started >= 2 * 60 / 300


def test_a_fault_of_this_machine_is_told_and_costs_an_attempt(empty: Path) -> None:
    log(empty, "one")

    def refuse(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
        raise WorkspaceError("no space left")

    with pytest.raises(WorkspaceError, match="no space"):
        run(empty, {FACTS: Kind(refuse, is_model=True)})
    (job,) = list_jobs(with_model(empty)).jobs
    assert (job.state, job.attempts, job.error) == (PENDING, 1, "no space left")
    assert run(empty).jobs == ()


def test_without_a_model_rules_settle_what_is_sure_once(empty: Path) -> None:
    log(empty, "one")
    for text in ("The importer retries three times.", "The importer retries five times."):
        add_fact(opened(empty), text, kind="fact", source="", is_forced=True, now=clock())
    ran = run_jobs(opened(empty), clock=clock)
    assert [(job.kind, job.state) for job in ran.jobs] == [(BELIEFS, DONE)]
    assert (ran.calls, ran.waiting) == (0, 0)
    facts = list_facts(opened(empty), is_all=True).facts
    assert [one.is_enabled for one in facts] == [False, True]
    undo(opened(empty).layout, now=clock())
    assert run_jobs(opened(empty), clock=clock).jobs == ()  # taken back on purpose


def test_what_rules_are_not_sure_of_waits_for_a_model(empty: Path) -> None:
    write(
        empty,
        "MEMORY.md",
        "# Project Memory\n\n- The importer retries three times.\n"
        "- The importer retries five times.\n",
    )
    assert run_jobs(opened(empty), clock=clock).jobs == ()
    assert [job.kind for job in run(empty, TABLE).jobs] == [BELIEFS]


def test_what_a_job_writes_is_due_in_the_same_run(empty: Path) -> None:
    log(empty, "one")
    write(empty, "MEMORY.md", "# Project Memory\n\n- The importer retries three times.\n")

    def contradict(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
        with workspace.edit("fact", now=now, note=" ".join(job.marks)) as files:
            files.append("MEMORY.md", b"- The importer retries five times.\n")
        return Outcome("added", files.revision, calls=1)

    kinds = {**TABLE, FACTS: Kind(contradict, is_model=True)}
    assert [job.kind for job in run(empty, kinds).jobs] == [FACTS, BELIEFS]


def test_a_watch_waits_for_its_turn_and_then_works(empty: Path) -> None:
    log(empty, "one")
    workspace = with_model(empty, jobs_settle="0")
    watch = watch_jobs(workspace, clock=clock, kinds=TABLE)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with queue.alone(with_model(empty)):
            held.set()
            done.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(20)
    assert next(watch).at_work.startswith("process ")
    done.set()
    other.join()
    assert [job.state for job in next(watch).jobs] == [DONE]
