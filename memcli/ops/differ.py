"""See how the files differ from the index by their stamps alone: nothing is read here.

A scan that fails is an error and never a deletion.
"""

from __future__ import annotations

import os
import stat as modes
import struct
from collections.abc import Collection, Iterator
from typing import NamedTuple

from memcli import layout
from memcli.errors import RefusedError, UsageError, WorkspaceError
from memcli.store.stamps import SIGNATURE, modified_at, signature
from memcli.workspace import Workspace

LARGEST = 64 << 20  # bytes of one file; what is larger is data, not memory
NEWEST = 64  # files that are looked at in a workspace too big to walk


class Difference(NamedTuple):
    """How the files differ from the index."""

    changed: tuple[tuple[str, os.stat_result], ...]  # new ones too
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[str, ...]  # links and the like, named and not read
    is_partial: bool = False  # not every file was looked at

    @property
    def behind(self) -> int:
        return len(self.changed) + len(self.removed)

    @property
    def bytes(self) -> int:
        return sum(found.st_size for _, found in self.changed)


def some_files(count: int) -> str:
    """A count of files in words."""
    return "1 file" if count == 1 else f"{count} files"


def differ(workspace: Workspace, paths: Collection[str] = ()) -> Difference:
    """Compare size, times and inode of every file with the index; of `paths` only if any.

    Raises RefusedError for a path that is neither in the memory nor in the index.
    """
    if paths:
        named = _differ_named(workspace, paths)
        if named is not None:
            return named
    known = dict(workspace.backend.signatures())
    pop, pack = known.pop, SIGNATURE.pack
    changed: list[tuple[str, os.stat_result]] = []
    removed: list[str] = []
    skipped: list[str] = []
    unchanged = 0
    for path, found in layout.scan(workspace.layout):
        before = pop(path, None)
        if found is not None:
            try:  # `signature`, spelled out: a call for each of thousands would be felt
                now = pack(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
            except struct.error:
                now = signature(found)
            if before == now:
                unchanged += 1
                continue
        if found is None or not _is_taken(path, found):
            skipped.append(path)
            if before is not None:
                removed.append(path)
        else:
            changed.append((path, found))
    removed += known
    if not paths:
        return Difference(tuple(changed), tuple(removed), unchanged, tuple(skipped))

    def is_wanted(path: str) -> bool:
        return any(path == wanted or path.startswith(wanted + "/") for wanted in paths)

    gone = tuple(path for path in removed if is_wanted(path))
    for path in paths:
        is_known = any(one == path or one.startswith(path + "/") for one in gone)
        if not is_known and not os.path.exists(workspace.layout.memory_path(path)):
            raise RefusedError(f"no {path} in the memory", hint="mem list")
    return Difference(
        tuple(pair for pair in changed if is_wanted(pair[0])),
        gone,
        unchanged,
        tuple(path for path in skipped if is_wanted(path)),
        is_partial=True,
    )


def _differ_named(workspace: Workspace, paths: Collection[str]) -> Difference | None:
    """Look at some files without a walk; None unless each is one that is there and may be read."""
    stamps = workspace.backend.stamps(paths)
    changed = []
    unchanged = 0
    for path in dict.fromkeys(paths):
        if not path.endswith(".md") or path[0] == "." or "/." in path:
            return None
        try:
            found = os.stat(workspace.layout.memory_path(path), follow_symlinks=False)
        except (OSError, UsageError, WorkspaceError):
            return None
        if not modes.S_ISREG(found.st_mode) or not _is_taken(path, found):
            return None
        one = stamps.get(path)
        if one is None or signature(found) != one.signature:
            changed.append((path, found))
        else:
            unchanged += 1
    return Difference(tuple(changed), (), unchanged, (), is_partial=True)


def differ_quickly(workspace: Workspace) -> Difference:
    """Compare the names of all files, and look at the newest, in a workspace too big to walk.

    An edit within an old file is not seen, which the answer says: its index is partial.
    """
    memory = workspace.layout.memory
    signatures = workspace.backend.signatures()
    found = layout.names(workspace.layout)
    from heapq import nlargest  # spared where a walk is short

    changed = list(_newcomers(memory, found - signatures.keys()))
    for path in nlargest(
        NEWEST, found & signatures.keys(), key=lambda path: modified_at(signatures[path])
    ):
        try:
            stat = os.stat(os.path.join(memory, path), follow_symlinks=False)
        except FileNotFoundError:
            continue  # deleted since it was listed
        except OSError as error:
            raise WorkspaceError(f"cannot look at {path}: {error.strerror}") from error
        if signatures[path] != signature(stat):
            changed.append((path, stat))
    removed = tuple(signatures.keys() - found)
    return Difference(tuple(changed), removed, 0, (), is_partial=True)


def _newcomers(memory: str, paths: Collection[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Those of the paths that are files to be taken."""
    for path in paths:
        try:
            found = os.stat(os.path.join(memory, path), follow_symlinks=False)
        except FileNotFoundError:
            continue  # deleted since it was listed
        if modes.S_ISREG(found.st_mode) and _is_taken(path, found):
            yield path, found


def _is_taken(path: str, found: os.stat_result) -> bool:
    """Whether a regular file is of a size and a name (UTF-8, no control characters) to be kept."""
    return found.st_size <= LARGEST and path.isprintable()
