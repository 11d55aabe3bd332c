"""Cut a conversation to its limit: archived first, then summed up, the newest kept byte by byte."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from memcli import disk
from memcli.errors import ConflictError, RefusedError, UsageError, WorkspaceError
from memcli.ops.conversations import asked, masked, note_nonsense, told
from memcli.ops.index import index_written
from memcli.ops.secrets import without_secrets
from memcli.text import answers, previous, prompts, task, trimming, turns
from memcli.text.extract import digest
from memcli.text.messages import Conversation, pieces, read
from memcli.text.trimming import Limits
from memcli.text.turns import Message
from memcli.workspace import Workspace

SUMMARY_CHARS = 500  # that one cut adds to what is carried along
_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class SessionCut:
    """The answer of ``mem summarize --session``."""

    is_cut: bool
    out: str
    tokens: int  # of the history before, system prompts and the carried summary aside
    tokens_after: int
    messages: int
    kept: int
    summary: str = ""  # the new paragraph
    carried: int = 0  # characters of all paragraphs together
    archive: str = ""  # where the full text of what was cut is
    by: str = ""  # a model's name or "extract"
    revision: int | None = None
    is_dry: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation with its name, and where what is left of it goes; paths are absolute."""

    data: bytes
    name: str
    out: str
    source: str = ""  # the file that it was read from, empty for standard input


def cut_session(
    workspace: Workspace, session: Session, *, is_dry: bool = False, now: datetime
) -> SessionCut:
    """Cut a conversation that passes its limit; another one is written out as it is.

    The archive is on disk before anything is cut, under a name made from its text, so that a run
    that was killed is done once when repeated. Raises UsageError for a form that cannot be cut,
    RefusedError for one without a text, ConflictError when the source was changed meanwhile.
    """
    _checked(workspace, session)
    conversation = pieces(read(session.data))
    if conversation.shape == "export":
        raise UsageError("an export of chats cannot be cut", hint="mem summarize --task ID FILE")
    if not conversation.messages:
        raise RefusedError("there is no conversation to cut, so nothing was written")
    if conversation.note:
        workspace.notes.append(conversation.note)
    history = trimming.parts(conversation).history
    limits = limits_of(workspace)
    if limits.are_passed_by(conversation, history):
        result = _cut(workspace, session, conversation, limits, is_dry=is_dry, now=now)
    else:
        size, number = trimming.tokens(conversation, history), trimming.count(history)
        result = SessionCut(False, session.out, size, size, number, number, is_dry=is_dry)
        if not is_dry and session.out != session.source:
            write_out(session.out, session.data)
    return replace(result, notes=tuple(workspace.notes))


def limits_of(workspace: Workspace) -> Limits:
    """The limits of a session; while flushing is on it is held to half of that limit as well."""
    settings = workspace.settings
    half = settings.flush_max_tokens // 2
    tokens = settings.session_max_tokens
    messages = 0 if tokens else settings.session_max_messages
    if half and (not tokens or half < tokens):
        if tokens:
            workspace.notes.append(f"held to {half} tokens, half of flush.max_tokens")
        tokens = half
    return Limits(tokens, messages)


def write_out(path: str, data: bytes) -> None:
    """Make `data` the file that the user named, whole or not at all."""
    try:
        disk.replace(path, data)
    except OSError as error:
        raise WorkspaceError(f"cannot write {path}: {error.strerror}") from error


def _checked(workspace: Workspace, session: Session) -> None:
    home = os.path.realpath(workspace.layout.home)
    if os.path.commonpath([home, os.path.realpath(session.out)]) == home:
        raise UsageError("a conversation is not written into the memory", hint="--out elsewhere")


def _cut(
    workspace: Workspace,
    session: Session,
    conversation: Conversation,
    limits: Limits,
    *,
    is_dry: bool,
    now: datetime,
) -> SessionCut:
    parts = trimming.parts(conversation)
    gone, kept = trimming.split(conversation, parts.history, limits)
    messages = masked(workspace, [one for record in gone for one in record.messages])
    name = " ".join(without_secrets(workspace, session.name).split()) or "conversation"
    text = without_secrets(workspace, turns.render(messages))
    path = _archive_path(workspace, name, text, now) if text.strip() else ""
    head = f"({now:%Y-%m-%d}{f', in full: {path}' if path else ''})"
    limit = SUMMARY_CHARS - len(head) - 1
    summary, by = _summary(workspace, messages, limit, is_dry=is_dry)
    paragraph = f"{head}\n{summary}" if summary else head
    before = "\n\n".join(previous.paragraphs(_said(one)) for one in parts.carried)
    said = previous.joined(before, paragraph)
    revision = None
    if not is_dry:
        if path:
            revision = _archived(workspace, path, name, text, now)
        _unchanged(session)
        write_out(session.out, trimming.composed(conversation, kept, said))
    return SessionCut(
        is_cut=True,
        out=session.out,
        tokens=trimming.tokens(conversation, parts.history),
        tokens_after=trimming.tokens(conversation, kept),
        messages=trimming.count(parts.history),
        kept=trimming.count(kept),
        summary=paragraph,
        carried=len(said),
        archive=path,
        by=by,
        revision=revision,
        is_dry=is_dry,
    )


def _said(record: turns.Record) -> str:
    return record.messages[0].text


def _summary(
    workspace: Workspace, messages: Sequence[Message], limit: int, *, is_dry: bool
) -> tuple[str, str]:
    """At most `limit` characters about the messages, and who wrote them."""
    llm = None if is_dry else workspace.llm
    if llm is not None and messages:
        answer = asked(workspace, llm, prompts.session_summary(told(messages), limit))
        if answer is not None:
            source = answers.Source("\n".join(f"{one.name} {one.text}" for one in messages))
            found = without_secrets(workspace, answers.paragraph(answer, source, limit))
            if found:
                return found[:limit], llm.name
            note_nonsense(workspace, llm)
    return without_secrets(workspace, digest(messages, limit))[:limit], "extract"


def _archive_path(workspace: Workspace, name: str, text: str, now: datetime) -> str:
    """Where the text is archived already, or else a new name."""
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    folder = os.path.join(workspace.layout.memory, "archive")
    try:
        there = [one for one in os.listdir(folder) if one.endswith(f"-{mark}.md")]
    except FileNotFoundError:
        there = []
    if there:
        return f"archive/{min(there)}"
    try:
        stem = task.task_file_name(name[:_NAME_CHARS]).removesuffix(".md")
    except UsageError:
        stem = "conversation"
    return f"archive/{now:%Y-%m-%d}-{stem}-{mark}.md"


def _archived(workspace: Workspace, path: str, name: str, text: str, now: datetime) -> int | None:
    recorded = now.isoformat(timespec="seconds").replace("+00:00", "Z")
    body = f"# Conversation: {name}\n\nRecorded {recorded}.\n\n{text.rstrip()}\n"
    with workspace.edit("summarize", now=now, note=f"archive {name}"[:80]) as files:
        if files.read(path) is None:
            files.replace(path, body.encode("utf-8", "replace"))
    workspace.notes += files.notes
    if files.revision is not None:
        workspace.notes += index_written(workspace, [path], now=now.timestamp())
    return files.revision


def _unchanged(session: Session) -> None:
    """Raise ConflictError when what would be overwritten is no longer what was read."""
    if session.out == session.source and disk.read(session.source) != session.data:
        raise ConflictError(
            f"{session.source} was changed while it was summed up", hint="run it again"
        )
