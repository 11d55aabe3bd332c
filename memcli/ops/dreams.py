"""The old daily logs: which they are, where they go, and what there is to glean from them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from memcli import edit, layout
from memcli.errors import RefusedError, StoreError, WorkspaceError
from memcli.layout import DREAMS_FILE
from memcli.text import digest
from memcli.text.decode import decode
from memcli.text.gleaning import Gleaning
from memcli.text.remarks import remarks
from memcli.text.secrets import mask
from memcli.workspace import Workspace

_DAY_FILE = re.compile(r"(?:daily/|archive/daily-)(\d{4}-\d\d-\d\d)\.md")
_SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True)
class Log:
    """A daily log, or one in the archive that was."""

    path: str
    day: str
    to: str  # where it is after this run


def old_logs(
    workspace: Workspace, now: datetime, older_than: int, notes: list[str]
) -> tuple[list[Log], list[str]]:
    """The logs to digest, oldest first, and the days of all logs there are."""
    last = f"{now.date() - timedelta(days=max(older_than, 0) + 1):%Y-%m-%d}"
    today = f"{now:%Y-%m-%d}"
    logs: list[Log] = []
    available: list[str] = []
    odd: list[str] = []
    for path, found in layout.scan(workspace.layout):
        day = _day_of(path)
        if day is None or found is None or day > today:
            if path.startswith("daily/"):
                odd.append(path)
            continue
        available.append(day)
        if day <= last:
            logs.append(Log(path, day, path))
    if odd:
        names = ", ".join(sorted(odd)[:_SHOWN_NAMES]) + ", …" * (len(odd) > _SHOWN_NAMES)
        notes.append(f"left alone, since not named for a day that was: {names}")
    return sorted(logs, key=lambda log: (log.day, log.path)), available


def _day_of(path: str) -> str | None:
    """The day of a daily log, also of one in the archive, by nothing but its exact name."""
    found = _DAY_FILE.fullmatch(path)
    try:
        return str(date.fromisoformat(found[1])) if found else None
    except ValueError:
        return None


def targets(
    workspace: Workspace, logs: Sequence[Log], notes: list[str]
) -> tuple[list[Log], list[Log]]:
    """All logs with where they go, and those that move."""
    placed = []
    for log in logs:
        to = f"archive/daily-{log.day}.md"
        if log.path == to:
            placed.append(log)
        elif os.path.lexists(workspace.layout.memory_path(to)):
            notes.append(f"{log.path} stays: {to} is there already")
            placed.append(log)
        else:
            placed.append(replace(log, to=to))
    return placed, [log for log in placed if log.to != log.path]


def guard(dreams: str, available: Sequence[str]) -> None:
    found = digest.find(dreams)
    if found is None:
        return
    left = len({day for day in available if day <= found.until})
    if (found.days - left) * 2 >= found.days:
        raise RefusedError(
            f"{found.days - left} of the {found.days} daily logs that the digest was made from"
            " are gone",
            hint=f"bring them back, or if it is meant, take the digest out of {DREAMS_FILE} first",
        )


def dreams_text(data: bytes | None) -> str:
    if data and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise WorkspaceError(f"{DREAMS_FILE} is UTF-16", hint="save it as UTF-8")
    text = (data or b"").decode("utf-8", "surrogateescape")
    try:
        digest.find(text)
    except ValueError as error:
        raise RefusedError(
            f"{DREAMS_FILE}: {error}", hint="take the marks and what is between them out by hand"
        ) from error
    return text


def gleaned(workspace: Workspace, logs: Sequence[Log], shown: Mapping[str, int]) -> Gleaning:
    """Read the logs one by one; none is held."""
    gleaning = Gleaning({log.to: shown.get(log.path, 0) for log in logs})
    days: dict[str, list[Log]] = {}
    for log in logs:
        days.setdefault(log.day, []).append(log)
    for day, those in days.items():
        made = []
        for log in those:
            try:
                data = edit.read(workspace.layout, log.path)
            except WorkspaceError as error:
                raise RefusedError(f"{error}; nothing was consolidated", error.hint) from error
            made += remarks(log.to, decode(data or b"")[0], datetime.fromisoformat(day))
        gleaning.add(day, made)
    return gleaning


def cleaner(workspace: Workspace) -> Callable[[str], str]:
    """What masks tokens in text that is copied, unless they are let through."""
    return str if workspace.settings.secrets == "off" else lambda text: mask(text)[0]


def shown_counts(workspace: Workspace) -> Mapping[str, int]:
    """How often each file was shown by searches, as far as the index knows."""
    if not os.path.exists(workspace.layout.database):
        return {}
    try:
        return {path: count for path, (_, count) in workspace.backend.inventory().items()}
    except StoreError as error:
        workspace.notes.append(f"how often logs were shown is not known: {error}")
        return {}
