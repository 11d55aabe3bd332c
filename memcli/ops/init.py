"""Make a workspace; made again it changes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memcli import disk, layout
from memcli.errors import WorkspaceError
from memcli.layout import Layout
from memcli.ops.hooks import HookChange


@dataclass(frozen=True, slots=True)
class Initialised:
    """The answer of ``mem init``."""

    root: str
    created: tuple[str, ...]  # relative to the root; empty when all was there
    hooks: tuple[HookChange, ...] = ()  # with --hooks
    notes: tuple[str, ...] = ()


def init(root: str) -> Initialised:
    """Make ``.decsr/`` in the folder `root`, or add what is missing there.

    Raises WorkspaceError where nothing can be made.
    """
    found = Layout(os.path.realpath(root))
    if os.path.islink(found.home):
        raise WorkspaceError(f"{found.home} is a link, which mem does not follow")
    created = []
    try:
        for folder in ("", "memory", "memory/daily", "memory/tasks"):
            path = os.path.join(found.home, folder) if folder else found.home
            if os.path.islink(path):
                raise WorkspaceError(f"{path} is a link, which mem does not follow")
            if not os.path.isdir(path):
                disk.make_folder(path)
                created.append(os.path.relpath(path, found.root) + "/")
        ignore = os.path.join(found.home, ".gitignore")
        if not os.path.lexists(ignore):
            disk.replace(ignore, layout.IGNORED.encode())
            created.append(os.path.relpath(ignore, found.root))
    except OSError as error:
        raise WorkspaceError(f"cannot make {found.home}: {error.strerror}") from error
    return Initialised(found.root, tuple(created))
