"""An open workspace: its layout and settings at once, index and embedder on first use."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memcli import backends, config, layout, lock, providers, tables
from memcli.errors import ConflictError, StoreError, WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from memcli.backends.base import Backend
    from memcli.config import Loaded, Settings
    from memcli.edit import Files
    from memcli.layout import Layout
    from memcli.providers.base import LLM, Embedder
    from memcli.providers.guard import Guard

PATIENCE = 0.2  # seconds that what can be done another time waits for a foreign program


class Workspace:
    """Everything a verb needs to work on one memory."""

    def __init__(self, layout: Layout, loaded: Loaded, *, scope: str = "project") -> None:
        self.layout = layout
        self.loaded = loaded
        self.scope = scope
        self.notes: list[str] = list(loaded.notes)  # to be said once, on stderr
        self.clock = time.time  # of what is kept about servers; verbs are told the time
        self.is_asking_anyway = False
        self._backend: Backend | None = None
        self._embedder: Embedder | None = None
        self._has_embedder = False
        self._llm: LLM | None = None
        self._has_llm = False

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    def take_notes(self) -> tuple[str, ...]:
        """What there is to say so far, each note once; the next answer does not repeat it."""
        notes = tuple(dict.fromkeys(self.notes))
        self.notes.clear()
        return notes

    @property
    def backend(self) -> Backend:
        """The search index, opened on first use; in memory where none can be kept."""
        if self._backend is None:
            self._backend = self.open_backend()
        return self._backend

    def open_backend(self, *, anew: bool = False) -> Backend:
        """Open the index again, `anew` from nothing. Raises StoreError where it could be mended."""
        self.close()
        has_index = os.path.exists(self.layout.database)
        if self.is_writable or (has_index and not anew):
            try:
                return self._opened("sqlite", anew=anew)
            except StoreError as error:
                if self.is_writable:
                    raise
                self.notes.append(str(error))
        self.notes.append(
            f"no index can be kept in {self.layout.home}: the files themselves are read"
        )
        return self._opened("scan", anew=anew)

    def _opened(self, name: str, *, anew: bool) -> Backend:
        module = tables.load("backend", backends.TABLE, name)
        opened: Backend = module.open_backend(self, anew=anew)
        self._backend = opened
        return opened

    @property
    def embedder(self) -> Embedder | None:
        """Who makes vectors, or None where only keywords are wanted."""
        if not self._has_embedder:
            name = self.settings.embedding_provider
            module = tables.load("embedding provider", providers.TABLE, name)
            opened: Embedder | None = module.open_embedder(self.settings)
            if opened is not None and opened.is_remote:
                from memcli.providers.guard import GuardedEmbedder  # spared what stays here

                opened = GuardedEmbedder(opened, self._guard("embedding"))
            self._embedder = opened
            self._has_embedder = True
        return self._embedder

    @property
    def llm(self) -> LLM | None:
        """Who writes prose, or None where none is wanted; it is asked nothing yet."""
        if not self._has_llm:
            name = self.settings.llm_provider
            module = tables.load("LLM provider", providers.LLMS, name)
            opened: LLM | None = module.open_llm(self.settings)
            if opened is not None:
                from memcli.providers.guard import GuardedLLM  # as above

                opened = GuardedLLM(opened, self._guard("llm"))
            self._llm = opened
            self._has_llm = True
        return self._llm

    def _guard(self, section: str) -> Guard:
        from memcli.providers.guard import Guard, name_of

        names = ("provider", "url", "model", "key", "timeout")
        values = [getattr(self.settings, f"{section}_{name}") for name in names]
        return Guard(self, name_of(section, *values))

    @contextmanager
    def asking_anyway(self) -> Iterator[None]:
        """Within this, servers are asked even if they failed a moment ago: somebody wants it so."""
        before, self.is_asking_anyway = self.is_asking_anyway, True
        try:
            yield
        finally:
            self.is_asking_anyway = before

    def make_index(self) -> None:
        """See that there is a database, for what is kept there beside the index."""
        if self._backend is None:
            self.open_backend()

    @contextmanager
    def lock(self, verb: str, wait: float | None = None) -> Iterator[None]:
        """Hold the writers' lock. Raises ConflictError when it is not had within `wait` seconds."""
        limit = self.settings.index_wait if wait is None else wait
        with lock.hold(self.layout.lock, verb, limit):
            yield

    @contextmanager
    def lock_if_free(self, verb: str) -> Iterator[None]:
        """Hold the writers' lock for what can be done another time. Raises ConflictError at once.

        Nor does the block wait long for a foreign program that holds the index.
        """
        with self.lock(verb, wait=0), self.backend.waiting(PATIENCE):
            yield

    def write_if_free(self, verb: str, write: Callable[[], None]) -> None:
        """Do a write that only saves time or counts, or leave it to another time."""
        if not self.is_writable:
            return
        try:
            with self.lock_if_free(verb):
                write()
        except (ConflictError, WorkspaceError):
            return

    @contextmanager
    def edit(
        self, op: str, *, now: datetime, note: str = "", undoes: int | None = None
    ) -> Iterator[Files]:
        """Change memory files as one revision: see `memcli.edit`."""
        from memcli.edit import edit  # what only reads needs none of it

        with edit(
            self.layout,
            op,
            now=now,
            note=note,
            undoes=undoes,
            wait=self.settings.index_wait,
            keep_days=self.settings.history_keep_days,
        ) as files:
            yield files

    @property
    def is_writable(self) -> bool:
        """Whether the index can be kept here: its folder may be written, and so may its file."""
        path = self.layout.database
        return os.access(self.layout.home, os.W_OK) and (
            os.access(path, os.W_OK) or not os.path.exists(path)
        )

    def close(self) -> None:
        """Let go of the index."""
        if self._backend is not None:
            self._backend.close()
            self._backend = None


def open_workspace(
    start: str,
    environ: Mapping[str, str],
    *,
    root: str | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Workspace:
    """The workspace at `root`, MEM_ROOT, or the nearest one at `start` or above it.

    Raises WorkspaceError when there is none, and UsageError for settings that cannot be read.
    """
    found = layout.find(start, root or environ.get("MEM_ROOT") or None)
    return _opened(found, environ, flags, "project")


def open_personal(
    environ: Mapping[str, str], *, flags: Mapping[str, Any] | None = None
) -> Workspace:
    """The user's own workspace, which goes with them from project to project.

    Raises WorkspaceError when there is none yet.
    """
    folder = config.personal_folder(environ)
    if folder is None:
        raise WorkspaceError("a personal memory needs a home folder", hint="set HOME")
    if not has_personal(environ):
        raise WorkspaceError(f"no personal memory in {folder}", hint="mem init --personal")
    return _opened(layout.find(folder, folder), environ, flags, "personal")


def has_personal(environ: Mapping[str, str]) -> bool:
    """Whether the user made a personal memory."""
    folder = config.personal_folder(environ)
    return folder is not None and os.path.lexists(os.path.join(folder, layout.HOME))


def _opened(
    found: Layout, environ: Mapping[str, str], flags: Mapping[str, Any] | None, scope: str
) -> Workspace:
    if not os.access(found.home, os.R_OK | os.X_OK):
        raise WorkspaceError(f"{found.home} may not be read")
    return Workspace(found, config.load(found.config, environ, flags), scope=scope)
