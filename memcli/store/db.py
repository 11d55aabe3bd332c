"""The one door to SQLite: opens ``memory.db``, and turns each of its errors into ours."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from memcli.errors import ConflictError, MemError, StoreError

SCHEMA = 5  # PRAGMA user_version of a database that this program reads and writes
_TABLES = os.path.join(os.path.dirname(__file__), "schema.sql")  # made from store.schema
_APPLIED = "_sqlite_migrations"  # where the library of migrations keeps its own
OPEN_TIMEOUT_CAP = 300.0  # seconds, whatever is asked for

# Per connection, so they are set on each. Writers are serialised by the workspace's lock and no
# answer depends on the last transaction, hence NORMAL.
_PRAGMAS = """
    PRAGMA foreign_keys = ON;
    PRAGMA synchronous = NORMAL;
    PRAGMA mmap_size = 8388608;
    PRAGMA cache_size = -16000;
    PRAGMA temp_store = MEMORY;
"""


class DamagedError(StoreError):
    """The file is no database of ours, or its pages are broken: only a rebuild helps."""


class NewerError(StoreError):
    """The database was made by a newer version of this program."""


class Database:
    """An open ``memory.db``.

    Every method raises StoreError, or a kind of it, when SQLite fails, and ConflictError when
    another program holds the database.
    """

    def __init__(self, connection: sqlite3.Connection, path: str, *, is_readonly: bool) -> None:
        self._connection = connection
        self.path = path
        self.is_readonly = is_readonly

    @property
    def library(self) -> str:
        """The version of SQLite itself."""
        return sqlite3.sqlite_version

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query."""
        with self._translated():
            return self._connection.execute(sql, values).fetchall()

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None when there is none."""
        with self._translated():
            row = self._connection.execute(sql, values).fetchone()
        return row[0] if row else None

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement; answers the id of the last inserted row."""
        with self._translated():
            return self._connection.execute(sql, values).lastrowid or 0

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement once a row."""
        with self._translated():
            self._connection.executemany(sql, rows)

    def state(self) -> tuple[int, int]:
        """What is equal as long as nobody changed the database: others, and this connection."""
        return self.value("PRAGMA data_version"), self._connection.total_changes

    @contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """Within this, wait so long for another program that holds the database."""
        before = self.value("PRAGMA busy_timeout")
        self.run(f"PRAGMA busy_timeout = {int(1000 * seconds)}")
        try:
            yield
        finally:
            self.run(f"PRAGMA busy_timeout = {before}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. IMMEDIATE, since a read turned into a write skips the busy timeout."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with self._translated():
                self._connection.rollback()
            raise
        self.run("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            with _translated(self.path):
                yield
        except DamagedError:
            # A newer version may have migrated it since it was opened here.
            with suppress(sqlite3.Error):
                _refuse_newer(self._connection.execute("PRAGMA user_version").fetchone()[0])
            raise

    def migrate(self) -> None:
        """Bring an older or empty database to this schema; a foreign one is a DamagedError."""
        if not self.value("SELECT EXISTS (SELECT 1 FROM sqlite_master)"):
            self._fill()
        if is_current(self) and self._is_migrated():
            return
        from memcli.store import schema  # its library costs more than a whole search

        with self._translated():
            if schema.is_foreign(self._connection):
                raise DamagedError(f"{self.path} is a database of another program")
            schema.migrate(self._connection)
            self._connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _is_migrated(self) -> bool:
        """Whether all migrations of ours were applied here, be it to an empty database."""
        return bool(
            self.value("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?)", [_APPLIED])
            and self.value(f"SELECT count(*) FROM {_APPLIED} WHERE migration_set = 'mem'") == SCHEMA
        )

    def _fill(self) -> None:
        """Make all tables of an empty database, as the migrations would."""
        with open(_TABLES, encoding="utf-8") as file:
            tables = file.read()
        with self._translated():
            try:
                self._connection.executescript(
                    f"BEGIN IMMEDIATE;\n{tables}PRAGMA user_version = {SCHEMA};\nCOMMIT;"
                )
            except BaseException:
                self._connection.rollback()
                raise

    def close(self) -> None:
        with self._translated():
            self._connection.close()


def connect(path: str, *, wait: float = 5.0, create: bool = False) -> Database:
    """Open the database at `path`, read-only where the file or its folder may not be written.

    `wait` is how long to wait for a lock, in seconds, at most OPEN_TIMEOUT_CAP. An absent file is
    created, readable by its owner alone, with `create`, and is a StoreError without. Raises
    DamagedError for a file that is no usable database and NewerError for one of a newer version.
    """
    if os.path.islink(path) or os.path.isdir(path):
        raise DamagedError(f"{path} is not a file", hint="remove it; mem index makes a new one")
    is_writable = os.access(os.path.dirname(path), os.W_OK) and (
        not os.path.exists(path) or os.access(path, os.W_OK)
    )
    if create and is_writable:
        # Made by us before SQLite sees it: the -wal and -shm files copy its mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    elif not os.path.exists(path):
        raise StoreError(f"no {path}", hint="mem index")
    # A write-ahead log cannot be opened where no -shm may be made beside it; immutable skips both.
    mode = "rw" if is_writable else "ro&immutable=1"
    uri = f"file:{_quoted(path)}?mode={mode}"
    with _translated(path):
        connection = sqlite3.connect(
            uri, uri=True, timeout=min(wait, OPEN_TIMEOUT_CAP), isolation_level=None
        )
        try:
            _refuse_newer(connection.execute("PRAGMA user_version").fetchone()[0])
            connection.executescript(_PRAGMAS)
            if is_writable:
                # Where shared memory cannot be had (network folders) SQLite keeps its old journal.
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except BaseException:
            connection.close()
            raise
    return Database(connection, path, is_readonly=not is_writable)


def _refuse_newer(version: int) -> None:
    if version > SCHEMA:
        raise NewerError(
            f"memory.db was made by a newer mem (schema {version}, this one knows {SCHEMA})",
            hint="upgrade mem, or rebuild the index with: mem index --full",
        )


def id_list(ids: Iterable[int]) -> str:
    """Ids as the text that json_each takes apart again: one bound value for any number of them."""
    return f"[{','.join(map(str, ids))}]"


def is_current(database: Database) -> bool:
    """Whether the schema is this program's, with nothing to migrate."""
    return bool(database.value("PRAGMA user_version") == SCHEMA)


def remove(path: str, *, keep_as: str | None = None) -> None:
    """Take a database away with its side files, or set the main file aside under another name."""
    for suffix in ("-wal", "-shm", "-journal"):
        _unlink(path + suffix)
    if keep_as is None:
        _unlink(path)
        return
    try:
        os.replace(path, keep_as)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot move {path} aside: {error.strerror}") from error


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot remove {path}: {error.strerror}") from error


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


@contextmanager
def _translated(path: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _ours(error, path) from error


_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# What SQLite says when the tables are not ours, or hold what we never put there.
_FOREIGN = ("no such table", "no such column", "has no column", "decode", "malformed JSON")


def _ours(error: sqlite3.Error | UnicodeDecodeError, path: str) -> MemError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return ConflictError(f"{path} is in use by another program", hint="try again in a moment")
    if code in _BROKEN or any(mark in str(error) for mark in _FOREIGN):
        return DamagedError(f"{path} is damaged", hint="mem index --full")
    if code == sqlite3.SQLITE_FULL:
        return StoreError(f"no space left for {path}", hint="make room, then: mem index")
    if code == sqlite3.SQLITE_READONLY:
        return StoreError(
            f"{path} may not be written",
            hint=f"see that you may write it, and {path}-wal and -shm if they are there",
        )
    return StoreError(f"{path}: {error}", hint="mem doctor")
