"""What there is to do for a model: nothing but the files, the history and the queue are asked.

So a lost queue is filled again, but for what the history shows as done. Each thing is named by a
mark, which is made from its content.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from memcli.edit import read
from memcli.errors import MemError, WorkspaceError
from memcli.layout import DREAMS_FILE, MEMORY_FILE, Layout
from memcli.ops.beliefs import revise_beliefs
from memcli.ops.dreams import dreams_text, old_logs
from memcli.ops.marks import BELIEFS, CONSOLIDATION, FACTS, mark, unwanted_digests
from memcli.ops.material import TOKENS, archived, bounded, entries
from memcli.store.jobs import Job
from memcli.text import digest
from memcli.text.dates import date_of
from memcli.text.tokens import estimate
from memcli.workspace import Workspace

FURTHEST = 36_500  # days: further back a calendar may end

IsKnown = Callable[[str, str], bool]  # of a kind, a mark: queued already, or done


def due(
    workspace: Workspace, is_known: IsKnown, *, now: datetime, settle: float = 0.0
) -> tuple[list[Job], list[str]]:
    """What to queue, newest first, and what there is to say.

    A log that was written in the last `settle` seconds waits, unless there is enough of it. Without
    a model nothing is due that needs one.
    """
    notes: list[str] = []
    found: list[Job] = []
    if workspace.llm is None:
        notes.append("no model is set up to find facts in logs: mem config set llm.provider ollama")
    else:
        found += _extractions(workspace, is_known, notes, now=now, settle=settle)
    found += _beliefs(workspace, is_known, notes, now)
    found += _consolidations(workspace, is_known, notes, now)
    return found, notes


def signature(workspace: Workspace, *, now: datetime, settle: float) -> tuple[object, ...]:
    """What changes whenever something may have become due."""
    paths = [path for _, path in _dated(workspace, now)]
    return (
        now.date(),
        *(_stamp(workspace.layout, path, now, settle) for path in paths),
        _stamp(workspace.layout, MEMORY_FILE, now, 0.0),
        _stamp(workspace.layout, DREAMS_FILE, now, 0.0),
    )


def is_consolidation_due(workspace: Workspace, now: datetime) -> bool:
    """Whether there are old logs that no digest was ever made from."""
    return bool(_undigested(workspace, now, []))


def _extractions(
    workspace: Workspace, is_known: IsKnown, notes: list[str], *, now: datetime, settle: float
) -> Iterator[Job]:
    for _, path in _dated(workspace, now):
        try:
            data = read(workspace.layout, path)
        except WorkspaceError as error:
            notes.append(f"passed over: {error}")
            continue
        if not data or not data.strip():
            continue
        if not path.startswith("daily/"):
            stretches = archived(data)
            for number, one in enumerate(stretches, 1):
                if not is_known(FACTS, one):
                    subject = path if len(stretches) == 1 else f"{path}, part {number}"
                    yield Job(0, FACTS, subject, (one,), {"path": path})
            continue
        new = {name: one for name, one in entries(path, data).items() if not is_known(FACTS, name)}
        is_quiet = not _is_fresh(workspace.layout, path, now, settle)
        for group in bounded(new):
            if is_quiet or sum(estimate(new[name].text) for name in group) * 2 >= TOKENS:
                count = "1 entry" if len(group) == 1 else f"{len(group)} entries"
                yield Job(0, FACTS, f"{path}, {count}", group, {"path": path})


def _dated(workspace: Workspace, now: datetime) -> list[tuple[str, str]]:
    """The logs and archived texts of the last days with their days, newest first."""
    days = min(workspace.settings.jobs_days, FURTHEST)
    first, last = (f"{now.date() - timedelta(days=back):%Y-%m-%d}" for back in (days - 1, 0))
    found = []
    for folder in ("archive", "daily"):
        try:
            names = os.listdir(os.path.join(workspace.layout.memory, folder))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise WorkspaceError(f"cannot list {folder}: {error.strerror}") from error
        for name in names:
            path = f"{folder}/{name}"
            day = date_of(path)
            is_text = name.endswith(".md") and name[0] != "." and name.isprintable()
            is_log = folder == "daily" or name.startswith("daily-")
            if day is None or not is_text or not first <= day <= last:
                continue
            if is_log and path != f"daily/{day}.md":
                continue  # a log that was folded, and read as it was made, or no log at all
            found.append((day, path))
    return sorted(found, reverse=True)


def _beliefs(
    workspace: Workspace, is_known: IsKnown, notes: list[str], now: datetime
) -> Iterator[Job]:
    """A job for each fact in force that an older one speaks against.

    What the rules would only report waits for a model that can be asked.
    """
    done = revise_beliefs(workspace, (), is_dry=True, now=now)
    notes += done.notes
    older: dict[str, dict[str, str]] = {}
    is_asked = workspace.llm is not None
    for one in (*done.superseded, *(done.reported if is_asked else ())):
        pair = mark(BELIEFS, f"{one.new_hash} {one.old_hash}".encode())
        if not is_known(BELIEFS, pair):
            older.setdefault(one.new_hash, {})[pair] = one.old_hash
    for newer, pairs in older.items():
        subject = f"{newer[:6]} against {', '.join(one[:6] for one in pairs.values())}"
        yield Job(0, BELIEFS, subject, tuple(pairs), {"hash": newer})


def _consolidations(
    workspace: Workspace, is_known: IsKnown, notes: list[str], now: datetime
) -> Iterator[Job]:
    days = _undigested(workspace, now, notes)
    all_days = mark(CONSOLIDATION, "\n".join(days).encode())
    if days and not is_known(CONSOLIDATION, all_days):
        count = "1 daily log" if len(days) == 1 else f"{len(days)} daily logs"
        yield Job(0, CONSOLIDATION, f"{count} to {days[-1]}", (all_days,))


def _undigested(workspace: Workspace, now: datetime, notes: list[str]) -> list[str]:
    """The days of old logs that no digest holds, nor held before it was taken back."""
    older_than = workspace.settings.consolidate_older_than
    days = sorted({log.day for log in old_logs(workspace, now, older_than, [])[0]})
    if not days:
        return []
    try:
        text = dreams_text(read(workspace.layout, DREAMS_FILE))
    except MemError as error:  # a digest that was broken by hand, which only a person can mend
        notes.append(str(error))
        return []
    new = _not_in(digest.find(text), days)
    if new:
        for made in unwanted_digests(workspace.layout):
            new = [day for day in new if day in _not_in(made, days)]
    return new


def _not_in(made: digest.Found | None, days: list[str]) -> list[str]:
    if made is None:
        return days
    before = [day for day in days if day <= made.until]
    # A log of an old day that came later, as by a merge, was not among those that were counted.
    return days if len(before) > made.days else days[len(before) :]


def _stamp(layout: Layout, path: str, now: datetime, settle: float) -> tuple[object, ...]:
    found = _stat(layout, path)
    if found is None:
        return (path,)
    return (
        path,
        found.st_size,
        found.st_mtime_ns,
        found.st_ino,
        _is_fresh(layout, path, now, settle),
    )


def _is_fresh(layout: Layout, path: str, now: datetime, settle: float) -> bool:
    """Whether a log was written in the last `settle` seconds."""
    found = _stat(layout, path)
    return found is not None and 0 <= now.timestamp() - found.st_mtime < settle


def _stat(layout: Layout, path: str) -> os.stat_result | None:
    try:
        return os.stat(os.path.join(layout.memory, path), follow_symlinks=False)
    except FileNotFoundError:
        return None
