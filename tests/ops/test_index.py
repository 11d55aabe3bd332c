"""The index is what the files say, whatever was done to them and whenever a run was stopped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli import layout
from memcli.errors import ConflictError, RefusedError, UsageError, WorkspaceError
from memcli.model import Chunk, SearchOptions
from memcli.ops import index as indexing
from memcli.ops.append_daily import append_daily
from memcli.ops.differ import LARGEST, differ
from memcli.ops.embed import embed_newest, embed_pending
from memcli.ops.index import apply, index
from memcli.ops.refresh import refresh
from memcli.ops.search import search
from memcli.text.query import build
from memcli.workspace import Workspace
from tests.conftest import NOW, PlainUser, Program, opened, write
from tests.servers import Server

ASKED = ("commit", "buffer", "東京", "append_daily", '"the buffer"', "gone")

Dump = tuple[dict[str, list[Chunk]], list[list[tuple[str, float]]]]


def dump(workspace: Workspace) -> Dump:
    """All chunks by path, and what the word index answers."""
    backend = workspace.backend
    rows = backend.found([one.chunk for one in backend.pending(1_000_000)])
    by_path: dict[str, list[Chunk]] = {path: [] for path in backend.stamps()}
    for row in sorted(rows.values(), key=lambda row: row.ord):
        by_path[row.path].append(row)
    answers = []
    for text in ASKED:
        found = backend.keyword(build(text), 1000)
        bodies = backend.found([id_ for id_, _ in found])
        answers.append(sorted((bodies[id_].id, round(score, 9)) for id_, score in found))
    assert backend.faults() == []
    return by_path, answers


def fresh(root: Path) -> Dump:
    """The same of an index made from nothing but the files."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / ".decsr/memory", Path(folder) / ".decsr/memory", symlinks=True)
        with at(Path(folder)) as workspace:
            return dump(workspace)


@contextmanager
def at(root: Path, **settings: str) -> Iterator[Workspace]:
    """The workspace at `root` with its index in step."""
    workspace = opened(root, **settings)
    try:
        index(workspace, now=time.time())
        yield workspace
    finally:
        workspace.close()


def paths(workspace: Workspace, text: str, **options: str) -> list[str]:
    hits = search(workspace, text, SearchOptions(mode="keyword", **options), now=NOW).hits
    return [hit.path for hit in hits]


# --- any sequence of changes ---

NAMES = st.sampled_from(
    ["MEMORY.md", "daily/2026-01-01.md", "tasks/a.md", "tasks/b.md", "tasks/deep/c.md", "x.md"]
)
WORD = st.sampled_from(
    ["commit", "buffer", "gone", "東京タワー", "append_daily", "the", "# Head", "x"]
)
TEXT = st.lists(st.lists(WORD, max_size=12).map(" ".join), max_size=12).map("\n".join)
STEP = st.one_of(
    st.tuples(st.just("write"), NAMES, TEXT),
    st.tuples(st.just("append"), NAMES, TEXT),
    st.tuples(st.just("delete"), NAMES, st.just("")),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.sampled_from(["index", "search", "stopped", "stopped early"]), NAMES, st.just("")),
)


class _Stopped(BaseException):
    """A ctrl-C that no test runner takes for its own."""


def stop_after(calls: int) -> Callable[[str, int, int], None]:
    left = calls

    def progress(what: str, done: int, total: int) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise _Stopped

    return progress


def take(root: Path, step: tuple[str, str, str]) -> None:
    what, name, more = step
    path = root / ".decsr/memory" / name
    if what == "write":
        write(root, name, more)
    elif what == "append":
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write("\n" + more)
    elif what == "delete":
        path.unlink(missing_ok=True)
    elif what == "rename" and path.exists():
        target = root / ".decsr/memory" / more
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    elif what in ("index", "search", "stopped", "stopped early"):
        workspace = opened(root)
        try:
            if what == "index":
                index(workspace, now=time.time())
            elif what == "search":
                refresh(workspace, now=time.time())
            else:
                stop = stop_after(1 if what == "stopped early" else 2)
                index(workspace, now=time.time(), progress=stop)
        except _Stopped:
            pass
        finally:
            workspace.close()


def run_steps(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".decsr/memory").mkdir(parents=True)
        for step in steps:
            take(root, step)
        with at(root) as workspace:
            assert dump(workspace) == fresh(root)


@settings(max_examples=25)
@given(st.lists(STEP, min_size=3, max_size=14))
def test_after_any_changes_it_is_what_a_fresh_one_is(steps: list[tuple[str, str, str]]) -> None:
    kept = indexing.BATCH_FILES
    indexing.BATCH_FILES = 1  # so that a run can be stopped between two files
    try:
        run_steps(steps)
    finally:
        indexing.BATCH_FILES = kept


@pytest.mark.slow
@settings(max_examples=400)
@given(st.lists(STEP, min_size=3, max_size=25))
def test_after_many_changes_it_is_what_a_fresh_one_is(steps: list[tuple[str, str, str]]) -> None:
    run_steps(steps)


DIE = """
import os, sys, time
from memcli.ops import index
from memcli.workspace import open_workspace
index.BATCH_FILES = 4
left = int(sys.argv[2])
def progress(what, done, total):
    global left
    left -= 1
    if left == 0:
        os._exit(9)
workspace = open_workspace(sys.argv[1], {"MEM_EMBEDDING_PROVIDER": "none"})
index.index(workspace, now=time.time(), progress=progress)
"""


def test_a_killed_run_goes_on_where_it_was(project: Path) -> None:
    for left in (1, 3):
        done = subprocess.run([sys.executable, "-c", DIE, str(project), str(left)], check=False)
        assert done.returncode == 9
    workspace = opened(project)
    result = index(workspace, now=time.time())
    assert result.unchanged >= 12
    assert dump(workspace) == fresh(project)
    workspace.close()


# --- any bytes ---


@settings(max_examples=60)
@given(st.binary(max_size=3000) | st.text(max_size=2000).map(lambda t: t.encode("utf-16")))
def test_any_bytes_are_a_note(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), "tasks/a.md", data)
        write(Path(folder), "tasks/b.md", "# Good\n\nan unharmed neighbour")
        with at(Path(folder)) as workspace:
            assert paths(workspace, "unharmed") == ["tasks/b.md"]
            assert workspace.backend.faults() == []


def test_what_was_odd_about_a_file_is_said(empty: Path) -> None:
    write(empty, "tasks/cp1252.md", b"a dash \x96 and more")
    write(empty, "tasks/nul.md", b"before" + bytes(20_000) + b" afterwards")
    workspace = opened(empty)
    notes = index(workspace, now=time.time()).notes
    assert [note for note in notes if "cp1252.md" in note]
    assert paths(workspace, "dash") == ["tasks/cp1252.md"]
    assert paths(workspace, "afterwards") == ["tasks/nul.md"]
    workspace.close()


# --- files that are none ---


def test_links_folders_and_pipes_are_named_and_not_read(empty: Path, tmp_path: Path) -> None:
    secret = tmp_path / "outside.md"
    secret.write_text("# Outside\n\nfar away secret")
    tasks = empty / ".decsr/memory/tasks"
    (tasks / "link.md").symlink_to(secret)
    (tasks / "dangling.md").symlink_to("nowhere")
    (tasks / "folder.md").mkdir()
    (tasks / "folder.md/inner.md").write_text("an inner word")
    (tasks / "linked").symlink_to(tmp_path)
    os.mkfifo(tasks / "pipe.md")
    write(empty, "tasks/good.md", "a good word")
    workspace = opened(empty)
    result = index(workspace, now=time.time())
    assert set(result.added) == {"tasks/good.md", "tasks/folder.md/inner.md"}
    for name in ("link.md", "dangling.md", "pipe.md"):
        assert [note for note in result.notes if name in note]
    assert paths(workspace, "secret") == []
    assert index(workspace, now=time.time()).unchanged == 2
    workspace.close()


def test_a_file_that_becomes_a_link_is_forgotten(empty: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("outside words")
    path = write(empty, "tasks/a.md", "inside words")
    with at(empty) as workspace:
        path.unlink()
        path.symlink_to(tmp_path / "outside.md")
        result = index(workspace, now=time.time())
        assert result.removed == ("tasks/a.md",)
        assert paths(workspace, "words") == []


def test_a_name_that_cannot_be_stored(empty: Path) -> None:
    for name in (b"tasks/\xff\xfe.md", b"tasks/new\nline.md", b"tasks/\x1b[2J.md"):
        with open(os.path.join(os.fsencode(empty / ".decsr/memory"), name), "w") as file:
            file.write("hidden words")
    write(empty, "tasks/ü.md", "plain words")
    workspace = opened(empty)
    result = index(workspace, now=time.time())
    assert result.added == ("tasks/ü.md",)
    assert len(result.notes) == 3
    assert all(note.isprintable() for note in result.notes)
    workspace.close()


def test_a_file_too_large_is_named(empty: Path) -> None:
    path = write(empty, "tasks/huge.md", "word")
    os.truncate(path, LARGEST + 1)
    workspace = opened(empty)
    result = index(workspace, now=time.time())
    assert result.added == ()
    assert "huge.md" in result.notes[0]
    workspace.close()


@pytest.mark.slow
def test_a_large_file_of_one_line_and_one_of_many(empty: Path) -> None:
    write(empty, "tasks/line.md", b"x" * (8 << 20))
    write(empty, "tasks/lines.md", b"some words in a line\n" * 400_000)
    with at(empty) as workspace:
        assert "tasks/lines.md" in paths(workspace, "words")


def test_an_unreadable_file_is_named_and_the_rest_indexed(
    empty: Path, mem: Program, plain_user: PlainUser
) -> None:
    write(empty, "tasks/closed.md", "closed words").chmod(0)
    write(empty, "tasks/open.md", "open words")
    root = plain_user.take(empty)
    run = {"cwd": root, "before": plain_user.words, "env": plain_user.env}
    ran = mem("index", **run, code=0)  # type: ignore[arg-type]  # words for one call
    assert "1 added" in ran.out
    assert "tasks/closed.md cannot be read: Permission denied" in ran.err
    ran = mem("search", "words", **run, code=0)  # type: ignore[arg-type]  # as above
    assert "tasks/open.md" in ran.out and "closed.md" in ran.err


def test_a_folder_that_cannot_be_listed_deletes_nothing(
    project: Path, mem: Program, plain_user: PlainUser
) -> None:
    with at(project) as workspace:
        count = workspace.backend.counts()
    root = plain_user.take(project)
    (root / ".decsr/memory/tasks").chmod(0)
    run = {"cwd": root, "before": plain_user.words, "env": plain_user.env}
    for verb in (["index"], ["search", "commit"]):
        ran = mem(*verb, **run, code=3)  # type: ignore[arg-type]  # words for one call
        assert "cannot list" in ran.err and "tasks" in ran.err
    (root / ".decsr/memory/tasks").chmod(0o755)
    workspace = opened(root)
    assert workspace.backend.counts() == count
    workspace.close()


def test_a_file_that_vanishes_between_listing_and_reading(empty: Path) -> None:
    for name in "abc":
        write(empty, f"tasks/{name}.md", f"words of {name}")
    workspace = opened(empty)
    difference = differ(workspace)
    (empty / ".decsr/memory/tasks/b.md").unlink()
    (empty / ".decsr/memory/tasks/c.md").unlink()
    (empty / ".decsr/memory/tasks/c.md").symlink_to("a.md")
    result = apply(workspace, difference, now=time.time())
    assert result.added == ("tasks/a.md",)
    workspace.close()


def test_files_that_come_and_go_while_listing_hide_no_others(empty: Path) -> None:
    stable = {f"{at}.md" for at in range(60)}
    for name in stable:
        write(empty, name, "word")
    found = layout.Layout(str(empty))
    is_over = threading.Event()

    def disturb() -> None:
        at = 0
        while not is_over.is_set():
            at = (at + 1) % 40
            path = write(empty, f"passing{at}.md", "")
            path.unlink()

    other = threading.Thread(target=disturb)
    other.start()
    try:
        for _ in range(150):
            assert stable <= {path for path, _ in layout.scan(found)}
    finally:
        is_over.set()
        other.join()


# --- edits that hide ---


def test_an_edit_whose_time_and_size_are_put_back(empty: Path) -> None:
    path = write(empty, "tasks/a.md", "the cat sat")
    old = path.stat()
    with at(empty) as workspace:
        time.sleep(0.05)
        path.write_text("the dog sat")
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
        assert paths(workspace, "dog") == ["tasks/a.md"]
        assert paths(workspace, "cat") == []


def test_an_edit_in_the_same_tick(empty: Path) -> None:
    workspace = opened(empty)
    for at_ in range(30):
        path = write(empty, "tasks/a.md", f"before{at_:04}")
        refresh(workspace, now=time.time())
        path.write_text(f"later0{at_:04}")
        refresh(workspace, now=time.time())
        assert [id_ for id_, _ in workspace.backend.keyword(build(f"later0{at_:04}"), 9)]
    workspace.close()


def test_a_file_swapped_for_another_of_the_same_size_and_time(empty: Path) -> None:
    path = write(empty, "tasks/a.md", "the cat sat")
    with at(empty) as workspace:
        other = write(empty, "tasks/.swap", "the dog sat")
        os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
        other.rename(path)
        assert paths(workspace, "dog") == ["tasks/a.md"]


# --- what an edit leaves alone ---


def test_an_appended_entry_leaves_the_other_chunks_and_vectors(
    project: Path, server: Server
) -> None:
    day = project / ".decsr/memory/daily/2026-11-18.md"
    workspace = opened(
        project, embedding_provider="openai", embedding_url=server.url, embedding_model="m"
    )
    index(workspace, now=time.time())
    query = workspace.embedder
    assert query is not None
    vector = query.embed_query("anything at all")

    def state() -> dict[str, int]:
        ids = list(dict(workspace.backend.nearest(vector, 10_000)))
        return {row.id: id_ for id_, row in workspace.backend.found(ids).items()}

    before = state()
    assert len(before) == workspace.backend.counts()[1]
    asked = len(server.texts)
    with day.open("a") as file:
        file.write("\n## 18:00 — review\n\nA new entry at the end.\n")
    result = index(workspace, now=time.time())
    after = state()
    assert result.changed == ("daily/2026-11-18.md",)
    assert len(server.texts) == asked + 1
    assert {chunk: after[chunk] for chunk in before} == before
    assert len(after) == len(before) + 1
    workspace.close()


def test_a_passage_that_moved_is_not_embedded_again(project: Path, server: Server) -> None:
    tasks = project / ".decsr/memory/tasks"
    workspace = opened(
        project, embedding_provider="openai", embedding_url=server.url, embedding_model="m"
    )
    index(workspace, now=time.time())
    asked = len(server.texts)
    (tasks / "QY-90-edifact-import.md").rename(tasks / "renamed.md")
    assert index(workspace, now=time.time()).pending == 0
    index(workspace, now=time.time(), is_full=True)
    assert len(server.texts) == asked
    workspace.close()


# --- vectors ---


def test_stopped_embedding_keeps_what_was_made(project: Path, server: Server) -> None:
    given = {"embedding_provider": "openai", "embedding_url": server.url, "embedding_model": "m"}
    workspace = opened(project, **given)
    index(workspace, now=time.time(), is_embedding=False)
    total = workspace.backend.counts()[2]
    with pytest.raises(_Stopped):
        embed_pending(workspace, progress=stop_after(3))
    workspace.close()
    workspace = opened(project, **given)
    left = workspace.backend.counts()[2]
    assert 0 < left < total
    asked = len(server.texts)
    assert index(workspace, now=time.time()).embedded == left
    assert len(server.texts) == asked + left
    workspace.close()


# --- a part of the files ---


def test_a_path_alone(project: Path) -> None:
    with at(project) as workspace:
        count = workspace.backend.counts()[0]
        write(project, "tasks/one.md", "first words")
        write(project, "tasks/two.md", "second words")
        (project / ".decsr/memory/DREAMS.md").unlink()
        result = index(workspace, now=time.time(), paths=["tasks/one.md"])
        assert (result.added, result.removed) == (("tasks/one.md",), ())
        assert workspace.backend.counts()[0] == count + 1
        result = index(workspace, now=time.time(), paths=["tasks"])
        assert (result.added, result.removed) == (("tasks/two.md",), ())
        (project / ".decsr/memory/tasks/one.md").unlink()
        result = index(workspace, now=time.time(), paths=["tasks/one.md"])
        assert result.removed == ("tasks/one.md",)
        assert "DREAMS.md" in workspace.backend.stamps()


def test_a_path_that_is_nothing_is_refused(project: Path) -> None:
    with at(project) as workspace:
        for path in ("tasks/none.md", "nowhere", "../outside.md", "/etc/passwd"):
            with pytest.raises((RefusedError, UsageError)):
                index(workspace, now=time.time(), paths=[path])


# --- a workspace too big to walk ---


def test_a_quick_look_sees_what_is_new(project: Path) -> None:
    workspace = opened(project, index_walk_limit="5")
    index(workspace, now=time.time())
    memory = project / ".decsr/memory"
    time.sleep(0.05)
    write(project, "tasks/brand-new.md", "a brandnew word")
    with (memory / "daily/2026-11-18.md").open("a") as file:
        file.write("\nan addedword at the end\n")
    hits = search(workspace, "brandnew addedword", SearchOptions(mode="keyword"), now=NOW)
    assert {hit.path for hit in hits.hits} == {"tasks/brand-new.md", "daily/2026-11-18.md"}
    assert hits.index.state == "partial"
    (memory / "tasks/brand-new.md").unlink()
    assert paths(workspace, "brandnew") == []
    index(workspace, now=time.time())
    assert dump(workspace) == fresh(project)
    workspace.close()


def test_a_quick_look_sees_files_made_before_an_entry_and_in_new_folders(project: Path) -> None:
    workspace = opened(project, index_walk_limit="5")
    index(workspace, now=time.time())
    write(project, "tasks/by-hand.md", "a zebra by hand")
    write(project, "tasks/new/deep/x.md", "an okapi in a new folder")
    append_daily(workspace, "an entry after both", stage="note", now=NOW)
    assert {*paths(workspace, "zebra okapi")} == {"tasks/by-hand.md", "tasks/new/deep/x.md"}
    workspace.close()


def test_a_quick_look_sees_files_that_went(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.ops.differ.NEWEST", 2)  # a limit, not a function
    workspace = opened(project, index_walk_limit="5")
    index(workspace, now=time.time())
    for path in (project / ".decsr/memory/tasks").iterdir():
        path.unlink()
    assert paths(workspace, "commit", within="tasks/*") == []
    workspace.close()


@pytest.mark.parametrize("year", [1938, 1970, 2350])
def test_files_of_any_time_are_indexed_and_looked_at(
    empty: Path, monkeypatch: pytest.MonkeyPatch, year: int
) -> None:
    for name in "abc":
        old = write(empty, f"tasks/{name}.md", "old words")
        moment = (year - 1970) * 31_556_952 * 10**9
        os.utime(old, ns=(moment, moment))
    write(empty, "tasks/new.md", "words")
    workspace = opened(empty)
    index(workspace, now=time.time())
    assert index(workspace, now=time.time()).unchanged >= 3
    assert len(paths(workspace, "words")) == 4
    monkeypatch.setattr("memcli.ops.differ.NEWEST", 1)  # a limit, not a function
    with at(empty, index_walk_limit="2") as quick:
        write(empty, "tasks/new.md", "okapi words")
        assert paths(quick, "okapi") == ["tasks/new.md"]
    workspace.close()


def test_a_model_that_changed_beside_an_open_index_loses_no_vectors(
    empty: Path, server: Server
) -> None:
    write(empty, "tasks/a.md", "words")
    served = {"embedding_provider": "openai", "embedding_url": server.url}
    one, other = ({**served, "embedding_model": name} for name in ("one", "other"))
    with at(empty, **one) as old:
        index(old, now=time.time())
        with at(empty, **other) as new:
            index(new, now=time.time())
        write(empty, "tasks/b.md", "more words")
        assert old.backend.counts()[2] == 0
        apply(old, differ(old), now=time.time())
        assert old.backend.counts()[2] == 1  # of the model that counts now
        with pytest.raises(ConflictError):
            embed_newest(old)
        assert old.backend.faults() == []
    with at(empty, **other) as new:  # which embeds what is pending
        assert (new.backend.counts()[2], new.backend.faults()) == (0, [])
        assert new.embedder is not None
        assert len(new.backend.nearest(new.embedder.embed_query("words"), 9)) == 2


def test_very_much_behind_is_said(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.ops.refresh.AT_ONCE_FILES", 3)  # a limit, not a function
    for name in "abcdef":
        write(empty, f"tasks/{name}.md", "words")
    workspace = opened(empty)
    hits = search(workspace, "words", SearchOptions(mode="keyword"), now=NOW)
    assert (hits.index.state, hits.index.behind) == ("stale", 6)
    assert any("mem index" in note for note in hits.notes)
    workspace.close()


def test_listing_fails_as_an_error(empty: Path) -> None:
    shutil.rmtree(empty / ".decsr/memory")
    with at(empty) as workspace:
        assert workspace.backend.counts() == (0, 0, 0)
        (empty / ".decsr/memory").write_text("a file")
        with pytest.raises(WorkspaceError):
            index(workspace, now=time.time())
