"""mem consolidate."""

from datetime import datetime
from typing import Annotated

from memcli.cli.options import Context, Option
from memcli.cli.show import say, show
from memcli.errors import UsageError
from memcli.ops.consolidate import consolidate


def run(
    context: Context,
    dry_run: Annotated[
        bool, Option(("--dry-run",), "Show the exact change, write nothing.")
    ] = False,
    older_than: Annotated[
        int | None,
        Option(("--older-than",), "Digest logs older than so many days.  [default: 14]", "DAYS"),
    ] = None,
    fold: Annotated[
        bool, Option(("--fold",), "Also move digested logs to archive/; a preview without --yes.")
    ] = False,
    yes: Annotated[bool, Option(("--yes",), "With --fold: do it.")] = False,
) -> int:
    """Join facts that say the same, digest old logs into DREAMS.md, report contradictions."""
    if older_than is not None and older_than < 0:
        raise UsageError("--older-than takes no negative number of days")
    if yes and not fold:
        raise UsageError("--yes is for --fold; all else is done at once and can be undone")
    result = consolidate(
        context.open(),
        older_than=older_than,
        is_folding=fold,
        is_preview=dry_run or (fold and not yes),
        now=datetime.now().astimezone(),
    )
    if not context.is_quiet:
        show(context, result)
    say(context, result.notes)
    return 0
