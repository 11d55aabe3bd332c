"""What becomes of text that `mem recall` printed when it comes back to be written."""

from __future__ import annotations

from memcli.text import recalled
from memcli.workspace import Workspace


def without_recalled(workspace: Workspace, text: str) -> str:
    """`text` without what recall printed, which is remembered already, and a note that says so."""
    kept = recalled.without_recalled(text)
    if kept != text:
        workspace.notes.append("left out what mem recall printed: it is remembered already")
    return kept
