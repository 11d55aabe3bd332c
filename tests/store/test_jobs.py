"""The queue's rows: any order of its operations leaves every job in one state, and none is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memcli.store import db, jobs, schema
from memcli.store.db import Database
from memcli.store.jobs import DONE, DROPPED, FAILED, PENDING, RUNNING, Job

KINDS = ("one", "two")
MOST = 3


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = db.connect(str(tmp_path / "memory.db"), create=True)
    found.migrate()
    yield found
    found.close()


def job(kind: str, *marks: str) -> Job:
    return Job(0, kind, f"about {marks}", marks, {"path": "a.md"})


def test_each_schema_has_its_migration() -> None:
    assert len(schema.migrations._migrations) == db.SCHEMA


def test_an_older_database_gets_its_queue_and_keeps_its_rows(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    old = db.connect(path, create=True)
    old.migrate()
    old.run("INSERT INTO meta VALUES ('name', 'value')")
    old.run("DROP TABLE jobs")
    old.run("DELETE FROM _sqlite_migrations WHERE name = 'jobs'")
    old.run("PRAGMA user_version = 1")
    assert not jobs.is_there(old)
    old.close()
    found = db.connect(path)
    assert not db.is_current(found)
    found.migrate()
    assert jobs.is_there(found)
    assert found.value("SELECT value FROM meta") == "value"
    found.close()


def test_the_same_work_is_queued_once_in_whatever_order_it_is_named(database: Database) -> None:
    assert jobs.add(database, [job("one", "a", "b")], 1) == 1
    assert jobs.add(database, [job("one", "b", "a"), job("two", "a", "b")], 2) == 1
    assert jobs.covered(database, "one") == {"a", "b"}


def test_a_job_that_failed_lets_the_others_go_first(database: Database) -> None:
    jobs.add(database, [job("one", "a"), job("one", "b")], 1)
    first = jobs.take(database, KINDS, now=10)
    assert first is not None and first.marks == ("a",)
    jobs.postpone(database, first.id, error="busy", not_before=20)
    second = jobs.take(database, KINDS, now=30)
    assert second is not None and second.marks == ("b",)
    assert jobs.take(database, KINDS, now=19) is None
    again = jobs.take(database, KINDS, now=20)
    assert again is not None and (again.id, again.error, again.attempts) == (first.id, "busy", 1)


def test_what_was_done_long_ago_is_forgotten_and_what_failed_is_not(database: Database) -> None:
    jobs.add(database, [job("one", "a"), job("one", "b"), job("one", "c")], 1)
    for mark in "ab":
        taken = jobs.take(database, KINDS, now=2)
        assert taken is not None
        if mark == "a":
            jobs.finish(database, taken.id, note="well", revision=7, now=3)
        else:
            jobs.fail(database, taken.id, error="never", now=3)
    jobs.forget(database, before=3)
    assert jobs.counts(database) == {DONE: 1, FAILED: 1, PENDING: 1}
    jobs.forget(database, before=4)
    assert jobs.counts(database) == {FAILED: 1, PENDING: 1}


def test_a_number_never_means_another_job(database: Database) -> None:
    jobs.add(database, [job("one", "a")], 1)
    taken = jobs.take(database, KINDS, now=2)
    assert taken is not None
    jobs.finish(database, taken.id, now=2)
    jobs.forget(database, before=3)
    jobs.add(database, [job("one", "b")], 1)
    (left,) = jobs.listed(database, [PENDING])
    assert left.id > taken.id


class Queue(RuleBasedStateMachine):
    """A queue of jobs against a dictionary of them."""

    def __init__(self) -> None:
        super().__init__()
        self.database = _in_memory()
        self.now = 1_000
        self.model: dict[str, tuple[str, int, int]] = {}  # mark -> state, attempts, not before
        self.ids: dict[str, int] = {}

    @rule(mark=st.sampled_from("abcdef"), kind=st.sampled_from(KINDS))
    def add(self, mark: str, kind: str) -> None:
        name = f"{kind}-{mark}"
        jobs.add(self.database, [job(kind, name)], self.now)
        self.model.setdefault(name, (PENDING, 0, 0))
        self.ids = {one.marks[0]: one.id for one in jobs.listed(self.database, jobs.STATES)}

    @rule(seconds=st.integers(1, 100))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @precondition(lambda self: not self.running())
    @rule(kinds=st.sampled_from([KINDS, ("one",), ("two",), ()]))
    def take(self, kinds: tuple[str, ...]) -> None:
        ready = [
            (attempts, self.ids[name], name)
            for name, (state, attempts, after) in self.model.items()
            if state == PENDING and after <= self.now and name.startswith(kinds or ("-",))
        ]
        taken = jobs.take(self.database, kinds, now=self.now)
        assert (taken.marks[0] if taken else None) == (min(ready)[2] if ready else None)
        if taken:
            self._set(taken.marks[0], RUNNING)

    @precondition(lambda self: self.running())
    @rule(how=st.sampled_from(["finish", "fail", "postpone", "release"]))
    def end(self, how: str) -> None:
        (name,) = self.running()
        number, attempts = self.ids[name], self.model[name][1]
        if how == "finish":
            jobs.finish(self.database, number, note="n", revision=None, now=self.now)
            self._set(name, DONE)
        elif how == "fail":
            jobs.fail(self.database, number, error="e", now=self.now)
            self._set(name, FAILED, attempts + 1)
        elif how == "postpone":
            jobs.postpone(self.database, number, error="e", not_before=self.now + 30)
            self._set(name, PENDING, attempts + 1, self.now + 30)
        else:
            jobs.release(self.database, number)
            self._set(name, PENDING)

    @rule()
    def die(self) -> None:
        found = jobs.adopt(self.database, most=MOST, now=self.now)
        assert found == len(self.running())
        for name in self.running():
            attempts = self.model[name][1] + 1
            self._set(name, PENDING if attempts < MOST else FAILED, attempts)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.model)))
        jobs.retry(self.database, [self.ids[name]])
        if self.model[name][0] in (FAILED, DROPPED):
            self._set(name, PENDING, 0, 0)

    @rule(states=st.sampled_from([(DONE,), (FAILED,), (DONE, FAILED), (PENDING,)]))
    def drop(self, states: tuple[str, ...]) -> None:
        names = [name for name, (state, _, _) in self.model.items() if state in states]
        assert jobs.drop(self.database, states, now=self.now) == len(names)
        for name in names:
            self._set(name, DROPPED)

    @rule()
    def drain(self) -> None:
        jobs.drain(self.database, ["one"], note="old", now=self.now)
        for name, (state, _, _) in self.model.items():
            if state == PENDING and name.startswith("two"):
                self._set(name, DONE)

    @invariant()
    def agrees(self) -> None:
        found = {
            one.marks[0]: (one.state, one.attempts)
            for one in jobs.listed(self.database, jobs.STATES)
        }
        assert found == {name: one[:2] for name, one in self.model.items()}
        assert sum(jobs.counts(self.database).values()) == len(self.model)

    def running(self) -> list[str]:
        return [name for name, (state, _, _) in self.model.items() if state == RUNNING]

    def _set(
        self, name: str, state: str, attempts: int | None = None, after: int | None = None
    ) -> None:
        _, old_attempts, old_after = self.model[name]
        self.model[name] = (
            state,
            old_attempts if attempts is None else attempts,
            old_after if after is None else after,
        )

    def teardown(self) -> None:
        self.database.close()


def _in_memory() -> Database:
    import sqlite3

    found = Database(
        sqlite3.connect(":memory:", isolation_level=None), ":memory:", is_readonly=False
    )
    found.migrate()
    return found


Queue.TestCase.settings = settings(max_examples=40, stateful_step_count=30)
TestQueue = Queue.TestCase
