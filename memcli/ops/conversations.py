"""What all forms of `summarize` share: texts without secrets, a model asked, and its failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memcli.errors import ProviderError
from memcli.ops.secrets import without_secrets
from memcli.providers.base import LLM
from memcli.text import prompts
from memcli.text.extract import extract, render
from memcli.text.prompts import Prompt
from memcli.text.tokens import estimate
from memcli.text.turns import CALL, UNSAID, Message, label
from memcli.workspace import Workspace


def masked(workspace: Workspace, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with every token masked, before anything is cut, sent or written."""
    return tuple(
        replace(
            one,
            text=without_secrets(workspace, one.text),
            name=without_secrets(workspace, one.name),
        )
        for one in messages
    )


def asked(workspace: Workspace, llm: LLM, prompt: Prompt) -> str | None:
    """The model's answer, or None, with a note, when it gives none."""
    try:
        return llm.complete(
            prompt.text, system=prompt.system, schema=prompt.schema, max_tokens=prompt.max_tokens
        )
    except ProviderError as error:
        workspace.notes.append(f"made without a model: {error.with_hint}")
        return None


def note_nonsense(workspace: Workspace, llm: LLM) -> None:
    """Note that an answer could not be used."""
    workspace.notes.append(
        f"{llm.name} answered what the text does not bear out; made without a model"
    )


def told(messages: Sequence[Message]) -> str:
    """The conversation as a prompt holds it, or an extract of one that is too long for that."""
    lines = [
        one.text if one.role == UNSAID else f"{label(one)}: {one.text}"
        for one in messages
        if one.role != CALL
    ]
    text = "\n\n".join(lines)
    if estimate(text) <= prompts.TOKENS:
        return text
    return render(extract(messages, prompts.TOKENS).sections)
