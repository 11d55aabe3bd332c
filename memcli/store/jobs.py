"""The queue of work that waits for a model: rows of the table ``jobs``.

A row goes from pending to running, and to done or failed. What a row is about is named by marks,
which are made from the content; a row that a person dropped keeps them, so that the same work is
not queued again. Whoever writes here holds the writers' lock. Times are in unix seconds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from memcli.store.db import Database, id_list

PENDING, RUNNING, DONE, FAILED, DROPPED = STATES = (
    "pending", "running", "done", "failed", "dropped"
)  # fmt: skip

_COLUMNS = (
    "id, kind, subject, marks, payload, state, attempts, error, note, revision, not_before,"
    " created_at, finished_at"
)


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work; ``marks`` name what it is about, each by its content."""

    id: int  # 0 before it is queued
    kind: str
    subject: str  # what it is about, in words
    marks: tuple[str, ...]  # 12 hex digits each
    payload: dict[str, str] = field(default_factory=dict)
    state: str = "new"  # and then one of STATES
    attempts: int = 0  # that failed
    error: str = ""  # of the last attempt
    note: str = ""  # what came of it
    revision: int | None = None  # that holds what it wrote
    not_before: datetime | None = None
    created_at: datetime | None = None
    finished_at: datetime | None = None


def key_of(kind: str, marks: Collection[str]) -> str:
    """What tells a job from others: the same work has the same key."""
    return sha256("\0".join((kind, *sorted(marks))).encode()).hexdigest()


def is_there(database: Database) -> bool:
    """Whether there is a queue at all; an older database that may not be written has none."""
    return bool(database.value("SELECT 1 FROM sqlite_master WHERE name = 'jobs'"))


def add(database: Database, jobs: Sequence[Job], now: int) -> int:
    """Queue these, but for those that are there already, and answer how many are new."""
    with database.transaction():
        before = _number(database)
        database.run_many(
            """
            INSERT INTO jobs (kind, key, subject, marks, payload, state, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING
            """,
            [
                (
                    job.kind,
                    key_of(job.kind, job.marks),
                    job.subject,
                    json.dumps(job.marks),
                    json.dumps(job.payload),
                    PENDING,
                    now,
                )
                for job in jobs
            ],
        )
        return _number(database) - before


def covered(database: Database, kind: str) -> set[str]:
    """The marks of all jobs of this kind, in whatever state."""
    rows = database.rows(
        "SELECT DISTINCT value FROM jobs, json_each(jobs.marks) WHERE kind = ?", [kind]
    )
    return {mark for (mark,) in rows}


def adopt(database: Database, *, most: int, now: int) -> int:
    """Put back what a worker left running when it died, each as an attempt; how many there were.

    Only the one worker may do so. After `most` attempts a job has failed.
    """
    with database.transaction():
        found = database.value("SELECT count(*) FROM jobs WHERE state = ?", [RUNNING])
        database.run(
            """
            UPDATE jobs SET
                attempts = attempts + 1,
                error = 'the worker died while it was at this',
                state = CASE WHEN attempts + 1 < ? THEN ? ELSE ? END,
                finished_at = CASE WHEN attempts + 1 < ? THEN 0 ELSE ? END
            WHERE state = ?
            """,
            [most, PENDING, FAILED, most, now, RUNNING],
        )
        return int(found)


def drain(database: Database, known: Collection[str], *, note: str, now: int) -> None:
    """Call what waits and is of none of the `known` kinds done, with a note."""
    with database.transaction():
        database.run(
            """
            UPDATE jobs SET state = ?, note = ?, finished_at = ?
            WHERE state = ? AND kind NOT IN (SELECT value FROM json_each(?))
            """,
            [DONE, note, now, PENDING, json.dumps([*known])],
        )


def take(database: Database, kinds: Collection[str], *, now: int) -> Job | None:
    """Mark the next job of these kinds as running: of the fewest attempts, the oldest.

    So one that fails again and again holds up nothing else. None when nothing is ready.
    """
    with database.transaction():
        rows = database.rows(
            f"""
            SELECT {_COLUMNS} FROM jobs
            WHERE state = ? AND not_before <= ? AND kind IN (SELECT value FROM json_each(?))
            ORDER BY attempts, id LIMIT 1
            """,
            [PENDING, now, json.dumps([*kinds])],
        )
        if not rows:
            return None
        database.run("UPDATE jobs SET state = ? WHERE id = ?", [RUNNING, rows[0][0]])
    return get(database, rows[0][0])


def finish(
    database: Database, number: int, *, note: str = "", revision: int | None = None, now: int
) -> None:
    """A running job is done."""
    with database.transaction():
        database.run(
            """
            UPDATE jobs SET state = ?, note = ?, revision = ?, error = '', finished_at = ?
            WHERE id = ? AND state = ?
            """,
            [DONE, note, revision, now, number, RUNNING],
        )


def fail(database: Database, number: int, *, error: str, now: int) -> None:
    """A running job has failed for good."""
    with database.transaction():
        database.run(
            """
            UPDATE jobs SET state = ?, error = ?, attempts = attempts + 1, finished_at = ?
            WHERE id = ? AND state = ?
            """,
            [FAILED, error, now, number, RUNNING],
        )


def postpone(database: Database, number: int, *, error: str, not_before: int) -> None:
    """A running job failed and is tried again, not earlier than `not_before`."""
    with database.transaction():
        database.run(
            """
            UPDATE jobs SET state = ?, error = ?, attempts = attempts + 1, not_before = ?
            WHERE id = ? AND state = ?
            """,
            [PENDING, error, not_before, number, RUNNING],
        )


def release(database: Database, number: int) -> None:
    """A running job was not tried after all."""
    with database.transaction():
        database.run(
            "UPDATE jobs SET state = ? WHERE id = ? AND state = ?", [PENDING, number, RUNNING]
        )


def retry(database: Database, ids: Collection[int]) -> None:
    """Give failed and dropped jobs all their attempts again."""
    with database.transaction():
        database.run(
            """
            UPDATE jobs SET state = ?, attempts = 0, not_before = 0, error = '', finished_at = 0
            WHERE state IN (?, ?) AND id IN (SELECT value FROM json_each(?))
            """,
            [PENDING, FAILED, DROPPED, id_list(ids)],
        )


def drop(database: Database, states: Collection[str], *, now: int) -> int:
    """Take all jobs in these states off the list, and answer how many."""
    with database.transaction():
        values = [json.dumps([*states])]
        where = "state IN (SELECT value FROM json_each(?))"
        found = database.value(f"SELECT count(*) FROM jobs WHERE {where}", values)
        database.run(
            f"UPDATE jobs SET state = ?, finished_at = ? WHERE {where}", [DROPPED, now, *values]
        )
        return int(found)


def forget(database: Database, *, before: int) -> None:
    """Delete what was done or dropped earlier than `before`."""
    with database.transaction():
        database.run(
            "DELETE FROM jobs WHERE state IN (?, ?) AND finished_at < ?", [DONE, DROPPED, before]
        )


def get(database: Database, number: int) -> Job | None:
    """A job by its number."""
    rows = database.rows(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", [number])
    return _job(rows[0]) if rows else None


def listed(database: Database, states: Collection[str]) -> list[Job]:
    """The jobs in these states, in the order in which they were queued."""
    rows = database.rows(
        f"""
        SELECT {_COLUMNS} FROM jobs
        WHERE state IN (SELECT value FROM json_each(?)) ORDER BY id
        """,
        [json.dumps([*states])],
    )
    return [_job(row) for row in rows]


def counts(database: Database) -> dict[str, int]:
    """How many jobs there are in each state that there is."""
    return dict(database.rows("SELECT state, count(*) FROM jobs GROUP BY state"))


def everything(database: Database) -> list[Any]:
    """The whole queue, to be put into another database."""
    return database.rows(f"SELECT key, {_COLUMNS} FROM jobs") if is_there(database) else []


def restore(database: Database, rows: Sequence[Any]) -> None:
    """Put a queue back into an empty one."""
    marks = ", ".join("?" * (_COLUMNS.count(",") + 2))
    with database.transaction():
        database.run_many(f"INSERT INTO jobs (key, {_COLUMNS}) VALUES ({marks})", rows)


def _number(database: Database) -> int:
    return int(database.value("SELECT count(*) FROM jobs"))


def _job(row: Sequence[Any]) -> Job:
    number, kind, subject, marks, payload, state, attempts, error, note, revision, *times = row
    not_before, created_at, finished_at = (
        datetime.fromtimestamp(at).astimezone() if at else None for at in times
    )
    return Job(
        id=number,
        kind=kind,
        subject=subject,
        marks=tuple(json.loads(marks)),
        payload=json.loads(payload),
        state=state,
        attempts=attempts,
        error=error,
        note=note,
        revision=revision,
        not_before=not_before,
        created_at=created_at,
        finished_at=finished_at,
    )
