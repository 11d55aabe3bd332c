"""mem get."""

from typing import Annotated

from memcli.cli.options import Argument, Context
from memcli.cli.show import say, show
from memcli.ops.get import get


def run(
    context: Context,
    place: Annotated[str, Argument("PATH[#Lx-Ly]", "A memory file, or lines of it.")],
) -> int:
    """Print a memory file or a range of its lines."""
    scope, colon, within = place.partition(":")
    if scope == "personal" and colon:  # as hits of that scope are shown
        context, place = context._replace(is_personal=True), within
    workspace = context.open()
    show(context, get(workspace, place))
    say(context, workspace.notes)
    return 0
