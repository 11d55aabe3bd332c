"""Find what is broken in a workspace, and mend what can be mended without asking."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from datetime import datetime

from memcli import disk, layout
from memcli.errors import StoreError, WorkspaceError
from memcli.ops import lint, queue, waiting
from memcli.ops.append_daily import write_waiting
from memcli.ops.differ import differ, some_files
from memcli.ops.index import apply, confirmed
from memcli.ops.servers import failing
from memcli.text.decode import decode
from memcli.workspace import Workspace

CHECKED = ("files", "index", "settings", "modes", "servers", "jobs")

# What synchronising programs call the loser of a conflict.
_CONFLICT_COPY = re.compile(r"conflicted copy|\.sync-conflict-|\(conflict\b", re.IGNORECASE)
_CONFLICT_MARK = re.compile(r"^(<{7} |>{7} |={7}$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that ``mem doctor`` found."""

    code: str
    message: str
    fix: str  # what to do, or what was done
    is_fixed: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer of ``mem doctor``."""

    problems: tuple[Problem, ...]
    checked: tuple[str, ...]
    notes: tuple[str, ...] = ()


def doctor(workspace: Workspace, *, now: float, is_fixing: bool = False) -> Diagnosis:
    """Check everything that can be checked. Only `is_fixing` changes anything.

    Never raises for what it is there to find.
    """
    problems = [
        *_index(workspace, now, is_fixing),
        *_files(workspace),
        *_modes(workspace, is_fixing),
        *_servers(workspace),
        *_jobs(workspace),
    ]
    problems += _ignored(workspace, is_fixing)
    moment = datetime.fromtimestamp(now).astimezone()
    problems += _facts(workspace, moment, is_fixing)
    problems += _waiting(workspace, moment, is_fixing)
    return Diagnosis(tuple(problems), CHECKED, tuple(workspace.notes))


def _index(workspace: Workspace, now: float, is_fixing: bool) -> list[Problem]:
    path = workspace.layout.database
    try:
        faults = workspace.backend.faults()
    except StoreError as error:
        faults = [str(error)]
    if faults:
        fix = "mem index --full makes it again from the files"
        if is_fixing:
            with workspace.lock("doctor"):
                workspace.open_backend(anew=True)
                apply(workspace, differ(workspace), now=now)
            fix = "made again from the files"
        return [Problem("index-damaged", f"{path}: {one}", fix, is_fixing) for one in faults]
    if not os.path.exists(path):
        return []
    return _drift(workspace, now, is_fixing)


def _drift(workspace: Workspace, now: float, is_fixing: bool) -> list[Problem]:
    """Files whose bytes are not those that were indexed, though their times say so."""
    difference = confirmed(workspace, differ(workspace))
    changed = {path for path, _ in difference.changed}
    problems = []
    lied = []
    for path, stamp in workspace.backend.stamps().items():
        if path in changed or path in difference.removed:
            continue
        data = disk.read(os.path.join(workspace.layout.memory, path)) or b""
        if hashlib.blake2b(data, digest_size=16).digest() != stamp.hash:
            lied.append(path)
    for path in lied:
        fix = "indexed again" if is_fixing else "mem doctor --fix indexes it again"
        message = f"{path} changed without a change of its times"
        problems.append(Problem("index-drift", message, fix, is_fixing))
    if is_fixing and (lied or difference.behind):
        with workspace.lock("doctor"):
            workspace.backend.drop(lied)
            apply(workspace, differ(workspace), now=now)
    elif difference.behind:
        # No fault: somebody edited, and the next search takes it in.
        files = some_files(difference.behind)
        workspace.notes.append(f"the index is behind by {files}, which the next search takes in")
    return problems


def _files(workspace: Workspace) -> list[Problem]:
    problems = []
    names: dict[str, str] = {}
    for path, found in sorted(layout.scan(workspace.layout)):
        if found is None:
            problems.append(
                Problem("not-a-file", f"{path} is a link or no regular file", "put a file there")
            )
            continue
        if not path.isprintable():
            shown = ascii(path)
            problems.append(Problem("bad-name", f"{shown} cannot be stored by name", "rename it"))
            continue
        twin = names.setdefault(path.casefold(), path)
        if twin != path:
            message = (
                f"{path} differs from {twin} in case alone: on other systems one hides the other"
            )
            problems.append(Problem("case-twins", message, "rename one of them"))
        if _CONFLICT_COPY.search(path):
            message = f"{path} looks like the loser of a synchronising conflict"
            problems.append(Problem("conflict-copy", message, "merge it by hand and delete it"))
        problems += _content(workspace, path)
    return problems


def _content(workspace: Workspace, path: str) -> list[Problem]:
    try:
        data = disk.read(os.path.join(workspace.layout.memory, path))
    except OSError as error:
        return [Problem("unreadable", f"{path} cannot be read: {error.strerror}", "mend its mode")]
    text, note = decode(data or b"")
    problems = []
    if note:
        problems.append(Problem("encoding", f"{path}: {note}", "save it as UTF-8"))
    if len(set(_CONFLICT_MARK.findall(text))) == 3:
        message = f"{path} has the marks of an unfinished merge"
        problems.append(Problem("merge-marks", message, "finish the merge by hand"))
    return problems


def _modes(workspace: Workspace, is_fixing: bool) -> list[Problem]:
    """The index and the history hold all that was ever remembered: for their owner alone."""
    problems = []
    found = workspace.layout
    for path, wanted in ((found.database, 0o600), (found.sidecar, 0o600), (found.history, 0o700)):
        try:
            mode = stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            continue
        if not mode & 0o077:
            continue
        if is_fixing:
            os.chmod(path, wanted, follow_symlinks=False)
        name = os.path.relpath(path, found.root)
        fix = f"chmod {wanted:o}" if is_fixing else f"chmod {wanted:o} {name}"
        problems.append(Problem("open-mode", f"{name} can be read by others", fix, is_fixing))
    return problems


def _servers(workspace: Workspace) -> list[Problem]:
    """Servers that the settings name and that do not do their part; asking is all that is done."""
    return [
        Problem(f"{section}-server", str(error), error.hint or f"mem config get {section}.url")
        for section, error in failing(workspace)
    ]


def _jobs(workspace: Workspace) -> list[Problem]:
    """Jobs that failed for good: only a person can say whether they are worth another try."""
    failed = queue.counts(workspace).get("failed", 0)
    if not failed:
        return []
    jobs = "1 job has failed" if failed == 1 else f"{failed} jobs have failed"
    return [Problem("jobs-failed", jobs, "mem jobs list says why; mem jobs retry, or clear")]


def _ignored(workspace: Workspace, is_fixing: bool) -> list[Problem]:
    """What must not be committed is named in ``.decsr/.gitignore``."""
    path = os.path.join(workspace.layout.home, ".gitignore")
    data = disk.read(path) or b""
    lines = {line.strip() for line in decode(data)[0].splitlines()}
    missing = [line for line in layout.IGNORED.splitlines() if line not in lines]
    if not missing:
        return []
    if is_fixing:
        start = b"" if data.endswith(b"\n") or not data else b"\n"
        disk.replace(path, data + start + "".join(f"{line}\n" for line in missing).encode())
    fix = "added" if is_fixing else "mem doctor --fix adds it"
    message = f".decsr/.gitignore does not name {', '.join(missing)}"
    return [Problem("not-ignored", message, fix, is_fixing)]


def _facts(workspace: Workspace, now: datetime, is_fixing: bool) -> list[Problem]:
    """What a merge of two branches leaves in MEMORY.md: facts twice, or in force again."""
    try:
        found = lint.fixable(workspace)
    except WorkspaceError:
        return []  # told of as a file already
    fix = "mem doctor --fix, or mem lint --fix, leaves one"
    if is_fixing and found:
        revision, notes = lint.mend(workspace, now=now)
        workspace.notes += notes
        fix = f"one is left (revision {revision}). Take back: mem undo"
    return [
        Problem(one.code, f"{one.path}:{one.line}: {one.message}", fix, is_fixing) for one in found
    ]


def _waiting(workspace: Workspace, now: datetime, is_fixing: bool) -> list[Problem]:
    """Entries that hooks could not write in time."""
    paths = waiting.paths(workspace.layout)
    if is_fixing and paths:
        with workspace.lock("doctor"):
            workspace.notes += write_waiting(workspace, now=now)
    left = waiting.paths(workspace.layout) if is_fixing else []
    problems = []
    for path in paths:
        is_fixed = is_fixing and path not in left
        fix = "added" if is_fixed else "mem doctor --fix adds it, as the next append-daily does"
        message = f"{os.path.relpath(path, workspace.layout.root)} waits to be added to its log"
        problems.append(Problem("waiting-entry", message, fix, is_fixed))
    return problems
