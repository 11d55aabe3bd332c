"""mem promote."""

import glob
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated

from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.errors import UsageError
from memcli.ops.documents import read_document
from memcli.ops.promote import Document, check, promote

STDIN = "stdin"  # what facts name as the source of a text that was piped in
_NO_DOCUMENTS = {".git", ".decsr", "node_modules", "__pycache__"}


def run(
    context: Context,
    files: Annotated[
        list[str], Argument("FILE...", "Documents, folders of them, or patterns; - reads one.")
    ],
    marker: Annotated[
        list[str] | None,
        Option(("--marker",), "A word for headings of decisions, instead of the usual.", "WORD"),
    ] = None,
    task: Annotated[str, Option(("--task",), "The task that they come from.", "ID")] = "",
    check_: Annotated[
        bool, Option(("--check",), "Write nothing; exit 1 when a decision is missing or stale.")
    ] = False,
    dry_run: Annotated[
        bool, Option(("--dry-run",), "Show the exact change, write nothing.")
    ] = False,
    again: Annotated[bool, Option(("--again",), "Take back in what was removed before.")] = False,
) -> int:
    """Make the decisions in documents facts of MEMORY.md, each once."""
    workspace = context.open()
    documents = list(_documents(files, workspace.layout.root))
    markers = marker or workspace.settings.promote_markers
    if check_:
        checked = check(workspace, documents, markers=markers)
        show(context, checked)
        say(context, checked.notes)
        return 1 if checked.findings else 0
    result = promote(
        workspace,
        documents,
        markers=markers,
        task_id=task,
        is_again=again,
        is_dry=dry_run,
        now=datetime.now().astimezone(),
    )
    if not context.is_quiet:
        show(context, result)
    say(context, result.notes)
    return 0


def _documents(words: Sequence[str], root: str) -> Iterator[Document]:
    """Every document that the words name, each once. Raises UsageError where one names none."""
    seen = set()
    for word in words:
        if word == "-":
            yield Document(STDIN, _standard_input())
            continue
        for path in _paths(word):
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            yield read_document(root, path)


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        return b""
    if sys.stdin.isatty():
        raise UsageError("nothing is piped in", hint="mem promote FILE")
    return sys.stdin.buffer.read()


def _paths(word: str) -> list[str]:
    if os.path.isdir(word):
        found = []
        for folder, folders, names in os.walk(word):
            folders[:] = sorted(set(folders) - _NO_DOCUMENTS)
            found += [os.path.join(folder, name) for name in sorted(names) if _is_markdown(name)]
    elif os.path.lexists(word):
        found = [word]
    else:
        found = sorted(path for path in glob.glob(word, recursive=True) if os.path.isfile(path))
    if not found:
        raise UsageError(f"no document {word}")
    return found


def _is_markdown(name: str) -> bool:
    return name.lower().endswith((".md", ".markdown"))
