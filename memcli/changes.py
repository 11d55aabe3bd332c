"""Bring the changes of a revision onto the memory files, or back off them again."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from memcli import disk, history
from memcli.errors import ConflictError, UsageError, WorkspaceError
from memcli.layout import Layout
from memcli.text.revisions import Change, Revision

_ORDER = {"append": 0, "create": 1, "replace": 1, "delete": 2}
_NO_FILE_OF_OURS = {errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENOTDIR}


def apply(layout: Layout, changes: Sequence[Change]) -> None:
    """Do all changes; their record must exist and the lock be held.

    New contents are staged first, so that a full disk is met before a file is touched. Raises
    ConflictError when a file is not as its change says, and WorkspaceError naming the file that
    cannot be written; what was done until then is left to `roll_back`.
    """
    staged: dict[str, str] = {}
    try:
        for change in changes:
            if change.kind != "append" and change.after is not None:
                with _naming(change.path):
                    staged[change.path] = _stage(layout, change, change.after)
        for change in sorted(changes, key=lambda change: _ORDER[change.kind]):
            with _naming(change.path):
                _put(layout.memory_path(change.path), change, staged.get(change.path))
    except BaseException:
        for temp in staged.values():
            with suppress(OSError):  # published already, or else swept another time
                os.unlink(temp)
        raise


def roll_back(layout: Layout, changes: Sequence[Change]) -> list[Change]:
    """Undo what was done of `changes`; those whose file somebody edited since are returned.

    Such a file is left as it is. Raises OSError when a file cannot be restored.
    """
    left = []
    for change in reversed(changes):
        state = _state(layout, change)
        if state == "other":
            left.append(change)
        elif state != "before":
            _restore(layout.memory_path(change.path), change)
    return left[::-1]


def settle(layout: Layout) -> Iterator[str]:
    """Complete or roll back every open revision, and tell of each; the lock is held.

    One whose files are all as after, or edited further, is complete. Otherwise it is rolled back;
    where a file was edited since, its part stays on record, so that undo can still merge it.
    """
    for number in history.open_ids(layout):
        try:
            yield _settle(layout, number)
        except OSError as error:
            raise WorkspaceError(
                f"revision {number} was interrupted and cannot be mended: {error}",
                hint="mem doctor",
            ) from error


def _settle(layout: Layout, number: int) -> str:
    revision = history.read_open(layout, number)
    if revision is None or number in history.ids(layout):
        history.drop(layout, number)
        return f"revision {number} was interrupted before it changed anything"
    _sweep(layout, revision)
    was = f"{revision.op} (revision {number}) was interrupted"
    states = {_state(layout, change) for change in revision.changes}
    if states <= {"after", "other"}:
        history.finish(layout, number)
        return f"{was} when its changes were already written; it is complete"
    left = roll_back(layout, revision.changes)
    if not left:
        history.drop(layout, number)
        return f"{was} and is rolled back"
    history.amend(layout, revision, left)
    names = ", ".join(change.path for change in left)
    return f"{was} and is rolled back, but for {names}, edited since"


def edited(path: str) -> ConflictError:
    """A memory file changed between being read and being written, by who takes no lock."""
    return ConflictError(f"{path} was edited just now by another program", hint="try again")


def _stage(layout: Layout, change: Change, data: bytes) -> str:
    full = layout.memory_path(change.path)
    folder = os.path.dirname(full)
    disk.make_folder(folder)
    disk.sweep(folder)
    return disk.stage(full, data, exact=change.mode)


def _put(full: str, change: Change, staged: str | None) -> None:
    is_append = change.kind == "append"
    # A person may have saved the file since it was read; their text must not be renamed over.
    if disk.size(full) != change.offset if is_append else disk.read(full) != change.before:
        raise edited(change.path)
    if is_append:
        disk.append(full, change.after or b"", change.offset)
    elif staged is None:
        disk.remove(full)
    else:
        disk.publish(staged, full)


def _restore(full: str, change: Change) -> None:
    if change.kind == "append":
        disk.cut(full, change.offset)
    elif change.before is None:
        disk.remove(full)
    else:
        disk.replace(full, change.before, exact=change.mode)


def _state(layout: Layout, change: Change) -> str:
    """Where the file of a change stands: before, partial (of an append), after or other."""
    try:
        full = layout.memory_path(change.path)
        if change.kind != "append":
            current = disk.read(full)
            return {change.before: "before", change.after: "after"}.get(current, "other")
        tail = disk.read_from(full, change.offset)
    except (UsageError, WorkspaceError):
        return "other"
    except OSError as error:
        if error.errno in _NO_FILE_OF_OURS:
            return "other"
        raise
    added = change.after or b""
    if not tail:
        return "before"
    if tail == added:
        return "after"
    return "partial" if added.startswith(tail) else "other"


def _sweep(layout: Layout, revision: Revision) -> None:
    # Under the lock no other writer is at work, so whatever lies there is of the dead one.
    for change in revision.changes:
        with suppress(FileNotFoundError, NotADirectoryError, UsageError, WorkspaceError):
            disk.sweep(os.path.dirname(layout.memory_path(change.path)), older_than=0)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorkspaceError(f"cannot write {path}: {error.strerror}") from error
