"""How often each chunk was shown: a small bonus in ranking, and what `status` calls used."""

from __future__ import annotations

from collections.abc import Iterable

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
