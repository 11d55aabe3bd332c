"""mem index."""

import time
from typing import Annotated

from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.errors import UsageError
from memcli.ops.index import index


def run(
    context: Context,
    paths: Annotated[
        list[str] | None, Argument("[PATH]...", "Files or folders of the memory; all if left out.")
    ] = None,
    full: Annotated[bool, Option(("--full",), "Start again from the markdown alone.")] = False,
    no_embed: Annotated[
        bool, Option(("--no-embed",), "Leave the vectors for later; keywords work at once.")
    ] = False,
) -> int:
    """Bring the index in step with the files, then make the vectors that are missing."""
    if paths and full:
        raise UsageError("--full makes the whole index again", hint="mem index --full")
    workspace = context.open()
    wanted = [_within_memory(path) for path in paths or ()]
    with context.progress() as progress:
        result = index(
            workspace,
            now=time.time(),
            paths=[] if "" in wanted else wanted,
            is_full=full,
            is_embedding=not no_embed,
            progress=progress,
        )
    if not context.is_quiet:
        show(context, result)
    say(context, [*workspace.notes, *result.notes])
    return 0


def _within_memory(path: str) -> str:
    """A path as typed, also from the project's folder, as one relative to the memory folder."""
    _, marker, behind = f"/{path}/".rpartition("/.decsr/memory/")
    return (behind if marker else path).rstrip("/")
