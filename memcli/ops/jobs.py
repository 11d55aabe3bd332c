"""The queue of work that waits for a model: what kinds there are, and what people do with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from memcli.errors import RefusedError, UsageError
from memcli.model import Progress
from memcli.ops import queue
from memcli.ops.beliefs import revise_beliefs
from memcli.ops.consolidate import consolidate
from memcli.ops.due import due, is_consolidation_due
from memcli.ops.extraction import extract_facts
from memcli.ops.kinds import Kind, Outcome
from memcli.ops.marks import BELIEFS, CONSOLIDATION, FACTS, Past
from memcli.ops.material import material
from memcli.ops.worker import BEAT, Ran, Worker
from memcli.store import jobs
from memcli.store.jobs import DONE, DROPPED, FAILED, PENDING, RUNNING, Job
from memcli.workspace import Workspace

LISTED = (PENDING, RUNNING, FAILED, DONE)  # what is shown and counted
PATIENCE = 0.5  # seconds that a run waits for a worker that is about to end


@dataclass(frozen=True, slots=True)
class JobList:
    """The answer of ``mem jobs list``."""

    jobs: tuple[Job, ...]
    worker: str = ""  # who is at work
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobsChanged:
    """The answer of ``mem jobs retry`` and ``mem jobs clear``."""

    what: str  # "queued again" or "cleared"
    count: int
    notes: tuple[str, ...] = ()


def _extract(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
    path = job.payload.get("path", "")
    data = material(workspace, path, job.marks) if path else b""
    if not data:
        return Outcome("changed since: what it says now is another job")
    done = extract_facts(workspace, data, source=path, job=" ".join(job.marks), now=now)
    workspace.notes += done.notes
    counts = {"known": len(done.known), "without room": len(done.left_out)}
    others = "".join(f", {count} {what}" for what, count in counts.items() if count)
    number = "1 fact" if len(done.added) == 1 else f"{len(done.added)} facts"
    return Outcome(f"{number} added{others}", done.revision, done.calls)


def _revise(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
    newer = job.payload.get("hash", "")
    if not newer:
        return Outcome("names no fact")
    done = revise_beliefs(workspace, [newer], job=" ".join(job.marks), now=now)
    workspace.notes += done.notes
    why = "".join(f"; {one.old_hash[:6]} stays: {one.why}" for one in done.reported)
    return Outcome(f"{len(done.superseded)} superseded{why}", done.revision, done.calls)


def _consolidate(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
    if not is_consolidation_due(workspace, now):
        return Outcome("done already")
    done = consolidate(workspace, now=now)
    said = [f"{done.digest.days} days digested"] * done.digest.is_changed
    if joined := sum(len(merge.dropped) for merge in done.merged):
        said.append("1 copy joined" if joined == 1 else f"{joined} copies joined")
    return Outcome(", ".join(said) or "nothing to do", done.revision)


KINDS: Mapping[str, Kind] = {
    FACTS: Kind(_extract, is_model=True),
    BELIEFS: Kind(_revise, is_model=True, is_asking_each=True, has_rules=True),
    CONSOLIDATION: Kind(_consolidate, is_model=False),
}


def run_jobs(
    workspace: Workspace,
    *,
    clock: Callable[[], datetime],
    kinds: Mapping[str, Kind] = KINDS,
    is_dry: bool = False,
    progress: Progress | None = None,
) -> Ran:
    """Queue what is due and do what is ready, once; with `is_dry` only show both.

    When another worker is at work the answer says who, and nothing is done here. Raises
    WorkspaceError where no queue can be kept.
    """
    if is_dry:
        return _preview(workspace, kinds, now=clock())
    with queue.alone(workspace, wait=PATIENCE) as other:
        if other:
            return Ran(at_work=other, notes=workspace.take_notes())
        return Worker(workspace, kinds, clock=clock, progress=progress).round()


def _preview(workspace: Workspace, kinds: Mapping[str, Kind], *, now: datetime) -> Ran:
    """What a round would queue, and all that waits already; nothing is written."""
    past = Past(workspace.layout)
    with queue.seen(workspace) as database:
        known = {kind: jobs.covered(database, kind) if database else set() for kind in kinds}
        waiting = jobs.listed(database, [PENDING]) if database else []
    found, notes = due(
        workspace, lambda kind, mark: mark in known.get(kind, ()) or mark in past.marks(), now=now
    )
    new = [job for job in found if job.kind in kinds]
    return Ran(
        (*waiting, *new),
        queued=len(new),
        waiting=len(waiting),
        is_dry=True,
        notes=(*workspace.take_notes(), *notes, *past.notes),
    )


def watch_jobs(
    workspace: Workspace,
    *,
    clock: Callable[[], datetime],
    kinds: Mapping[str, Kind] = KINDS,
    progress: Progress | None = None,
) -> Iterator[Ran]:
    """Do what becomes due, for ever, or until a fault of the provider that lasts.

    Waits its turn while another worker is at work.
    """
    told = ""
    while True:
        with queue.alone(workspace) as other:
            if not other:
                settle = workspace.settings.jobs_settle
                worker = Worker(workspace, kinds, clock=clock, settle=settle, progress=progress)
                yield from worker.rounds()
                return
        if other != told:
            yield Ran(at_work=other)
        told = other
        time.sleep(BEAT)


def list_jobs(workspace: Workspace, *, state: str | None = None) -> JobList:
    """The jobs in one state, or in all but the cleared ones, as they were queued."""
    if state is not None and state not in jobs.STATES:
        raise UsageError(f"unknown state '{state}'", hint=f"one of: {', '.join(jobs.STATES)}")
    with queue.seen(workspace) as database:
        states = LISTED if state is None else (state,)
        found = jobs.listed(database, states) if database else []
    worker = ""
    if any(job.state == RUNNING for job in found) and workspace.is_writable:
        with queue.alone(workspace) as other:
            worker = other
        if not worker:
            workspace.notes.append(
                "what is running has no worker any more: mem jobs run takes it up again"
            )
    return JobList(tuple(found), worker, workspace.take_notes())


def retry_jobs(workspace: Workspace, ids: Collection[int] = ()) -> JobsChanged:
    """Queue failed jobs again, or jobs that were cleared, by their numbers; all failed without any.

    Raises RefusedError when there is none, or one of the numbers is none of these.
    """
    with queue.opened(workspace) as database:
        states = (FAILED, DROPPED) if ids else (FAILED,)
        there = {job.id for job in jobs.listed(database, states)}
        if missing := sorted(set(ids) - there):
            numbers = ", ".join(map(str, missing))
            raise RefusedError(f"not among the failed jobs: {numbers}", hint="mem jobs list")
        if not there:
            raise RefusedError("no job has failed")
        wanted = set(ids) or there
        jobs.retry(database, wanted)
    return JobsChanged("queued again", len(wanted), workspace.take_notes())


def clear_jobs(
    workspace: Workspace, states: Collection[str] = (DONE, FAILED), *, now: datetime
) -> JobsChanged:
    """Take jobs off the list; what they were about is not queued again by itself."""
    with queue.opened(workspace) as database:
        count = jobs.drop(database, states, now=int(now.timestamp()))
    return JobsChanged("cleared", count, workspace.take_notes())
