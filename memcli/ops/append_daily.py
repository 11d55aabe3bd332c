"""Add one entry to the daily log: what hooks do on every commit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memcli.errors import ConflictError, MemError, RefusedError
from memcli.ops import waiting
from memcli.ops.index import index_written
from memcli.ops.remembered import without_recalled
from memcli.ops.secrets import without_secrets
from memcli.ops.waiting import Waiting
from memcli.text.daily import clean_stage, render_entry
from memcli.text.secrets import mask
from memcli.workspace import Workspace

UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer of ``mem append-daily``; an empty path when there was nothing to write."""

    path: str
    revision: int | None
    notes: tuple[str, ...] = ()


def append_daily(
    workspace: Workspace,
    body: str,
    *,
    stage: str,
    now: datetime,
    once: str = "",
    patience: float | None = None,
) -> Appended:
    """Append `body` to the log of the local day `now`. A blank body writes nothing.

    Neither is anything written when the day's log already holds the text `once`.
    When this returns the entry is on disk, and keyword search has it. With `patience`, in seconds,
    an entry for which the lock was not had so long is left to the next who writes, who knows by
    `once` whether it is there already; otherwise that raises ConflictError. Raises WorkspaceError
    when the log cannot be written.
    """
    body = without_recalled(workspace, body)
    if not body.strip():
        return Appended("", None, tuple(workspace.notes))
    body = without_secrets(workspace, body)
    stage = without_secrets(workspace, stage)
    if workspace.settings.secrets != "off":
        once = mask(once)[0]  # as the log has it
    entry = Waiting(now, stage, body, once)
    try:
        # One lock for all, so that fifty writers index their entries one after the other as well.
        with workspace.lock("append-daily", patience):
            notes = write_waiting(workspace, now=now)
            done = _append(workspace, entry, now=now)
    except ConflictError as error:
        if patience is None:
            raise
        waiting.leave(workspace.layout, entry)
        note = f"{error}; the entry is left to the next who writes"
        return Appended("", None, (*workspace.notes, note))
    return Appended(done.path, done.revision, (*workspace.notes, *notes, *done.notes))


def write_waiting(workspace: Workspace, *, now: datetime) -> list[str]:
    """Append the entries that had to wait, each once; what there is to say.

    One that cannot be written stays, and is no reason to fail for who comes next. The caller holds
    the lock.
    """
    notes: list[str] = []
    for path in waiting.paths(workspace.layout):
        try:
            entry = waiting.read(path)
            if entry is None:
                continue
            done = _append(workspace, entry, now=now)
            notes += done.notes
            if done.path:
                notes.append(f"an entry that had to wait was added to {done.path}")
            waiting.done(path)
        except MemError as error:
            notes.append(f"an entry still waits to be added to the log: {error}")
    return notes


def _append(workspace: Workspace, entry: Waiting, *, now: datetime) -> Appended:
    path = f"daily/{entry.now:%Y-%m-%d}.md"
    with workspace.edit("append-daily", now=now, note=clean_stage(entry.stage)) as files:
        before = files.read(path) or b""
        if before.startswith(UTF_16):
            raise RefusedError(f"{path} is UTF-16, which cannot be added to", hint="save as UTF-8")
        if entry.once and entry.once.encode("utf-8", "surrogateescape") in before:
            return Appended("", None, tuple(files.notes))
        is_first = not before.strip()
        text = render_entry(entry.now, entry.stage, entry.body, first_of_day=is_first)
        files.append(path, _fitted(text, before))
    notes = [*files.notes, *index_written(workspace, [path], now=now.timestamp())]
    return Appended(path, files.revision, tuple(notes))


def _fitted(entry: str, before: bytes) -> bytes:
    """The bytes of an entry with the log's own line ends, on a line of its own."""
    data = entry.encode("utf-8", "surrogateescape")
    if before and not before.endswith((b"\n", b"\r")):
        data = b"\n" + data
    first = before.find(b"\n")
    if first > 0 and before[first - 1] == 0x0D:
        data = data.replace(b"\n", b"\r\n")
    return data
