"""Save facts of a conversation to today's log before its context is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memcli.edit import read as read_file
from memcli.errors import RefusedError, UsageError
from memcli.ops.append_daily import append_daily
from memcli.ops.conversations import asked, masked, note_nonsense, told
from memcli.ops.session import write_out
from memcli.providers.base import LLM
from memcli.text import answers, previous, prompts, trimming
from memcli.text.daily import parse
from memcli.text.decode import decode
from memcli.text.keeping import UNVERIFIED, worth_keeping
from memcli.text.messages import pieces, read
from memcli.text.similar import key
from memcli.text.trimming import Parts
from memcli.text.turns import ASSISTANT, LABELS, PERSON, TOOL, UNSAID, Message, Record
from memcli.workspace import Workspace

KEPT = 6  # newest messages that stay, and are not flushed
TOKENS = 800  # of what one flush writes
DAYS = 2  # of the log, today's first, that are searched for what is known already


@dataclass(frozen=True, slots=True)
class Flushed:
    """The answer of ``mem summarize --flush``; an empty path when nothing was written."""

    is_due: bool
    tokens: int  # of the conversation, system prompts aside
    messages: int
    kept: int
    facts: tuple[str, ...]
    path: str = ""
    out: str = ""
    by: str = ""  # a model's name or "extract"
    revision: int | None = None
    is_dry: bool = False
    notes: tuple[str, ...] = ()


def flush(
    workspace: Workspace,
    data: bytes,
    *,
    out: str = "",
    is_forced: bool = False,
    is_dry: bool = False,
    now: datetime,
) -> Flushed:
    """Save what is worth keeping of all but the newest messages, when there are too many tokens.

    What the log says already is not said again. With `out` the rest is written there: system
    prompts, the person's last message, and the newest KEPT messages, byte by byte. Raises
    RefusedError for a source without a text, UsageError for a form that `out` cannot be made of.
    """
    conversation = pieces(read(data))
    if out and conversation.shape == "export":
        raise UsageError("an export of chats cannot be cut", hint="leave --out away")
    if not conversation.messages:
        raise RefusedError("there is no conversation to flush, so nothing was written")
    if conversation.note:
        workspace.notes.append(conversation.note)
    parts = trimming.parts(conversation)
    older, kept = _split(parts)
    limit = workspace.settings.flush_max_tokens
    tokens = trimming.tokens(conversation, parts.history)
    is_due = bool(older) and (is_forced or 0 < limit < tokens)
    result = Flushed(
        is_due=is_due,
        tokens=tokens,
        messages=trimming.count(parts.history),
        kept=trimming.count(kept if is_due else parts.history),
        facts=(),
        out=out,
        is_dry=is_dry,
    )
    if is_due:
        messages = masked(workspace, [one for record in older for one in record.messages])
        result = _saved(workspace, messages, result, now)
    if out and not is_dry:
        carried = "\n\n".join(previous.paragraphs(one.messages[0].text) for one in parts.carried)
        write_out(out, trimming.composed(conversation, kept, carried) if is_due else data)
    return replace(result, notes=(*workspace.notes, *result.notes))


def _split(parts: Parts) -> tuple[list[Record], list[Record]]:
    """What goes, and what stays: the newest messages and the last that a person said."""
    history = parts.history
    spoken = [place for place, record in enumerate(history) if record.messages]
    start = spoken[-KEPT] if len(spoken) > KEPT else 0
    start = trimming.whole_from(history, start)
    asks = [
        place
        for place, record in enumerate(history[:start])
        if any(one.role == PERSON for one in record.messages)
    ]
    is_asked = any(one.role == PERSON for record in history[start:] for one in record.messages)
    last = asks[-1:] if asks and not is_asked else []
    older = [record for place, record in enumerate(history[:start]) if place not in last]
    return older, [*(history[place] for place in last), *history[start:]]


def _saved(
    workspace: Workspace, messages: tuple[Message, ...], result: Flushed, now: datetime
) -> Flushed:
    known = _known(workspace, now)
    llm = None if result.is_dry else workspace.llm
    facts = _by_model(workspace, llm, messages) if llm is not None else None
    by = llm.name if llm is not None and facts is not None else "extract"
    if facts is None:
        facts = worth_keeping(messages, TOKENS, known)
    new = tuple({key(one): one for one in facts if key(one) not in known}.values())
    result = replace(result, facts=new, by=by)
    if result.is_dry or not new:
        return result
    body = "\n".join(f"- {one}" for one in new)
    done = append_daily(workspace, body, stage="flush", now=now)
    notes = tuple(one for one in done.notes if one not in workspace.notes)
    return replace(result, path=done.path, revision=done.revision, notes=notes)


def _by_model(workspace: Workspace, llm: LLM, messages: Sequence[Message]) -> list[str] | None:
    """The facts that the model finds, each with who said it, or None when it cannot be used."""
    answer = asked(workspace, llm, prompts.flush_facts(told(messages)))
    if answer is None:
        return None
    sources = {
        LABELS[role]: answers.Source("\n".join(one.text for one in messages if one.role in roles))
        for role, roles in ((PERSON, (PERSON, UNSAID)), (TOOL, (TOOL,)), (ASSISTANT, (ASSISTANT,)))
    }
    found = answers.facts(answer, sources)
    if not found:
        note_nonsense(workspace, llm)
        return None
    return [
        f"{UNVERIFIED} {text}" if speaker == LABELS[ASSISTANT] else f"{speaker}: {text}"
        for speaker, text in found[: prompts.FLUSH_FACTS]
    ]


def _known(workspace: Workspace, now: datetime) -> set[str]:
    """The keys of all lines of the newest logs."""
    found: set[str] = set()
    for back in range(DAYS):
        day = now - timedelta(days=back)
        data = read_file(workspace.layout, f"daily/{day:%Y-%m-%d}.md")
        for entry in parse(decode(data)[0], day) if data else ():
            found.update(key(line) for line in entry.entry.body.split("\n"))
    return found
