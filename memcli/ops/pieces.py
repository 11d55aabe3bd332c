"""Take what differs into the index piece by piece, so that other writers get their turn."""

from __future__ import annotations

import os
import stat as modes
import time
from collections.abc import Collection

from memcli import layout
from memcli.errors import UsageError, WorkspaceError
from memcli.model import Progress
from memcli.ops.differ import LARGEST, Difference, differ
from memcli.ops.index import BATCH_FILES, Indexed, apply
from memcli.store.stamps import signature
from memcli.workspace import Workspace

TURN = 0.02  # seconds between two pieces: those who wait for the lock look for it more often


def take(
    workspace: Workspace,
    paths: Collection[str] | None,
    *,
    now: float,
    progress: Progress | None = None,
) -> Indexed:
    """Take what differs into the index, of memory-relative `paths` or, with None, of all files.

    Raises WorkspaceError when the files cannot be looked at and ConflictError when another writer
    does not end.
    """
    notes: list[str] = []
    if paths is None:
        difference = differ(workspace)
        paths = {*difference.removed, *(path for path, _ in difference.changed)}
        # Nothing to take, but to hear why these are passed over.
        notes += apply(workspace, Difference((), (), 0, difference.skipped), now=now).notes
    added: list[str] = []
    changed: list[str] = []
    removed: list[str] = []
    order = layout.in_listing_order([*paths])[::-1]  # the newest get their vectors first
    for start in range(0, len(order), BATCH_FILES):
        piece = order[start : start + BATCH_FILES]
        if progress:
            progress("indexing", start, len(order))
        if not _of(workspace, piece).behind:
            continue
        if start:
            time.sleep(TURN)
        with workspace.lock("watch"):
            # Looked at again: whoever held the lock may have done some of it.
            done = apply(workspace, _of(workspace, piece), now=now)
        added += done.added
        changed += done.changed
        removed += done.removed
        notes += done.notes
    pending = workspace.backend.counts()[2]
    return Indexed(
        added=tuple(layout.in_listing_order(added)),
        changed=tuple(layout.in_listing_order(changed)),
        removed=tuple(layout.in_listing_order(removed)),
        pending=pending if workspace.settings.embedding_provider != "none" else 0,
        notes=tuple(notes),
    )


def _of(workspace: Workspace, paths: Collection[str]) -> Difference:
    """What differs among these paths, each of which may have come, changed or gone."""
    known = workspace.backend.stamps(paths)
    changed, removed = [], []
    for path in paths:
        try:
            found = os.stat(workspace.layout.memory_path(path), follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError, UsageError, WorkspaceError):
            found = None  # gone, or behind a link
        except OSError as error:
            raise WorkspaceError(f"cannot look at {path}: {error.strerror}") from error
        if found is None or not modes.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            removed += [path] * (path in known)
        elif path not in known or known[path].signature != signature(found):
            changed.append((path, found))
    return Difference(tuple(changed), tuple(removed), 0, (), is_partial=True)
