"""A worker whose jobs write one line for each mark: ``python -m tests.queue_worker ROOT``.

What it has done can be counted, also after it was killed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from memcli.ops import queue
from memcli.ops.due import due
from memcli.ops.jobs import KINDS, run_jobs
from memcli.ops.kinds import Kind, Outcome
from memcli.ops.marks import BELIEFS, CONSOLIDATION, FACTS
from memcli.ops.worker import Ran
from memcli.store import jobs
from memcli.store.jobs import Job
from memcli.workspace import Workspace
from tests.conftest import NOW, opened, write

EFFECTS = "effects.md"
LOG = "daily/2026-11-20.md"


def clock() -> datetime:
    return NOW.astimezone()


def write_marks(workspace: Workspace, job: Job, *, now: datetime) -> Outcome:
    """A line for each mark, in one revision."""
    with workspace.edit("summarize", now=now, note=f"lines of {' '.join(job.marks)}") as files:
        files.append(EFFECTS, "".join(f"- {mark}\n" for mark in job.marks).encode())
    return Outcome("written", files.revision, calls=1)


TABLE = {
    FACTS: Kind(write_marks, is_model=True),
    BELIEFS: Kind(write_marks, is_model=True),
    CONSOLIDATION: KINDS[CONSOLIDATION],
}


def with_model(root: Path, **settings: str) -> Workspace:
    """The workspace, with a model that nobody asks."""
    return opened(root, **{"llm_provider": "ollama", "jobs_per_minute": "0", **settings})


def effects(root: Path) -> list[str]:
    """The marks that were written, in order."""
    path = root / ".decsr/memory" / EFFECTS
    return [line[2:] for line in path.read_text().splitlines()] if path.exists() else []


def entry(time_: str, body: str) -> str:
    return f"\n## {time_} — note\n\n{body}\n"


def log(root: Path, *bodies: str, day: str = "2026-11-20") -> None:
    text = f"# Daily log {day}\n"
    for number, body in enumerate(bodies):
        text += entry(f"{9 + number // 60:02d}:{number % 60:02d}", body)
    write(root, f"daily/{day}.md", text)


def run(root: Path, kinds: Mapping[str, Kind] = TABLE, **settings: str) -> Ran:
    workspace = with_model(root, **settings)
    try:
        return run_jobs(workspace, clock=clock, kinds=kinds)
    finally:
        workspace.close()


def states(root: Path) -> list[str]:
    with queue.seen(with_model(root)) as database:
        return [job.state for job in jobs.listed(database, jobs.STATES)] if database else []


def nothing_known(kind: str, mark: str) -> bool:
    return False


def found(root: Path, **settings: str) -> list[Job]:
    return due(with_model(root, **settings), nothing_known, now=clock())[0]


if __name__ == "__main__":
    ran = run_jobs(with_model(Path(sys.argv[1])), clock=clock, kinds=TABLE)
    sys.stdout.write(ran.at_work or f"{len(ran.jobs)} jobs, {ran.waiting} waiting")
    sys.exit(bool(ran.waiting))
