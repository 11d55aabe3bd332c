"""mem undo."""

from datetime import datetime
from typing import Annotated

from memcli import history
from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.errors import RefusedError, UsageError
from memcli.layout import Layout
from memcli.ops.index import index_written
from memcli.ops.undo import RevisionDiff, RevisionLine, RevisionList, past, undo
from memcli.ops.undo import show as diff_of


def run(
    context: Context,
    revision: Annotated[
        str | None, Argument("[ID]", "A revision; the newest not taken back if left out.")
    ] = None,
    list_: Annotated[bool, Option(("--list",), "List the revisions, newest first.")] = False,
    diff: Annotated[bool, Option(("--diff",), "Show what the revision changed.")] = False,
    dry_run: Annotated[
        bool, Option(("--dry-run",), "Show what would change, and change nothing.")
    ] = False,
) -> int:
    """Take back a change that mem made, or list them."""
    if list_ + diff + dry_run > 1:
        raise UsageError("--list, --diff and --dry-run exclude each other")
    number = None if revision is None else history.parse_id(revision)
    workspace = context.open()
    if list_:
        result = _listed(workspace.layout)
        show(context, result)
        say(context, result.notes)
        return 0
    if diff:
        if number is None:
            number = next(iter(history.ids(workspace.layout)), None)
        if number is None:
            raise RefusedError("there are no revisions")
        show(context, RevisionDiff(number, diff_of(workspace.layout, number)))
        return 0
    now = datetime.now().astimezone()
    undone = undo(
        workspace.layout,
        number,
        now=now,
        dry_run=dry_run,
        wait=workspace.settings.index_wait,
        keep_days=workspace.settings.history_keep_days,
    )
    notes = list(undone.notes)
    if not dry_run:
        notes += index_written(workspace, undone.files, now=now.timestamp())
    if not context.is_quiet:
        show(context, undone)
    say(context, [*workspace.notes, *notes])
    return 0


def _listed(layout: Layout) -> RevisionList:
    notes: list[str] = []
    lines = [
        RevisionLine(
            id=one.revision.id,
            created_at=one.revision.created_at,
            op=one.revision.op,
            note=one.revision.note,
            files=tuple(change.path for change in one.revision.changes),
            undoes=one.revision.undoes,
            undone_by=one.undone_by,
        )
        for one in past(layout, notes)
    ]
    return RevisionList(tuple(lines), tuple(notes))
