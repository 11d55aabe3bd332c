"""A progress bar on stderr for what takes longer than a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from memcli import model

AFTER = 1.0  # seconds


@contextmanager
def bar() -> Iterator[model.Progress]:
    """A callback (what, done, of how many) that draws once the work has lasted AFTER seconds."""
    started = time.monotonic()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, TaskID] = {}

    def show(what: str, done: int, total: int) -> None:
        if time.monotonic() - started < AFTER:
            return
        if what not in tasks:
            for task in tasks.values():
                progress.remove_task(task)
            tasks.clear()
            tasks[what] = progress.add_task(what, total=total)
            progress.start()
        progress.update(tasks[what], completed=done, total=total)

    try:
        yield show
    finally:
        progress.stop()
