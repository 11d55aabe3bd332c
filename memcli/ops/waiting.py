"""Entries for which another program held up the log too long: left beside it, to be written next.

One file an entry, in the workspace's folder under a name that its .gitignore leaves out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime

from memcli import disk
from memcli.errors import WorkspaceError
from memcli.layout import Layout

_HEAD, _TAIL = "waiting-", ".log"


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry with all that is needed to write it later, once; its secrets are masked already."""

    now: datetime
    stage: str
    body: str
    once: str


def leave(layout: Layout, entry: Waiting) -> None:
    """Put an entry where the next writer finds it, durably; this takes no lock."""
    import json  # hardly ever: the log is free nearly always

    fields = {
        "now": entry.now.isoformat(),
        "stage": entry.stage,
        "once": entry.once,
        "body": entry.body,
    }
    name = f"{_HEAD}{entry.now:%Y%m%d-%H%M%S}-{os.urandom(4).hex()}{_TAIL}"
    try:
        disk.replace(os.path.join(layout.home, name), json.dumps(fields).encode(), mode=0o600)
    except OSError as error:
        raise WorkspaceError(f"cannot write in {layout.home}: {error.strerror}") from error


def paths(layout: Layout) -> list[str]:
    """The files of all entries that wait, the oldest first."""
    names = [name for name in os.listdir(layout.home) if name.startswith(_HEAD)]
    return [os.path.join(layout.home, name) for name in sorted(names) if name.endswith(_TAIL)]


def read(path: str) -> Waiting | None:
    """The entry in a file, None when it is gone. Raises WorkspaceError for what is no entry."""
    import json  # as above

    try:
        data = disk.read(path)
        if data is None:
            return None
        fields = json.loads(data)
        texts = (str(fields[name]) for name in ("stage", "body", "once"))
        return Waiting(datetime.fromisoformat(fields["now"]), *texts)
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise WorkspaceError(f"{path} is no entry", hint="delete it") from error


def done(path: str) -> None:
    """Forget an entry that is written; should this be lost in a crash, its `once` holds."""
    try:
        os.unlink(path)
    except OSError as error:
        raise WorkspaceError(f"cannot delete {path}: {error.strerror}") from error
