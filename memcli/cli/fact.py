"""The pinned facts one by one, by the first digits of their hash."""

from datetime import datetime
from typing import Annotated

from memcli.cli.options import Argument, Command, Context, Option
from memcli.cli.show import say, show
from memcli.cli.words import text_from
from memcli.ops import fact
from memcli.ops.fact import FactChanged

KINDS = ("fact", "preference", "instruction", "summary")


def list_(
    context: Context,
    kind: Annotated[str | None, Option(("--kind",), "Only such facts.", one_of=KINDS)] = None,
    all_: Annotated[bool, Option(("--all",), "Disabled and superseded ones too.")] = False,
) -> int:
    """List the facts of MEMORY.md with their hashes."""
    result = fact.list_facts(context.open(), kind=kind, is_all=all_)
    show(context, result)
    say(context, result.notes)
    return 0 if result.facts else 1


def add(
    context: Context,
    text: Annotated[list[str] | None, Argument("[TEXT]...", "The fact; - reads it.")] = None,
    kind: Annotated[
        str, Option(("--kind",), "What it is.  [default: fact]", one_of=KINDS)
    ] = "fact",
    source: Annotated[
        str, Option(("--source",), "Where it comes from, as in notes.md#Heading.", "SRC")
    ] = "",
    force: Annotated[
        bool, Option(("--force",), "Add it though much the same is there, or was removed.")
    ] = False,
) -> int:
    """Pin a fact."""
    workspace = context.open()
    result = fact.add_fact(
        workspace, text_from(text), kind=kind, source=source, is_forced=force, now=_now()
    )
    return _done(context, result)


def edit(
    context: Context,
    hash: Annotated[str, Argument("HASH", "The first digits of its hash.")],
    text: Annotated[list[str] | None, Argument("[TEXT]...", "Its new words; - reads them.")] = None,
) -> int:
    """Give a fact other words."""
    return _done(context, fact.edit_fact(context.open(), hash, text_from(text), now=_now()))


def remove(
    context: Context, hash: Annotated[str, Argument("HASH", "The first digits of its hash.")]
) -> int:
    """Take a fact out for good; it is not promoted again."""
    return _done(context, fact.remove_fact(context.open(), hash, now=_now()))


def disable(
    context: Context, hash: Annotated[str, Argument("HASH", "The first digits of its hash.")]
) -> int:
    """Keep a fact but leave it out of every recall."""
    return _done(context, fact.disable_fact(context.open(), hash, now=_now()))


def enable(
    context: Context, hash: Annotated[str, Argument("HASH", "The first digits of its hash.")]
) -> int:
    """Bring a disabled or superseded fact back."""
    return _done(context, fact.enable_fact(context.open(), hash, now=_now()))


def _now() -> datetime:
    return datetime.now().astimezone()


def _done(context: Context, result: FactChanged) -> int:
    if not context.is_quiet:
        show(context, result)
    say(context, result.notes)
    return 0


SUBCOMMANDS: dict[str, Command] = {
    "list": list_,
    "add": add,
    "edit": edit,
    "remove": remove,
    "disable": disable,
    "enable": enable,
}
