"""Find chunks by their words, or by the letters that stand in them."""

from __future__ import annotations

from collections.abc import Collection

from memcli.store.chunks import text_list
from memcli.store.db import Database


def _within_clause(paths: Collection[str] | None, column: str) -> tuple[str, list[str]]:
    """SQL that keeps the chunks of some paths only, and its parameters."""
    if paths is None:
        return "", []
    # The plus keeps the word index in charge: without it FTS5 is asked anew for each of the rows.
    clause = f"""
        AND +{column} IN (
            SELECT chunks.id FROM chunks JOIN files ON files.id = chunks.file
            WHERE files.path IN (SELECT value FROM json_each(?))
        )
    """
    return clause, [text_list(paths)]


def keyword(
    database: Database,
    match: str,
    n: int,
    *,
    weights: tuple[float, float, float],
    within: Collection[str] | None,
) -> list[tuple[int, float]]:
    """The best `n` chunks by BM25, best first, each with its score."""
    clause, values = _within_clause(within, "rowid")
    # FTS5's BM25 is negative, smaller is better; flipped so that every score grows with relevance.
    # Never ORDER BY rank: that sorts all matches before it takes the first.
    return database.rows(
        f"""
        SELECT rowid, -bm25(fts, {", ".join(map(str, weights))}) AS score FROM fts
        WHERE fts MATCH ? {clause} ORDER BY score DESC, rowid LIMIT ?
        """,
        [match, *values, n],
    )


def frequency(database: Database, match: str, limit: int) -> int:
    """How many chunks match, counted up to `limit`."""
    return int(
        database.value(
            "SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH ? LIMIT ?)", [match, limit]
        )
    )


def holds(database: Database, match: str, chunk: int) -> bool:
    """Whether a chunk matches."""
    sql = "SELECT EXISTS (SELECT 1 FROM fts WHERE fts MATCH ? AND rowid = ?)"
    return bool(database.value(sql, [match, chunk]))


def substring(
    database: Database, needle: str, n: int, *, within: Collection[str] | None
) -> list[int]:
    """Chunks whose text holds `needle`, upper and lower case alike in ASCII, by place."""
    clause, values = _within_clause(within, "chunks.id")
    escaped = needle.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = database.rows(
        f"""
        SELECT chunks.id FROM chunks JOIN files ON files.id = chunks.file
        WHERE (body LIKE ? ESCAPE '\\' OR heading LIKE ?1 ESCAPE '\\') {clause}
        ORDER BY files.path, start_line, ord LIMIT ?
        """,
        [f"%{escaped}%", *values, n],
    )
    return [row[0] for row in rows]
