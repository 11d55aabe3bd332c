"""Add one entry to the daily log: what hooks do on every commit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memcli.errors import RefusedError
from memcli.ops.index import index_written
from memcli.ops.remembered import without_recalled
from memcli.ops.secrets import without_secrets
from memcli.text.daily import clean_stage, render_entry
from memcli.workspace import Workspace

UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer of ``mem append-daily``; an empty path when there was nothing to write."""

    path: str
    revision: int | None
    notes: tuple[str, ...] = ()


def append_daily(
    workspace: Workspace, body: str, *, stage: str, now: datetime, once: str = ""
) -> Appended:
    """Append `body` to the log of the local day `now`. A blank body writes nothing.

    Neither is anything written when the day's log already holds the text `once`.
    When this returns the entry is on disk, and keyword search has it. Raises ConflictError when
    the lock was not had in time, WorkspaceError when the log cannot be written.
    """
    body = without_recalled(workspace, body)
    if not body.strip():
        return Appended("", None, tuple(workspace.notes))
    body = without_secrets(workspace, body)
    stage = without_secrets(workspace, stage)
    path = f"daily/{now:%Y-%m-%d}.md"
    # One lock for both, so that fifty writers index their entries one after the other as well.
    with workspace.lock("append-daily"):
        with workspace.edit("append-daily", now=now, note=clean_stage(stage)) as files:
            before = files.read(path) or b""
            if before.startswith(UTF_16):
                raise RefusedError(
                    f"{path} is UTF-16, which cannot be added to", hint="save as UTF-8"
                )
            if once and once.encode("utf-8", "surrogateescape") in before:
                return Appended("", None, (*workspace.notes, *files.notes))
            entry = render_entry(now, stage, body, first_of_day=not before.strip())
            files.append(path, _fitted(entry, before))
        notes = [*files.notes, *index_written(workspace, [path], now=now.timestamp())]
    return Appended(path, files.revision, (*workspace.notes, *notes))


def _fitted(entry: str, before: bytes) -> bytes:
    """The bytes of an entry with the log's own line ends, on a line of its own."""
    data = entry.encode("utf-8", "surrogateescape")
    if before and not before.endswith((b"\n", b"\r")):
        data = b"\n" + data
    first = before.find(b"\n")
    if first > 0 and before[first - 1] == 0x0D:
        data = data.replace(b"\n", b"\r\n")
    return data
