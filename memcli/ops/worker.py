"""The one worker of the queue: takes jobs one by one, and has no effect twice.

Whatever a job writes carries the job's marks in the note of its revision, so a worker that was
killed between the writing and the queue's word for it is followed by one that finds them there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from memcli.edit import recover
from memcli.errors import ConflictError, MemError, ProviderError, RefusedError, UsageError
from memcli.model import Progress
from memcli.ops import queue
from memcli.ops.due import due, signature
from memcli.ops.kinds import Kind, Outcome
from memcli.ops.marks import Past
from memcli.store import jobs
from memcli.store.jobs import DONE, FAILED, PENDING, Job
from memcli.workspace import Workspace

BACK_OFF = 60.0  # seconds until a server is tried again, twice as long a time ...
DOUBLINGS = 6  # ... up to about an hour
REPLIES = 3  # times that an answer may be nonsense: at temperature 0 it hardly gets better
BEAT = 2.0  # seconds between two looks at the files while there is nothing to do
KEPT = timedelta(days=365)  # that what was done stays in the list
LASTING = ("key", "model", "quota")  # faults that every other job would meet as well
DRAINED = "of a kind that is done no more"
KNOWN = "written before, as the history shows"


@dataclass(frozen=True, slots=True)
class Ran:
    """The answer of ``mem jobs run``: each job that was tried, as it is now."""

    jobs: tuple[Job, ...] = ()
    queued: int = 0
    waiting: int = 0  # jobs left
    calls: int = 0  # of the model
    fault: str = ""  # of the provider; then it was not asked again
    at_work: str = ""  # another worker, who does it instead
    is_dry: bool = False
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        return sum(job.state == FAILED for job in self.jobs)


class Worker:
    """Does what is due. Whoever makes one holds the worker's lock."""

    def __init__(
        self,
        workspace: Workspace,
        kinds: Mapping[str, Kind],
        *,
        clock: Callable[[], datetime],
        settle: float = 0.0,
        progress: Progress | None = None,
    ) -> None:
        self.is_over = False  # after a fault that lasts
        self._workspace = workspace
        self._settings = workspace.settings
        self._kinds = kinds
        self._clock = clock
        self._settle = settle
        self._progress = progress
        self._lock = _identity(workspace.layout.jobs)
        self._past = Past(workspace.layout)
        self._looked: tuple[object, ...] = ()  # at the files, when jobs were queued last
        self._calls = 0
        self._is_spent = False  # what is left of the calls is too few for the next job
        self._day: date | None = None
        self._asked_at = 0.0  # by the monotonic clock
        self._faults = 0  # of the provider, in a row
        self._pause_until = 0.0
        self._fault = ""
        self._said: set[str] = set()

    def round(self) -> Ran:
        """Queue what is due, and do all that is ready."""
        now = self._clock()
        if self._day != now.date():
            self._day, self._calls, self._is_spent = now.date(), 0, False
        calls, self._fault = self._calls, ""
        notes = [*recover(self._workspace.layout, self._settings.index_wait)]
        done: list[Job] = []
        queued = self._fill(now, notes)
        is_more = True
        while is_more:
            while (job := self._next()) is not None:
                done.append(self._worked(job))
                notes += self._workspace.take_notes()
                if self._progress:
                    self._progress("jobs", len(done), len(done) + self._count(PENDING))
            new = self._fill(self._clock(), notes)  # what a job has written may be due itself
            queued += new
            is_more = new > 0
        waiting = self._count(PENDING)
        if waiting and self._is_spent:
            notes.append(f"the {self._settings.jobs_max_calls} calls of jobs.max_calls are made")
        notes += [*self._workspace.take_notes(), *self._past.notes]
        return Ran(
            tuple(done),
            queued=queued,
            waiting=waiting,
            calls=self._calls - calls,
            fault=self._fault,
            notes=self._news(notes),
        )

    def rounds(self) -> Iterator[Ran]:
        """A round whenever there is something to do or to say, until a fault that lasts."""
        while not self.is_over:
            try:
                ran = self.round()
            except MemError as error:
                if isinstance(error, DisplacedError) or not os.path.isdir(
                    self._workspace.layout.home
                ):
                    raise
                ran = Ran(notes=self._news([f"tried again in a moment: {error.with_hint}"]))
            if ran.jobs or ran.queued or ran.notes:
                yield ran
            if not self.is_over:
                time.sleep(BEAT)

    def _fill(self, now: datetime, notes: list[str]) -> int:
        """Tidy the queue, and add what is due; how much that is."""
        at = _seconds(now)
        with queue.opened(self._workspace) as database:
            jobs.adopt(database, most=self._settings.jobs_attempts, now=at)
            jobs.drain(database, self._kinds, note=DRAINED, now=at)
            jobs.forget(database, before=_seconds(now - KEPT))
            known = {kind: jobs.covered(database, kind) for kind in self._kinds}
        looked = signature(self._workspace, now=now, settle=self._settle), known
        if looked == self._looked:
            return 0
        self._looked = looked
        found, said = due(
            self._workspace,
            lambda kind, mark: mark in known.get(kind, ()) or mark in self._past.marks(),
            now=now,
            settle=self._settle,
        )
        notes += said
        new = [job for job in found if job.kind in self._kinds]
        if not new:
            return 0
        with queue.opened(self._workspace) as database:
            return jobs.add(database, new, at)

    def _next(self) -> Job | None:
        """The next job that may be done now, marked as running."""
        if _identity(self._workspace.layout.jobs) != self._lock:
            raise DisplacedError("somebody removed the lock of mem jobs run, so this one stops")
        now = self._clock()
        has_model = self._workspace.llm is not None
        is_pausing = self._fault or self._is_spent or now.timestamp() < self._pause_until
        kinds = [
            name
            for name, kind in self._kinds.items()
            if not kind.is_model or (not is_pausing if has_model else kind.has_rules)
        ]
        with queue.opened(self._workspace) as database:
            job = jobs.take(database, kinds, now=_seconds(now))
            limit = self._settings.jobs_max_calls
            if job is None or not limit or not self._calls:
                return job
            if self._calls + self._kinds[job.kind].calls(job) <= limit:
                return job
            jobs.release(database, job.id)
        self._is_spent = True
        return self._next()

    def _worked(self, job: Job) -> Job:
        """Do a job, and answer how it is now."""
        kind = self._kinds[job.kind]
        past = self._past.marks()
        left = tuple(mark for mark in job.marks if mark not in past)
        if job.marks and not left:
            return self._finished(job, Outcome(KNOWN, past[job.marks[0]]))
        try:
            if kind.is_model and self._workspace.llm is not None:
                self._wait()
            with self._workspace.asking_anyway():  # the pauses of a worker are longer
                outcome = kind.run(self._workspace, replace(job, marks=left), now=self._clock())
        except ProviderError as error:
            self._asked(1)
            return self._faulted(job, error)
        except (RefusedError, UsageError) as error:
            return self._failed(job, error)
        except KeyboardInterrupt:
            self._released(job)
            raise
        except MemError as error:  # something else is wrong here, and may be so for long
            self._asked(1)
            self._again(job, error, job.attempts + 1)
            raise
        if outcome.calls:
            self._asked(outcome.calls)
            self._faults = 0
        return self._finished(job, outcome)

    def _wait(self) -> None:
        """Keep to the rate."""
        rate = self._settings.jobs_per_minute
        if rate and self._asked_at:
            time.sleep(max(self._asked_at + 60 / rate - time.monotonic(), 0))

    def _asked(self, calls: int) -> None:
        self._calls += calls
        self._asked_at = time.monotonic()

    def _faulted(self, job: Job, error: ProviderError) -> Job:
        if error.reason in LASTING:
            self._fault, self.is_over = error.with_hint, True
            return self._released(job)
        if error.reason == "request":
            return self._failed(job, error)
        if error.reason == "reply":
            return self._again(job, error, job.attempts + 1, most=REPLIES)
        self._faults += 1
        tries = max(job.attempts + 1, self._faults)
        self._fault = error.with_hint
        self._pause_until = self._clock().timestamp() + _pause(tries, error.after)
        return self._again(job, error, tries, after=error.after)

    def _again(
        self, job: Job, error: MemError, tries: int, *, most: int | None = None, after: float = 0.0
    ) -> Job:
        """Leave a job for later, or call it failed after so many attempts."""
        limit = self._settings.jobs_attempts
        if job.attempts + 1 >= min(most or limit, limit):
            return self._failed(job, error)
        at = self._clock().timestamp() + _pause(tries, after)
        with queue.opened(self._workspace) as database:
            jobs.postpone(database, job.id, error=str(error), not_before=int(at) + 1)
            return jobs.get(database, job.id) or job

    def _failed(self, job: Job, error: MemError) -> Job:
        with queue.opened(self._workspace) as database:
            jobs.fail(database, job.id, error=error.with_hint, now=_seconds(self._clock()))
            return jobs.get(database, job.id) or job

    def _released(self, job: Job) -> Job:
        with queue.opened(self._workspace) as database:
            jobs.release(database, job.id)
            return jobs.get(database, job.id) or job

    def _finished(self, job: Job, outcome: Outcome) -> Job:
        with queue.opened(self._workspace) as database:
            jobs.finish(
                database,
                job.id,
                note=outcome.note,
                revision=outcome.revision,
                now=_seconds(self._clock()),
            )
            return jobs.get(database, job.id) or replace(job, state=DONE)

    def _count(self, state: str) -> int:
        return queue.counts(self._workspace).get(state, 0)

    def _news(self, notes: Sequence[str]) -> tuple[str, ...]:
        """The notes that were not said yet."""
        new = tuple(note for note in dict.fromkeys(notes) if note not in self._said)
        self._said.update(new)
        return new


class DisplacedError(ConflictError):
    """The lock of this worker is gone, so that another may be at work."""


def _pause(tries: int, after: float) -> float:
    """Seconds until another try; at least what the server asked for."""
    return max(BACK_OFF * 2.0 ** min(tries - 1, DOUBLINGS), after)


def _seconds(at: datetime) -> int:
    return int(at.timestamp())


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
