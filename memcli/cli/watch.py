"""mem watch."""

import signal
import sys
import time
from types import FrameType
from typing import Annotated

from memcli.cli.options import Context, Option
from memcli.cli.show import say, show
from memcli.ops.watch import watch


def run(
    context: Context,
    poll: Annotated[
        bool, Option(("--poll",), "Look every second instead of asking the system for events.")
    ] = False,
) -> int:
    """Keep the index in step as files change, until stopped."""
    workspace = context.open()
    stopped = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    say(context, [f"watching {workspace.layout.memory}; ctrl-C ends it", *workspace.notes])
    for batch in watch(
        workspace, clock=time.time, is_stopped=lambda: bool(stopped), is_polling=poll
    ):
        if not context.is_quiet:
            show(context, batch)
            sys.stdout.flush()
    workspace.close()
    return 0
