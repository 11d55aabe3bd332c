"""The queue of work that waits for a model: list it, do it, try again, clear it."""

import signal
from contextlib import closing
from datetime import datetime
from types import FrameType
from typing import Annotated

from memcli.cli.options import Argument, Command, Context, Option
from memcli.cli.show import say, show, show_at_once
from memcli.errors import UsageError
from memcli.ops.jobs import clear_jobs, list_jobs, retry_jobs, run_jobs, watch_jobs
from memcli.ops.worker import Ran
from memcli.store.jobs import STATES


def list_(
    context: Context,
    state: Annotated[str | None, Option(("--state",), "Only such jobs.", one_of=STATES)] = None,
) -> int:
    """List the jobs, each with its number, state and what came of it."""
    result = list_jobs(context.open(), state=state)
    show(context, result)
    say(context, result.notes)
    return 0


def run(
    context: Context,
    watch: Annotated[
        bool, Option(("--watch",), "Go on with what becomes due, until stopped.")
    ] = False,
    dry_run: Annotated[
        bool, Option(("--dry-run",), "Show what would be done, and do nothing.")
    ] = False,
) -> int:
    """Queue what is due and do it, one job after the other."""
    if watch and dry_run:
        raise UsageError("--watch and --dry-run exclude each other")
    signal.signal(signal.SIGTERM, _interrupt)
    if watch:
        return _watched(context)
    workspace = context.open()
    with context.progress() as progress:
        result = run_jobs(workspace, clock=_now, is_dry=dry_run, progress=progress)
    if not context.is_quiet:
        show(context, result)
    say(context, result.notes)
    return _code(result)


def retry(
    context: Context,
    ids: Annotated[
        list[str] | None, Argument("[ID]...", "Numbers of jobs; all that failed if left out.")
    ] = None,
) -> int:
    """Queue failed jobs again."""
    result = retry_jobs(context.open(), [_number(one) for one in ids or ()])
    if not context.is_quiet:
        show(context, result)
    say(context, result.notes)
    return 0


def clear(
    context: Context,
    failed: Annotated[bool, Option(("--failed",), "Only those that failed.")] = False,
    done: Annotated[bool, Option(("--done",), "Only those that are done.")] = False,
    all_: Annotated[bool, Option(("--all",), "Also those that wait.")] = False,
) -> int:
    """Take jobs that failed or are done off the list; they are not queued again."""
    if failed + done + all_ > 1:
        raise UsageError("--failed, --done and --all exclude each other")
    states = ["failed"] * (not done) + ["done"] * (not failed) + ["pending"] * all_
    result = clear_jobs(context.open(), states, now=_now())
    if not context.is_quiet:
        show(context, result)
    say(context, result.notes)
    return 0


def _watched(context: Context) -> int:
    code = 0
    try:
        with closing(context.open()) as workspace, context.progress() as progress:
            say(context, [f"at work in {workspace.layout.memory}; ctrl-C ends it"])
            for result in watch_jobs(workspace, clock=_now, progress=progress):
                say(context, result.notes)
                show_at_once(context, result)
                code = 4 if result.fault else 0
    except KeyboardInterrupt:
        return 0  # how a watch is meant to end
    return code


def _code(result: Ran) -> int:
    return 1 if result.failed and not result.is_dry else 4 if result.fault else 0


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise UsageError(f"not a job's number: '{text}'", hint="mem jobs list")
    return int(text)


def _now() -> datetime:
    return datetime.now().astimezone()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


SUBCOMMANDS: dict[str, Command] = {"list": list_, "run": run, "retry": retry, "clear": clear}
