"""memory.vec: believed only when it is whole and the database's own, and near enough to exact."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.model import Chunk
from memcli.store import chunks, db, embeddings, sidecar, vectors
from memcli.store.stamps import Stamp

MODEL = "m"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[db.Database]:
    made = db.connect(str(tmp_path / "memory.db"), create=True)
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "memory.vec")


def fill(database: db.Database, rows: np.ndarray, *, each: int = 1) -> list[int]:
    """Chunks with these unit vectors, `each` a chunk; their ids in the order of the rows."""
    dimension = rows.shape[1]
    count = len(rows) // each
    made = [Chunk(f"{at:064x}", "a.md", at, at + 1, at + 1, "", 1, f"t{at}") for at in range(count)]
    with database.transaction():
        chunks.put(database, [(Stamp("a.md", b"", b""), made)], MODEL)
    embeddings.use_model(database, MODEL)
    blobs = [
        vectors.quantise(rows[at * each : (at + 1) * each].astype("<f4").tobytes(), dimension)
        for at in range(count)
    ]
    keys = [embeddings.passage_key("", one.body) for one in made]
    embeddings.put(database, MODEL, list(zip(keys, blobs, strict=True)), dimension)
    return [row[0] for row in database.rows("SELECT id FROM chunks ORDER BY ord")]


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def clustered(count: int, dimension: int, seed: int) -> np.ndarray:
    """Unit vectors around topics, of some 200 each, as texts of one project are."""
    rng = np.random.default_rng(seed)
    topics = unit(rng.normal(size=(max(count // 200, 2), dimension)))
    noise = rng.normal(size=(count, dimension)) * 0.8 / np.sqrt(dimension)
    return unit(topics[rng.integers(len(topics), size=count)] + noise)


def opened(path: str, database: db.Database, model: str = MODEL) -> sidecar.Sidecar:
    found = sidecar.open_sidecar(path, database, model)
    assert found is not None
    return found


def recall(path: str, database: db.Database, count: int, shortlist: int) -> float:
    """The share of the true 100 nearest that the shortlist keeps, the mean over 20 questions."""
    rows = clustered(count, 384, seed=1)
    ids = np.array(fill(database, rows))
    sidecar.pack(path, database, MODEL, 384)
    packed = opened(path, database)
    rng = np.random.default_rng(2)
    shares = []
    for at in rng.integers(count, size=20):
        query = unit(rows[at : at + 1] + rng.normal(size=(1, 384)) * 0.5 / np.sqrt(384))[0]
        true = set(ids[np.argsort(-(rows @ query))[:100]].tolist())
        best = packed.nearest([float(x) for x in query], shortlist=shortlist)
        got = sorted(best, key=lambda chunk: -best[chunk])[:100]
        shares.append(len(true.intersection(got)) / 100)
    return sum(shares) / len(shares)


def test_a_shortlist_keeps_the_nearest(path: str, database: db.Database) -> None:
    # A tenth of the rows here, as SHORTLIST is of 10,000 chunks.
    assert recall(path, database, 2000, 200) >= 0.90


@pytest.mark.slow
def test_the_shortlist_keeps_the_nearest_of_many(path: str, database: db.Database) -> None:
    assert recall(path, database, 40_000, sidecar.SHORTLIST) >= 0.90


def test_a_shortlist_of_all_is_exact(path: str, database: db.Database) -> None:
    assert recall(path, database, 300, 300) >= 0.98  # 8 bits may swap near ties at the edge


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    count=st.integers(1, 30),
    each=st.integers(1, 3),
    allowed=st.none() | st.sets(st.integers(1, 30)),
)
def test_is_what_comparing_with_every_row_gives(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    count: int,
    each: int,
    allowed: set[int] | None,
) -> None:
    folder = tmp_path_factory.mktemp("few")
    database = db.connect(str(folder / "memory.db"), create=True)
    database.migrate()
    rows = unit(np.random.default_rng(seed).normal(size=(count * each, 16)))
    ids = fill(database, rows, each=each)
    assert sidecar.pack(str(folder / "memory.vec"), database, MODEL, 16) == count * each
    query = [float(x) for x in unit(np.random.default_rng(seed + 1).normal(size=(1, 16)))[0]]
    got = opened(str(folder / "memory.vec"), database).nearest(query, allowed)
    wanted = {
        chunk: vectors.best_cosine(query, blob)
        for chunk, blob in embeddings.of_chunks(database, MODEL, ids).items()
        if allowed is None or chunk in allowed
    }
    database.close()
    assert got == wanted


def test_a_cut_one_is_not_believed(path: str, database: db.Database) -> None:
    fill(database, clustered(20, 16, seed=1))
    sidecar.pack(path, database, MODEL, 16)
    whole = os.path.getsize(path)
    for size in (whole - 1, whole - 100, sidecar.HEADER, sidecar.HEADER - 1, 10, 0):
        os.truncate(path, size)
        assert sidecar.open_sidecar(path, database, MODEL) is None


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"mem-vectors-2",
        b"mem-vectors-2 16 x 1 0 m",
        b"mem-vectors-2 16 1",
        b"\xff" * 9,
    ],
)
def test_noise_is_not_believed(path: str, database: db.Database, header: bytes) -> None:
    Path(path).write_bytes(header.ljust(sidecar.HEADER) + bytes(999))
    assert sidecar.open_sidecar(path, database, MODEL) is None


def test_one_of_other_vectors_is_not_believed(path: str, database: db.Database) -> None:
    fill(database, clustered(20, 16, seed=1))
    sidecar.pack(path, database, MODEL, 16)
    assert sidecar.open_sidecar(path, database, "other") is None
    copy = Path(path).read_bytes()
    sidecar.pack(path, database, MODEL, 16)
    opened(path, database)
    Path(path).write_bytes(copy)  # of an earlier generation
    assert sidecar.open_sidecar(path, database, MODEL) is None


def test_one_of_another_dimension_is_not_believed(path: str, database: db.Database) -> None:
    fill(database, clustered(5, 16, seed=1))
    sidecar.pack(path, database, MODEL, 16)
    row = vectors.quantise(struct.pack("<24f", *[1.0] * 24), 24)
    embeddings.put(database, MODEL, [(embeddings.passage_key("", "t1"), row)], 24)
    assert sidecar.open_sidecar(path, database, MODEL) is None
    assert embeddings.count_state(database, embeddings.PENDING) == 4


def test_none_there_a_link_or_a_folder(path: str, database: db.Database, tmp_path: Path) -> None:
    assert sidecar.open_sidecar(path, database, MODEL) is None
    os.symlink(tmp_path / "memory.db", path)
    assert sidecar.open_sidecar(path, database, MODEL) is None
    os.unlink(path)
    os.mkdir(path)
    assert sidecar.open_sidecar(path, database, MODEL) is None


def test_is_for_its_owner_alone_and_leaves_nothing_beside(path: str, database: db.Database) -> None:
    fill(database, clustered(5, 16, seed=1))
    sidecar.pack(path, database, MODEL, 16)
    assert os.stat(path).st_mode & 0o777 == 0o600
    folder = os.path.dirname(path)
    assert {name for name in os.listdir(folder) if name.startswith("memory.vec")} == {"memory.vec"}
