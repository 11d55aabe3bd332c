"""mem summarize."""

import os
import sys
from datetime import datetime
from typing import Annotated

from memcli import disk
from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.errors import UsageError, WorkspaceError
from memcli.text.task import clean_task_id


def run(
    context: Context,
    file: Annotated[
        str, Argument("FILE", "Markdown, plain text, or messages as JSON or JSONL; - reads one.")
    ],
    task: Annotated[
        str | None, Option(("--task",), "Write the summary of this task, anew.", "ID")
    ] = None,
    title: Annotated[
        str, Option(("--title",), "Its heading; the document's own or the task's if left out.", "T")
    ] = "",
    session: Annotated[
        bool, Option(("--session",), "Cut a conversation that passes its limit, into --out.")
    ] = False,
    flush: Annotated[
        bool, Option(("--flush",), "Save facts to today's log before a conversation is cut.")
    ] = False,
    facts: Annotated[
        bool, Option(("--facts",), "Pin what lasts of a conversation in MEMORY.md.")
    ] = False,
    now: Annotated[bool, Option(("--now",), "With --flush: also below the limit.")] = False,
    out: Annotated[
        str | None,
        Option(("--out",), "Where the cut conversation goes; FILE itself is fine.", "FILE"),
    ] = None,
    dry_run: Annotated[
        bool, Option(("--dry-run",), "Show what would be written, write nothing.")
    ] = False,
) -> int:
    """Sum up a task, cut a conversation to its limit, or save what it holds before it is lost."""
    _checked(task=task, title=title, session=session, flush=flush, facts=facts, now=now, out=out)
    workspace = context.open()
    data = _bytes(file)
    moment = datetime.now().astimezone()
    source = "" if file == "-" else os.path.realpath(file)
    target = os.path.realpath(out) if out else ""
    if session:
        from memcli.ops.session import Session, cut_session  # each form loads its own verb

        name = os.path.splitext(os.path.basename(file))[0] if source else "conversation"
        cut = cut_session(
            workspace, Session(data, name, target, source), is_dry=dry_run, now=moment
        )
        return _shown(context, cut, cut.notes)
    if flush:
        from memcli.ops.flush import flush as save  # as above

        flushed = save(workspace, data, out=target, is_forced=now, is_dry=dry_run, now=moment)
        return _shown(context, flushed, flushed.notes)
    if facts:
        from memcli.ops.extraction import extract_facts  # as above

        name = _named(workspace.layout.root, file) if source else ""
        found = extract_facts(workspace, data, source=name, is_dry=dry_run, now=moment)
        return _shown(context, found, found.notes)
    from memcli.ops.summarize import summarize  # as above

    done = summarize(workspace, data, task_id=task or "", title=title, is_dry=dry_run, now=moment)
    return _shown(context, done, done.notes)


def _checked(
    *,
    task: str | None,
    title: str,
    session: bool,
    flush: bool,
    facts: bool,
    now: bool,
    out: str | None,
) -> None:
    """Raise UsageError for options that do not go together, before anything is read."""
    if (task is not None) + session + flush + facts > 1:
        raise UsageError("--task, --session, --flush and --facts exclude each other")
    if session and not out:
        raise UsageError("--session needs --out", hint="mem summarize --session FILE --out FILE")
    if out and not (session or flush):
        raise UsageError("--out goes with --session or --flush")
    if title and task is None:
        raise UsageError("--title goes with --task")
    if now and not flush:
        raise UsageError("--now goes with --flush")
    if task is not None:
        clean_task_id(task)


def _named(root: str, path: str) -> str:
    """How facts name a file as their source: from the project folder, or outside of it by name."""
    relative = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    is_outside = relative.split(os.sep)[0] == ".."
    return os.path.basename(path) if is_outside else relative.replace(os.sep, "/")


def _shown(context: Context, result: object, notes: tuple[str, ...]) -> int:
    if not context.is_quiet:
        show(context, result)
    say(context, notes)
    return 0


def _bytes(path: str) -> bytes:
    if path == "-":
        if sys.stdin is None or sys.stdin.closed:
            return b""
        if sys.stdin.isatty():
            raise UsageError("nothing is piped in", hint="mem summarize --task ID FILE")
        return sys.stdin.buffer.read()
    try:
        # Followed when it is a link: the person named it, and it is only read.
        data = disk.read(os.path.realpath(path))
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
    if data is None:
        raise UsageError(f"no file {path}")
    return data
