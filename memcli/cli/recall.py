"""mem recall."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from memcli import disk
from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.errors import UsageError, WorkspaceError
from memcli.ops.packs import own_pack
from memcli.ops.recall import BUDGET, PINNED_CHARS, recall
from memcli.ops.sections import Given
from memcli.text.decode import decode
from memcli.workspace import Workspace


def run(
    context: Context,
    query: Annotated[
        list[str] | None,
        Argument("[QUERY]...", "What it is for; without it what is pinned and new."),
    ] = None,
    budget: Annotated[
        int, Option(("--budget",), "Tokens in all.  [default: 2000]", "TOKENS")
    ] = BUDGET,
    pinned_chars: Annotated[
        int,
        Option(("--pinned-chars",), "Characters of pinned facts at most.  [default: 4000]", "N"),
    ] = PINNED_CHARS,
    pack: Annotated[
        list[str] | None,
        Option(("--pack",), "A text to take along, by file or by name in packs/.", "FILE"),
    ] = None,
    history: Annotated[
        str | None, Option(("--history",), "The conversation so far, its newest kept.", "FILE")
    ] = None,
    scope: Annotated[
        str | None,
        Option(
            ("--scope",),
            "Whose memory.  [default: all that there are]",
            one_of=("project", "personal", "all"),
        ),
    ] = None,
    why: Annotated[bool, Option(("--why",), "Print the receipt instead of the fragment.")] = False,
) -> int:
    """A fragment for a prompt, within a budget."""
    places = context.open_scope(scope if scope or context.is_personal else "all")
    result = recall(
        places,
        " ".join(query or ()),
        budget=budget,
        pinned_chars=pinned_chars,
        packs=[_pack(places, name) for name in pack or ()],
        history=Given(history, _text(history)) if history else None,
        now=datetime.now(),
    )
    show(context, result, is_receipt=why)
    say(context, result.notes)
    for workspace in places:
        workspace.close()
    return 0 if result.text else 1


def _pack(places: Sequence[Workspace], name: str) -> Given:
    """A pack by its name in a memory, or else by the path of its file."""
    return own_pack(places, name) or Given(name, _text(name))


def _text(path: str) -> str:
    try:
        data = disk.read(path)
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
    if data is None:
        raise UsageError(f"no file {path}")
    return decode(data)[0]
