"""mem watch."""

import signal
import sys
import time
from contextlib import closing
from types import FrameType
from typing import Annotated

from memcli.cli.options import Context, Option
from memcli.cli.show import say, show
from memcli.formats.json import dumps
from memcli.ops.watch import Batch, watch


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
            _print(context, batch)
            for batch in watcher.batches():
                _print(context, batch)
    except KeyboardInterrupt:
        pass  # how a watch is meant to end
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _print(context: Context, batch: Batch) -> None:
    """A batch at once, as a line: a stream of indented objects would be hard to take apart."""
    if context.is_quiet:
        return
    if context.format in ("json", "jsonl"):
        sys.stdout.write(dumps(batch) + "\n")
    else:
        show(context, batch)
    sys.stdout.flush()
