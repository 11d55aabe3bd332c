"""Take a revision back by a three-way merge, so that what was edited elsewhere since survives.

A revision that is taken back leaves a revision of its own, which can be taken back in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from memcli import history
from memcli.edit import edit, read, recover
from memcli.errors import ConflictError, RefusedError
from memcli.layout import Layout, scan
from memcli.lock import WAIT, hold
from memcli.text.merge import Conflict, merge, take_out
from memcli.text.revisions import Change, Revision, diff

_SHOWN_LINES = 6

_Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """A revision as `mem undo --list` shows it."""

    id: int
    created_at: datetime
    op: str
    note: str
    files: tuple[str, ...]
    undoes: int | None
    undone_by: int | None


@dataclass(frozen=True, slots=True)
class RevisionList:
    """The answer of ``mem undo --list``, newest first."""

    revisions: tuple[RevisionLine, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RevisionDiff:
    """The answer of ``mem undo --diff``: a unified diff."""

    revision: int
    diff: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The answer of ``mem undo``. A dry run has no ``revision``."""

    undoes: int
    op: str  # the verb of what was taken back
    revision: int | None
    files: tuple[str, ...]
    diff: str  # what taking it back changes, or would change
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """One line of ``mem undo --list``."""

    revision: Revision
    undone_by: int | None


def undo(
    layout: Layout,
    number: int | None = None,
    *,
    now: datetime,
    dry_run: bool = False,
    wait: float = WAIT,
    keep_days: int = history.KEEP_DAYS,
) -> Undone:
    """Take back revision `number`, or the newest that is in force and no undo itself.

    Raises RefusedError when there is none or it is taken back already, and ConflictError when its
    lines were edited since; then nothing is written.
    """
    notes: list[str] = []
    if dry_run:
        target = _target(layout, number, notes)
        plan = _plan(layout, target, lambda path: read(layout, path), notes)
        return _undone(target, None, plan, notes)
    with hold(layout.lock, "undo", wait):
        notes += recover(layout)
        target = _target(layout, number, notes)
        note = f"takes back {target.op} (revision {target.id})"
        with edit(
            layout, "undo", now=now, note=note, undoes=target.id, keep_days=keep_days
        ) as files:
            plan = _plan(layout, target, files.read, notes)
            for change in plan:
                if change.after is None:
                    files.delete(change.path)
                else:
                    files.replace(change.path, change.after, change.mode)
    return _undone(target, files.revision, plan, notes + files.notes)


def past(layout: Layout, notes: list[str] | None = None) -> tuple[Past, ...]:
    """Every revision, newest first; a damaged one is left out and said in `notes`."""
    revisions = tuple(history.revisions(layout, notes))
    undone = history.taken_back(revisions)
    return tuple(Past(revision, undone.get(revision.id)) for revision in revisions)


def show(layout: Layout, number: int) -> str:
    """What a revision did, as a unified diff."""
    return diff(history.read(layout, number).changes)


def _undone(target: Revision, revision: int | None, plan: list[Change], notes: list[str]) -> Undone:
    files = tuple(change.path for change in plan)
    return Undone(target.id, target.op, revision, files, diff(plan), tuple(notes))


def _target(layout: Layout, number: int | None, notes: list[str]) -> Revision:
    if number is not None:
        target = history.read(layout, number)
        newer = takewhile(lambda revision: revision.id > number, history.revisions(layout))
        by = history.taken_back(newer).get(number)
        if by is not None:
            raise RefusedError(
                f"revision {number} is taken back already, by revision {by}", hint=f"mem undo {by}"
            )
        return target
    undone: set[int] = set()
    for revision in history.revisions(layout, notes):
        if revision.id in undone:
            continue
        if revision.undoes is None:
            return revision
        undone.add(revision.undoes)
    raise RefusedError("there is nothing to undo", hint="mem undo --list" if undone else "")


def _plan(layout: Layout, target: Revision, read: _Read, notes: list[str]) -> list[Change]:
    """The changes that take `target` back, each from the bytes of now."""
    plan = []
    for change in reversed(target.changes):
        path = change.path
        now = read(path)
        if _is_gone(change, now):
            path = _moved(layout, change, read, target.id) or path
            now = read(path)
        new = _reverted(change, now, target.id)
        if new == now:
            notes.append(f"nothing of revision {target.id} is left in {path}")
            continue
        kind = "create" if now is None else "delete" if new is None else "replace"
        plan.append(Change(path, kind, now, new, mode=change.mode))
    return plan


def _is_gone(change: Change, now: bytes | None) -> bool:
    """Whether nothing of what a change wrote is in its file, as far as that can be told."""
    if change.after is None:
        return False
    if now is None:
        return True
    # An append that somebody cut off again, to the byte.
    return change.kind == "append" and len(now) == change.offset and change.after not in now


def _reverted(change: Change, now: bytes | None, number: int) -> bytes | None:
    """What the file must become, None for no file."""
    if now == change.before:
        return now
    if change.kind == "append":
        return None if now is None else _without(change, now, number)
    if now == change.after:
        return change.before
    if now is None:
        if change.before is None:
            return None
        raise _conflict(f"{change.path} was deleted after revision {number}", number)
    if change.after is None:
        raise _conflict(f"{change.path} was made anew after revision {number} deleted it", number)
    merged = _merged(change.path, change.after, now, change.before or b"", number)
    return merged or (None if change.before is None else b"")


def _without(change: Change, now: bytes, number: int) -> bytes:
    added = change.after or b""
    found = take_out(now, added, change.offset)
    if found is not None:
        return found
    if _is_gone(change, now):
        return now
    raise _conflict(
        f"{change.path} was edited after revision {number}, where it had added\n"
        f"{_indented(added)}\nnow:\n{_indented(now[change.offset :])}",
        number,
    )


def _merged(path: str, base: bytes, ours: bytes, theirs: bytes, number: int) -> bytes:
    merged = merge(base, ours, theirs)
    if merged.conflicts:
        first = merged.conflicts[0]
        raise _conflict(
            f"{path} was edited after revision {number}, in the same lines\n{_both(first)}", number
        )
    return merged.data


def _both(conflict: Conflict) -> str:
    return f"now:\n{_indented(conflict.ours)}\nwould become:\n{_indented(conflict.theirs)}"


def _indented(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").splitlines() or ["(nothing)"]
    if len(lines) > _SHOWN_LINES:
        lines = [*lines[:_SHOWN_LINES], "…"]
    return "\n".join(f"  {line}" for line in lines)


def _conflict(message: str, number: int) -> ConflictError:
    return ConflictError(message, hint=f"mem undo --diff {number}")


def _moved(layout: Layout, change: Change, read: _Read, number: int) -> str | None:
    """Where a file went that is gone from its place, None when its text is nowhere.

    Followed only when one file is exactly as the revision left it and no revision ever knew it
    under that name. Raises ConflictError when the text is somewhere, but not as plainly as that.
    """
    after = change.after or b""
    size = change.offset + len(after)
    same, similar = [], []
    for path, state in scan(layout):
        if state is None or state.st_size < len(after):
            continue
        data = read(path) or b""
        is_whole = change.kind == "append" or len(data) == size
        if is_whole and data[change.offset : size] == after:
            same.append(path)
        elif after.strip() and after in data:
            similar.append(path)
    known = {one.path for revision in history.revisions(layout) for one in revision.changes}
    if len(same) == 1 and not similar and same[0] not in known:
        return same[0]
    if same or similar:
        raise _conflict(
            f"{change.path} is gone, and what revision {number} wrote there is in "
            f"{min(same + similar)}",
            number,
        )
    return None
