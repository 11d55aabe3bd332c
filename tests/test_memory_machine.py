"""Any order of writing verbs, edits by hand, renames, kills and undos, against the files' bytes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from memcli import history
from memcli.edit import recover
from memcli.errors import ConflictError, RefusedError
from memcli.ops import fact
from memcli.ops.append_daily import append_daily
from memcli.ops.promote import Document, check, promote
from memcli.ops.undo import undo
from memcli.text.facts import KINDS, parse
from memcli.workspace import Workspace
from tests.conftest import NOW, opened, write
from tests.ops.test_index import at, dump, fresh
from tests.ops.test_undo import IN_MEMORY, Tree, killed_at

SUBJECTS = ("Logs stay", "Backups take", "Retries end after", "Tokens live for")
BULLETS = st.lists(
    st.tuples(st.sampled_from(SUBJECTS), st.integers(1, 3)).map(
        lambda pair: f"{pair[0]} {pair[1]} hours."
    ),
    min_size=1,
    max_size=4,
    unique=True,
)
BODY = st.sampled_from(["the buffer was drained", "commit abc\n\n- gone", "## 10:00 — x", "東京"])
NAMES = st.sampled_from(["MEMORY.md", "daily/2026-11-20.md", "tasks/a.md"])
WHERE = st.integers(0, 10**6)

Work = Callable[[Workspace], object]


def appending(body: str) -> Work:
    return lambda workspace: append_daily(workspace, body, stage="build", now=NOW)


def promoting(name: str, bullets: list[str]) -> Work:
    documents = [document(name, bullets)]
    return lambda workspace: promote(workspace, documents, now=NOW)


def document(name: str, bullets: list[str]) -> Document:
    text = "## Decisions\n\n" + "".join(f"- {one}\n" for one in bullets)
    return Document(name, text.encode())


def adding(text: str, kind: str = "fact") -> Work:
    return lambda workspace: fact.add_fact(
        workspace, text, kind=kind, source="", is_forced=True, now=NOW
    )


class Memory(RuleBasedStateMachine):
    """What the files hold is known after every step; the index is compared at the end."""

    is_index_compared_always = False

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp(dir=IN_MEMORY))
        write(self.root, "tasks/a.md", "# A\n\n- by hand\n")
        with at(self.root) as workspace:
            self.layout = workspace.layout
        self.files = self.tree()
        self.made: dict[int, tuple[Tree, Tree]] = {}  # revision -> all files before and after
        self.lines = 0

    def teardown(self) -> None:
        if hasattr(self, "root"):
            self.compare_index()
            shutil.rmtree(self.root)

    def tree(self, root: Path | None = None) -> Tree:
        folder = (root or self.root) / ".decsr/memory"
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

    def compare_index(self) -> None:
        with at(self.root) as workspace:
            assert dump(workspace) == fresh(self.root)

    def run(self, work: Work) -> tuple[Tree, Tree]:
        """Do it in a workspace of its own; the files before and after, which are remembered."""
        workspace = opened(self.root)
        try:
            work(workspace)
        finally:
            workspace.close()
        return self.remember()

    def remember(self) -> tuple[Tree, Tree]:
        before, now = self.files, self.tree()
        newest = next(iter(history.ids(self.layout)), None)
        if newest is not None and newest not in self.made:
            self.made[newest] = (before, now)
        self.files = now
        return before, now

    def only(self, path: str, before: Tree, now: Tree) -> None:
        """Nothing but `path` differs."""
        assert {k: v for k, v in before.items() if k != path} == {
            k: v for k, v in now.items() if k != path
        }

    # --- what mem does ---

    @rule(body=BODY)
    def append(self, body: str) -> None:
        path = "daily/2026-11-20.md"
        before, now = self.run(appending(body))
        self.only(path, before, now)
        assert now[path].startswith(before.get(path, b""))
        assert now[path].endswith(f"{body}\n".replace("## 1", "\\## 1").encode())

    @rule(name=st.sampled_from(["a.md", "b.md"]), bullets=BULLETS)
    def promote(self, name: str, bullets: list[str]) -> None:
        passed: list[str] = []

        def work(workspace: Workspace) -> None:
            result = promote(workspace, [document(name, bullets)], now=NOW)
            passed.extend(one.text for one in result.passed_over)
            again = promote(workspace, [document(name, bullets)], now=NOW)
            assert (again.revision, again.added) == (None, ())
            missing = check(workspace, [document(name, bullets)]).findings
            left = [one.message for one in missing if one.code == "not-promoted"]
            assert len(left) <= len(passed)
            assert all(any(text in message for text in passed) for message in left)

        self.only("MEMORY.md", *self.run(work))

    @rule(number=st.integers(0, 5), kind=st.sampled_from(KINDS))
    def add_fact(self, number: int, kind: str) -> None:
        before, now = self.run(adding(f"Fact {number} holds.", kind))
        self.only("MEMORY.md", before, now)
        assert now["MEMORY.md"].startswith(before.get("MEMORY.md", b""))
        assert len(self.facts(now)) == len(self.facts(before)) + 1

    @rule(which=WHERE, what=st.sampled_from(["remove", "edit", "disable", "enable"]))
    def change_fact(self, which: int, what: str) -> None:
        hashes = self.facts(self.files)
        if not hashes:
            return
        digest = hashes[which % len(hashes)]

        def work(workspace: Workspace) -> None:
            if what == "edit":
                fact.edit_fact(workspace, digest, f"Edited {which} times.", now=NOW)
            else:
                getattr(fact, f"{what}_fact")(workspace, digest, now=NOW)

        try:
            before, now = self.run(work)
        except RefusedError:  # several facts answer to it
            assert self.tree() == self.files
            return
        self.only("MEMORY.md", before, now)
        assert len(self.facts(before)) - len(self.facts(now)) == (what == "remove")

    def facts(self, files: Tree) -> list[str]:
        text = files.get("MEMORY.md", b"").decode("utf-8", "surrogateescape")
        return [it.fact.hash for it in parse(text).facts]

    @rule(
        kill=st.integers(0, 24),
        work=st.one_of(
            st.builds(appending, BODY),
            st.builds(promoting, st.sampled_from(["a.md", "b.md"]), BULLETS),
            st.builds(adding, st.just("Killed while it was written.")),
        ),
    )
    def mem_is_killed(self, kill: int, work: Work) -> None:
        with tempfile.TemporaryDirectory(dir=IN_MEMORY) as copy:
            shutil.copytree(self.root, copy, dirs_exist_ok=True)
            workspace = opened(Path(copy))
            work(workspace)
            workspace.close()
            wanted = self.tree(Path(copy))

        def child() -> None:
            work(opened(self.root))

        killed_at(kill, child)
        recover(self.layout)
        now = self.tree()
        assert now in (self.files, wanted)
        self.remember()

    # --- what people do ---

    @rule(name=NAMES, where=WHERE, is_added=st.booleans())
    def edit_by_hand(self, name: str, where: int, is_added: bool) -> None:
        lines = self.files.get(name, b"").splitlines(keepends=True)
        at_line = where % (len(lines) + 1)
        if is_added:
            self.lines += 1
            lines.insert(at_line, b"- Line %d is by hand.\n" % self.lines)
        else:
            del lines[at_line : at_line + 1]
        write(self.root, name, b"".join(lines))
        self.files = self.tree()

    @rule(name=NAMES, number=st.integers(0, 2))
    def rename(self, name: str, number: int) -> None:
        target = f"tasks/moved-{number}.md"
        if name in self.files and target not in self.files:
            (self.root / ".decsr/memory" / target).parent.mkdir(exist_ok=True)
            os.rename(self.layout.memory_path(name), self.layout.memory_path(target))
            self.files = self.tree()

    # --- taking back ---

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
            assert self.tree() == self.files
            return
        before, after = self.made[done.undoes]
        files, now = self.remember()
        touched = {
            name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        }
        if all(files.get(name) == after.get(name) for name in touched):
            assert now == {
                **{name: data for name, data in files.items() if name not in touched},
                **{name: before[name] for name in touched if name in before},
            }

    @invariant()
    def files_are_as_known(self) -> None:
        if hasattr(self, "layout"):
            assert self.tree() == self.files
            assert history.open_ids(self.layout) == []
            assert history.ids(self.layout) == sorted(self.made, reverse=True)
            if self.is_index_compared_always:
                self.compare_index()


class MemoryAndIndex(Memory):
    """The same with the index compared after every step."""

    is_index_compared_always = True


TestMemory = Memory.TestCase
TestMemory.settings = settings(max_examples=20, stateful_step_count=20)


@pytest.mark.slow
def test_many_orders_with_the_index_compared_after_every_step() -> None:
    run_state_machine_as_test(
        MemoryAndIndex, settings=settings(max_examples=40, stateful_step_count=25)
    )
