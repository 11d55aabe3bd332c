"""How often each chunk was shown, and whether a watcher keeps the index in step."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memcli.store.db import Database


def record(database: Database, hashes: Iterable[str], now: int) -> None:
    """Count one more retrieval of each chunk. `now` is in unix seconds."""
    with database.transaction():
        database.run_many(
            """
            INSERT INTO retrievals (hash, count, last_at) VALUES (?, 1, ?)
            ON CONFLICT (hash) DO UPDATE SET count = count + 1, last_at = excluded.last_at
            """,
            [(bytes.fromhex(digest), now) for digest in hashes],
        )


def everything(database: Database) -> list[tuple[bytes, int, int]]:
    """All that is known of retrievals, to be carried into a database made anew."""
    return database.rows("SELECT hash, count, last_at FROM retrievals")


def restore(database: Database, rows: Iterable[tuple[bytes, int, int]]) -> None:
    """Put back what `everything` gave."""
    with database.transaction():
        database.run_many("INSERT INTO retrievals (hash, count, last_at) VALUES (?, ?, ?)", rows)


_BEAT = "watch.beat"


def beat(database: Database, at: int) -> None:
    """Note that a watcher was at work at `at`, in unix seconds."""
    database.run("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [_BEAT, str(at)])


def beaten_at(database: Database) -> int:
    """When a watcher was last at work; 0 without one."""
    return int(database.value("SELECT value FROM meta WHERE name = ?", [_BEAT]) or 0)


def note_uses(database: Database, paths: Collection[str], now: int) -> None:
    """Note that files were shown for other reasons than a search, which counts for no ranking."""
    with database.transaction():
        database.run_many(
            """
            INSERT INTO retrievals (hash, count, last_at)
            SELECT chunks.hash, 0, ? FROM chunks JOIN files ON chunks.file = files.id
            WHERE path = ? ORDER BY ord LIMIT 1
            ON CONFLICT (hash) DO UPDATE SET last_at = excluded.last_at
            """,
            [(now, path) for path in paths],
        )
