"""Rows of files and chunks: what stays the same when a file changes, and what the cache keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.store import chunks, db, embeddings, faults, vectors
from memcli.store.stamps import Stamp
from memcli.text.chunk import chunk

ROW = vectors.quantise(bytes.fromhex("0000803f") * 8, 8)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[db.Database]:
    made = db.connect(str(tmp_path / "memory.db"), create=True)
    made.migrate()
    yield made
    made.close()


def put(database: db.Database, path: str, text: str) -> None:
    with database.transaction():
        made = chunk(path, text)
        chunks.put(database, [(Stamp(path, b"", b""), made)], "m")


def option(database: db.Database, name: str) -> int | None:
    value: int | None = database.value("SELECT v FROM fts_config WHERE k = ?", [name])
    return value


def test_the_tuning_of_a_first_load_does_not_stay(
    database: db.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "_LOAD", 3)  # a limit, not a function
    put(database, "a.md", "# A\n\nword\n\n# B\n\nword\n\n# C\n\nword\n")
    assert option(database, "automerge") == 0
    put(database, "b.md", "# A\n\nword")
    assert option(database, "automerge") == 4
    assert option(database, "crisismerge") == 16
    assert faults.find(database) == []


def test_a_batch_that_fails_leaves_nothing(database: db.Database) -> None:
    broken = (Stamp("b.md", b"", b""), [None])
    with pytest.raises(AttributeError), database.transaction():
        made = chunk("a.md", "# A\n\nword")
        good = (Stamp("a.md", b"", b""), made)
        chunks.put(database, [good, broken], "m")  # type: ignore[list-item]  # what must fail
    assert chunks.counts(database) == (0, 0)
    put(database, "a.md", "# A\n\nword")
    assert faults.find(database) == []


def test_vectors_in_the_cache_serve_again(database: db.Database) -> None:
    embeddings.use_model(database, "m")
    put(database, "a.md", "# A\n\nword")
    (waiting,) = embeddings.pending(database, 9)
    embeddings.put(database, "m", [(waiting.key, ROW)], 8)
    with database.transaction():
        chunks.drop(database, ["a.md"])
    put(database, "elsewhere.md", "# A\n\nword")
    assert embeddings.pending(database, 9) == []
    embeddings.use_model(database, "n")
    assert len(embeddings.pending(database, 9)) == 1
    embeddings.use_model(database, "m")
    assert embeddings.pending(database, 9) == []
    assert embeddings.dimension(database, "m") == 8


def test_eviction_spares_what_is_used_and_takes_the_oldest(
    database: db.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "UNUSED_KEPT", 3)  # a limit, not a function
    embeddings.use_model(database, "m")
    put(database, "a.md", "# A\n\nword")
    (used,) = embeddings.pending(database, 9)
    made = [(used.key, ROW)] + [(bytes([at]) * 32, ROW) for at in range(6)]
    for one in made:
        embeddings.put(database, "m", [one], 8)
    assert embeddings.evict(database) == 3
    left = {row[0] for row in database.rows("SELECT key FROM embeddings")}
    assert left == {used.key, *(bytes([at]) * 32 for at in (3, 4, 5))}
    assert embeddings.evict(database) == 0


def test_vectors_that_were_used_last_stay_longest(
    database: db.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "UNUSED_KEPT", 2)
    embeddings.use_model(database, "m")
    names = [f"{letter}.md" for letter in "abcd"]
    for name in names:
        put(database, name, f"# {name}\n\nword")
        (waiting,) = embeddings.pending(database, 9)
        embeddings.put(database, "m", [(waiting.key, ROW)], 8)
    with database.transaction():
        chunks.drop(database, names)
    put(database, "a.md", "# a.md\n\nword")  # used again, and once more given up
    with database.transaction():
        chunks.drop(database, ["a.md"])
    assert embeddings.count_unused(database) == (4, 0)
    assert embeddings.evict(database) == 2
    for name, is_kept in (("a.md", True), ("b.md", False), ("c.md", False), ("d.md", True)):
        put(database, name, f"# {name}\n\nword")
        waiting_now = [one.heading for one in embeddings.pending(database, 9)]
        assert (name in waiting_now) == (not is_kept)
    assert faults.find(database) == []


def test_questions_beyond_the_limit_go(
    database: db.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "QUERIES_KEPT", 2)
    for at in range(4):
        embeddings.keep_query(database, "m", f"q{at}", b"v")
    assert embeddings.query_vector(database, "m", "q1") is None
    assert embeddings.query_vector(database, "m", "q2") == b"v"


def test_a_question_costs_the_same_however_many_are_kept(database: db.Database) -> None:
    def steps(text: str) -> int:
        counted: list[None] = []
        database._connection.set_progress_handler(lambda: counted.append(None), 1)
        embeddings.keep_query(database, "m", text, b"v" * 1536)
        database._connection.set_progress_handler(None, 1)
        return len(counted)

    first = steps("first")
    for at in range(300):
        embeddings.keep_query(database, "m", f"q{at}", b"v" * 1536)
    assert steps("last") < 2 * first


@pytest.mark.parametrize(
    ("heading", "body", "embedded"),
    [
        ("Design > Storage", "## Storage\n\nOne file.\n", "Design > Storage\nOne file.\n"),
        (
            "Design > Storage",
            "## Storage ##\r\n\r\nOne file.\r\n",
            "Design > Storage\nOne file.\r\n",
        ),
        ("Design > Storage", "# Other\n\nOne file.\n", "Design > Storage\n# Other\n\nOne file.\n"),
        ("Design > Storage", "## age\n\nOne file.\n", "Design > Storage\n## age\n\nOne file.\n"),
        ("Design > Storage", "and so on\n", "Design > Storage\nand so on\n"),
        ("Design > Storage", "## Storage", "Design > Storage\n"),
        ("A > B", "# A > B\n\nOne file.\n", "A > B\nOne file.\n"),
        ("", "# \n\nOne file.\n", "# \n\nOne file.\n"),
    ],
)
def test_a_passage_says_its_own_heading_once(heading: str, body: str, embedded: str) -> None:
    assert embeddings.passage(heading, body) == embedded
