"""The git repository around a folder, as git itself tells it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from memcli.errors import WorkspaceError


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository has its working tree and its hooks; all paths without links."""

    top: str  # of the working tree; the git folder of a bare repository
    common: str  # the git folder that all its worktrees share
    folder: str  # where git looks for hooks
    is_bare: bool

    @property
    def is_tracked(self) -> bool:
        """Whether the hooks lie among the files of the working tree."""
        return not _within(self.folder, self.common) and _within(self.folder, self.top)

    @property
    def is_shared(self) -> bool:
        """Whether other repositories may use the same hooks."""
        main = os.path.dirname(self.common) if self.common.endswith("/.git") else self.common
        return not any(_within(self.folder, one) for one in (self.common, self.top, main))

    @property
    def folders(self) -> list[str]:
        """Every folder that may hold our lines: they stay behind when core.hooksPath is set."""
        return list(dict.fromkeys([self.folder, os.path.join(self.common, "hooks")]))


def find_repository(start: str, environ: Mapping[str, str]) -> Repository:
    """The repository that the folder `start` is in; no GIT_* variable has a say.

    Raises WorkspaceError when there is none or git is not there to ask.
    """
    answer = _git(start, environ, "rev-parse", "--is-bare-repository", "--git-common-dir")
    bare, _, common = answer.partition("\n")
    is_bare = bare == "true"
    if is_bare:
        top = os.path.join(start, _git(start, environ, "rev-parse", "--absolute-git-dir"))
    else:
        top = _git(start, environ, "rev-parse", "--show-toplevel")
    # Asked at the top, since a relative core.hooksPath counts from there.
    folder = os.path.join(top, _git(top, environ, "rev-parse", "--git-path", "hooks"))
    return Repository(
        top=os.path.realpath(top),
        common=os.path.realpath(os.path.join(start, common)),
        folder=os.path.realpath(folder),
        is_bare=is_bare,
    )


def _git(folder: str, environ: Mapping[str, str], *words: str) -> str:
    clean = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, env=clean, stdin=subprocess.DEVNULL, capture_output=True
        )
    except OSError as error:
        raise WorkspaceError(f"cannot run git in {folder}: {error.strerror}") from error
    if done.returncode:
        reason = os.fsdecode(done.stderr).partition("\n")[0].removeprefix("fatal: ")
        raise WorkspaceError(f"git finds no working tree in {folder}: {reason}")
    return os.fsdecode(done.stdout.removesuffix(b"\n"))


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
