"""mem lint."""

from datetime import datetime
from typing import Annotated

from memcli.cli.options import Context, Option
from memcli.cli.show import say, show
from memcli.ops.lint import lint


def run(
    context: Context,
    fix: Annotated[
        bool, Option(("--fix",), "Join copies and switch superseded facts off; undo takes it back.")
    ] = False,
) -> int:
    """Check the memory itself: copies, contradictions, dead sources, secrets, its budget."""
    result = lint(context.open(), is_fixing=fix, now=datetime.now().astimezone())
    show(context, result)
    say(context, result.notes)
    return 1 if result.findings else 0
