"""Keep the index in step as files change, all day, until stopped.

Events are hints: they say where to look, and the comparison of stamps says what changed. A full
scan comes first, after every doubt (an overflow, a folder that moved) and every RESCAN seconds.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from watchdog import events
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.utils import BaseThread

from memcli import lock
from memcli.errors import ConflictError, WorkspaceError
from memcli.layout import Layout
from memcli.model import Progress
from memcli.ops.idle import Vectors
from memcli.ops.index import Indexed
from memcli.ops.pieces import TURN, take
from memcli.store.db import DamagedError
from memcli.workspace import Workspace

DEBOUNCE = 0.3  # seconds without an event before a batch is taken
LONGEST = 2.0  # seconds that a batch waits for such silence
TICK = 1.0  # seconds between two looks at the clock while nothing happens
POLL, POLL_SHARE = 1.0, 0.1  # seconds between two scans without events, and their share of a core
RESCAN, RESCAN_SHARE = 60.0, 0.01  # the same where there are events
BEAT_EVERY = 2.0  # seconds
MANY = 200  # paths in a batch from which on a full scan is cheaper
FLOOD = 2_000  # events: after so many some may be lost without a word
BACK_OFF, LONGEST_OFF = 1.0, 300.0  # seconds until what failed is tried again, twice as long a time
SURE = 5.0  # seconds after which an event that was not told never will be

_DOUBT = ""  # in place of a path: look at everything
_BLIND = "\0"  # events come no more

_WANTED: list[type[events.FileSystemEvent]] = [
    events.FileCreatedEvent,
    events.FileModifiedEvent,
    events.FileClosedEvent,
    events.FileMovedEvent,
    events.FileDeletedEvent,
    getattr(events, "FileAttribEvent", events.FileModifiedEvent),  # its own kind since 7.0
    events.DirCreatedEvent,
    events.DirMovedEvent,
    events.DirDeletedEvent,
]


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


@contextmanager
def watch(
    workspace: Workspace, *, clock: Callable[[], float], is_polling: bool = False
) -> Iterator[Watcher]:
    """Be the one watcher of this workspace for the block; `clock` tells unix seconds.

    The writers' lock is held for each piece of work alone, so searches and writers are never locked
    out. Raises ConflictError when another watch is at work here and WorkspaceError when no index
    can be kept.
    """
    if not workspace.is_writable:
        raise WorkspaceError(f"{workspace.layout.home} may not be written, so no index is kept")
    with _alone(workspace), _Events(workspace.layout, is_polling=is_polling) as seen:
        watcher = Watcher(workspace, clock, seen)
        try:
            yield watcher
        finally:
            watcher.end()


class Watcher:
    """Takes what changed into the index and says so."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float], seen: _Events) -> None:
        self._workspace = workspace
        self._clock = clock
        self._seen = seen
        self._home = _identity(workspace.layout.home)
        self._index: tuple[int, int] | None = None
        self._is_damaged = False
        self._vectors = Vectors(workspace)
        self._scanned = 0.0  # when, by the wall clock, which goes on while the machine sleeps
        self._rest = 0.0  # seconds until the next full scan
        self._failures = 0  # since the index was last in step
        self._said: set[str] = set()
        self._missed: set[str] = set()  # what a scan found and no event told of
        self._beaten = 0.0

    def catch_up(self, progress: Progress | None = None) -> Batch:
        """Look at everything; what was taken. Until then searches look for themselves."""
        return self._round({_DOUBT}, progress)

    def batches(self) -> Iterator[Batch]:
        """A batch whenever the index changed, for ever. Raises WorkspaceError when it is gone."""
        while True:
            self._beat()
            batch = self._round(self._seen.gathered())
            if not batch.is_empty:
                yield batch

    def end(self) -> None:
        """Stop the embedder, and let searches look for themselves at once."""
        self._vectors.end()
        self._beat(is_last=True)

    def _round(self, paths: set[str], progress: Progress | None = None) -> Batch:
        now = self._clock()
        if _identity(self._workspace.layout.home) != self._home:
            raise WorkspaceError(f"{self._workspace.layout.home} is gone")
        if self._index != _identity(self._workspace.layout.database):
            paths.add(_DOUBT)  # somebody put another in its place
        notes = self._seen.judged(paths, self._missed, now - self._scanned)
        is_due = not 0 <= now - self._scanned < self._rest
        done = Indexed()
        if paths or is_due:
            is_all = is_due or self._failures or _DOUBT in paths or len(paths) > MANY
            is_sudden = is_due and not paths and not self._failures
            done = self._tried(None if is_all else paths, now, progress)
            found = {*done.added, *done.changed, *done.removed}
            self._missed = found if is_sudden else self._missed - paths
        made, said = self._vectors.made()
        return Batch(
            now,
            added=done.added,
            changed=done.changed,
            removed=done.removed,
            embedded=made,
            pending=self._vectors.left if made else done.pending,
            notes=(*notes, *self._workspace.take_notes(), *done.notes, *said),
        )

    def _tried(self, paths: set[str] | None, now: float, progress: Progress | None) -> Indexed:
        """What was taken; a failure is a note, and a reason to look at everything in a while."""
        started = time.monotonic()
        try:
            self._open()
            done = take(self._workspace, paths, now=now, progress=progress)
        except (ConflictError, WorkspaceError) as error:
            self._is_damaged = isinstance(error, DamagedError)
            self._failures += 1
            self._scanned = now
            self._rest = min(BACK_OFF * 2 ** (self._failures - 1), LONGEST_OFF)
            return Indexed(notes=self._news([f"not in step yet: {error}"]))
        self._failures = 0
        if paths is None:
            least, share = (POLL, POLL_SHARE) if self._seen.is_polling else (RESCAN, RESCAN_SHARE)
            self._scanned = now
            self._rest = max(least, (time.monotonic() - started) / share)
        self._vectors.wake()
        notes = self._news(done.notes)
        if paths is None:
            self._said &= set(done.notes)
        return replace(done, notes=notes)

    def _news(self, notes: Collection[str]) -> tuple[str, ...]:
        """The notes that were not said yet."""
        new = tuple(note for note in dict.fromkeys(notes) if note not in self._said)
        self._said.update(new)
        return new

    def _open(self) -> None:
        """Open the index where it is not the one that is open, anew where that broke."""
        found = _identity(self._workspace.layout.database)
        if self._is_damaged or found is None or found != self._index:
            self._workspace.open_backend(anew=self._is_damaged)
            self._index = _identity(self._workspace.layout.database)
            self._is_damaged = False

    def _beat(self, *, is_last: bool = False) -> None:
        """Tell searches that they need not walk, unless somebody is writing just now."""
        now = self._clock()
        is_in_step = not self._failures and self._seen.is_quiet
        if not is_last and (not is_in_step or 0 <= now - self._beaten < BEAT_EVERY):
            return
        try:
            with self._workspace.lock("watch", wait=TURN if is_last else 0):
                self._workspace.backend.beat(0 if is_last else int(now))
            self._beaten = now
        except (ConflictError, WorkspaceError):
            return  # the last beat grows old by itself


def _identity(path: str) -> tuple[int, int] | None:
    """What tells a file or folder from another that takes its place; None without one."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _alone(workspace: Workspace) -> Iterator[None]:
    """Hold the lock of the one watcher."""
    path = workspace.layout.watch
    with ExitStack() as stack:
        try:
            stack.enter_context(lock.hold(path, "watch", wait=0))
        except ConflictError as error:
            with open(path, encoding="ascii", errors="replace") as file:
                process = file.readline().partition(" ")[0]
            raise ConflictError(f"mem watch is at work here already (process {process})") from error
        yield


class _Events(events.FileSystemEventHandler, logging.Handler):
    """What the system tells of changes, as hints; after a fault of it, the clock alone."""

    def __init__(self, layout: Layout, *, is_polling: bool) -> None:
        logging.Handler.__init__(self)
        self._layout = layout
        self._memory = layout.memory + os.sep
        self._hints: SimpleQueue[str] = SimpleQueue()
        self._observer: BaseObserver | None = None
        self._refusal = ""
        self._count = 0
        self._is_short = False  # of watches, at the last look
        self._warnings = warnings.catch_warnings()
        self.is_polling = is_polling or sys.platform != "linux"

    def __enter__(self) -> _Events:
        self._logger = logging.getLogger("watchdog")
        self._logger.addHandler(self)
        self._kept = threading.excepthook, self._logger.propagate
        self._logger.propagate = False
        threading.excepthook = self._on_death
        # A folder that was moved away and back is warned of, and is seen as it should be.
        self._warnings.__enter__()
        warnings.filterwarnings("ignore", module="watchdog")
        if not self.is_polling:
            self._start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()
        self._warnings.__exit__(None, None, None)
        threading.excepthook, self._logger.propagate = self._kept
        self._logger.removeHandler(self)

    @property
    def is_quiet(self) -> bool:
        return self._hints.empty()

    def gathered(self) -> set[str]:
        """Wait a tick for a hint, then for silence; all paths hinted at."""
        try:
            paths = {self._hints.get(timeout=TICK)}
        except Empty:
            return set()
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            try:
                paths.add(self._hints.get(timeout=DEBOUNCE))
            except Empty:
                break
        return paths

    def judged(self, paths: set[str], missed: set[str], seconds: float) -> tuple[str, ...]:
        """Go over to the clock when the events prove unsound; what there is to say then.

        `missed` is what a scan found so many `seconds` ago and nothing has told of since.
        """
        fault = self._fault(paths, missed if seconds > SURE else set())
        if not fault:
            return ()
        self._stop()
        self.is_polling = True
        paths.discard(_BLIND)
        paths.add(_DOUBT)
        return (f"{fault}; looking every {POLL:g} s from now on",)

    def _fault(self, paths: set[str], missed: set[str]) -> str:
        if self.is_polling:
            return ""
        observer = self._observer
        if observer is None:
            return self._refusal
        if self._is_short and not self._lacks_watches():
            self._is_short = False
        elif self._is_short:
            return "the system gives no more watches for file events"
        elif _DOUBT in paths:  # a folder may have come, and the watch for it may be on its way
            self._is_short = self._lacks_watches()
        if _BLIND in paths or not all(one.is_alive() for one in (observer, *observer.emitters)):
            return "the system's file events broke off"
        if missed and paths.isdisjoint((_DOUBT, *missed)):
            return "the system's file events miss changes here"
        return ""

    def _lacks_watches(self) -> bool:
        """Whether there are more folders than watches, of which the library says nothing."""
        count, table = 0, "/proc/self/fdinfo"
        if not os.path.isdir(table):
            return False
        for number in os.listdir(table):
            with suppress(OSError), open(os.path.join(table, number), "rb") as file:
                count += file.read().count(b"inotify wd:")
        return count < sum(1 for _ in os.walk(self._layout.home))

    def on_any_event(self, event: events.FileSystemEvent) -> None:
        self._count += 1
        if self._count % FLOOD == 0:
            self._hints.put(_DOUBT)
        for raw in (event.src_path, event.dest_path):
            path = os.fsdecode(raw)
            inside = (path if path.startswith(self._memory) else "")[len(self._memory) :]
            if inside[:1] == "." or "/." in inside:
                continue
            if event.is_directory:
                if inside or path + os.sep == self._memory:
                    self._hints.put(_DOUBT)
            elif inside.endswith(".md"):
                self._hints.put(inside if inside.isprintable() else _DOUBT)

    def emit(self, record: logging.LogRecord) -> None:
        """What the library warns of, as of an overflow, is a doubt."""
        self._hints.put(_DOUBT if record.levelno <= logging.WARNING else _BLIND)

    def _on_death(self, arguments: threading.ExceptHookArgs) -> None:
        if isinstance(arguments.thread, BaseThread):
            self._hints.put(_BLIND)  # as when no watch is left for a new folder
        else:
            self._kept[0](arguments)

    def _start(self) -> None:
        observer = None
        try:
            observer = Observer()
            # The folder above, so that a memory that is removed and made again is still seen.
            observer.schedule(self, self._layout.home, recursive=True, event_filter=_WANTED)
            observer.start()
            self._observer = observer
        except OSError as error:
            if observer is not None:
                observer.stop()
            self._refusal = f"the system gives no file events ({error.strerror})"

    def _stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None
