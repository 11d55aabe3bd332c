"""mem watch: the real program beside real writers, real git and a real kernel's limits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from memcli.ops.refresh import BEAT, WALKED_ANYWAY
from memcli.ops.watch import DEBOUNCE
from tests.conftest import PlainUser, Program, opened, write
from tests.servers import Server
from tests.watching import wait_in_step, wait_until, watching


def paths(batch: dict[str, Any]) -> set[str]:
    return {*batch["added"], *batch["changed"], *batch["removed"]}


def test_a_saved_file_is_found_within_a_second_of_the_debounce(mem: Program) -> None:
    with watching(mem) as watch:
        assert "MEMORY.md" in watch.next()["added"]
        took = []
        for number in range(3):
            write(mem.cwd, "note.md", f"the xylophone{number} is out of tune\n")
            started = time.monotonic()
            watch.until(lambda batch: "note.md" in paths(batch))
            took.append(time.monotonic() - started)
            assert mem("search", "--no-refresh", f"xylophone{number}", code=0).out
        assert median(took) < DEBOUNCE + 1


def test_ways_to_save_rename_and_delete(mem: Program) -> None:
    memory = mem.cwd / ".decsr/memory"
    with watching(mem) as watch:
        watch.next()
        note = write(mem.cwd, "note.md", "first\n")
        (memory / ".note.md.swp").write_text("an editor's own")
        os.symlink("nobody@nowhere.1:2", memory / ".#note.md")  # as Emacs locks
        os.symlink("/etc/passwd", memory / "link.md")
        (memory / "sub").mkdir()
        (memory / "sub/inner.md").write_text("inner\n")
        wait_in_step(mem.cwd)
        (memory / "new").write_text("second\n")  # written beside, moved over
        os.replace(memory / "new", note)
        wait_in_step(mem.cwd)
        os.replace(note, memory / "note.md~")  # set aside, written anew
        note.write_text("third\n")
        wait_in_step(mem.cwd)
        note.write_text("")  # cut, then written
        note.write_text("fourth\n")
        (memory / "sub").rename(memory / "other")
        shutil.move(memory / "other/inner.md", mem.cwd / "away.md")
        (memory / "daily").rename(mem.cwd / "daily")
        wait_in_step(mem.cwd)
        (mem.cwd / "daily").rename(memory / "daily")
        shutil.move(mem.cwd / "away.md", memory / "back.md")
        wait_in_step(mem.cwd)
        ran = watch.end()
    assert ran.code == 0
    assert ran.err.count("\n") == 1  # that it watches


def test_a_memory_that_is_deleted_and_made_again(mem: Program) -> None:
    memory = mem.cwd / ".decsr/memory"
    with watching(mem) as watch:
        watch.next()
        shutil.rmtree(memory)
        watch.until(lambda batch: "MEMORY.md" in batch["removed"])
        write(mem.cwd, "daily/2026-11-20.md", "# Daily log 2026-11-20\n\nagain\n")
        wait_in_step(mem.cwd)
        write(mem.cwd, "daily/2026-11-20.md", "# Daily log 2026-11-20\n\nand again\n")
        wait_in_step(mem.cwd)


@pytest.mark.slow
def test_an_index_that_is_deleted_rebuilt_or_overwritten(mem: Program) -> None:
    database = mem.cwd / ".decsr/memory.db"
    with watching(mem) as watch:
        watch.next()
        for path in database.parent.glob("memory.db*"):
            if path.suffix != ".watch" and not path.name.endswith(".watch"):
                path.unlink()
        wait_until(database.exists)
        wait_in_step(mem.cwd)
        mem("index", "--full", code=0)
        write(mem.cwd, "note.md", "after the rebuild\n")
        wait_in_step(mem.cwd)
        database.write_bytes(os.urandom(database.stat().st_size))
        write(mem.cwd, "note.md", "after the noise\n")
        watch.until(lambda batch: any("damaged" in note for note in batch["notes"]))
        wait_in_step(mem.cwd)
        assert watch.end().code == 0


def test_a_workspace_that_goes_ends_it(mem: Program) -> None:
    with watching(mem) as watch:
        watch.next()
        # At once: a tree that goes file by file is one that the watcher still keeps an index of.
        (mem.cwd / ".decsr").rename(mem.cwd / "gone")
        ran = watch.wait()
    assert ran.code == 3
    assert ran.err.splitlines()[-1].endswith(".decsr is gone")


def test_an_interrupt_ends_it_clean(mem: Program) -> None:
    with watching(mem) as watch:
        watch.next()
        started = time.monotonic()
        ran = watch.end(signal.SIGINT)
    assert ran.code == 0
    assert ran.out == ""
    assert time.monotonic() - started < 5
    workspace = opened(mem.cwd)
    assert workspace.backend.beaten_at() == 0
    workspace.close()


def test_a_reader_that_goes_ends_it(mem: Program) -> None:
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "memcli", "watch"],
        cwd=mem.cwd,
        env=mem.environ(),
        stdout=written,
        stderr=subprocess.PIPE,
        text=True,
        timeout=20,
        check=False,
    )
    os.close(written)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1  # that it watches


def test_a_second_watch_hears_of_the_first(mem: Program) -> None:
    with watching(mem) as watch:
        watch.next()
        ran = mem("watch", code=5)
    assert ran.err == f"mem: mem watch is at work here already (process {watch.process.pid})\n"
    assert ran.out == ""


def test_where_nothing_may_be_written(mem: Program, plain_user: PlainUser) -> None:
    root = plain_user.take(mem.cwd)
    (root / ".decsr").chmod(0o555)
    ran = mem("watch", cwd=root, env=plain_user.env, before=plain_user.words, code=3)
    assert ran.err == f"mem: {root}/.decsr may not be written, so no index is kept\n"


def test_writers_and_searches_beside_it(mem: Program) -> None:
    with watching(mem) as watch:
        watch.next()
        for number in range(4):
            for other in range(20):
                write(mem.cwd, f"busy/{other}.md", f"# Busy\n\nround {number} of {other}\n")
            mem("append-daily", f"entry{number} of the watch", code=0)
            assert f"entry{number}" in mem("search", f"entry{number}", code=0).out
        wait_in_step(mem.cwd)
        assert watch.end().code == 0


def test_a_checkout_is_in_step(mem: Program) -> None:
    check_out(mem, 150)


@pytest.mark.slow
def test_a_checkout_of_a_thousand_files_is_in_step_within_ten_seconds(mem: Program) -> None:
    assert check_out(mem, 1_000) < 10


def check_out(mem: Program, count: int) -> float:
    """Seconds from the end of a checkout that changes `count` files until all are in step."""

    def git(*words: str) -> None:
        config = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "gc.auto=0")
        subprocess.run(["git", *config, *words], cwd=mem.cwd, env=mem.environ(), check=True,
                       capture_output=True)  # fmt: skip

    git("init", "-q", "-b", "one")
    (mem.cwd / ".gitignore").write_text(".decsr/memory.db*\n.decsr/memory.vec*\n.decsr/lock\n")
    for branch in ("one", "two"):
        if branch == "two":
            git("checkout", "-q", "-b", "two")
        for number in range(count):
            write(mem.cwd, f"wide/{number % 7}/{number}.md", f"# {number}\n\non branch {branch}\n")
        if branch == "two":
            shutil.rmtree(mem.cwd / ".decsr/memory/wide/6")
            write(mem.cwd, "fresh/new.md", "only here\n")
        git("add", "-A")
        git("commit", "-q", "-m", branch)
    with watching(mem) as watch:
        watch.next()
        git("checkout", "-q", "one")
        took = wait_in_step(mem.cwd)
        git("checkout", "-q", "two")
        return max(took, wait_in_step(mem.cwd))


def test_lost_events_are_made_up_for(mem: Program) -> None:
    """Its reader is stopped until the kernel's queue is full, so that what comes then is lost."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 100_000:
        pytest.skip("the kernel's queue is too long to fill")
    one, other = (write(mem.cwd, name, "no note\n") for name in ("one.txt", "other.txt"))
    with watching(mem) as watch:
        watch.next()
        watch.process.send_signal(signal.SIGSTOP)
        for number in range(limit // 2 + 100):
            os.utime(one, (number, number))
            os.utime(other, (number, number))
        write(mem.cwd, "lost.md", "nobody told of this\n")
        write(mem.cwd, "lost/folder.md", "nor of this\n")
        watch.process.send_signal(signal.SIGCONT)
        wait_in_step(mem.cwd)
        write(mem.cwd, "lost/folder.md", "but of this\n")
        wait_in_step(mem.cwd)
        ran = watch.end()
    assert ran.err.count("\n") == 1, ran.err


def limited(name: str, value: int) -> tuple[str, ...]:
    """A command that runs another where the kernel gives so many inotify instances or watches."""
    if shutil.which("unshare") is None:
        pytest.skip("this needs unshare")
    script = f'echo {value} > /proc/sys/user/max_inotify_{name} && exec "$@"'
    words = ("unshare", "--user", "--map-root-user", "sh", "-c", script, "sh")
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    return words


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), [("instances", 0), ("watches", 0), ("watches", 2)])
def test_without_events_it_polls_and_says_so_once(mem: Program, name: str, value: int) -> None:
    with watching(mem, before=limited(name, value)) as watch:
        (note,) = watch.until(lambda batch: bool(batch["notes"]))["notes"]
        assert "looking every 1 s" in note
        write(mem.cwd, "note.md", "seen without events\n")
        wait_in_step(mem.cwd)
        ran = watch.end()
    assert ran.code == 0
    assert not any(json.loads(line)["notes"] for line in ran.out.splitlines())
    assert ran.err.count("\n") == 1, ran.err


@pytest.mark.slow
def test_watches_that_run_out_later_make_it_poll(mem: Program) -> None:
    memory = mem.cwd / ".decsr/memory"
    folders = 2 + sum(path.is_dir() for path in memory.rglob("*"))
    with watching(mem, before=limited("watches", folders)) as watch:
        assert watch.next()["notes"] == []
        write(mem.cwd, "more/note.md", "in a folder without a watch\n")
        watch.until(lambda batch: bool(batch["notes"]))
        write(mem.cwd, "more/note.md", "changed there\n")
        wait_in_step(mem.cwd)
        ran = watch.end()
    assert ran.code == 0
    assert ran.err.count("\n") == 1, ran.err


@pytest.mark.slow
def test_polling_on_request(mem: Program) -> None:
    with watching(mem, "--poll") as watch:
        assert watch.next()["notes"] == []
        write(mem.cwd, "sub/note.md", "polled\n")
        shutil.rmtree(mem.cwd / ".decsr/memory/tasks")
        wait_in_step(mem.cwd)
        assert watch.end().code == 0


@pytest.mark.slow
def test_a_search_believes_a_living_watch_and_not_a_dead_one(mem: Program) -> None:
    for number in range(WALKED_ANYWAY + 1):
        write(mem.cwd, f"many/{number}.md", f"number{number}\n")
    with watching(mem) as watch:
        watch.next()
        wait_until(lambda: beaten_at(mem.cwd) > 0)
        watch.process.send_signal(signal.SIGSTOP)  # alive, as far as anybody can tell
        write(mem.cwd, "unseen/note.md", "platypus\n")
        assert mem("search", "platypus").code == 1
        watch.process.kill()
        died = beaten_at(mem.cwd)
        wait_until(lambda: time.time() > died + BEAT + 1)
        assert "platypus" in mem("search", "platypus", code=0).out


def beaten_at(root: Path) -> int:
    workspace = opened(root)
    try:
        return workspace.backend.beaten_at()
    finally:
        workspace.close()


@pytest.mark.slow
def test_vectors_are_made_beside_it(mem: Program, server: Server) -> None:
    env = {"MEM_EMBEDDING_PROVIDER": "ollama", "MEM_EMBEDDING_URL": server.url}
    with watching(mem, env=env) as watch:
        assert watch.next()["pending"] > 100
        batch = watch.until(lambda batch: batch["embedded"] > 0 and not batch["pending"])
        assert batch["notes"] == []
        server.fault = "hang"
        write(mem.cwd, "note.md", "while the model hangs\n")
        watch.until(lambda batch: "note.md" in batch["added"], DEBOUNCE + 5)
        write(mem.cwd, "note.md", "and still hangs\n")
        watch.until(lambda batch: "note.md" in batch["changed"], DEBOUNCE + 5)
        started = time.monotonic()
        assert watch.end().code == 0
        assert time.monotonic() - started < 8


@pytest.mark.slow
def test_a_provider_that_is_down_is_said_once(mem: Program, server: Server) -> None:
    server.fault = "503"
    env = {"MEM_EMBEDDING_PROVIDER": "openai", "MEM_EMBEDDING_URL": server.url,
           "MEM_EMBEDDING_MODEL": "m"}  # fmt: skip
    with watching(mem, env=env) as watch:
        watch.next()
        batch = watch.until(lambda batch: bool(batch["notes"]))
        assert len(batch["notes"]) == 1
        wait_until(lambda: len(server.asked) > 1)  # it is asked again
        server.fault = ""
        later = watch.until(lambda batch: not batch["pending"])
        assert later["embedded"] > 100
        assert later["notes"] == []


@pytest.mark.slow
def test_an_unreadable_file_is_said_once(mem: Program, plain_user: PlainUser) -> None:
    write(mem.cwd, "closed.md", "nobody may read this\n").chmod(0)
    mem.cwd = plain_user.take(mem.cwd)
    with watching(mem, "--poll", env=plain_user.env, before=plain_user.words) as watch:
        assert any("closed.md" in note for note in watch.next()["notes"])
        write(mem.cwd, "note.md", "another\n")
        batch = watch.until(lambda batch: "note.md" in batch["added"])
        assert batch["notes"] == []
        time.sleep(1.5)
        assert watch.rest() == []


def test_plain_lines_and_silence(mem: Program) -> None:
    for words, wanted in (((), "added: MEMORY.md"), (("-q",), "")):
        process = subprocess.Popen(
            [sys.executable, "-m", "memcli", "watch", *words],
            cwd=mem.cwd, env=mem.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        try:
            wait_until(lambda: beaten_at(mem.cwd) > 0)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
        assert process.returncode == 0
        assert (wanted in out) if wanted else out == err == ""
