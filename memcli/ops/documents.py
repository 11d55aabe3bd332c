"""Read documents to promote from, and name them as facts name their source."""

from __future__ import annotations

import os

from memcli import disk
from memcli.errors import UsageError, WorkspaceError
from memcli.ops.promote import Document


def read_document(root: str, path: str) -> Document:
    """The document at `path`, named from the project folder `root`, or outside of it by its name.

    A link is followed: whoever named it meant it, and it is only read. Raises UsageError when there
    is no such file, WorkspaceError when it cannot be read.
    """
    full = os.path.realpath(path)
    try:
        data = disk.read(full)
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
    if data is None:
        raise UsageError(f"no document {path}")
    relative = os.path.relpath(full, os.path.realpath(root))
    is_outside = relative.split(os.sep)[0] == ".."
    name = os.path.basename(path) if is_outside else relative.replace(os.sep, "/")
    return Document(name, data)
