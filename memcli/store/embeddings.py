"""Vectors made so far, cached by model and text, and the chunks that still wait for theirs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memcli.store.db import Database, id_list

PENDING, CACHED, PACKED = 0, 1, 2
# The partial index vectors_unpacked serves only who says its condition in the same words.
_UNPACKED = "state < 2 AND state"
UNUSED_KEPT = 10_000  # cached vectors that no chunk uses any more
QUERIES_KEPT = 1_000
_KEYS_AT_ONCE = 500

_MODEL = "embedding.model"
_DIMENSION = "embedding.dimension:"  # and the model, since the cache keeps several


class Pending(NamedTuple):
    """A chunk that has no vectors yet."""

    chunk: int
    key: bytes
    heading: str
    body: str


def model(database: Database) -> str:
    """Whose vectors the chunks have; empty before there are any."""
    return database.value("SELECT value FROM meta WHERE name = ?", [_MODEL]) or ""


def use_model(database: Database, name: str) -> None:
    """Make `name` the model that counts: what it has in the cache serves, the rest is pending."""
    with database.transaction():
        database.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_MODEL, name])
        database.run(
            """
            UPDATE vectors SET state = EXISTS (
                SELECT 1 FROM embeddings WHERE model = ? AND embeddings.key = vectors.key
            )
            """,
            [name],
        )


def dimension(database: Database, name: str) -> int:
    """Values in a vector of the model `name`; 0 before there are any."""
    return int(database.value("SELECT value FROM meta WHERE name = ?", [_DIMENSION + name]) or 0)


def outgrow(database: Database, name: str) -> bool:
    """Drop the vectors that can no longer be compared with a question's; whether there were any.

    That is so when the last question has one of another dimension: its server has another model
    now, under the old name.
    """
    size = database.value(
        "SELECT length(vector) / 4 FROM queries WHERE model = ? ORDER BY id DESC LIMIT 1", [name]
    )
    before = dimension(database, name)
    if not size or not before or size == before:
        return False
    with database.transaction():
        database.run(
            "DELETE FROM queries WHERE model = ? AND length(vector) <> ?", [name, 4 * size]
        )
        _resize(database, name, size)
    return True


def _resize(database: Database, name: str, size: int) -> None:
    """From now on the vectors of a model have `size` values. Must run inside a transaction."""
    database.run("DELETE FROM embeddings WHERE model = ?", [name])
    if model(database) == name:
        database.run("UPDATE vectors SET state = 0")
    database.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_DIMENSION + name, str(size)])


def count_state(database: Database, state: int) -> int:
    """How many chunks are pending or cached."""
    return int(database.value(f"SELECT count(*) FROM vectors WHERE {_UNPACKED} = ?", [state]))


def count_packed(database: Database) -> int:
    """How many chunks have their vectors in memory.vec: all but the few that are counted."""
    unpacked = database.value("SELECT count(*) FROM vectors WHERE state < 2")
    return int(database.value("SELECT count(*) FROM chunks") - unpacked)


def pending(database: Database, n: int, *, first: Collection[int] | None = None) -> list[Pending]:
    """Up to `n` waiting chunks: of `first` only, in its order, or the newest of all."""
    if first is None:
        rows = database.rows(
            f"""
            SELECT chunk, key, heading, body FROM vectors JOIN chunks ON chunks.id = chunk
            WHERE {_UNPACKED} = 0 ORDER BY chunk DESC LIMIT ?
            """,
            [n],
        )
    else:
        rows = database.rows(
            """
            SELECT chunk, vectors.key, heading, body FROM json_each(?) AS wanted
            JOIN vectors ON vectors.chunk = wanted.value AND state = 0
            JOIN chunks ON chunks.id = chunk ORDER BY wanted.key LIMIT ?
            """,
            [id_list(first), n],
        )
    return [Pending(*row) for row in rows]


def put(database: Database, name: str, made: Sequence[tuple[bytes, bytes]], size: int) -> None:
    """Store rows of `size` dimensions by key; every chunk that waited for one of them has it now.

    Where another model counts meanwhile they are only cached. A model that changed its dimension
    under its old name is another model: what it made is dropped.
    """
    with database.transaction():
        if dimension(database, name) != size:
            database.run("DELETE FROM queries WHERE model = ?", [name])
            _resize(database, name, size)
        database.run_many(
            "INSERT OR REPLACE INTO embeddings (model, key, vectors) VALUES (?, ?, ?)",
            [(name, key, rows) for key, rows in made],
        )
        if model(database) != name:
            return
        # Keys have no index, so each statement looks through all that are pending.
        keys = [key for key, _ in made]
        for at in range(0, len(keys), _KEYS_AT_ONCE):
            some = keys[at : at + _KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            database.run(
                f"UPDATE vectors SET state = 1 WHERE {_UNPACKED} = 0 AND key IN ({marks})", some
            )


def of_state(
    database: Database, name: str, state: int | None, n: int = -1
) -> list[tuple[int, bytes]]:
    """Chunks whose vectors are in this state (None: made at all), and these, newest first."""
    other = {None: "state > 0", PACKED: f"state = {PACKED}"}
    condition = other.get(state, f"{_UNPACKED} = {state}")
    return database.rows(
        f"""
        SELECT chunk, embeddings.vectors FROM vectors
        JOIN embeddings ON embeddings.model = ? AND embeddings.key = vectors.key
        WHERE {condition} ORDER BY chunk DESC LIMIT ?
        """,
        [name, n],
    )


def of_chunks(database: Database, name: str, ids: Collection[int]) -> dict[int, bytes]:
    """The vectors of these chunks; one without is left out."""
    return dict(
        database.rows(
            """
            SELECT chunk, embeddings.vectors FROM json_each(?) AS wanted
            JOIN vectors ON vectors.chunk = wanted.value AND state > 0
            JOIN embeddings ON embeddings.model = ? AND embeddings.key = vectors.key
            """,
            [id_list(ids), name],
        )
    )


def query_vector(database: Database, name: str, text: str) -> bytes | None:
    """The cached vector of a question."""
    vector: bytes | None = database.value(
        "SELECT vector FROM queries WHERE model = ? AND text = ?", [name, text]
    )
    return vector


def keep_query(database: Database, name: str, text: str, vector: bytes) -> None:
    """Cache the vector of a question; the oldest beyond QUERIES_KEPT go."""
    with database.transaction():
        newest = database.run(
            "INSERT OR REPLACE INTO queries (model, text, vector) VALUES (?, ?, ?)",
            [name, text, vector],
        )
        # By id, which grows with time: to look at the others would cost more than the search.
        database.run("DELETE FROM queries WHERE id <= ?", [newest - QUERIES_KEPT])


def leave(database: Database, chunks: Sequence[int]) -> None:
    """These chunks go: their vectors become the last of the unused ones that `evict` would take.

    Only here is a use noted: while a chunk has its vectors they stay whatever their age.
    """
    database.run_many(
        """
        UPDATE embeddings SET id = (SELECT max(id) + 1 FROM embeddings)
        WHERE model = (SELECT value FROM meta WHERE name = ?)
            AND key = (SELECT key FROM vectors WHERE chunk = ? AND state > 0)
        """,
        [(_MODEL, chunk) for chunk in chunks],
    )


def count_unused(database: Database) -> tuple[int, int]:
    """How many cached vectors of passages no chunk uses, and the cached ones of questions."""
    return (
        database.value(
            "SELECT count(*) FROM embeddings WHERE key NOT IN (SELECT key FROM vectors)"
        ),
        database.value("SELECT count(*) FROM queries"),
    )


def evict(database: Database) -> int:
    """Drop cached vectors that no chunk uses beyond UNUSED_KEPT. Says how many.

    First those that were used least lately, which have the lowest ids: see `leave`.

    Chunks of the same text share vectors, which the quick look beforehand does not see: so many
    more may be kept.
    """
    used = count_state(database, CACHED) + count_packed(database)
    for most in ("max(id)", "count(*)"):  # the first is at once there
        if (database.value(f"SELECT {most} FROM embeddings") or 0) - used <= UNUSED_KEPT:
            return 0
    with database.transaction():
        ids = database.rows(
            """
            SELECT id FROM embeddings WHERE key NOT IN (SELECT key FROM vectors)
            ORDER BY id DESC LIMIT -1 OFFSET ?
            """,
            [UNUSED_KEPT],
        )
        database.run_many("DELETE FROM embeddings WHERE id = ?", ids)
    return len(ids)


def passage(heading: str, body: str) -> str:
    """The text that is embedded for a chunk: where it stands, then what it says.

    The chunk's own heading is said once: twice costs 1 to 3 points of nDCG@10 by meaning.
    """
    first, _, rest = body.partition("\n")
    title = first.strip("# \t\r")
    if title and first.startswith("#") and f" > {heading}".endswith(f" > {title}"):
        body = rest.lstrip("\r\n")
    return f"{heading}\n{body}" if heading else body


def passage_key(heading: str, body: str) -> bytes:
    """What the vectors of a chunk are cached by, together with the model."""
    import hashlib  # spared a search: it loads OpenSSL

    return hashlib.sha256(passage(heading, body).encode("utf-8", "surrogatepass")).digest()


class Cache(NamedTuple):
    """All vectors made so far and whose they are, to be carried into a database made anew."""

    meta: list[tuple[str, str]]
    rows: list[tuple[str, bytes, bytes]]


def everything(database: Database) -> Cache:
    """The whole cache."""
    return Cache(
        database.rows("SELECT name, value FROM meta WHERE name LIKE 'embedding.%'"),
        database.rows("SELECT model, key, vectors FROM embeddings"),
    )


def restore(database: Database, cache: Cache) -> None:
    """Put back what `everything` gave."""
    with database.transaction():
        database.run_many("INSERT INTO meta (name, value) VALUES (?, ?)", cache.meta)
        database.run_many(
            "INSERT INTO embeddings (model, key, vectors) VALUES (?, ?, ?)", cache.rows
        )
