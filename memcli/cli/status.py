"""mem status."""

from memcli.cli.options import Context
from memcli.cli.show import say, show
from memcli.ops.status import status


def run(context: Context) -> int:
    """Show what is indexed, by which model, and how fresh it is."""
    workspace = context.open()
    result = status(workspace)
    show(context, result)
    say(context, result.notes)
    return 0
