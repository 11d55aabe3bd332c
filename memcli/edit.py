"""The one door for changing memory files: recorded first, whole or not at all, undone at will.

What makes it hold. The lock is held from before the first read to the end. The record of a revision
is written, under its open name, before any file is touched, so a torn record means that nothing was
done. All new contents are on disk under hidden names before the first file is renamed, so a full
disk is met while every file is as before. An open record found later is a crash: it is completed
when all its files are as after, and rolled back otherwise.

Record and files are flushed in that order, with one exception. An edit that only appends some bytes
to one file, or only makes one new file, destroys nothing, so its record is written first but not
flushed: a killed process leaves it in place all the same, and if the power fails in the few seconds
before the system flushes it, what is lost is the way to undo that one addition, never the addition
or anything before it. So the append of a commit hook costs one flush.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from memcli import disk, history
from memcli.changes import apply, edited, roll_back, settle
from memcli.errors import ConflictError, WorkspaceError
from memcli.layout import Layout
from memcli.lock import WAIT, hold
from memcli.text.revisions import Change

_SMALL = 4096  # bytes; a longer append may tear when the power fails, so its record is flushed


def read(layout: Layout, path: str) -> bytes | None:
    """All bytes of a memory file, None when it does not exist.

    Raises WorkspaceError for a link, a folder, a device or a file that cannot be read: what cannot
    be read is never taken for empty.
    """
    full = layout.memory_path(path)
    try:
        return disk.read(full)
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error


class Files:
    """The memory files as one edit sees and changes them; nothing is written before it ends.

    After the edit `revision` is its number, None when nothing changed. `notes` says what was mended
    on the way.
    """

    def __init__(self, layout: Layout) -> None:
        self.revision: int | None = None
        self.notes: list[str] = []
        self._layout = layout
        self._seen: dict[str, bytes | None] = {}
        self._added: dict[str, bytes] = {}
        self._whole: dict[str, bytes | None] = {}
        self._modes: dict[str, int] = {}

    def read(self, path: str) -> bytes | None:
        """As the function `read`, with what this edit has done to the file so far."""
        if path in self._whole:
            return self._whole[path]
        if path not in self._seen:
            self._seen[path] = read(self._layout, path)
        if path in self._added:
            return (self._seen[path] or b"") + self._added[path]
        return self._seen[path]

    def append(self, path: str, data: bytes) -> None:
        """Add exactly these bytes at the end; a file that does not exist begins with them."""
        self._layout.memory_path(path)
        if path in self._whole:
            self._whole[path] = (self._whole[path] or b"") + data
        else:
            self._added[path] = self._added.get(path, b"") + data

    def replace(self, path: str, data: bytes, mode: int | None = None) -> None:
        """Make `data` the whole file. If it was read here it must not change until the end.

        A file that is there keeps its mode; a new one gets `mode`, or what the umask leaves.
        """
        self._layout.memory_path(path)
        self._added.pop(path, None)
        self._whole[path] = data
        if mode is not None:
            self._modes[path] = mode

    def move(self, path: str, to: str) -> None:
        """Give a file that is there another name, in the place of what may be there."""
        data = self.read(path)
        assert data is not None, "only what is there can be moved"
        self.replace(to, data, disk.mode(self._layout.memory_path(path)))
        self.delete(path)

    def delete(self, path: str) -> None:
        """Remove the file; nothing happens when there is none."""
        self._layout.memory_path(path)
        self._added.pop(path, None)
        self._whole[path] = None

    def _changes(self) -> list[Change]:
        added = (self._addition(path, data) for path, data in self._added.items() if data)
        whole = (self._rewriting(path, data) for path, data in self._whole.items())
        return [change for change in (*added, *whole) if change]

    def _addition(self, path: str, data: bytes) -> Change:
        size = _size(self._layout, path)
        if path in self._seen:
            seen = self._seen[path]
            if size != (None if seen is None else len(seen)):
                raise edited(path)
        if size is None:
            return Change(path, "create", None, data)
        return Change(path, "append", b"", data, offset=size)

    def _rewriting(self, path: str, data: bytes | None) -> Change | None:
        before = read(self._layout, path)
        if path in self._seen and self._seen[path] != before:
            raise edited(path)
        if before == data:
            return None
        if data is None:
            mode = disk.mode(self._layout.memory_path(path))
            return Change(path, "delete", before, None, mode=mode)
        if before is None:
            return Change(path, "create", None, data, mode=self._modes.get(path))
        return Change(path, "replace", before, data)


@contextmanager
def edit(
    layout: Layout,
    op: str,
    *,
    now: datetime,
    note: str = "",
    undoes: int | None = None,
    wait: float = WAIT,
    keep_days: int = history.KEEP_DAYS,
) -> Iterator[Files]:
    """Change memory files as one revision of the verb `op`, written when the block ends.

    The lock is held for the whole block, so that reading, deciding and writing are one step; ask no
    model inside. An exception inside leaves everything as it was. A block that changes nothing
    makes no revision, unless it is an undo: then the record alone says that it was taken back.
    Raises ConflictError when the lock was not had in `wait` seconds or a file that was read was
    edited meanwhile, and WorkspaceError when something cannot be read or written.
    """
    with hold(layout.lock, op, wait):
        files = Files(layout)
        files.notes += settle(layout)
        yield files
        changes = files._changes()
        if not changes and undoes is None:
            return
        files.revision = _write(layout, op, changes, now=now, note=note, undoes=undoes)
        try:
            history.prune(layout, now=now, keep_days=keep_days)
        except OSError as error:
            files.notes.append(f"cannot delete old revisions: {error.strerror}")


def recover(layout: Layout, wait: float = 0.0) -> tuple[str, ...]:
    """Complete or roll back what a crash left unfinished, and say so.

    Every edit does this first. Nothing happens when another process is writing just now, since what
    is unfinished then is its work.
    """
    if not history.open_ids(layout):
        return ()
    try:
        with hold(layout.lock, "recovery", wait):
            return tuple(settle(layout))
    except ConflictError:
        return ()


def _write(
    layout: Layout,
    op: str,
    changes: Sequence[Change],
    *,
    now: datetime,
    note: str,
    undoes: int | None,
) -> int:
    durable = not _destroys_nothing(changes)
    with _recording():
        number = history.begin(
            layout, op, changes, now=now, note=note, undoes=undoes, durable=durable
        )
    try:
        apply(layout, changes)
        with _recording():
            history.finish(layout, number)
    except BaseException as error:
        try:
            roll_back(layout, changes)
            history.drop(layout, number)
        except OSError as second:
            raise WorkspaceError(
                f"{error or 'interrupted'}, and it could not be taken back: {second.strerror}",
                hint="mem doctor --fix",
            ) from error
        raise
    return number


@contextmanager
def _recording() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorkspaceError(f"cannot record the change: {error.strerror}") from error


def _destroys_nothing(changes: Sequence[Change]) -> bool:
    if len(changes) != 1:
        return False
    change = changes[0]
    return change.kind == "create" or (
        change.kind == "append" and len(change.after or b"") <= _SMALL
    )


def _size(layout: Layout, path: str) -> int | None:
    try:
        return disk.size(layout.memory_path(path))
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
