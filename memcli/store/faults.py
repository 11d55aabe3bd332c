"""What does not hold within the database, told in words."""

from __future__ import annotations

from memcli.store.db import DamagedError, Database


def find(database: Database) -> list[str]:
    """What does not hold within the database: pages, the word index, rows that belong together."""
    found = []
    pages = database.value("PRAGMA quick_check(1)")
    if pages != "ok":
        found.append(f"memory.db has broken pages ({pages})")
    try:
        # The page check alone misses a word index that no longer matches its text. It is asked for
        # by a write, though nothing is written.
        if not database.is_readonly:
            with database.transaction():
                database.run("INSERT INTO fts (fts, rank) VALUES ('integrity-check', 1)")
    except DamagedError:
        found.append("the full-text index does not match the chunks")
    for sentence, sql in _RULES.items():
        count = database.value(sql)
        if count:
            found.append(f"{sentence} ({count})")
    return found


_RULES = {
    "chunks of no file": "SELECT count(*) FROM chunks WHERE file NOT IN (SELECT id FROM files)",
    "chunks without an entry for vectors": (
        "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT chunk FROM vectors)"
    ),
    "vectors of no chunk": (
        "SELECT count(*) FROM vectors WHERE chunk NOT IN (SELECT id FROM chunks)"
    ),
    "vectors said to be made that are not there": (
        """
        SELECT count(*) FROM vectors, meta WHERE state > 0 AND meta.name = 'embedding.model'
            AND NOT EXISTS (
                SELECT 1 FROM embeddings WHERE model = meta.value AND embeddings.key = vectors.key
            )
        """
    ),
}
