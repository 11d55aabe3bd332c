"""mem recall."""

from datetime import datetime
from typing import Annotated

from memcli import disk
from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.errors import UsageError, WorkspaceError
from memcli.ops.pieces import Given
from memcli.ops.recall import BUDGET, PINNED_CHARS, recall
from memcli.text.decode import decode


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
    why: Annotated[bool, Option(("--why",), "Print the receipt instead of the fragment.")] = False,
) -> int:
    """A fragment for a prompt, within a budget."""
    workspace = context.open()
    result = recall(
        workspace,
        " ".join(query or ()),
        budget=budget,
        pinned_chars=pinned_chars,
        packs=[_pack(workspace.layout.memory, name) for name in pack or ()],
        history=Given(history, _text(history)) if history else None,
        now=datetime.now(),
    )
    show(context, result, is_receipt=why)
    say(context, result.notes)
    workspace.close()
    return 0 if result.text else 1


def _pack(memory: str, name: str) -> Given:
    """A pack by the path of its file, or by its name among the memory's own packs."""
    own = f"{memory}/packs/{name}" + ("" if name.endswith(".md") else ".md")
    plain = "/" not in name and ".." not in name
    path = own if plain and disk.size(own) is not None else name
    return Given(name, _text(path))


def _text(path: str) -> str:
    try:
        data = disk.read(path)
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
    if data is None:
        raise UsageError(f"no file {path}")
    return decode(data)[0]
