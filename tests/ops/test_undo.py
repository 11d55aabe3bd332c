"""Taking back: the same bytes when nothing was edited since, a merge when something was."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memcli import history
from memcli.edit import Files, edit, recover
from memcli.errors import ConflictError, RefusedError
from memcli.layout import Layout
from memcli.ops.undo import past, show, undo

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

Tree = dict[str, bytes]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / ".decsr" / "memory").mkdir(parents=True)
    return Layout(str(tmp_path))


def put(layout: Layout, path: str, data: bytes) -> None:
    full = layout.memory_path(path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    Path(full).write_bytes(data)


def tree(layout: Layout) -> Tree:
    found = {}
    for folder, _, names in os.walk(layout.memory):
        for name in names:
            full = os.path.join(folder, name)
            found[os.path.relpath(full, layout.memory)] = Path(full).read_bytes()
    return found


def change(layout: Layout, op: str = "promote", **texts: bytes | None) -> int:
    """One revision: a name ending in `_` is appended to, None deletes, the rest is replaced."""
    with edit(layout, op, now=NOW) as files:
        for name, data in texts.items():
            path = f"{name.rstrip('_')}.md"
            if data is None:
                files.delete(path)
            elif name.endswith("_"):
                files.append(path, data)
            else:
                files.replace(path, data)
    assert files.revision is not None
    return files.revision


def test_undo_walks_back_to_the_same_bytes_and_redo_forward(layout: Layout) -> None:
    put(layout, "a.md", b"start\r\nno end")
    states = [tree(layout)]
    for texts in ({"a_": b"\nmore"}, {"b": b"\xff\n"}, {"a": b"new\n", "b": None}):
        change(layout, **texts)
        states.append(tree(layout))
    for wanted in (3, 2, 1):
        done = undo(layout, now=NOW)
        assert done.undoes == wanted
        assert tree(layout) == states[wanted - 1]
    with pytest.raises(RefusedError, match="nothing to undo"):
        undo(layout, now=NOW)
    for number, wanted in ((6, 1), (5, 2), (4, 3)):
        assert undo(layout, number, now=NOW).op == "undo"
        assert tree(layout) == states[wanted]
    assert undo(layout, now=NOW).undoes == 3  # in force again, so it can be taken back again
    assert tree(layout) == states[2]


def test_a_later_edit_elsewhere_survives(layout: Layout) -> None:
    put(layout, "a.md", b"- one\n- two\n- three\n")
    change(layout, a=b"- one\n- 2\n- three\n")
    put(layout, "a.md", b"- one, by hand\n- 2\n- three\n- four\n")
    done = undo(layout, now=NOW)
    assert tree(layout) == {"a.md": b"- one, by hand\n- two\n- three\n- four\n"}
    assert "-- 2\n+- two\n" in done.diff


def test_an_edit_of_the_same_line_refuses_and_shows_both(layout: Layout) -> None:
    put(layout, "a.md", b"- Ship on Thursdays.\n")
    put(layout, "b.md", b"b\n")
    change(layout, a=b"- Ship on Fridays.\n", b=b"B\n")
    put(layout, "a.md", b"- Ship on Mondays.\n")
    before = tree(layout)
    with pytest.raises(ConflictError) as caught:
        undo(layout, now=NOW)
    assert str(caught.value) == (
        "a.md was edited after revision 1, in the same lines\n"
        "now:\n  - Ship on Mondays.\nwould become:\n  - Ship on Thursdays."
    )
    assert caught.value.hint == "mem undo --diff 1"
    assert tree(layout) == before
    assert history.ids(layout) == [1]


def test_an_entry_goes_and_those_around_it_stay(layout: Layout) -> None:
    for text in (b"# Day\n\n## 10:00\n\none\n", b"\n## 11:00\n\ntwo\n", b"\n## 12:00\n\nthree\n"):
        change(layout, "append-daily", d_=text)
    put(layout, "d.md", b"A line on top.\n\n" + tree(layout)["d.md"])
    undo(layout, 2, now=NOW)
    assert tree(layout) == {
        "d.md": b"A line on top.\n\n# Day\n\n## 10:00\n\none\n\n## 12:00\n\nthree\n"
    }
    undo(layout, 1, now=NOW)
    assert tree(layout) == {"d.md": b"A line on top.\n\n\n## 12:00\n\nthree\n"}


def test_an_entry_that_was_edited_refuses(layout: Layout) -> None:
    put(layout, "d.md", b"# Day\n")
    change(layout, "append-daily", d_=b"\n## 10:00\n\none\n")
    put(layout, "d.md", b"# Day\n\n## 10:00\n\none and a half\n")
    with pytest.raises(ConflictError, match="one and a half"):
        undo(layout, now=NOW)


def test_an_entry_that_moved_and_was_edited_is_not_taken_for_gone(layout: Layout) -> None:
    put(layout, "d.md", b"# A day with a long title\n")
    change(layout, "append-daily", d_=b"- one\n")
    put(layout, "d.md", b"# Day\n- One.\n")
    with pytest.raises(ConflictError, match="had added\n  - one\nnow:"):
        undo(layout, now=NOW)


def test_what_somebody_took_back_by_hand_is_done_already(layout: Layout) -> None:
    put(layout, "d.md", b"# Day\n")
    change(layout, "earlier", e=b"e\n")
    change(layout, "append-daily", d_=b"\n## 10:00\n\none\n")
    put(layout, "d.md", b"# Day\n")
    done = undo(layout, now=NOW)
    assert (done.undoes, done.files, done.notes) == (
        2,
        (),
        ("nothing of revision 2 is left in d.md",),
    )
    assert undo(layout, now=NOW).undoes == 1  # and the way back is not barred


def test_a_created_file_goes_but_not_what_was_written_behind_it(layout: Layout) -> None:
    change(layout, a=b"# A\n")
    undo(layout, now=NOW)
    assert tree(layout) == {}
    number = change(layout, a=b"# A\n")
    put(layout, "a.md", b"# A\nby hand\n")
    undo(layout, number, now=NOW)
    assert tree(layout) == {"a.md": b"by hand\n"}
    number = change(layout, b=b"# B\n")
    put(layout, "b.md", b"")
    undo(layout, number, now=NOW)
    assert tree(layout) == {"a.md": b"by hand\n"}


def test_deleted_and_remade_files(layout: Layout) -> None:
    put(layout, "a.md", b"a\n")
    change(layout, "replace", a=b"A\n")
    change(layout, "create", b=b"b\n")
    os.unlink(layout.memory_path("b.md"))
    assert undo(layout, now=NOW).files == ()
    os.unlink(layout.memory_path("a.md"))
    with pytest.raises(ConflictError, match=r"a\.md was deleted after revision 1"):
        undo(layout, now=NOW)
    put(layout, "c.md", b"c\n")
    number = change(layout, "fold", c=None)
    put(layout, "c.md", b"another\n")
    with pytest.raises(ConflictError, match="made anew"):
        undo(layout, number, now=NOW)
    os.unlink(layout.memory_path("c.md"))
    undo(layout, number, now=NOW)
    assert tree(layout) == {"c.md": b"c\n"}


def test_a_file_that_comes_back_has_its_mode(layout: Layout) -> None:
    put(layout, "a.md", b"a\n")
    os.chmod(layout.memory_path("a.md"), 0o600)
    for number in (change(layout, a=None), change(layout, a=None, b=b"b\n")):
        undo(layout, number, now=NOW)
        assert os.stat(layout.memory_path("a.md")).st_mode & 0o777 == 0o600
    number = change(layout, c=b"c\n")
    os.chmod(layout.memory_path("c.md"), 0o640)
    undo(layout, number, now=NOW)
    undo(layout, number + 1, now=NOW)
    assert os.stat(layout.memory_path("c.md")).st_mode & 0o777 == 0o640


def test_a_deletion_that_was_interrupted_brings_the_mode_back(layout: Layout) -> None:
    put(layout, "a.md", b"a\n")
    put(layout, "b.md", b"b\n")
    os.chmod(layout.memory_path("a.md"), 0o600)
    number = change(layout, a=None, b=None)
    done = os.path.join(layout.history, f"{number:06d}.json")
    os.rename(done, done.replace(".json", ".open.json"))
    put(layout, "b.md", b"b\n")  # as if the second one were still to come
    recover(layout)
    assert tree(layout) == {"a.md": b"a\n", "b.md": b"b\n"}
    assert os.stat(layout.memory_path("a.md")).st_mode & 0o777 == 0o600


def test_a_renamed_file_is_followed(layout: Layout) -> None:
    put(layout, "a.md", b"- one\n")
    change(layout, a_=b"- two\n")
    os.rename(layout.memory_path("a.md"), layout.memory_path("renamed.md"))
    assert undo(layout, now=NOW).files == ("renamed.md",)
    assert tree(layout) == {"renamed.md": b"- one\n"}


def test_a_copy_is_not_taken_for_the_renamed_file(layout: Layout) -> None:
    number = change(layout, a=b"# Same\n")
    change(layout, b=b"# Same\n")
    os.unlink(layout.memory_path("a.md"))
    with pytest.raises(ConflictError, match=r"a\.md is gone, .* is in b\.md"):
        undo(layout, number, now=NOW)
    assert tree(layout) == {"b.md": b"# Same\n"}


def test_a_dry_run_writes_nothing_and_shows_the_same_diff(layout: Layout) -> None:
    put(layout, "a.md", b"- one\n")
    change(layout, a=b"- 1\n")
    home = [(folder, names) for folder, _, names in os.walk(layout.home)]
    before = tree(layout)
    dry = undo(layout, now=NOW, dry_run=True)
    assert [(folder, names) for folder, _, names in os.walk(layout.home)] == home
    assert tree(layout) == before
    assert (dry.revision, dry.diff) == (None, undo(layout, now=NOW).diff)


def test_what_cannot_be_undone_is_said(layout: Layout) -> None:
    with pytest.raises(RefusedError, match="nothing to undo"):
        undo(layout, now=NOW)
    with pytest.raises(RefusedError, match="there is no revision 9"):
        undo(layout, 9, now=NOW)
    change(layout, a=b"a\n")
    undo(layout, 1, now=NOW)
    with pytest.raises(RefusedError, match="taken back already, by revision 2") as caught:
        undo(layout, 1, now=NOW)
    assert caught.value.hint == "mem undo 2"
    assert [(one.revision.id, one.undone_by) for one in past(layout)] == [(2, None), (1, 2)]
    assert show(layout, 1) == "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+a\n"


def test_history_outlives_everything_else_and_lies_of_paths_lead_nowhere(layout: Layout) -> None:
    change(layout, a=b"a\n")
    record = Path(layout.history, "000001.json")
    record.write_bytes(record.read_bytes().replace(b'"a.md"', b'"../../outside.md"'))
    Path(layout.root, "outside.md").write_bytes(b"a\n")
    with pytest.raises(Exception, match="not a path within"):
        undo(layout, now=NOW)
    assert Path(layout.root, "outside.md").read_bytes() == b"a\n"


# Every line that somebody writes holds a number that no other line ever holds.
TOKEN = re.compile(rb"<\d+>")
PATHS = st.sampled_from(["MEMORY.md", "daily/d.md", "tasks/t.md"])
WHERE = st.integers(0, 10**6)
IN_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # thousands of flushes
CALLS = frozenset({"write", "fsync", "rename", "unlink", "ftruncate", "mkdir"})


def tokens(files: Tree) -> set[bytes]:
    return {token for data in files.values() for token in TOKEN.findall(data)}


def killed_at(number: int, work: Callable[[], None]) -> bool:
    """Do `work` in a child that dies just before its `number`-th writing call; whether it died."""
    child = os.fork()
    if child == 0:
        left = number

        def count(frame: FrameType, event: str, function: Any) -> None:
            nonlocal left
            if event == "c_call" and getattr(function, "__name__", "") in CALLS:
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


class Histories(RuleBasedStateMachine):
    """Any order of edits by `mem`, edits by a person, kills and undos, against the lines there."""

    @initialize()
    def begin(self) -> None:
        self.root = tempfile.mkdtemp(dir=IN_MEMORY)
        os.makedirs(os.path.join(self.root, ".decsr", "memory"))
        self.layout = Layout(self.root)
        self.files: Tree = {}
        self.made: dict[int, tuple[Tree, Tree]] = {}  # revision -> all files before and after
        self.count = 0

    def teardown(self) -> None:
        if hasattr(self, "root"):
            shutil.rmtree(self.root)

    def line(self) -> bytes:
        self.count += 1
        return b"- <%d>\n" % self.count

    def draw_edit(self, path: str, where: int, how: str) -> Callable[[Files], None]:
        one, two = self.line(), self.line()

        def work(files: Files) -> None:
            old = files.read(path)
            lines = (old or b"").splitlines(keepends=True)
            at = where % (len(lines) + 1)
            if how == "append":
                files.append(path, one + two if where % 2 else one)
            elif how == "delete":
                files.delete(path)
            else:
                lines[at : at + where % 3] = [one]
                files.replace(path, b"".join(lines))
            if how == "two files":
                files.append("MEMORY.md" if path != "MEMORY.md" else "other.md", two)

        return work

    def remember(self, number: int | None) -> None:
        now = tree(self.layout)
        if number is not None:
            self.made[number] = (self.files, now)
        self.files = now

    @rule(
        path=PATHS, where=WHERE, how=st.sampled_from(["append", "replace", "delete", "two files"])
    )
    def mem_writes(self, path: str, where: int, how: str) -> None:
        with edit(self.layout, how, now=NOW) as files:
            self.draw_edit(path, where, how)(files)
        self.remember(files.revision)

    @rule(
        path=PATHS,
        where=WHERE,
        how=st.sampled_from(["append", "replace", "two files"]),
        kill=st.integers(0, 24),
    )
    def mem_is_killed(self, path: str, where: int, how: str, kill: int) -> None:
        work = self.draw_edit(path, where, how)
        with tempfile.TemporaryDirectory(dir=IN_MEMORY) as copy:
            shutil.copytree(self.root, copy, dirs_exist_ok=True)
            with edit(Layout(copy), how, now=NOW) as files:
                work(files)
            wanted = tree(Layout(copy))

        def child() -> None:
            with edit(self.layout, how, now=NOW) as files:
                work(files)

        killed_at(kill, child)
        for name, data in tree(self.layout).items():
            hidden = os.path.basename(name).startswith(".mem-")
            assert hidden or data in (self.files.get(name), wanted.get(name))
        recover(self.layout)
        now = tree(self.layout)
        assert now in (self.files, wanted)
        newest = history.ids(self.layout)[:1]
        is_new = newest != [] and newest[0] not in self.made
        assert is_new == (now == wanted)
        self.remember(newest[0] if is_new else None)

    @rule(path=PATHS, where=WHERE, how=st.sampled_from(["insert", "remove", "unlink", "no end"]))
    def person_edits(self, path: str, where: int, how: str) -> None:
        lines = self.files.get(path, b"").splitlines(keepends=True)
        at = where % (len(lines) + 1)
        if how == "unlink":
            if path in self.files:
                os.unlink(self.layout.memory_path(path))
        elif how == "no end":
            put(self.layout, path, b"".join(lines) + self.line().rstrip())
        else:
            lines[at : at + (how == "remove")] = [self.line()]
            put(self.layout, path, b"".join(lines))
        self.files = tree(self.layout)

    @rule(path=PATHS, to=PATHS)
    def person_renames(self, path: str, to: str) -> None:
        if path in self.files and to not in self.files:
            put(self.layout, to, self.files[path])
            os.unlink(self.layout.memory_path(path))
            self.files = tree(self.layout)

    @rule()
    def undo_the_newest(self) -> None:
        self.take_back(None)

    @rule(which=WHERE)
    def undo_any(self, which: int) -> None:
        if self.made:
            self.take_back(sorted(self.made)[which % len(self.made)])

    def take_back(self, number: int | None) -> None:
        try:
            done = undo(self.layout, number, now=NOW)
        except (ConflictError, RefusedError):
            assert tree(self.layout) == self.files
            return
        before, after = self.made[done.undoes]
        now = tree(self.layout)
        came, went = tokens(after) - tokens(before), tokens(before) - tokens(after)
        touched = [
            name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        ]
        # Nobody's lines but those of the revision come or go, and those all do, but for files of
        # which nothing was found: a person may have moved one away and edited it there.
        assert tokens(self.files) - came <= tokens(now) <= tokens(self.files) | went
        if set(touched) <= set(done.files):
            assert tokens(now) == tokens(self.files) - came | went
        if all(self.files.get(name) == after.get(name) for name in touched):
            assert now == {
                **{name: data for name, data in self.files.items() if name not in touched},
                **{name: before[name] for name in touched if name in before},
            }
        self.remember(done.revision)

    @invariant()
    def nothing_is_left_open(self) -> None:
        if hasattr(self, "layout"):
            assert history.open_ids(self.layout) == []
            assert tree(self.layout) == self.files
            assert history.ids(self.layout) == sorted(self.made, reverse=True)


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=40, stateful_step_count=25)


@pytest.mark.slow
def test_many_histories() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        Histories, settings=settings(max_examples=400, stateful_step_count=40)
    )
