"""mem watch."""

import signal
import time
from contextlib import closing
from types import FrameType
from typing import Annotated

from memcli.cli.options import Context, Option
from memcli.cli.show import say, show_at_once
from memcli.ops.watch import watch


def run(
    context: Context,
    poll: Annotated[
        bool, Option(("--poll",), "Look every second instead of asking the system for events.")
    ] = False,
) -> int:
    """Keep the index in step as files change, until stopped."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with (
            closing(context.open()) as workspace,
            watch(workspace, clock=time.time, is_polling=poll) as watcher,
        ):
            say(context, [f"watching {workspace.layout.memory}; ctrl-C ends it"])
            with context.progress() as progress:
                batch = watcher.catch_up(progress)
            show_at_once(context, batch)
            for batch in watcher.batches():
                show_at_once(context, batch)
    except KeyboardInterrupt:
        pass  # how a watch is meant to end
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
