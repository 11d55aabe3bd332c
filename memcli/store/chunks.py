"""Files, their chunks and the full-text index of them, changed together or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from memcli.model import Chunk
from memcli.store.db import Database, id_list
from memcli.store.embeddings import leave, passage_key
from memcli.store.stamps import Stamp

_Row = tuple[int, int, bytes, Chunk]  # its id, its file's, its hash
_Known = dict[bytes, tuple[int, int, str]]  # by hash: id, place and heading


class Place(NamedTuple):
    """What ranking needs of a chunk beside its scores."""

    path: str
    start_line: int
    retrievals: int  # times it was shown


# The first load of an empty index: no merging on the way, wide merges when segments pile up, and
# one segment a batch, which so much memory (in bytes) takes. The first small batch ends it.
_LOADING = {"automerge": 0, "crisismerge": 64, "hashsize": 16 << 20}
_RUNNING = {"automerge": 4, "crisismerge": 16, "hashsize": 1 << 20}
_LOAD = 1_000  # chunks in a batch that is a load


def stamps(database: Database, paths: Collection[str] | None = None) -> dict[str, Stamp]:
    """The stamps of these files, or of all, by path; a file that is not indexed is left out."""
    sql = "SELECT path, signature, hash, note FROM files"
    if paths is None:
        rows = database.rows(sql)
    else:
        sql += " WHERE path IN (SELECT value FROM json_each(?))"
        rows = database.rows(sql, [text_list(paths)])
    return {row[0]: Stamp(*row) for row in rows}


def signatures(database: Database) -> dict[str, bytes]:
    """The signature of every file, as in its stamp."""
    return dict(database.rows("SELECT path, signature FROM files"))


def restamp(database: Database, stamps: Iterable[Stamp]) -> None:
    """Note new stamps of files whose bytes did not change."""
    database.run_many(
        "UPDATE files SET signature = ? WHERE path = ?",
        [(stamp.signature, stamp.path) for stamp in stamps],
    )


def put(database: Database, files: Sequence[tuple[Stamp, Sequence[Chunk]]], model: str) -> None:
    """Make these files' rows say what the files say. A chunk that did not change keeps its row.

    Must run inside a transaction. `model` names whose cached vectors count.
    """
    next_id = 1 + (database.value("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0)
    is_load = sum(len(chunks) for _, chunks in files) >= _LOAD
    if is_load and next_id == 1:
        _tune(database, _LOADING)
    elif not is_load and _is_loading(database):
        _tune(database, _RUNNING)
    known = _known(database, [stamp.path for stamp, _ in files])
    _note_files(database, [stamp for stamp, _ in files], known)
    rows: list[_Row] = []
    for stamp, chunks in files:
        file_id, gone = known[stamp.path]
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


def drop(database: Database, paths: Iterable[str]) -> None:
    """Forget files and all of their chunks. Must run inside a transaction."""
    for path in paths:
        file_id = database.value("SELECT id FROM files WHERE path = ?", [path])
        if file_id is None:
            continue
        ids = [row[0] for row in database.rows("SELECT id FROM chunks WHERE file = ?", [file_id])]
        _delete_chunks(database, ids)
        database.run("DELETE FROM files WHERE id = ?", [file_id])


def _known(database: Database, paths: Collection[str]) -> dict[str, tuple[int, _Known]]:
    """The ids of those of the files that have a row, and their chunks by hash."""
    ids = database.rows(
        "SELECT id, path FROM files WHERE path IN (SELECT value FROM json_each(?))",
        [text_list(paths)],
    )
    rows = database.rows(
        """
        SELECT file, hash, id, ord, heading FROM chunks
        WHERE file IN (SELECT value FROM json_each(?))
        """,
        [id_list(row[0] for row in ids)],
    )
    chunks: dict[int, _Known] = {row[0]: {} for row in ids}
    for file_id, digest, id_, place, heading in rows:
        chunks[file_id][digest] = id_, place, heading
    return {path: (file_id, chunks[file_id]) for file_id, path in ids}


def _note_files(
    database: Database, stamps: Sequence[Stamp], known: dict[str, tuple[int, _Known]]
) -> None:
    """Note the stamps of all files, and take new ones up into `known`."""
    next_id = 1 + (database.value("SELECT max(id) FROM files") or 0)
    values = []
    for stamp in stamps:
        if stamp.path not in known:
            known[stamp.path] = next_id, {}
            next_id += 1
        values.append((known[stamp.path][0], *stamp))
    database.run_many(
        """
        INSERT INTO files (id, path, signature, hash, note) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE
        SET signature = excluded.signature, hash = excluded.hash, note = excluded.note
        """,
        values,
    )


def _insert_chunks(database: Database, rows: Sequence[_Row], model: str) -> None:
    from memcli.text.extra import extra_terms  # spared a search in which nothing changed

    texts, values, keys = [], [], []
    for id_, file_id, digest, c in rows:
        heading, body = c.heading, c.body
        extra = extra_terms(heading, body)
        texts.append((id_, heading, body, extra))
        place = (c.ord, c.start_line, c.end_line)
        values.append((id_, file_id, *place, heading, c.tokens, body, extra, digest))
        keys.append((id_, passage_key(heading, body)))
    database.run_many("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    database.run_many("INSERT INTO fts (rowid, heading, body, extra) VALUES (?, ?, ?, ?)", texts)
    if not database.value("SELECT EXISTS (SELECT 1 FROM embeddings WHERE model = ?)", [model]):
        database.run_many("INSERT INTO vectors (chunk, key, state) VALUES (?, ?, 0)", keys)
        return
    database.run_many(
        """
        INSERT INTO vectors (chunk, key, state)
        SELECT ?1, ?2, EXISTS (SELECT 1 FROM embeddings WHERE model = ?3 AND key = ?2)
        """,
        [(*pair, model) for pair in keys],
    )


def _delete_chunks(database: Database, ids: Sequence[int]) -> None:
    if not ids:
        return
    values = [(id_,) for id_ in ids]
    # The index must be told the old text; there are no triggers, which would double the cost.
    database.run_many(
        """
        INSERT INTO fts (fts, rowid, heading, body, extra)
        SELECT 'delete', id, heading, body, extra FROM chunks WHERE id = ?
        """,
        values,
    )
    leave(database, ids)
    database.run_many("DELETE FROM vectors WHERE chunk = ?", values)
    database.run_many("DELETE FROM chunks WHERE id = ?", values)


def _is_loading(database: Database) -> bool:
    return bool(database.value("SELECT v FROM fts_config WHERE k = 'automerge'") == 0)


def _tune(database: Database, options: dict[str, int]) -> None:
    for name, value in options.items():
        database.run("INSERT INTO fts (fts, rank) VALUES (?, ?)", [name, value])


def places(database: Database, ids: Collection[int]) -> dict[int, Place]:
    """Where these chunks are; one that is gone is left out."""
    rows = database.rows(
        """
        SELECT chunks.id, path, start_line, ifnull(count, 0)
        FROM chunks JOIN files ON files.id = chunks.file
        LEFT JOIN retrievals ON retrievals.hash = chunks.hash
        WHERE chunks.id IN (SELECT value FROM json_each(?))
        """,
        [id_list(ids)],
    )
    return {id_: Place(*place) for id_, *place in rows}


def found(database: Database, ids: Collection[int]) -> dict[int, Chunk]:
    """The chunks with these ids; one that is gone is left out."""
    rows = database.rows(
        """
        SELECT chunks.id, lower(hex(chunks.hash)), path, ord, start_line, end_line, heading, tokens,
            body
        FROM chunks JOIN files ON files.id = chunks.file
        WHERE chunks.id IN (SELECT value FROM json_each(?))
        """,
        [id_list(ids)],
    )
    return {id_: Chunk(*chunk) for id_, *chunk in rows}


def existing(database: Database, ids: Collection[int]) -> set[int]:
    """Those of the ids that are chunks."""
    sql = "SELECT id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
    return {row[0] for row in database.rows(sql, [id_list(ids)])}


def ids_within(database: Database, paths: Collection[str]) -> set[int]:
    """The chunks of these files."""
    rows = database.rows(
        """
        SELECT chunks.id FROM chunks JOIN files ON files.id = chunks.file
        WHERE path IN (SELECT value FROM json_each(?))
        """,
        [text_list(paths)],
    )
    return {row[0] for row in rows}


def text_list(texts: Collection[str]) -> str:
    """Texts as one value that json_each takes apart again."""
    import json  # spared where a search is not limited to some files

    return json.dumps(list(texts))


def inventory(database: Database) -> dict[str, tuple[int, int]]:
    """For each file its number of chunks and how often any of them was shown."""
    rows = database.rows(
        """
        SELECT path, count(chunks.id), ifnull(sum(retrievals.count), 0) FROM files
        LEFT JOIN chunks ON chunks.file = files.id
        LEFT JOIN retrievals ON retrievals.hash = chunks.hash
        GROUP BY files.id
        """
    )
    return {row[0]: row[1:] for row in rows}


def last_uses(database: Database) -> dict[str, int]:
    """When any chunk of a file was last shown, in unix seconds; files never shown are left out."""
    rows = database.rows(
        """
        SELECT path, max(retrievals.last_at) FROM files
        JOIN chunks ON chunks.file = files.id
        JOIN retrievals ON retrievals.hash = chunks.hash
        GROUP BY files.id
        """
    )
    return dict(rows)


def counts(database: Database) -> tuple[int, int]:
    """How many files and chunks are indexed."""
    return (
        database.value("SELECT count(*) FROM files"),
        database.value("SELECT count(*) FROM chunks"),
    )
