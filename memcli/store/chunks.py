"""Files, their chunks and the full-text index of them, changed together or not at all."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from memcli.model import Chunk
from memcli.store.db import Database
from memcli.store.embeddings import passage_key
from memcli.text.words import extra_terms


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file looked like when it was read; with an equal stamp it need not be read again."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    is_racy: bool  # written so shortly before it was read that a later edit may not show here
    hash: bytes  # blake2b-128 of the bytes
    note: str = ""  # what was odd about reading it


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with its place in the index."""

    id: int
    chunk: Chunk
    retrievals: int


# The first load of an empty index: no merging on the way, wide merges when segments pile up.
_LOADING = {"automerge": 0, "crisismerge": 64}
_RUNNING = {"automerge": 4, "crisismerge": 16}


def stamps(database: Database) -> dict[str, Stamp]:
    """The stamp of every indexed file by its path."""
    rows = database.rows(
        """
        SELECT path, size, mtime_ns, ctime_ns, inode, is_racy, hash, note FROM files
        """
    )
    return {row[0]: Stamp(*row) for row in rows}


def signatures(database: Database) -> dict[str, tuple[int, int, int, int]]:
    """Size, mtime_ns, ctime_ns and inode of every file that needs no second look at its bytes."""
    rows = database.rows(
        "SELECT path, size, mtime_ns, ctime_ns, inode FROM files WHERE NOT is_racy"
    )
    return {row[0]: row[1:] for row in rows}


def restamp(database: Database, stamps: Iterable[Stamp]) -> None:
    """Note new stamps of files whose bytes did not change."""
    database.run_many(
        """
        UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, is_racy = ? WHERE path = ?
        """,
        [(s.size, s.mtime_ns, s.ctime_ns, s.inode, s.is_racy, s.path) for s in stamps],
    )


def put(database: Database, files: Sequence[tuple[Stamp, Sequence[Chunk]]], model: str) -> None:
    """Make these files' rows say what the files say. A chunk that did not change keeps its row.

    Must run inside a transaction. `model` names whose cached vectors count.
    """
    next_id = 1 + (database.value("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0)
    is_first_load = next_id == 1
    if is_first_load:
        _tune(database, _LOADING)
    rows = []
    for stamp, chunks in files:
        file_id, known = _file_row(database, stamp)
        gone = dict(known)
        for chunk in chunks:
            digest = bytes.fromhex(chunk.id)
            kept = gone.pop(digest, None)
            if kept is None:
                rows.append((next_id, file_id, digest, chunk))
                next_id += 1
            elif kept[1] != chunk.ord or kept[2] != chunk.heading:
                # Its line and text are the same but an edit above gave it another place or heading.
                _delete_chunks(database, [kept[0]])
                rows.append((next_id, file_id, digest, chunk))
                next_id += 1
        _delete_chunks(database, [row[0] for row in gone.values()])
    _insert_chunks(database, rows, model)
    if is_first_load:
        _tune(database, _RUNNING)


def drop(database: Database, paths: Iterable[str]) -> None:
    """Forget files and all of their chunks. Must run inside a transaction."""
    for path in paths:
        file_id = database.value("SELECT id FROM files WHERE path = ?", [path])
        if file_id is None:
            continue
        ids = [row[0] for row in database.rows("SELECT id FROM chunks WHERE file = ?", [file_id])]
        _delete_chunks(database, ids)
        database.run("DELETE FROM files WHERE id = ?", [file_id])


def _file_row(database: Database, stamp: Stamp) -> tuple[int, dict[bytes, tuple[int, int, str]]]:
    """The file's id after noting its stamp, and its known chunks by hash."""
    file_id = database.value("SELECT id FROM files WHERE path = ?", [stamp.path])
    values = (
        stamp.size,
        stamp.mtime_ns,
        stamp.ctime_ns,
        stamp.inode,
        stamp.is_racy,
        stamp.hash,
        stamp.note,
        stamp.path,
    )
    if file_id is None:
        file_id = database.run(
            """
            INSERT INTO files (size, mtime_ns, ctime_ns, inode, is_racy, hash, note, path)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            values,
        )
        return file_id, {}
    database.run(
        """
        UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, is_racy = ?, hash = ?,
            note = ? WHERE path = ?
        """,
        values,
    )
    rows = database.rows("SELECT hash, id, ord, heading FROM chunks WHERE file = ?", [file_id])
    return file_id, {row[0]: row[1:] for row in rows}


def _insert_chunks(
    database: Database, rows: Sequence[tuple[int, int, bytes, Chunk]], model: str
) -> None:
    texts = [
        (row[0], row[3].heading, row[3].body, extra_terms(row[3].heading, row[3].body))
        for row in rows
    ]
    database.run_many(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                id_,
                file_id,
                c.ord,
                c.start_line,
                c.end_line,
                c.heading,
                c.tokens,
                c.body,
                text[3],
                digest,
            )
            for (id_, file_id, digest, c), text in zip(rows, texts, strict=True)
        ],
    )
    database.run_many("INSERT INTO fts (rowid, heading, body, extra) VALUES (?, ?, ?, ?)", texts)
    database.run_many(
        """
        INSERT INTO vectors (chunk, key, state)
        SELECT ?1, ?2, EXISTS (SELECT 1 FROM embeddings WHERE model = ?3 AND key = ?2)
        """,
        [(row[0], passage_key(row[3].heading, row[3].body), model) for row in rows],
    )


def _delete_chunks(database: Database, ids: Sequence[int]) -> None:
    values = [(id_,) for id_ in ids]
    # The index must be told the old text; there are no triggers, which would double the cost.
    database.run_many(
        """
        INSERT INTO fts (fts, rowid, heading, body, extra)
        SELECT 'delete', id, heading, body, extra FROM chunks WHERE id = ?
        """,
        values,
    )
    database.run_many("DELETE FROM vectors WHERE chunk = ?", values)
    database.run_many("DELETE FROM chunks WHERE id = ?", values)


def _tune(database: Database, options: dict[str, int]) -> None:
    for name, value in options.items():
        database.run("INSERT INTO fts (fts, rank) VALUES (?, ?)", [name, value])


def within_clause(paths: Collection[str] | None, column: str) -> tuple[str, list[str]]:
    """SQL that keeps the chunks of some paths only, and its parameters."""
    if paths is None:
        return "", []
    clause = f"""
        AND {column} IN (
            SELECT chunks.id FROM chunks JOIN files ON files.id = chunks.file
            WHERE files.path IN (SELECT value FROM json_each(?))
        )
    """
    return clause, [json.dumps(sorted(paths))]


def keyword(
    database: Database,
    match: str,
    n: int,
    *,
    weights: tuple[float, float, float],
    within: Collection[str] | None,
) -> list[tuple[int, float]]:
    """The best `n` chunks by BM25, best first, each with its score."""
    clause, values = within_clause(within, "rowid")
    # FTS5's BM25 is negative, smaller is better; flipped so that every score grows with relevance.
    # Never ORDER BY rank: that sorts all matches before it takes the first.
    return database.rows(
        f"""
        SELECT rowid, -bm25(fts, {", ".join(map(str, weights))}) AS score FROM fts
        WHERE fts MATCH ? {clause} ORDER BY score DESC LIMIT ?
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


def substring(
    database: Database, needle: str, n: int, *, within: Collection[str] | None
) -> list[int]:
    """Chunks whose text holds `needle`, upper and lower case alike in ASCII, by place."""
    clause, values = within_clause(within, "chunks.id")
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


def found(database: Database, ids: Collection[int]) -> dict[int, StoredChunk]:
    """The chunks with these ids; one that is gone is left out."""
    rows = database.rows(
        """
        SELECT chunks.id, lower(hex(chunks.hash)), path, ord, start_line, end_line, heading, tokens,
            body, ifnull(count, 0)
        FROM chunks JOIN files ON files.id = chunks.file
        LEFT JOIN retrievals ON retrievals.hash = chunks.hash
        WHERE chunks.id IN (SELECT value FROM json_each(?))
        """,
        [json.dumps(list(ids))],
    )
    return {row[0]: StoredChunk(row[0], Chunk(*row[1:9]), row[9]) for row in rows}


def counts(database: Database) -> tuple[int, int]:
    """How many files and chunks are indexed."""
    return (
        database.value("SELECT count(*) FROM files"),
        database.value("SELECT count(*) FROM chunks"),
    )
