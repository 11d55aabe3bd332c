"""mem append-daily."""

from datetime import datetime
from typing import Annotated

from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.cli.words import text_from
from memcli.errors import RefusedError, UsageError
from memcli.ops.append_daily import append_daily

PATIENCE = 5.0  # seconds; half of what a hook has for all it does


def run(
    context: Context,
    text: Annotated[
        list[str] | None, Argument("[TEXT]...", "The entry; - or nothing reads standard input.")
    ] = None,
    stage: Annotated[
        str | None, Option(("--stage",), "What it belongs to: plan, build, review …", "NAME")
    ] = None,
    date: Annotated[
        str | None,
        Option(("--date",), "Another day, for imports: 2026-05-19 or 2026-05-19T14:30.", "DAY"),
    ] = None,
    once: Annotated[
        str | None,
        Option(("--once",), "Write nothing when the day's log already holds this.", "TEXT"),
    ] = None,
    later: Annotated[
        bool,
        Option(
            ("--later",), "With --once: wait 5 s for another writer, then leave it to the next."
        ),
    ] = False,
) -> int:
    """Add one entry to today's log."""
    if later and not once:
        raise UsageError("--later needs --once", hint="so that it is never written twice")
    now = _moment(date)
    workspace = context.open()
    body = text_from(text)
    if not body.strip() and text and list(text) == ["-"]:
        raise RefusedError("nothing came on standard input, so nothing was written")
    result = append_daily(
        workspace,
        body,
        stage=stage or "",
        now=now,
        once=once or "",
        patience=PATIENCE if later else None,
    )
    if result.path and not context.is_quiet:
        show(context, result)
    say(context, result.notes)
    return 0


def _moment(text: str | None) -> datetime:
    """Now, or what was asked for, in local time; a day alone keeps the time that it is now."""
    now = datetime.now().astimezone()
    if text is None:
        return now
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= len("2026-05-19"):
            moment = datetime.combine(moment.date(), now.time())
        return moment.astimezone()
    except (ValueError, OverflowError):  # the latter where the local zone leaves the calendar
        raise UsageError(f"not a date: '{text}'", hint="2026-05-19 or 2026-05-19T14:30") from None
