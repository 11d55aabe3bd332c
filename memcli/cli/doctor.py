"""mem doctor."""

import time
from typing import Annotated

from memcli.cli.options import Context, Option
from memcli.cli.show import say, show
from memcli.ops.doctor import doctor


def run(
    context: Context,
    fix: Annotated[bool, Option(("--fix",), "Mend what can be mended safely.")] = False,
) -> int:
    """Find what is broken and say how to mend it."""
    workspace = context.open()
    result = doctor(workspace, now=time.time(), is_fixing=fix)
    show(context, result)
    say(context, result.notes)
    return 1 if any(not problem.is_fixed for problem in result.problems) else 0
