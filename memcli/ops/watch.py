"""Keep the index in step as files change, all day, until stopped.

Events are hints: they say where to look, and the comparison of stamps says what changed. A full
scan comes first, after every doubt (an overflow, a folder that moved, a long silence as in sleep)
and every RESCAN seconds.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from memcli import lock
from memcli.errors import ConflictError, ProviderError, StoreError, WorkspaceError
from memcli.ops.differ import Difference, differ
from memcli.ops.embed import embed_newest
from memcli.ops.index import apply
from memcli.workspace import Workspace

DEBOUNCE = 0.3  # seconds without an event before a batch is taken
LONGEST = 2.0  # seconds that a batch waits for such silence
TICK = 1.0  # seconds between two looks at the clock while nothing happens
RESCAN = 60.0
BEAT_EVERY = 2  # seconds
SLEPT = 10.0  # a tick that took so long was a sleeping machine
MANY = 200  # paths in a batch from which on a full scan is cheaper
POLL = 1.0  # seconds between two looks of the polling observer

_DOUBT = ""  # in place of a path: look at everything


@dataclass(frozen=True, slots=True)
class Batch:
    """One answer of ``mem watch``: what was taken into the index at once."""

    at: float  # unix seconds
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    embedded: int = 0
    pending: int = 0
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed or self.embedded or self.notes)


def watch(
    workspace: Workspace,
    *,
    clock: Callable[[], float],
    is_stopped: Callable[[], bool],
    is_polling: bool = False,
) -> Iterator[Batch]:
    """Yield a batch whenever the index changed, until `is_stopped` says so.

    The writers' lock is held for each batch alone, so searches and writers are never locked out.
    Raises ConflictError when another watch is at work here, WorkspaceError when the workspace goes.
    """
    if not workspace.backend.is_lasting:
        raise WorkspaceError(f"{workspace.layout.home} may not be written, so nothing can be kept")
    with lock.hold(workspace.layout.watch, "watch", wait=0):
        hints: SimpleQueue[str] = SimpleQueue()
        observer, note = _observer(workspace, hints, is_polling=is_polling)
        try:
            first = _take(workspace, None, clock())
            yield replace(first, notes=(note, *first.notes)) if note else first
            yield from _rounds(workspace, hints, clock, is_stopped)
        finally:
            observer.stop()
            observer.join()
            _beat(workspace, 0)


def _rounds(
    workspace: Workspace,
    hints: SimpleQueue[str],
    clock: Callable[[], float],
    is_stopped: Callable[[], bool],
) -> Iterator[Batch]:
    scanned = ticked = time.monotonic()
    while not is_stopped():
        _beat(workspace, int(clock()))
        paths = _gathered(hints)
        now = time.monotonic()
        if now - scanned > RESCAN or now - ticked > SLEPT:
            paths.add(_DOUBT)
        ticked = now
        if not os.path.isdir(workspace.layout.home):
            raise WorkspaceError(f"{workspace.layout.home} is gone")
        if not paths:
            batch = _embedded(workspace, clock())
        else:
            is_all = _DOUBT in paths or len(paths) > MANY
            batch = _take(workspace, None if is_all else paths, clock())
            scanned = time.monotonic() if is_all else scanned
        if not batch.is_empty:
            yield batch


def _beat(workspace: Workspace, at: int) -> None:
    """Tell searches that they need not walk, unless somebody is writing just now."""
    if at and at - workspace.backend.beaten_at() < BEAT_EVERY:
        return
    try:
        with workspace.lock("watch", wait=0 if at else None):
            workspace.backend.beat(at)
    except (ConflictError, WorkspaceError):
        return  # the beat grows old by itself


def _gathered(hints: SimpleQueue[str]) -> set[str]:
    """Wait a tick for a hint, then for silence; all paths hinted at."""
    try:
        paths = {hints.get(timeout=TICK)}
    except Empty:
        return set()
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        try:
            paths.add(hints.get(timeout=DEBOUNCE))
        except Empty:
            break
    return paths


def _take(workspace: Workspace, paths: set[str] | None, now: float) -> Batch:
    """Take what differs into the index, of some paths or of all."""
    try:
        with workspace.lock("watch"):
            difference = differ(workspace) if paths is None else _of(workspace, paths)
            done = apply(workspace, difference, now=now)
    except (ConflictError, StoreError) as error:
        return Batch(now, notes=(f"not in step yet: {error}",))
    return Batch(
        now,
        added=done.added,
        changed=done.changed,
        removed=done.removed,
        pending=workspace.backend.counts()[2],
        notes=done.notes,
    )


def _of(workspace: Workspace, paths: set[str]) -> Difference:
    """What differs among these paths, each of which may have come, changed or gone."""
    known = workspace.backend.signatures()
    changed, removed = [], []
    for path in sorted(paths):
        try:
            found = os.stat(os.path.join(workspace.layout.memory, path), follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            removed += [path] * (path in known)
            continue
        signature = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        if known.get(path) != signature:
            changed.append((path, found))
    return Difference(tuple(changed), tuple(removed), 0, (), is_partial=True)


def _embedded(workspace: Workspace, now: float) -> Batch:
    """Use a quiet moment for a few of the vectors that are missing."""
    if workspace.embedder is None or not workspace.backend.counts()[2]:
        return Batch(now)
    try:
        done = embed_newest(workspace, now=now)
        left = workspace.backend.counts()[2]
        if not left:
            with workspace.lock("watch"):
                workspace.backend.tidy()
        return Batch(now, embedded=done, pending=left)
    except (ProviderError, ConflictError, StoreError) as error:
        time.sleep(TICK)
        return Batch(now, notes=(f"no vectors were made: {error}",))


class _Hints(FileSystemEventHandler):
    """Turns events into paths of memory files; what concerns a folder is a doubt."""

    def __init__(self, memory: str, hints: SimpleQueue[str]) -> None:
        self._memory = memory + os.sep
        self._hints = hints

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in ("opened", "closed_no_write"):
            return
        for raw in (event.src_path, event.dest_path):
            path = os.fsdecode(raw)
            if path + os.sep == self._memory:
                self._hints.put(_DOUBT)
            if not path.startswith(self._memory):
                continue
            if event.is_directory:
                # A folder's own time changes with each file in it, which has an event as well.
                if event.event_type != "modified":
                    self._hints.put(_DOUBT)
            elif path.endswith(".md"):
                self._hints.put(path[len(self._memory) :].replace(os.sep, "/"))


def _observer(
    workspace: Workspace, hints: SimpleQueue[str], *, is_polling: bool
) -> tuple[BaseObserver, str]:
    """A running observer: native where the system gives one, else polling, which is then said."""
    handler = _Hints(workspace.layout.memory, hints)
    note = ""
    if not is_polling and sys.platform == "linux":
        observer: BaseObserver = Observer()
        try:
            # The folder above, so that a memory that is removed and made again is still seen.
            observer.schedule(handler, workspace.layout.home, recursive=True)
            observer.start()
            return observer, ""
        except OSError as error:
            note = f"the system gives no file events ({error.strerror}); looking every {POLL:g} s"
    observer = PollingObserver(timeout=POLL)
    observer.schedule(handler, workspace.layout.home, recursive=True)
    observer.start()
    return observer, note
