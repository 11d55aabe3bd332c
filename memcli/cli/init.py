"""mem init."""

import os
from typing import Annotated

from memcli.cli.options import Argument, Context
from memcli.cli.show import say, show
from memcli.ops.init import init


def run(
    context: Context,
    folder: Annotated[
        str | None, Argument("[DIR]", "Where; the current folder if left out.")
    ] = None,
) -> int:
    """Make a memory in this folder; again, change nothing."""
    result = init(folder or context.root or os.getcwd())
    show(context, result)
    workspace = context.at(result.root)
    workspace.open_backend()
    workspace.close()
    say(context, workspace.notes)
    return 0
