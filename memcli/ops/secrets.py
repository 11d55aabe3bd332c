"""What becomes of tokens in a text that is about to be written: the setting ``secrets`` decides."""

from __future__ import annotations

from memcli.errors import RefusedError
from memcli.text.secrets import mask
from memcli.workspace import Workspace


def without_secrets(workspace: Workspace, text: str) -> str:
    """`text` with every token masked, and a note that says so.

    Raises RefusedError when tokens are refused; ``off`` lets them through.
    """
    policy = workspace.settings.secrets
    if policy == "off":
        return text
    masked, found = mask(text)
    if not found:
        return text
    what = ", ".join(dict.fromkeys(found))
    if policy == "refuse":
        raise RefusedError(
            f"the text holds a secret ({what})", hint="take it out, or: mem config set secrets mask"
        )
    workspace.notes.append(f"masked before writing: {what}")
    return masked
