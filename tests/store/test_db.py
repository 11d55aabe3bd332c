"""Whatever happens to memory.db: an answer from the files, or one sentence on what to do."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlite_utils import Database

from memcli.errors import MemError, StoreError
from memcli.model import Hits, SearchOptions
from memcli.ops.append_daily import append_daily
from memcli.ops.doctor import doctor
from memcli.ops.index import index
from memcli.ops.search import record, search
from memcli.store import chunks, db, schema
from memcli.store.stamps import RACY, SIGNATURE, Stamp
from tests import manual
from tests.conftest import NOW, PlainUser, Program, opened, write

WORD = "synchronous_commit"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workspace with an index."""
    root = tmp_path_factory.mktemp("built")
    write(root, "MEMORY.md", "# Project Memory\n\n- Acknowledge after synchronous_commit.\n")
    for day in range(1, 10):
        write(root, f"daily/2026-05-0{day}.md", f"# Log\n\n## 10:00 — x\n\nword{day} " * 40)
    workspace = opened(root)
    index(workspace, now=time.time())
    workspace.close()
    return root


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    """A copy of it to be damaged."""
    return shutil.copytree(built, tmp_path / "root")


def database(root: Path) -> Path:
    return root / ".decsr/memory.db"


def found(root: Path, **options: bool) -> Hits:
    """What a search of this process finds, with a whole index behind it."""
    workspace = opened(root)
    try:
        hits = search(workspace, WORD, SearchOptions(mode="keyword", **options), now=NOW)
        assert workspace.backend.faults() == []
        assert workspace.backend.counts()[0] == 10
        return hits
    finally:
        workspace.close()


def assert_found(root: Path) -> Hits:
    hits = found(root)
    assert [hit.path for hit in hits.hits] == ["MEMORY.md"]
    return hits


@pytest.mark.parametrize("size", [0, 1, 15, 16, 99, 100, 512, 1000, 4096, 5000, 8192, 20000, 40000])
def test_cut(root: Path, size: int) -> None:
    path = database(root)
    assert path.stat().st_size > 40000
    os.truncate(path, size)
    assert_found(root)


def test_noise(root: Path) -> None:
    database(root).write_bytes(random.Random(1).randbytes(30000))
    hits = assert_found(root)
    assert any("damaged" in note for note in hits.notes)
    assert (root / ".decsr/memory.db.damaged").exists()


def test_noise_without_refresh_is_no_empty_answer(root: Path) -> None:
    database(root).write_bytes(b"noise" * 1000)
    assert found(root, refresh=False).hits


def test_a_folder_in_its_place(root: Path) -> None:
    database(root).unlink()
    (database(root) / "inner").mkdir(parents=True)
    assert_found(root)


@pytest.mark.parametrize("is_dangling", [True, False])
def test_a_link_in_its_place_is_not_followed(root: Path, tmp_path: Path, is_dangling: bool) -> None:
    target = tmp_path / "elsewhere.db"
    if not is_dangling:
        target.write_bytes(b"mine")
    database(root).unlink()
    database(root).symlink_to(target)
    assert_found(root)
    assert target.read_bytes() == b"mine" if not is_dangling else not target.exists()


def test_a_database_of_another_program_is_set_aside_whole(root: Path) -> None:
    path = database(root)
    for version in (0, db.SCHEMA):
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, text TEXT)")
            other.execute("INSERT INTO chunks VALUES (1, 'theirs')")
            other.execute(f"PRAGMA user_version = {version}")
        other.close()
        assert_found(root)
        kept = sqlite3.connect(root / ".decsr/memory.db.damaged")
        assert kept.execute("SELECT text FROM chunks").fetchall() == [("theirs",)]
        kept.close()


def test_a_new_database_is_what_the_migrations_make(tmp_path: Path) -> None:
    assert manual.TABLES.read_text("utf-8") == manual.tables(), "python -m tests.manual writes it"
    made = db.connect(str(tmp_path / "memory.db"), create=True)
    made.migrate()
    migrated = sqlite3.connect(":memory:")
    schema.migrate(migrated)
    rows = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
    assert made.rows(rows) == migrated.execute(rows).fetchall()
    applied = "SELECT migration_set, name FROM _sqlite_migrations ORDER BY id"
    assert made.rows(applied) == migrated.execute(applied).fetchall()
    assert db.is_current(made)
    migrated.close()
    made.close()


def test_an_index_with_other_words_gets_those_of_now(root: Path) -> None:
    old = db.connect(str(database(root)))
    rows = "SELECT * FROM chunks ORDER BY id"
    before = old.rows(rows)
    old.run("UPDATE chunks SET extra = 'joinedword'")
    old.run("INSERT INTO fts (fts) VALUES ('rebuild')")
    old.run("DELETE FROM _sqlite_migrations WHERE name = 'joined_by_the_query'")
    old.run("PRAGMA user_version = 3")
    old.close()
    assert_found(root)
    new = db.connect(str(database(root)))
    assert new.value("SELECT count(*) FROM fts WHERE fts MATCH 'joinedword'") == 0
    assert new.rows(rows) == before
    new.close()


def test_an_index_with_five_columns_for_a_signature_keeps_its_chunks(tmp_path: Path) -> None:
    old = sqlite3.connect(tmp_path / "memory.db")
    schema.migrations.apply(Database(old), stop_before="signatures")
    for id_, (path, is_racy) in enumerate((("a.md", 0), ("b.md", 1)), 1):
        values = [id_, path, 3, 4, 5, 6, is_racy, b"hash"]
        old.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'odd')", values)
        old.execute(f"INSERT INTO chunks VALUES ({id_}, {id_}, 0, 1, 1, '', 1, 'word', '', x'00')")
    old.execute("PRAGMA user_version = 4")
    old.commit()
    old.close()
    new = db.connect(str(tmp_path / "memory.db"))
    new.migrate()
    plain = SIGNATURE.pack(4, 5, 3, 6)
    assert chunks.stamps(new) == {
        "a.md": Stamp("a.md", plain, b"hash", "odd"),
        "b.md": Stamp("b.md", plain + RACY, b"hash", "odd"),
    }
    assert [row[1] for row in new.rows("SELECT * FROM chunks")] == [1, 2]
    assert new.rows("PRAGMA foreign_key_check") == []
    assert new.value("PRAGMA foreign_keys") == 1
    new.run("DELETE FROM files WHERE path = 'a.md'")
    assert [row[1] for row in new.rows("SELECT * FROM chunks")] == [2]
    new.close()


def test_a_newer_version_that_came_meanwhile_is_not_damage(root: Path) -> None:
    workspace = opened(root)
    assert workspace.backend.counts()[0] == 10
    newer = sqlite3.connect(database(root))
    newer.execute("ALTER TABLE files RENAME COLUMN signature TO stamp")
    newer.execute(f"PRAGMA user_version = {db.SCHEMA + 1}")
    newer.close()
    with pytest.raises(db.NewerError):
        search(workspace, WORD, SearchOptions(mode="keyword"), now=NOW)
    workspace.close()
    assert [path.name for path in database(root).parent.glob("memory.db.*")] == []


def test_what_was_shown_outlasts_a_new_index(root: Path) -> None:
    workspace = opened(root)
    hits = search(workspace, WORD, SearchOptions(mode="keyword"), now=NOW)
    record(workspace, hits, now=NOW.timestamp())
    before = workspace.backend.last_uses()
    index(workspace, now=time.time(), is_full=True)
    assert workspace.backend.last_uses() == before != {}
    workspace.close()


def test_a_foreign_writer_holds_up_no_search_and_no_entry(root: Path) -> None:
    workspace = opened(root)
    write(root, "tasks/new.md", f"# New\n\n{WORD} again\n")
    foreign = sqlite3.connect(database(root), isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    hits = search(workspace, WORD, SearchOptions(mode="keyword"), now=NOW)
    record(workspace, hits, now=NOW.timestamp())
    done = append_daily(workspace, "an entry", stage="note", now=NOW)
    assert time.monotonic() - begun < 20  # not the minute of index.wait, for each of the three
    assert hits.index.state == "stale" and any("in use" in note for note in hits.notes)
    assert any("not indexed yet" in note for note in done.notes)
    foreign.execute("ROLLBACK")
    foreign.close()
    workspace.close()


def test_a_packed_file_that_says_something_else_is_a_fault(project: Path) -> None:
    workspace = opened(project, embedding_provider="builtin")
    for path in (project / ".decsr/memory").glob("[!M]*"):  # a few passages are enough
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    index(workspace, now=time.time())
    sidecar = Path(workspace.layout.sidecar)
    assert sidecar.exists() and workspace.backend.faults() == []
    data = bytearray(sidecar.read_bytes())
    data[-100] ^= 255
    sidecar.write_bytes(data)
    assert workspace.backend.faults() == ["memory.vec does not hold the vectors that it should"]
    sidecar.unlink()
    sidecar.mkdir()
    with pytest.raises(StoreError):
        workspace.backend.tidy()
    workspace.close()


def with_open_wal(root: Path) -> None:
    """Leave the database as a killed writer does: its last change only in the log."""
    workspace = opened(root)
    write(root, "tasks/late.md", "# Late\n\nlate words\n")
    index(workspace, now=time.time())
    copies = {}
    for suffix in ("", "-wal"):
        path = Path(f"{database(root)}{suffix}")
        copies[path] = path.read_bytes()
    workspace.close()
    for path, data in copies.items():
        path.write_bytes(data)
    write(root, "tasks/late.md", "").unlink()
    assert len(copies) == 2 and all(copies.values())


@pytest.mark.parametrize("place", [0, 8, 32, 60, 2000, 9000])
def test_a_scrambled_log(root: Path, place: int) -> None:
    with_open_wal(root)
    path = Path(f"{database(root)}-wal")
    data = bytearray(path.read_bytes())
    data[place : place + 4096] = random.Random(place).randbytes(len(data[place : place + 4096]))
    path.write_bytes(data)
    assert_found(root)


def test_a_lost_log(root: Path) -> None:
    with_open_wal(root)
    Path(f"{database(root)}-wal").unlink()
    assert_found(root)


def test_a_log_of_another_database(root: Path, tmp_path: Path) -> None:
    with_open_wal(root)
    log = Path(f"{database(root)}-wal").read_bytes()
    shutil.rmtree(root / ".decsr/memory/tasks")
    workspace = opened(root)
    index(workspace, now=time.time(), is_full=True)
    workspace.close()
    Path(f"{database(root)}-wal").write_bytes(log)
    assert_found(root)


def test_a_stale_journal_and_a_folder_for_shared_memory(root: Path) -> None:
    Path(f"{database(root)}-journal").write_bytes(random.Random(3).randbytes(5000))
    Path(f"{database(root)}-shm").mkdir()
    try:
        assert_found(root)
    except StoreError as error:
        assert "memory.db" in str(error)
        assert error.hint


def flipped(root: Path, seed: int) -> None:
    """Change some random bytes; then either all is found or one sentence says why not."""
    path = database(root)
    whole = path.read_bytes()
    rng = random.Random(seed)
    data = bytearray(whole)
    for _ in range(rng.choice([1, 4, 30])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path.write_bytes(data)
    workspace = opened(root)
    try:
        search(workspace, WORD, SearchOptions(mode="keyword"), now=NOW)
        search(workspace, "word3", SearchOptions(mode="keyword", since="2026-05-02"), now=NOW)
        index(workspace, now=time.time())
        doctor(workspace, now=time.time())
    except MemError as error:
        assert error.hint, error
    finally:
        workspace.close()
    workspace = opened(root)
    index(workspace, now=time.time(), is_full=True)
    workspace.close()
    assert_found(root)


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bytes(root: Path, seed: int) -> None:
    flipped(root, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_flipped_bytes_at_length(root: Path, seed: int) -> None:
    flipped(root, seed)


def test_a_newer_database_is_left_alone(root: Path, mem: Program) -> None:
    connection = sqlite3.connect(database(root))
    connection.execute("PRAGMA user_version = 77")
    connection.close()
    before = database(root).read_bytes()
    ran = mem("search", WORD, cwd=root, code=3)
    assert "newer mem (schema 77" in ran.err
    assert "mem index --full" in ran.err
    assert database(root).read_bytes() == before
    mem("index", "--full", cwd=root, code=0)
    assert (root / ".decsr/memory.db.newer").read_bytes() == before
    assert_found(root)


DIE = """
import os, sys
from memcli.store import db
path, at = sys.argv[1], int(sys.argv[2])
database = db.connect(path, create=True)
seen = 0
def count(statement):
    global seen
    seen += 1
    if seen == at:
        os._exit(9)
database._connection.set_trace_callback(count)
database.migrate()
"""


def test_a_process_killed_while_making_the_schema(root: Path) -> None:
    at = 1
    code = 9
    while code == 9:
        at = at * 2 + 1
        for suffix in ("", "-wal", "-shm"):
            Path(f"{database(root)}{suffix}").unlink(missing_ok=True)
        code = subprocess.run(
            [sys.executable, "-c", DIE, str(database(root)), str(at)], check=False
        ).returncode
        assert code in (0, 9)
        assert not assert_found(root).notes
    assert at > 40


def test_a_database_that_another_program_holds(root: Path, mem: Program) -> None:
    write(root, "tasks/new.md", "# New\n\nsome words\n")
    other = sqlite3.connect(database(root), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        ran = mem("search", WORD, cwd=root, env={"MEM_INDEX_WAIT": "0.1"}, code=0)
        assert "MEMORY.md" in ran.out
        assert "in use by another program" in ran.err
        ran = mem("index", cwd=root, env={"MEM_INDEX_WAIT": "0.1"}, code=5)
        assert "in use by another program" in ran.err
        assert "hint: " in ran.err
    finally:
        other.close()


def test_a_database_that_another_program_holds_alone(root: Path, mem: Program) -> None:
    other = sqlite3.connect(database(root), isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")
    try:
        ran = mem("search", WORD, cwd=root, env={"MEM_INDEX_WAIT": "0.1"}, code=5)
        assert "in use by another program" in ran.err
    finally:
        other.close()


def test_rows_taken_by_hand(root: Path) -> None:
    connection = sqlite3.connect(database(root))
    connection.execute("DELETE FROM vectors")
    connection.execute("DELETE FROM chunks WHERE id % 2")
    connection.commit()
    connection.close()
    for path in (root / ".decsr/memory/daily").iterdir():
        path.write_text("# Log\n\nother words\n")
    workspace = opened(root)
    search(workspace, WORD, SearchOptions(mode="keyword"), now=NOW)
    codes = [one.code for one in doctor(workspace, now=time.time()).problems]
    assert "index-damaged" in codes
    doctor(workspace, now=time.time(), is_fixing=True)
    workspace.close()
    assert_found(root)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM fts_data WHERE id > 10",
        "UPDATE chunks SET body = 'something else' WHERE id = 2",
        "DELETE FROM fts_docsize WHERE id = 2",
    ],
)
def test_doctor_sees_a_word_index_that_does_not_match(root: Path, sql: str) -> None:
    connection = sqlite3.connect(database(root))
    connection.execute(sql)
    connection.commit()
    connection.close()
    workspace = opened(root)
    problems = doctor(workspace, now=time.time()).problems
    assert "index-damaged" in [one.code for one in problems]
    assert all(one.is_fixed for one in doctor(workspace, now=time.time(), is_fixing=True).problems)
    assert not doctor(workspace, now=time.time()).problems
    workspace.close()
    assert_found(root)


def test_modes(root: Path) -> None:
    old = os.umask(0o002)
    try:
        database(root).unlink()
        workspace = opened(root)
        index(workspace, now=time.time())
        for path in (root / ".decsr").glob("memory.db*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        workspace.close()
    finally:
        os.umask(old)


def test_a_database_that_may_not_be_written(
    built: Path, mem: Program, plain_user: PlainUser
) -> None:
    built = shutil.copytree(built, mem.home / "copy")
    write(built, "tasks/new.md", "# New\n\nsome words\n")
    root = plain_user.take(built)
    database(root).chmod(0o400)
    ran = mem("search", WORD, cwd=root, before=plain_user.words, env=plain_user.env, code=0)
    assert "MEMORY.md" in ran.out
    assert "may not be written" in ran.err
    ran = mem("index", cwd=root, before=plain_user.words, env=plain_user.env, code=3)
    assert "may not be written" in ran.err
    assert "hint: " in ran.err


@pytest.mark.parametrize("has_index", [True, False])
def test_a_checkout_that_may_not_be_written(
    root: Path, mem: Program, plain_user: PlainUser, has_index: bool
) -> None:
    if not has_index:
        database(root).unlink()
    (root / ".decsr/lock").unlink()
    root = plain_user.take(root)
    for base, _, _ in os.walk(root):
        os.chmod(base, 0o555)
    listed = sorted(os.listdir(root / ".decsr"))
    for words in (["search", WORD], ["search", "--no-refresh", WORD], ["get", "MEMORY.md"]):
        ran = mem(*words, cwd=root, before=plain_user.words, env=plain_user.env, code=0)
        assert WORD in ran.out
    ran = mem(
        "search", "--json", WORD, cwd=root, before=plain_user.words, env=plain_user.env, code=0
    )
    assert ran.json["index"]["files"] == 10
    for verb in ("status", "list"):
        mem(verb, cwd=root, before=plain_user.words, env=plain_user.env, code=0)
    ran = mem("index", cwd=root, before=plain_user.words, env=plain_user.env, code=3)
    assert "hint: " in ran.err
    assert sorted(os.listdir(root / ".decsr")) == listed


def test_a_damaged_database_where_nothing_may_be_written(
    root: Path, mem: Program, plain_user: PlainUser
) -> None:
    database(root).write_bytes(b"noise" * 1000)
    root = plain_user.take(root)
    os.chmod(root / ".decsr", 0o555)
    ran = mem("search", WORD, cwd=root, before=plain_user.words, env=plain_user.env, code=0)
    assert "MEMORY.md" in ran.out
    assert "damaged" in ran.err
