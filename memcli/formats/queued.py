"""Plain lines for the queue of work that waits for a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from memcli.text.printable import one_line, printable

if TYPE_CHECKING:
    from memcli.ops.jobs import JobList, JobsChanged
    from memcli.ops.worker import Ran
    from memcli.store.jobs import Job


def job_list(result: JobList) -> Iterator[str]:
    for job in result.jobs:
        yield _line(job)
    if not result.jobs:
        yield "no jobs"
    if result.worker:
        yield printable(f"at work: {result.worker}")


def ran(result: Ran) -> Iterator[str]:
    if result.at_work:
        yield printable(f"mem jobs run is at work here already ({result.at_work})")
        return
    for job in result.jobs:
        yield _line(job)
    if result.is_dry:
        yield f"would queue {result.queued}, {result.waiting} wait already; nothing was done"
        return
    if not result.jobs and not result.waiting and not result.fault:
        yield "nothing to do"
        return
    done = sum(job.state == "done" for job in result.jobs)
    parts = [f"{done} done", f"{result.failed} failed", f"{result.waiting} waiting"]
    calls = "1 call" if result.calls == 1 else f"{result.calls} calls"
    yield f"{', '.join(parts)}; {calls} of the model"
    if result.fault:
        yield printable(f"the model was not asked again: {result.fault}")


def jobs_changed(result: JobsChanged) -> Iterator[str]:
    yield f"{result.what}: {'1 job' if result.count == 1 else f'{result.count} jobs'}"


def _line(job: Job) -> str:
    said = job.error or job.note
    revision = f" (revision {job.revision})" if job.revision is not None else ""
    again = ""
    if job.state == "pending" and job.attempts and job.not_before:
        again = f", again after {job.not_before:%Y-%m-%d %H:%M}"
    tries = f" [{job.attempts} failed]" if job.attempts else ""
    what = f": {one_line(said)}{revision}" if said else ""
    number = f"{job.id:>5}" if job.id else "    -"
    return printable(f"{number}  {job.state:<7}  {job.kind}  {job.subject}{tries}{again}{what}")


TABLE: dict[str, Callable[[Any], Iterator[str]]] = {
    "JobList": job_list,
    "JobsChanged": jobs_changed,
    "Ran": ran,
}
