"""Watch: whatever is done to the files, the index ends up as they are."""

from __future__ import annotations

import mmap
import os
import random
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memcli.backends.sqlite import SqliteBackend
from memcli.ops import idle
from memcli.ops.refresh import BEAT
from memcli.ops.watch import BEAT_EVERY, RESCAN, SURE, Batch, Watcher, watch
from memcli.workspace import Workspace
from tests.conftest import Program, opened, write
from tests.servers import Server
from tests.watching import files, indexed, wait_in_step, wait_until, watching

PATIENCE = 20.0  # seconds


class Clock:
    """Unix seconds that a test may move; it ends a test that waits in vain."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self._limit = time.monotonic() + PATIENCE

    def __call__(self) -> float:
        assert time.monotonic() < self._limit, "nothing came"
        return time.time() + self.ahead


@contextmanager
def begun(
    workspace: Workspace, clock: Clock, *, is_polling: bool = False
) -> Iterator[tuple[Watcher, Iterator[Batch]]]:
    """A watch that has caught up, and its batches."""
    with watch(workspace, clock=clock, is_polling=is_polling) as watcher:
        assert "MEMORY.md" in watcher.catch_up().added
        yield watcher, watcher.batches()


def test_what_is_no_memory_file_is_left_alone(workspace: Workspace, project: Path) -> None:
    memory = project / ".decsr/memory"
    outside = project / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("not to be read\n")
    with begun(workspace, Clock()) as (_, batches):
        (memory / ".hidden").mkdir()
        (memory / ".hidden/in.md").write_text("hidden\n")
        (memory / ".in.md").write_text("hidden\n")
        (memory / "in.txt").write_text("no markdown\n")
        os.symlink(outside / "secret.md", memory / "link.md")
        os.symlink(outside, memory / "links")
        os.mkfifo(memory / "pipe.md")
        (memory / os.fsdecode(b"\xff.md")).write_text("a name that is no text\n")
        write(project, "good.md", "good\n")
        first = next(batches)
    assert first.added == ("good.md",)
    assert sum("is passed over" in note for note in first.notes) == 3
    assert "secret.md" not in str(indexed(project))


def test_a_file_that_becomes_a_link_is_dropped(workspace: Workspace, project: Path) -> None:
    path = write(project, "note.md", "once a file\n")
    with begun(workspace, Clock()) as (_, batches):
        path.unlink()
        os.symlink("/etc/passwd", path)
        assert next(batches).removed == ("note.md",)
    assert "note.md" not in indexed(project)


@pytest.mark.slow
def test_a_change_without_events_is_found_after_sleep_and_ends_the_trust_in_them(
    workspace: Workspace, project: Path
) -> None:
    path = write(project, "mapped.md", "the first words of it\n")
    clock = Clock()
    with (
        begun(workspace, clock) as (_, batches),
        open(path, "r+b") as file,
        mmap.mmap(file.fileno(), 0) as view,
    ):
        write(project, "other.md", "until all events of the opening are in\n")
        assert "other.md" in next(batches).added
        view[4:9] = b"LAST."
        view.flush()
        clock.ahead += RESCAN + 1
        assert next(batches).changed == ("mapped.md",)
        clock.ahead += SURE + 1
        (note,) = next(batches).notes
        assert note == ("the system's file events miss changes here; looking every 1 s from now on")
        view[4:9] = b"third"
        view.flush()
        assert next(batches).changed == ("mapped.md",)


def test_the_beat_follows_a_clock_that_is_set_back(workspace: Workspace, project: Path) -> None:
    clock = Clock()
    with begun(workspace, clock) as (_, batches):
        write(project, "note.md", "one\n")
        next(batches)
        clock.ahead -= 3_600
        # There is a beat only while nothing is under way, so the next write comes after a silence.
        later = threading.Timer(3.0, write, (project, "note.md", "two\n"))
        later.start()
        next(batches)
        later.join()
        assert abs(workspace.backend.beaten_at() - clock()) <= BEAT
    assert workspace.backend.beaten_at() == 0
    assert BEAT_EVERY < BEAT


@pytest.mark.slow
def test_what_cannot_be_listed_is_said_once_and_tried_again(
    workspace: Workspace, project: Path
) -> None:
    memory = project / ".decsr/memory"
    aside = project / "aside"
    clock = Clock()
    with begun(workspace, clock, is_polling=True) as (_, batches):
        memory.rename(aside)
        memory.write_text("a file in place of the folder\n")
        (note,) = next(batches).notes
        assert note.startswith("not in step yet: cannot list")
        beaten = workspace.backend.beaten_at()
        clock.ahead += 10
        memory.unlink()
        aside.rename(memory)
        write(project, "note.md", "back\n")
        batch = next(batches)
        assert batch.added == ("note.md",)
        assert batch.notes == ()
        assert workspace.backend.beaten_at() == beaten  # no word while out of step


@pytest.mark.slow
def test_vectors_wait_for_a_provider_that_is_down(project: Path, server: Server) -> None:
    server.fault = "503"
    workspace = opened(
        project, embedding_provider="openai", embedding_url=server.url, embedding_model="m"
    )
    clock = Clock()
    assert isinstance(workspace.backend, SqliteBackend)
    with begun(workspace, clock) as (_, batches):
        (note,) = next(batches).notes
        assert note.startswith("no vectors were made: ")
        wait_until(lambda: len(server.asked) > 1)
        server.fault = ""
        batch = next(batches)
        assert batch.embedded > 0
        assert batch.notes == ()
        server.fault = "hang"
        write(project, "note.md", "while the model hangs\n")
        started = time.monotonic()
        while "note.md" not in (batch := next(batches)).added:
            pass
        assert time.monotonic() - started < 5
        assert batch.pending
        started = time.monotonic()
    assert time.monotonic() - started < idle.PATIENCE + 2
    workspace.close()


def test_random_work_ends_in_step(mem: Program) -> None:
    churn(mem, seed=7, count=100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_ten_thousand_random_operations_end_in_step(mem: Program, seed: int) -> None:
    churn(mem, seed=seed, count=10_000)


def churn(mem: Program, *, seed: int, count: int) -> None:
    """Do what people and tools do to files; afterwards, and now and then, all is in step."""
    chance = random.Random(seed)
    memory = mem.cwd / ".decsr/memory"
    with watching(mem) as seen:
        seen.next()
        for number in range(count):
            work(memory, chance, number)
            if chance.random() < 0.02:
                time.sleep(chance.random() * 0.5)
            if number % 1_000 == 999:
                wait_in_step(mem.cwd)
        wait_in_step(mem.cwd)
        notes = [note for batch in seen.rest() for note in batch["notes"]]
        assert not [note for note in notes if "looking every" in note]
        ran = seen.end()
    assert ran.code == 0
    assert ran.err.count("\n") == 1, ran.err
    assert indexed(mem.cwd) == files(mem.cwd)


def work(memory: Path, chance: random.Random, number: int) -> None:
    """One thing done to a file or folder."""
    folders = [memory, *(path for path in memory.rglob("*") if path.is_dir())]
    there = [path for path in memory.rglob("*.md") if path.is_file()]
    folder = chance.choice(folders)
    path = chance.choice(there) if there else memory / "first.md"
    text = f"# Note {number}\n\n{' '.join(chance.choices(WORDS, k=20))}\n"
    kind = chance.choice(KINDS)
    if kind == "write":
        (folder / f"{chance.choice(WORDS)}{number % 40}.md").write_text(text)
    elif kind == "append":
        with open(path, "a") as file:
            file.write(text)
    elif kind == "replace":
        (path.parent / "4913.tmp").write_text(text)
        os.replace(path.parent / "4913.tmp", path)
    elif kind == "backup":
        if path.exists():
            path.rename(path.with_name(path.name + "~"))
        path.write_text(text)
    elif kind == "cut":
        path.write_text("")
        path.write_text(text)
    elif kind == "delete":
        path.unlink(missing_ok=True)
    elif kind == "again":
        path.unlink(missing_ok=True)
        path.write_text(text)
    elif kind == "rename":
        if path.exists():
            path.rename(folder / f"{chance.choice(WORDS)}{number % 40}.md")
    elif kind == "folder":
        (folder / f"{chance.choice(WORDS)}.d").mkdir(exist_ok=True)
    elif kind == "move folder":
        to = chance.choice(folders) / f"{number}.d"
        if folder != memory and folder not in (to, *to.parents):
            folder.rename(to)
    elif folder != memory and len(folders) > 12 and len(list(folder.rglob("*"))) < 20:
        shutil.rmtree(folder)


WORDS = ("anchor", "basin", "cedar", "delta", "ember", "fjord", "grove", "harbor", "inlet", "kelp")
KINDS = (
    *["write"] * 6, *["append"] * 4, *["replace"] * 4, "backup", "cut", "cut", *["delete"] * 3,
    "again", "rename", "rename", "folder", "move folder", "remove folder",
)  # fmt: skip
