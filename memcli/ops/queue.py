"""How the verbs of `mem jobs` open the queue, and who is its one worker."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

from memcli import disk, lock
from memcli.errors import ConflictError, StoreError, WorkspaceError
from memcli.store import db, jobs
from memcli.store.db import Database
from memcli.workspace import Workspace


@contextmanager
def opened(workspace: Workspace) -> Iterator[Database]:
    """The queue, made where there is none, and with it the writers' lock for the block.

    Opened for each change alone, since somebody may put another database in its place. Raises
    WorkspaceError where none can be kept and ConflictError when the lock was not had in time.
    """
    if not workspace.is_writable:
        raise WorkspaceError(f"{workspace.layout.home} may not be written, so no queue is kept")
    path = workspace.layout.database
    with workspace.lock("jobs"):
        if not _is_current(path):
            workspace.open_backend()  # makes, migrates or mends it
        with closing(db.connect(path)) as database:
            yield database


@contextmanager
def seen(workspace: Workspace) -> Iterator[Database | None]:
    """The queue as it is, to be read only; None where there is none yet."""
    path = workspace.layout.database
    if not os.path.exists(path):
        yield None
        return
    with closing(db.connect(path)) as database:
        yield database if jobs.is_there(database) else None


def counts(workspace: Workspace) -> dict[str, int]:
    """How many jobs there are in each state; nothing where the queue cannot be read."""
    with suppress(StoreError), seen(workspace) as database:
        return jobs.counts(database) if database else {}
    return {}


@contextmanager
def alone(workspace: Workspace, *, wait: float = 0.0) -> Iterator[str]:
    """Be the one worker for the block; yields who is it instead, and nothing when it is us.

    Its lock comes before the writers' lock: who holds that one never waits for this one.
    """
    path = workspace.layout.jobs
    with ExitStack() as stack:
        who = ""
        try:
            stack.enter_context(lock.hold(path, "jobs run", wait=wait))
        except ConflictError:
            process = (disk.read(path) or b"").partition(b" ")[0]
            who = f"process {process.decode('ascii', 'replace')}"
        yield who


def _is_current(path: str) -> bool:
    with suppress(StoreError), closing(db.connect(path)) as database:
        return db.is_current(database)
    return False
