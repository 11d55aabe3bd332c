"""The tables of ``memory.db`` and how older databases come to them.

All but ``retrievals`` can be dropped and made again from the markdown, ``jobs`` also from the
history.
"""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database, Migrations

from memcli.store.stamps import RACY, SIGNATURE
from memcli.text.extra import extra_terms
from memcli.text.words import TOKENIZER

migrations = Migrations("mem")


def migrate(connection: sqlite3.Connection) -> None:
    """Apply what is not applied yet, each step in a transaction of its own."""
    # Or a table that is made again would take along what refers to the old one.
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        migrations.apply(Database(connection))
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether there are tables here that no migration of ours made."""
    db = Database(connection)
    return not migrations.applied(db) and bool({*db.table_names()} - {migrations.migrations_table})


@migrations()
def first(db: Database) -> None:
    db.table("files").create(
        {
            "id": int,
            "path": str,  # relative to the memory folder
            "size": int,
            "mtime_ns": int,
            "ctime_ns": int,  # shows an edit whose mtime was put back
            "inode": int,
            "is_racy": int,  # written so shortly before it was read that a later edit may not show
            "hash": bytes,  # blake2b-128 of the bytes
            "note": str,  # what was odd about reading it, shown by status
        },
        pk="id",
        not_null={"path", "size", "mtime_ns", "ctime_ns", "inode", "is_racy", "hash", "note"},
    )
    db.table("files").create_index(["path"], unique=True)
    # AUTOINCREMENT (which sqlite-utils has no word for): ids in memory.vec must never be reused.
    db.execute(
        """
        CREATE TABLE chunks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
            ord INTEGER NOT NULL,
            start_line INTEGER NOT NULL,
            end_line INTEGER NOT NULL,
            heading TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            body TEXT NOT NULL,
            extra TEXT NOT NULL,  -- words that the tokenizer alone would miss
            hash BLOB NOT NULL    -- Chunk.id
        )
        """
    )
    db.table("chunks").create_index(["file"])
    db.execute(
        f"""
        CREATE VIRTUAL TABLE fts USING fts5(
            heading, body, extra,
            content = 'chunks', content_rowid = 'id', detail = full, tokenize = "{TOKENIZER}"
        )
        """
    )
    db.table("vectors").create(  # which vectors a chunk needs, and whether they are there
        {
            "chunk": int,
            "key": bytes,  # sha256 of the embedded text
            "state": int,  # 0 pending, 1 in embeddings, 2 also packed into memory.vec
        },
        pk="chunk",
        foreign_keys=[("chunk", "chunks", "id")],
        not_null={"key", "state"},
    )
    db.execute("CREATE INDEX vectors_unpacked ON vectors(state) WHERE state < 2")
    db.table("embeddings").create(  # the cache: a passage that only moved is never embedded again
        {
            "id": int,
            "model": str,
            "key": bytes,
            "vectors": bytes,  # see store.vectors
            "used_at": int,  # unix seconds
        },
        pk="id",
        not_null={"model", "key", "vectors", "used_at"},
    )
    db.table("embeddings").create_index(["model", "key"], unique=True)
    db.table("queries").create(  # vectors of questions asked
        {"id": int, "model": str, "text": str, "vector": bytes, "used_at": int},
        pk="id",
        not_null={"model", "text", "vector", "used_at"},
    )
    db.table("queries").create_index(["model", "text"], unique=True)
    db.table("retrievals").create(  # how often a chunk was shown
        {"hash": bytes, "count": int, "last_at": int},
        pk="hash",
        not_null={"count", "last_at"},
    )
    db.table("meta").create({"name": str, "value": str}, pk="name", not_null={"value"})


@migrations()
def jobs(db: Database) -> None:
    # AUTOINCREMENT, since people name a job by its number: it must never mean another one.
    db.execute(
        """
        CREATE TABLE jobs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            key TEXT NOT NULL UNIQUE,      -- see store.jobs.key_of
            subject TEXT NOT NULL,
            marks TEXT NOT NULL CHECK (json_valid(marks)),
            payload TEXT NOT NULL CHECK (json_valid(payload)),
            state TEXT NOT NULL,           -- one of store.jobs.STATES
            attempts INTEGER NOT NULL DEFAULT 0,
            error TEXT NOT NULL DEFAULT '',
            note TEXT NOT NULL DEFAULT '',
            revision INTEGER,
            not_before INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            finished_at INTEGER NOT NULL DEFAULT 0
        )
        """
    )
    db.table("jobs").create_index(["state"])


@migrations()
def circuits(db: Database) -> None:
    db.table("circuits").create(  # servers that failed and are left alone; see store.circuits
        {
            "name": str,
            "failures": int,  # in a row
            "until": float,  # unix seconds
            "reason": str,
            "message": str,
            "hint": str,
        },
        pk="name",
        not_null={"failures", "until", "reason", "message", "hint"},
    )


@migrations()
def joined_by_the_query(db: Database) -> None:
    # The column extra had joined identifiers, which a query parts by itself now. In place, so that
    # chunks keep their ids and vectors.
    last = 0
    sql = "SELECT id, heading, body FROM chunks WHERE id > ? ORDER BY id LIMIT 1000"
    while rows := db.execute(sql, [last]).fetchall():
        last = rows[-1][0]
        db.conn.executemany(
            "UPDATE chunks SET extra = ? WHERE id = ?",
            [(extra_terms(heading, body), id_) for id_, heading, body in rows],
        )
    if last:
        db.execute("INSERT INTO fts (fts) VALUES ('rebuild')")


@migrations()
def signatures(db: Database) -> None:
    # One value to read and compare for each file, in the place of five; and no times of use, which
    # the order of the ids says.
    db.execute("ALTER TABLE files ADD COLUMN signature BLOB NOT NULL DEFAULT x''")
    rows = db.execute("SELECT id, is_racy, mtime_ns, ctime_ns, size, inode FROM files").fetchall()
    db.conn.executemany(
        "UPDATE files SET signature = ? WHERE id = ?",
        [(SIGNATURE.pack(*one) + (RACY if is_racy else b""), id_) for id_, is_racy, *one in rows],
    )
    db.table("files").transform(
        drop={"size", "mtime_ns", "ctime_ns", "inode", "is_racy"},
        defaults={"signature": None},
        column_order=["id", "path", "signature", "hash", "note"],
    )
    for name in ("embeddings", "queries"):
        db.table(name).transform(drop={"used_at"})
