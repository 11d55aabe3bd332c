"""The way back: one readable JSON file a revision in `history/`, independent of the database.

`000042.json` is a revision that is done; it is `000042.open.json` while its files are being
written. `text.revisions` says what stands inside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from memcli import disk
from memcli.errors import RefusedError, UsageError, WorkspaceError
from memcli.layout import Layout
from memcli.text import revisions as record
from memcli.text.revisions import Change, Revision

KEEP_DAYS = 90
KEEP_NEWEST = 100

_DONE = ".json"
_OPEN = ".open.json"
_DIGITS = 6  # at least, so that names sort
_LONGEST_ID = 12


def parse_id(text: str) -> int:
    """The number of a revision as people type it; raises UsageError for any other word."""
    if not _is_number(text):
        raise UsageError(f"not a revision number: {text!r}", hint="mem undo --list")
    return int(text)


def ids(layout: Layout) -> list[int]:
    """The numbers of all revisions that are done, newest first, from the file names alone."""
    return sorted(_numbers(layout, _DONE), reverse=True)


def open_ids(layout: Layout) -> list[int]:
    """The numbers of revisions that a crash left unfinished, or that are just being written."""
    return sorted(_numbers(layout, _OPEN), reverse=True)


def read(layout: Layout, number: int) -> Revision:
    """A revision that is done. Raises RefusedError when there is none of that number."""
    data = _bytes(layout, _path(layout, number, _DONE))
    if data is None:
        raise RefusedError(f"there is no revision {number}", hint="mem undo --list")
    revision = record.decode(number, data)
    if revision is None:
        name = os.path.relpath(_path(layout, number, _DONE), layout.root)
        raise WorkspaceError(f"{name} is damaged, revision {number} cannot be read")
    return revision


def read_open(layout: Layout, number: int) -> Revision | None:
    """An unfinished revision, or None when its record is torn: then no file was touched yet."""
    data = _bytes(layout, _path(layout, number, _OPEN))
    return None if data is None else record.decode(number, data, state="open")


def revisions(layout: Layout, notes: list[str] | None = None) -> Iterator[Revision]:
    """All revisions that are done, newest first, read one by one; a damaged one becomes a note."""
    for number in ids(layout):
        try:
            yield read(layout, number)
        except RefusedError:
            continue  # its time was over while we listed
        except WorkspaceError as error:
            if notes is not None:
                notes.append(str(error))


def taken_back(newest_first: Iterable[Revision]) -> dict[int, int]:
    """Which revisions are undone, and by which one; an undo that was undone itself counts not."""
    undone: dict[int, int] = {}
    for revision in newest_first:
        if revision.undoes is not None and revision.id not in undone:
            undone.setdefault(revision.undoes, revision.id)
    return undone


def begin(
    layout: Layout,
    op: str,
    changes: Sequence[Change],
    *,
    now: datetime,
    note: str = "",
    undoes: int | None = None,
    durable: bool = True,
) -> int:
    """Record what is about to be done and return its number; the caller holds the lock.

    With `durable` it is on disk before this returns. Raises OSError, and then left nothing.
    """
    _prepare(layout)
    number = max((*_numbers(layout, _DONE), *_numbers(layout, _OPEN)), default=0) + 1
    revision = Revision(number, op, now, note, tuple(changes), undoes, state="open")
    _write(layout, _path(layout, number, _OPEN), record.encode(revision), durable)
    return number


def finish(layout: Layout, number: int) -> None:
    """Mark a revision as done; a crash before the name is on disk shows it as open again."""
    os.rename(_path(layout, number, _OPEN), _path(layout, number, _DONE))


def amend(layout: Layout, revision: Revision, changes: Sequence[Change]) -> None:
    """Finish an open revision that keeps only `changes`."""
    kept = replace(revision, changes=tuple(changes))
    disk.replace(_path(layout, revision.id, _DONE), record.encode(kept), mode=0o600)
    drop(layout, revision.id)


def drop(layout: Layout, number: int) -> None:
    """Forget an open revision of which nothing was done."""
    os.unlink(_path(layout, number, _OPEN))


def prune(layout: Layout, *, now: datetime, keep_days: int = KEEP_DAYS) -> None:
    """Delete records written over `keep_days` ago, but never one of the newest KEEP_NEWEST."""
    limit = now.timestamp() - keep_days * 86_400
    for number in reversed(ids(layout)[KEEP_NEWEST:]):
        path = _path(layout, number, _DONE)
        with suppress(FileNotFoundError):
            # Not the time inside: a damaged record must go as well, and a copy may stay longer.
            if os.stat(path, follow_symlinks=False).st_mtime >= limit:
                return
            os.unlink(path)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_ID


def _path(layout: Layout, number: int, ending: str) -> str:
    return os.path.join(layout.history, f"{number:0{_DIGITS}d}{ending}")


def _numbers(layout: Layout, ending: str) -> list[int]:
    try:
        names = os.listdir(layout.history)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise WorkspaceError(f"cannot list {layout.history}: {error.strerror}") from error
    stems = [name[: -len(ending)] for name in names if name.endswith(ending)]
    return [int(stem) for stem in stems if _is_number(stem) and len(stem) >= _DIGITS]


def _prepare(layout: Layout) -> None:
    try:
        found = os.stat(layout.history, follow_symlinks=False)
    except FileNotFoundError:
        disk.make_folder(layout.history, 0o700)
        return
    if not stat.S_ISDIR(found.st_mode):
        raise WorkspaceError(f"{layout.history} is not a folder")


def _bytes(layout: Layout, path: str) -> bytes | None:
    try:
        return disk.read(path)
    except OSError as error:
        name = os.path.relpath(path, layout.root)
        raise WorkspaceError(f"cannot read {name}: {error.strerror}") from error


def _write(layout: Layout, path: str, data: bytes, durable: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        disk.give_to_owner(descriptor, layout.history)
        disk.write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
            disk.sync_folder(layout.history)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)
