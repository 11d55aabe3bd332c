"""Where everything of a workspace lives on disk, and how a workspace is found.

Paths are plain strings: ``pathlib`` alone costs a tenth of a cold search.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from memcli.errors import UsageError, WorkspaceError

HOME = ".decsr"
MEMORY_FILE = "MEMORY.md"
DREAMS_FILE = "DREAMS.md"

KINDS = {"daily": "daily", "tasks": "task", "archive": "archive"}
LISTING = ("pinned", "dreams", "daily", "task", "archive", "note")

IGNORED = "memory.db*\nmemory.vec*\nhistory/\nlock\n*.log\n"


class Layout(NamedTuple):
    """Every path of the workspace whose project folder is ``root`` (absolute, links resolved)."""

    root: str

    @property
    def home(self) -> str:
        return os.path.join(self.root, HOME)

    @property
    def memory(self) -> str:
        return os.path.join(self.root, HOME, "memory")

    @property
    def database(self) -> str:
        return os.path.join(self.root, HOME, "memory.db")

    @property
    def sidecar(self) -> str:
        return os.path.join(self.root, HOME, "memory.vec")

    @property
    def history(self) -> str:
        return os.path.join(self.root, HOME, "history")

    @property
    def lock(self) -> str:
        return os.path.join(self.root, HOME, "lock")

    @property
    def watch(self) -> str:
        """The lock of the one watcher; named so that .gitignore leaves it out."""
        return os.path.join(self.root, HOME, "memory.db.watch")

    @property
    def jobs(self) -> str:
        """The lock of the one worker; named as that of the watcher."""
        return os.path.join(self.root, HOME, "memory.db.jobs")

    @property
    def config(self) -> str:
        return os.path.join(self.root, HOME, "config.toml")

    def memory_path(self, path: str) -> str:
        """The absolute path of a memory-relative `path`, which need not exist.

        Raises UsageError for a path that leaves the memory folder by its words, and
        WorkspaceError for one that leaves it through a link.
        """
        parts = path.split("/")
        if not path or path[0] in "/\\" or any(part in ("", ".", "..") for part in parts):
            raise UsageError(f"not a path within the memory folder: {path!r}")
        if any(ord(char) < 32 for char in path):
            raise UsageError(f"a control character in the path {path!r}")
        full = self.memory
        for part in ("", *parts):
            full = os.path.join(full, part) if part else full
            if os.path.islink(full):
                name = os.path.relpath(full, self.root)
                raise WorkspaceError(
                    f"{name} is a link, which mem does not follow",
                    hint="put the file itself into the memory folder",
                )
        return full


def kind_of(path: str) -> str:
    """What a memory file is by its place: pinned, dreams, daily, task, archive or note."""
    if path == MEMORY_FILE:
        return "pinned"
    if path == DREAMS_FILE:
        return "dreams"
    folder, slash, _ = path.partition("/")
    return KINDS.get(folder, "note") if slash else "note"


def in_listing_order(paths: Iterator[str] | list[str]) -> list[str]:
    """MEMORY.md, DREAMS.md, daily newest first, tasks, archive and other notes by name."""
    groups: dict[str, list[str]] = {kind: [] for kind in LISTING}
    for path in sorted(paths):
        groups[kind_of(path)].append(path)
    groups["daily"].reverse()
    return [path for kind in LISTING for path in groups[kind]]


def scan(layout: Layout) -> Iterator[tuple[str, os.stat_result | None]]:
    """Every markdown file below the memory folder with its stat, in no order.

    A file that is a link, or no file at all, comes with None: it is named, never read. Hidden
    files and folders are left out. Raises WorkspaceError when a folder cannot be listed, since a
    scan that failed must never look like files that were deleted.
    """
    return _scan(layout, is_looking=True)


def names(layout: Layout) -> set[str]:
    """The paths that `scan` gives, in a fifth of its time: no file is looked at."""
    return {path for path, _ in _scan(layout, is_looking=False)}


def _scan(layout: Layout, *, is_looking: bool) -> Iterator[tuple[str, os.stat_result | None]]:
    cut = len(layout.memory) + 1
    folders = [layout.memory]
    while folders:
        folder = folders.pop()
        within = f"{folder}/"[cut:]
        try:
            with _listed(folder) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == ".":
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{folder}/{name}")
                        continue
                    if not name.endswith(".md"):
                        continue
                    if not is_looking:
                        yield within + name, None
                        continue
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # deleted since it was listed
                    yield within + name, found if stat.S_ISREG(found.st_mode) else None
        except FileNotFoundError:
            if folder == layout.memory:
                return  # nothing remembered yet
            raise WorkspaceError(f"cannot list {folder[cut:]}: it vanished while listing") from None
        except OSError as error:
            raise WorkspaceError(f"cannot list {folder}: {error.strerror}") from error


@contextmanager
def _listed(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder that is no link.

    Through a descriptor, so that the system does not walk the whole path again for each file.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def find(start: str, root: str | None = None) -> Layout:
    """The workspace at `root`, or else the nearest one at `start` or above it.

    Never asks GIT_* variables. In a linked git worktree without a workspace of its own, the main
    worktree's counts. Raises WorkspaceError when there is none.
    """
    if root is not None:
        return _explicit(root)
    folder = os.path.abspath(start)
    while True:
        for candidate in (folder, _main_worktree(folder)):
            if candidate and os.path.lexists(os.path.join(candidate, HOME)):
                return _checked(candidate)
        parent = os.path.dirname(folder)
        if parent == folder:
            raise WorkspaceError(f"no {HOME} here or above", hint="mem init")
        folder = parent


def _explicit(root: str) -> Layout:
    root = os.path.abspath(root)
    if os.path.basename(root) == HOME:
        root = os.path.dirname(root)
    if not os.path.lexists(os.path.join(root, HOME)):
        raise WorkspaceError(f"no {HOME} in {root}", hint=f"mem init --root {root}")
    return _checked(root)


def _checked(root: str) -> Layout:
    layout = Layout(os.path.realpath(root))
    if os.path.islink(layout.home):
        raise WorkspaceError(
            f"{layout.home} is a link, which mem does not follow",
            hint=f"mem --root {os.path.dirname(os.path.realpath(layout.home))}",
        )
    if not os.path.isdir(layout.home):
        raise WorkspaceError(f"{layout.home} is not a folder")
    if os.path.islink(layout.memory):
        raise WorkspaceError(f"{layout.memory} is a link, which mem does not follow")
    return layout


def _main_worktree(folder: str) -> str | None:
    """The main worktree's folder when `folder` is the top of a linked one, else None."""
    try:
        with open(os.path.join(folder, ".git"), encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline(4096)
        if not line.startswith("gitdir: "):
            return None
        gitdir = os.path.join(folder, line[8:].rstrip("\n"))
        with open(
            os.path.join(gitdir, "commondir"), encoding="utf-8", errors="surrogateescape"
        ) as file:
            common = os.path.normpath(os.path.join(gitdir, file.readline(4096).rstrip("\n")))
    except OSError:
        return None  # a folder, a submodule or nothing: then there is no main worktree to look in
    return os.path.dirname(common) if os.path.basename(common) == ".git" else None
