"""Changing memory files: whole or not at all, on disk when it says so, and never over a person."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memcli import history
from memcli.edit import edit, read, recover
from memcli.errors import ConflictError, UsageError, WorkspaceError
from memcli.layout import Layout
from tests.kill_sweep import (
    EINTR,
    EIO,
    ENOSPC,
    HAS_STRACE,
    KILL,
    NO_STRACE,
    WRITES,
    Struck,
    kill_at_random,
    sweep,
    trace,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

# One edit described by words: append PATH TEXT, replace PATH TEXT, delete PATH.
DRIVER = """
import sys
from datetime import UTC, datetime
from memcli.edit import edit
from memcli.errors import MemError
from memcli.layout import Layout
words = sys.argv[2:]
try:
    with edit(Layout(sys.argv[1]), "driver", now=datetime(2026, 3, 1, tzinfo=UTC)) as files:
        while words:
            verb, path = words.pop(0), words.pop(0)
            if verb == "delete":
                files.delete(path)
            else:
                files.read(path)
                getattr(files, verb)(path, words.pop(0).encode())
except MemError as error:
    sys.exit(f"mem: {error}")
"""

WORKER = """
import sys, time
from datetime import UTC, datetime
from memcli.edit import edit
from memcli.layout import Layout
layout, name, rounds = Layout(sys.argv[1]), sys.argv[2], int(sys.argv[3])
slowest = 0.0
for number in range(rounds):
    began = time.monotonic()
    with edit(layout, "append-daily", now=datetime.now(UTC)) as files:
        slowest = max(slowest, time.monotonic() - began)
        head = b"" if files.read("daily/d.md") else b"# head\\n"
        files.append("daily/d.md", head + f"{name}-{number}-end\\n".encode())
print(slowest)
"""

HOLDER = """
import sys
from memcli.lock import hold
with hold(sys.argv[1], "x"):
    print(flush=True)
    input()
"""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / ".decsr").mkdir()
    return Layout(str(tmp_path))


def put(layout: Layout, path: str, data: bytes) -> None:
    full = layout.memory_path(path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    Path(full).write_bytes(data)


def tree(layout: Layout) -> dict[str, bytes]:
    """Every file of the memory folder, hidden ones too."""
    found = {}
    for folder, _, names in os.walk(layout.memory):
        for name in names:
            full = os.path.join(folder, name)
            found[os.path.relpath(full, layout.memory)] = Path(full).read_bytes()
    return found


def test_an_edit_is_written_when_the_block_ends(layout: Layout) -> None:
    with edit(layout, "promote", now=NOW, note="task T-1") as files:
        files.append("daily/2026-03-01.md", b"one\n")
        files.append("daily/2026-03-01.md", b"two\n")
        files.replace("tasks/t.md", b"# T\n")
        assert files.read("daily/2026-03-01.md") == b"one\ntwo\n"
        assert tree(layout) == {}
    assert tree(layout) == {"daily/2026-03-01.md": b"one\ntwo\n", "tasks/t.md": b"# T\n"}
    assert files.revision == 1
    revision = history.read(layout, 1)
    assert (revision.op, revision.note, revision.created_at) == ("promote", "task T-1", NOW)
    assert [(change.path, change.kind) for change in revision.changes] == [
        ("daily/2026-03-01.md", "create"),
        ("tasks/t.md", "create"),
    ]


def test_an_append_records_only_what_was_added(layout: Layout) -> None:
    put(layout, "MEMORY.md", b"x" * 10_000)
    with edit(layout, "promote", now=NOW) as files:
        files.append("MEMORY.md", b"\n- new\n")
    (change,) = history.read(layout, 1).changes
    assert (change.kind, change.offset, change.after) == ("append", 10_000, b"\n- new\n")
    assert os.path.getsize(os.path.join(layout.history, "000001.json")) < 400


def test_what_changes_nothing_makes_no_revision(layout: Layout) -> None:
    put(layout, "a.md", b"same\n")
    before = os.stat(layout.memory_path("a.md"))
    with edit(layout, "promote", now=NOW) as files:
        files.replace("a.md", b"same\n")
        files.append("a.md", b"")
        files.delete("none.md")
        files.append("empty.md", b"")
    assert files.revision is None
    assert history.ids(layout) == []
    assert os.stat(layout.memory_path("a.md")).st_mtime_ns == before.st_mtime_ns


def test_an_exception_inside_writes_nothing(layout: Layout) -> None:
    with pytest.raises(KeyError), edit(layout, "promote", now=NOW) as files:
        files.append("a.md", b"text\n")
        raise KeyError
    assert tree(layout) == {}
    assert history.ids(layout) == history.open_ids(layout) == []


def test_mode_survives_a_rewrite(layout: Layout) -> None:
    put(layout, "a.md", b"old\n")
    os.chmod(layout.memory_path("a.md"), 0o640)
    with edit(layout, "fact", now=NOW) as files:
        files.replace("a.md", b"new\n")
    assert os.stat(layout.memory_path("a.md")).st_mode & 0o777 == 0o640
    assert os.stat(layout.history).st_mode & 0o777 == 0o700
    assert os.stat(os.path.join(layout.history, "000001.json")).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("how", ["folder", "pipe", "link", "link above", "file above"])
def test_what_is_no_plain_file_is_refused_and_never_empty(layout: Layout, how: str) -> None:
    full = layout.memory_path("tasks/t.md")
    os.makedirs(os.path.dirname(full))
    outside = Path(layout.root, "outside")
    outside.mkdir()
    if how == "folder":
        os.mkdir(full)
    elif how == "pipe":
        os.mkfifo(full)
    elif how == "link":
        (outside / "t.md").write_bytes(b"precious\n")
        os.symlink(outside / "t.md", full)
    else:
        os.rmdir(os.path.dirname(full))
        if how == "link above":
            (outside / "t.md").write_bytes(b"precious\n")
            os.symlink(outside, os.path.dirname(full))
        else:
            Path(os.path.dirname(full)).write_bytes(b"a file\n")
    with pytest.raises(WorkspaceError, match="tasks"):
        read(layout, "tasks/t.md")
    for change in ("append", "replace"):
        with pytest.raises(WorkspaceError, match="tasks"), edit(layout, "x", now=NOW) as files:
            getattr(files, change)("tasks/t.md", b"new\n")
    with pytest.raises(WorkspaceError, match="tasks"), edit(layout, "x", now=NOW) as files:
        files.delete("tasks/t.md")
    assert history.ids(layout) == history.open_ids(layout) == []
    if how.startswith("link"):
        assert (outside / "t.md").read_bytes() == b"precious\n"


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "", "a/../../x.md", "a\0b.md"])
def test_a_path_that_leaves_the_folder_is_refused(layout: Layout, path: str) -> None:
    with pytest.raises(UsageError), edit(layout, "x", now=NOW) as files:
        files.append(path, b"x")


def test_a_person_who_saves_meanwhile_is_not_written_over(layout: Layout) -> None:
    put(layout, "a.md", b"old\n")
    for change in ("replace", "append"):
        with pytest.raises(ConflictError, match=r"a\.md"), edit(layout, "x", now=NOW) as files:
            files.read("a.md")
            put(layout, "a.md", b"by hand, " + change.encode())
            getattr(files, change)("a.md", b"new\n")
        assert tree(layout) == {"a.md": b"by hand, " + change.encode()}
    assert history.ids(layout) == history.open_ids(layout) == []


def test_a_failure_half_way_takes_back_the_first_half(layout: Layout) -> None:
    put(layout, "a.md", b"a\n")
    put(layout, "log.md", b"log\n")
    put(layout, "tasks/b.md", b"b\n")
    os.chmod(layout.memory_path("tasks"), 0o555)
    before = tree(layout)
    script = [sys.executable, "-c", DROP + DRIVER, layout.root]
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "65534", layout.root], check=True)
        open_up(layout.root)
    run = subprocess.run(
        [*script, *("append", "log.md", "more"), *("replace", "a.md", "A"), "delete", "tasks/b.md"],
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr) == (
        1,
        "mem: cannot write tasks/b.md: Permission denied\n",
    )
    os.chmod(layout.memory_path("tasks"), 0o755)
    assert tree(layout) == before
    assert history.ids(layout) == history.open_ids(layout) == []


DROP = "import memcli.edit, os\nif os.geteuid() == 0: os.setuid(65534)\n"


def open_up(path: str) -> None:
    """Let a plain user reach `path`, which pytest keeps to its owner."""
    while (path := os.path.dirname(path)) != "/":
        os.chmod(path, os.stat(path).st_mode | 0o011)


@pytest.mark.parametrize("alone", [True, False])
def test_a_file_that_may_grow_no_further_is_cut_back(layout: Layout, alone: bool) -> None:
    put(layout, "MEMORY.md", b"x" * 8000)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (8100, 8100))\n"
    append = "import sys; from memcli import disk; disk.append(sys.argv[1], b'y' * 200, 8000)"
    words = [limit + append, layout.memory_path("MEMORY.md")]
    if not alone:
        words = [limit + DRIVER, layout.root, "append", "MEMORY.md", "y" * 200]
    run = subprocess.run([sys.executable, "-c", *words], capture_output=True, text=True)
    assert run.returncode == 1
    assert alone or run.stderr == "mem: cannot write MEMORY.md: File too large\n"
    assert tree(layout) == {"MEMORY.md": b"x" * 8000}
    assert history.ids(layout) == history.open_ids(layout) == []


def test_leftovers_of_the_killed_are_swept(layout: Layout) -> None:
    put(layout, "a.md", b"old\n")
    put(layout, ".mem-0123456789abcdef.tmp", b"of last year")
    put(layout, ".mem-fedcba9876543210.tmp", b"of just now")
    put(layout, ".hidden.tmp", b"not ours")
    os.utime(layout.memory_path(".mem-0123456789abcdef.tmp"), (0, 0))
    with edit(layout, "x", now=NOW) as files:
        files.replace("a.md", b"new\n")
    assert set(tree(layout)) == {"a.md", ".mem-fedcba9876543210.tmp", ".hidden.tmp"}


def test_old_revisions_go_but_never_the_newest_hundred(layout: Layout) -> None:
    for number in range(104):
        with edit(layout, "append-daily", now=NOW) as files:
            files.append("a.md", b"%d\n" % number)
        if number < 3:
            name = os.path.join(layout.history, f"{number + 1:06d}.json")
            old = (NOW - timedelta(days=91)).timestamp()
            os.utime(name, (old, old))
    assert history.ids(layout)[-1] == 4
    for name in os.listdir(layout.history):
        os.utime(os.path.join(layout.history, name), (0, 0))
    with edit(layout, "append-daily", now=NOW) as files:
        files.append("a.md", b"last\n")
    assert history.ids(layout) == list(range(105, 5, -1))


def crashed(layout: Layout, *words: str) -> None:
    """Leave an open record, as a kill right after the record does."""
    number = _begin(layout, words)
    assert history.open_ids(layout) == [number]


def _begin(layout: Layout, words: Sequence[str]) -> int:
    with edit(layout, "driver", now=NOW) as files:
        verb, path, text = words
        getattr(files, verb)(path, text.encode())
    assert files.revision is not None
    done = os.path.join(layout.history, f"{files.revision:06d}.json")
    os.rename(done, done.replace(".json", ".open.json"))
    return files.revision


def test_a_crash_after_all_files_is_completed_and_said(layout: Layout) -> None:
    put(layout, "a.md", b"old\n")
    crashed(layout, "replace", "a.md", "new\n")
    with edit(layout, "x", now=NOW) as files:
        files.append("b.md", b"b\n")
    assert files.notes == [
        "driver (revision 1) was interrupted when its changes were already written; it is complete"
    ]
    assert history.ids(layout) == [2, 1]


def test_a_torn_append_is_cut_back_and_said(layout: Layout) -> None:
    put(layout, "a.md", b"old\n")
    crashed(layout, "append", "a.md", "a longer text\n")
    put(layout, "a.md", b"old\na long")
    assert recover(layout) == ("driver (revision 1) was interrupted and is rolled back",)
    assert tree(layout) == {"a.md": b"old\n"}
    assert history.ids(layout) == history.open_ids(layout) == []
    assert recover(layout) == ()


def test_text_written_after_a_crash_is_kept(layout: Layout) -> None:
    put(layout, "a.md", b"old\n")
    crashed(layout, "append", "a.md", "added\n")
    put(layout, "a.md", b"old\nadded\nby hand\n")
    recover(layout)
    assert tree(layout) == {"a.md": b"old\nadded\nby hand\n"}
    assert history.ids(layout) == [1]


def test_a_record_that_is_cut_short_means_nothing_happened(layout: Layout) -> None:
    put(layout, "a.md", b"old\n")
    crashed(layout, "append", "a.md", "added\n")
    put(layout, "a.md", b"old\n")
    record = Path(layout.history, "000001.open.json")
    record.write_bytes(record.read_bytes()[:40])
    assert recover(layout) == ("revision 1 was interrupted before it changed anything",)
    assert history.open_ids(layout) == []


def test_a_writer_at_work_is_not_taken_for_a_crash(layout: Layout) -> None:
    put(layout, "a.md", b"old\n")
    crashed(layout, "append", "a.md", "added\n")
    put(layout, "a.md", b"old\nadd")
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDER, layout.lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    other.stdout.readline()
    assert recover(layout) == ()
    assert tree(layout) == {"a.md": b"old\nadd"}
    other.communicate(b"\n")


def run_workers(layout: Layout, processes: int, rounds: int) -> float:
    """The slowest wait for the lock in seconds, after checking that nothing is lost or twice."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, layout.root, f"p{number}", str(rounds)],
            stdout=subprocess.PIPE,
        )
        for number in range(processes)
    ]
    waits = [float(process.communicate()[0]) for process in running]
    lines = tree(layout)["daily/d.md"].decode().splitlines()
    wanted = [f"p{number}-{turn}-end" for number in range(processes) for turn in range(rounds)]
    assert lines[0] == "# head"
    assert sorted(lines[1:]) == sorted(wanted)
    assert len(history.ids(layout)) >= min(100, processes * rounds)
    return max(waits)


def test_processes_at_once_lose_nothing(layout: Layout) -> None:
    run_workers(layout, processes=8, rounds=5)


@pytest.mark.slow
def test_fifty_processes_at_once_lose_nothing(layout: Layout) -> None:
    assert run_workers(layout, processes=50, rounds=20) < 30


APPEND = ("append", "daily/d.md", "## 10:00\n\nnew\n")
CREATE = ("append", "tasks/new.md", "# New\n")
SEVERAL = (
    *("replace", "MEMORY.md", "# Memory\n\n- new\n"),
    *APPEND,
    *CREATE,
    *("delete", "tasks/old.md"),
)


def command(words: Sequence[str]) -> list[str]:
    return [sys.executable, "-c", DRIVER, *words]


def build(root: str) -> None:
    os.mkdir(os.path.join(root, ".decsr"))
    layout = Layout(root)
    put(layout, "MEMORY.md", b"# Memory\n\n- old\n")
    put(layout, "daily/d.md", b"# Day\n")
    put(layout, "tasks/old.md", b"# Old\n")
    with edit(layout, "earlier", now=NOW) as files:
        files.append("daily/d.md", b"earlier\n")


def outcome(words: Sequence[str], root: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The memory files before and after the edit of `words`."""
    build(root)
    layout = Layout(root)
    before = tree(layout)
    subprocess.run([*command([root, *words])], check=True)
    return before, tree(layout)


def strike(words: Sequence[str], tmp_path: Path, fault: str, lasting: bool = False) -> int:
    (tmp_path / "model").mkdir()
    before, after = outcome(words, str(tmp_path / "model"))
    check = invariant(words, before, after)
    return sweep(lambda root: command([root, *words]), build, check, fault=fault, lasting=lasting)


class invariant:
    """What must hold after any fault: each file whole, recovery to all or nothing, rerun works."""

    def __init__(
        self, words: Sequence[str], before: dict[str, bytes], after: dict[str, bytes]
    ) -> None:
        self.words, self.before, self.after = words, before, after

    def __call__(self, struck: Struck) -> None:
        layout = Layout(struck.root)
        shown = {path: data for path, data in tree(layout).items() if "/.mem-" not in f"/{path}"}
        for path in self.before.keys() | self.after.keys() | shown.keys():
            assert shown.get(path) in (self.before.get(path), self.after.get(path)), path
        if struck.code > 0:
            # A fault that lasts on every write leaves no way to say anything.
            assert struck.output.startswith("mem: cannot") or not struck.output, struck.output
            assert history.open_ids(layout) or shown == self.before
        recover(layout)
        assert tree(layout) in (self.before, self.after)
        assert history.open_ids(layout) == []
        assert (len(history.ids(layout)) == 2) == (tree(layout) == self.after)
        if struck.code == 0 or tree(layout) == self.after:
            return
        subprocess.run(command([struck.root, *self.words]), check=True)
        assert tree(layout) == self.after


needs_strace = pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)


@needs_strace
@pytest.mark.parametrize("fault", [KILL, ENOSPC])
def test_an_append_survives_a_fault_at_every_call(tmp_path: Path, fault: str) -> None:
    assert strike(APPEND, tmp_path, fault) >= 5


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "lasting"),
    [(KILL, False), (EIO, False), (EIO, True), (ENOSPC, False), (ENOSPC, True), (EINTR, False)],
)
@pytest.mark.parametrize("words", [APPEND, CREATE, SEVERAL])
def test_every_edit_survives_a_fault_at_every_call(
    tmp_path: Path, words: Sequence[str], fault: str, lasting: bool
) -> None:
    assert strike(words, tmp_path, fault, lasting) >= 5


@pytest.mark.slow
def test_an_edit_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    check = invariant(SEVERAL, *outcome(SEVERAL, str(tmp_path / "model")))
    killed = kill_at_random(
        lambda root: command([root, *SEVERAL]), build, check, runs=300, seconds=0.12, seed=1
    )
    assert killed > 30


@needs_strace
def test_an_append_costs_one_flush(layout: Layout) -> None:
    build_here = [sys.executable, "-c", DRIVER, layout.root]
    subprocess.run([*build_here, "append", "daily/d.md", "# Day\n"], check=True)
    made = trace([*build_here, "append", "daily/d.md", "more\n"], WRITES)
    assert made == ["pwrite64", "write", "write", "fsync", "rename"]  # lock, record, text, done
