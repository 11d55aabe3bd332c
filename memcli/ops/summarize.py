"""The summary of a task, by a model or by choosing sentences, written whole into its file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memcli import disk
from memcli.errors import RefusedError
from memcli.ops.conversations import asked, masked, note_nonsense, told
from memcli.ops.index import index_written
from memcli.ops.secrets import without_secrets
from memcli.providers.base import LLM
from memcli.text import answers, prompts, task
from memcli.text.decode import decode
from memcli.text.extract import extract, render
from memcli.text.messages import read
from memcli.text.tokens import estimate
from memcli.text.turns import UNSAID, Message
from memcli.workspace import Workspace

EXTRACT, VERBATIM = "extract", "as it is"


@dataclass(frozen=True, slots=True)
class Summarized:
    """The answer of ``mem summarize`` for a task; an empty path when nothing was written."""

    task: str
    path: str
    body: str
    by: str  # a model's name, "extract", or "as it is" for a text that is short enough
    revision: int | None = None
    left_out: int = 0  # decisions and open ends that the budget had no room for
    notes: tuple[str, ...] = ()


def summarize(
    workspace: Workspace,
    data: bytes,
    *,
    task_id: str = "",
    title: str = "",
    is_dry: bool = False,
    now: datetime,
) -> Summarized:
    """Sum up a conversation or document; without a task, or in a dry run, nothing is written.

    Raises UsageError for an id that can name no file, before anything is read, and RefusedError for
    a text that says nothing, so that an earlier summary stays.
    """
    cleaned = task.clean_task_id(task_id) if task_id else ""
    conversation = read(data)
    if conversation.note:
        workspace.notes.append(conversation.note)
    messages = masked(workspace, conversation.messages)
    if not messages:
        raise RefusedError("there is no text to sum up, so nothing was written")
    heading, result = _summed(workspace, messages)
    result = replace(result, task=cleaned)
    if result.left_out:
        workspace.notes.append(
            f"{result.left_out} decisions or open ends left out: raise summarize.max_tokens"
        )
    if is_dry or not cleaned:
        return replace(result, notes=tuple(workspace.notes))
    return _written(workspace, result, title or heading, now)


def _summed(workspace: Workspace, messages: tuple[Message, ...]) -> tuple[str, Summarized]:
    """The title that a document gives itself, and the summary."""
    limit = workspace.settings.summarize_max_tokens
    source = "\n\n".join(one.text for one in messages)
    llm = workspace.llm
    if llm is not None and (body := _by_model(workspace, llm, messages, source)):
        return "", Summarized("", "", body, llm.name)
    if all(one.role == UNSAID for one in messages) and estimate(source) <= limit:
        heading, body = _without_title(source.strip("\n"))
        return heading, Summarized("", "", body, VERBATIM)
    chosen = extract(messages, limit)
    if not chosen:
        raise RefusedError("there is no sentence to sum up, so nothing was written")
    return "", Summarized("", "", render(chosen.sections), EXTRACT, left_out=chosen.left_out)


def _by_model(
    workspace: Workspace, llm: LLM, messages: Sequence[Message], source: str
) -> str | None:
    """What the model makes of it, or None, with a note, when that cannot be used."""
    limit = workspace.settings.summarize_max_tokens
    answer = asked(workspace, llm, prompts.task_summary(told(messages), 2 * limit))
    if answer is None:
        return None
    named = "\n".join(name for one in messages for name in (one.name, *one.files))
    sections = answers.summary(answer, answers.Source(f"{source}\n{named}"))
    if sections is None:
        note_nonsense(workspace, llm)
        return None
    return render(sections)


def _without_title(text: str) -> tuple[str, str]:
    """A document's own first heading, which becomes the summary's, and the rest."""
    line, _, rest = text.partition("\n")
    if line.startswith("# ") and rest.strip():
        return line.removeprefix("# ").strip(), rest.strip("\n")
    return "", text


def _written(workspace: Workspace, result: Summarized, title: str, now: datetime) -> Summarized:
    title = without_secrets(workspace, title)
    # Once more over the whole: what a model wrote, or two pieces side by side, may spell a token.
    body = without_secrets(workspace, result.body)
    text = task.render(title, result.task, now, body)
    with workspace.edit("summarize", now=now, note=result.task) as files:
        recorded = _recorded(workspace)
        path = f"tasks/{task.pick_file_name(result.task, recorded)}"
        files.read(path)  # so that it must not change until it is replaced
        files.replace(path, text.encode("utf-8", "replace"))
    notes = [*workspace.notes, *files.notes]
    if files.revision is not None:
        notes += index_written(workspace, [path], now=now.timestamp())
    return replace(result, path=path, body=body, revision=files.revision, notes=tuple(notes))


def _recorded(workspace: Workspace) -> dict[str, str | None]:
    """The names of the summaries that are there, each with the id that it holds."""
    folder = os.path.join(workspace.layout.memory, "tasks")
    found: dict[str, str | None] = {}
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return found
    for name in names:
        if name.endswith(".md"):
            try:
                data = disk.read(os.path.join(folder, name)) or b""
                found[name] = task.parse_task_id(decode(data)[0])
            except OSError:
                found[name] = None  # reading it again, as this task's, tells what is wrong with it
    return found
