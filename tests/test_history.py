"""The records of revisions: readable, exact, in order, and patient with damage."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli import history
from memcli.edit import edit
from memcli.errors import RefusedError, UsageError, WorkspaceError
from memcli.layout import Layout
from memcli.text.revisions import Change, Revision, decode, diff, encode

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

TEXTS = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from([b"a\n", b"b\n", "ä — 語\n".encode(), b"\r\n", b"x", b"\xff\n"])).map(
        b"".join
    ),
)
MODES = st.none() | st.integers(0, 0o777)
CHANGES = st.one_of(
    st.builds(
        Change, st.text(min_size=1), st.just("append"), st.just(b""), TEXTS, st.integers(0, 10**9)
    ),
    st.builds(Change, st.text(min_size=1), st.just("create"), st.none(), TEXTS, mode=MODES),
    st.builds(Change, st.text(min_size=1), st.just("replace"), TEXTS, TEXTS),
    st.builds(Change, st.text(min_size=1), st.just("delete"), TEXTS, st.none(), mode=MODES),
)
REVISIONS = st.builds(
    Revision,
    id=st.integers(1, 10**6),
    op=st.text(),
    created_at=st.just(NOW),
    note=st.text(st.characters(exclude_categories=[])),
    changes=st.lists(CHANGES, max_size=4).map(tuple),
    undoes=st.none() | st.integers(1, 10**6),
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / ".decsr").mkdir()
    return Layout(str(tmp_path))


def add(layout: Layout, path: str, text: str) -> int:
    with edit(layout, "append-daily", now=NOW, note=text) as files:
        files.append(path, text.encode())
    assert files.revision is not None
    return files.revision


def record(layout: Layout, number: int) -> Path:
    return Path(layout.history, f"{number:06d}.json")


@given(REVISIONS)
def test_a_record_is_json_and_reads_back_as_it_was(revision: Revision) -> None:
    data = encode(revision)
    assert json.loads(data)["note"] == revision.note
    assert decode(revision.id, data) == revision


def test_a_record_without_a_mode_reads_as_ever() -> None:
    revision = Revision(1, "fact", NOW, "", (Change("a.md", "delete", b"a", None, mode=0o640),))
    data = encode(revision)
    assert json.loads(data)["changes"][0]["mode"] == "640"
    found = decode(1, data.replace(b'"mode": "640",', b""))
    assert found is not None
    assert found.changes == (Change("a.md", "delete", b"a", None),)


@given(REVISIONS, st.data())
def test_a_record_cut_anywhere_is_none(revision: Revision, data: st.DataObject) -> None:
    whole = encode(revision)
    assert decode(1, whole[: data.draw(st.integers(0, len(whole) - 2))]) is None


@given(st.binary(max_size=60) | st.recursive(st.none() | st.text(), st.lists).map(json.dumps))
def test_noise_is_none(noise: bytes | str) -> None:
    assert decode(1, noise.encode() if isinstance(noise, str) else noise) is None


def test_a_replaced_file_keeps_its_earlier_bytes_and_only_new_lines() -> None:
    before = b"".join(b"- fact %d\n" % number for number in range(1000))
    after = before.replace(b"- fact 500\n", b"- fact 500, edited\n- and one more\n")
    data = encode(Revision(1, "fact", NOW, "", (Change("MEMORY.md", "replace", before, after),)))
    fields = json.loads(data)["changes"][0]
    assert fields["before"] == before.decode()
    assert fields["put"] == "- fact 500, edited\n- and one more\n"


def test_numbers_go_on_and_newest_come_first(layout: Layout) -> None:
    assert history.ids(layout) == []
    assert [add(layout, "a.md", f"{word}\n") for word in ("one", "two", "three")] == [1, 2, 3]
    assert history.ids(layout) == [3, 2, 1]
    assert [revision.note for revision in history.revisions(layout)] == [
        "three\n",
        "two\n",
        "one\n",
    ]
    os.unlink(record(layout, 2))
    assert add(layout, "a.md", "four\n") == 4


def test_foreign_and_damaged_files_are_named_and_not_in_the_way(layout: Layout) -> None:
    for word in ("one", "two", "three"):
        add(layout, "a.md", f"{word}\n")
    record(layout, 2).write_bytes(b"{")
    for name in ("notes.txt", "7.json", "x.json", "٣٣٣٣٣٣.json", "000003.json.orig"):
        Path(layout.history, name).write_text("not ours")
    os.mkdir(Path(layout.history, "000009.json"))
    os.symlink("/etc/passwd", Path(layout.history, "000008.json"))
    notes: list[str] = []
    assert [revision.id for revision in history.revisions(layout, notes)] == [3, 1]
    assert [note.partition(" ")[2] for note in notes] == [
        "read .decsr/history/000009.json: it is not a regular file",
        "read .decsr/history/000008.json: it is a link",
        "is damaged, revision 2 cannot be read",
    ]
    assert add(layout, "a.md", "four\n") == 10


@pytest.mark.parametrize("text", ["../../etc", "-1", "", " 1", "1.5", "٣", "9" * 5000, "0x1"])
def test_what_is_no_number_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="not a revision number"):
        history.parse_id(text)


def test_an_unknown_or_damaged_revision_is_said(layout: Layout) -> None:
    with pytest.raises(RefusedError, match="there is no revision 7"):
        history.read(layout, 7)
    add(layout, "a.md", "one\n")
    record(layout, 1).write_bytes(b"[]")
    with pytest.raises(WorkspaceError, match=r"000001\.json is damaged"):
        history.read(layout, 1)


def test_a_history_folder_that_is_a_link_is_not_written_to(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", layout.history)
    with pytest.raises(WorkspaceError, match="is not a folder"):
        add(layout, "a.md", "one\n")
    assert os.listdir(tmp_path / "outside") == []
    assert not os.path.exists(layout.memory)


def test_an_undone_undo_counts_no_more() -> None:
    def made(number: int, undoes: int | None = None) -> Revision:
        return Revision(number, "undo" if undoes else "promote", NOW, "", (), undoes)

    assert history.taken_back([made(2, undoes=1), made(1)]) == {1: 2}
    assert history.taken_back([made(3, undoes=2), made(2, undoes=1), made(1)]) == {2: 3}
    again = [made(4, undoes=1), made(3, undoes=2), made(2, undoes=1), made(1)]
    assert history.taken_back(again) == {1: 4, 2: 3}


def test_a_diff_shows_each_kind_of_change() -> None:
    changes = [
        Change("MEMORY.md", "replace", b"a\nb\n", b"a\nc"),
        Change("daily/d.md", "append", b"", b"new\n", offset=12),
        Change("new.md", "create", None, b"n\n"),
        Change("old.md", "delete", b"o\n", None),
    ]
    assert diff(changes) == (
        "--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        "\\ No newline at end of file\n"
        "--- a/daily/d.md\n+++ b/daily/d.md\n@@ appended at byte 12 @@\n+new\n"
        "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1 @@\n+n\n"
        "--- a/old.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n"
    )
