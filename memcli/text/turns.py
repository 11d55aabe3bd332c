"""One turn of a conversation: who says it, and how it is written down in markdown.

What `render` writes, `messages.read` reads back the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PERSON, ASSISTANT, TOOL, CALL, SYSTEM = "person", "assistant", "tool", "call", "system"
UNSAID = ""  # text that nobody says: a document, a log, what stands before the first speaker

LABELS = {
    PERSON: "Person",
    ASSISTANT: "Assistant",
    TOOL: "Tool",
    CALL: "Tool call",
    SYSTEM: "System",
}
_WORDS = {
    PERSON: "person user human you me customer",
    ASSISTANT: "assistant ai model bot agent claude chatgpt gpt gemini copilot",
    TOOL: "tool function tool_result",
    CALL: "tool_call",
    SYSTEM: "system developer",
}
ROLES = {word: role for role, words in _WORDS.items() for word in words.split()}

_ROLE = "(?P<role>" + "|".join(sorted((w.replace("_", "[ _]") for w in ROLES), key=len)[::-1]) + ")"
_NAME = r"(?:[ \t]*\((?P<name>[^()\r\n]{1,80})\))?"
# As `render` writes it; read in any case and with the colon on either side of the stars.
BOLD = re.compile(
    rf"\*\*{_ROLE}{_NAME}(?:,[ \t]+(?P<time>[^*\r\n]{{1,40}}?))?(?::\*\*|\*\*:)[ \t]*",
    re.IGNORECASE,
)
PLAIN = re.compile(rf"{_ROLE}{_NAME}:(?:[ \t]+|(?=[\r\n]|$))", re.IGNORECASE)
HEADING = re.compile(
    rf"#{{1,6}}[ \t]+(?:\*\*)?{_ROLE}{_NAME}:?(?:\*\*)?[ \t#]*(?=[\r\n]|$)", re.IGNORECASE
)
CHAT = re.compile(
    r"\[?(?P<time>(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d(?::\d\d)?)\]?[ \t]+"
    r"<(?P<name>[^<>\s]{1,40})>[ \t]+"
)

_LABEL_LINE = re.compile(rf"^(?=\\*{BOLD.pattern})", re.IGNORECASE | re.MULTILINE)
_ESCAPED = re.compile(rf"^\\(?=\\*{BOLD.pattern})", re.IGNORECASE | re.MULTILINE)
_NOT_IN_LABEL = re.compile(r"[()*\s\\]+")
_FENCE = re.compile(r"(?s)(`{3,})\n(.*)\n\1")


@dataclass(frozen=True, slots=True)
class Message:
    """What one speaker says at once; a tool's call and its result are turns of their own."""

    role: str
    text: str  # as said, with "\\n" line ends
    name: str = ""  # of the person or the tool
    time: str = ""  # as recorded, or ISO in UTC
    id: str = ""  # of the call that this is, or that this answers
    files: tuple[str, ...] = ()  # that the call writes to


@dataclass(frozen=True, slots=True)
class Record:
    """A stretch of a source, ``text[start:end]``, and what is said in it."""

    start: int
    end: int
    messages: tuple[Message, ...]


def role_of(word: str) -> str | None:
    """The role that a word stands for, as in "user" or "Tool call"; None for another word."""
    return ROLES.get(word.strip().lower().replace(" ", "_"))


def label(message: Message) -> str:
    """The speaker as it is shown, as in "Person (Ines)"."""
    name = _NOT_IN_LABEL.sub(" ", message.name).strip()[:80]
    return LABELS.get(message.role, "Text") + (f" ({name})" if name else "")


def render(messages: Iterable[Message]) -> str:
    """A conversation as markdown, in which no line of a text can pass for a speaker."""
    return "".join(f"{_rendered(message)}\n\n" for message in messages if message.text.strip())


def unescape(text: str) -> str:
    """A text as it was before `render`."""
    text = _ESCAPED.sub("", text)
    found = _FENCE.fullmatch(text)
    return found[2] if found else text


def _rendered(message: Message) -> str:
    text = message.text.strip("\n")
    if message.role == UNSAID:
        return text.rstrip()
    time = _NOT_IN_LABEL.sub(" ", message.time).strip()[:40]
    head = f"**{label(message)}{f', {time}' if time else ''}:**"
    if message.role in (TOOL, CALL) or _FENCE.fullmatch(text):
        # What tools say is data; unfenced, its "# comment" would be a heading of the memory.
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        return f"{head}\n\n{fence}\n{_escaped(text)}\n{fence}"
    is_inline = text[:1].isalnum() or text[:1] in "*\"'(¿¡"
    return f"{head}{' ' if is_inline else chr(10) * 2}{_escaped(text)}".rstrip()


def _escaped(text: str) -> str:
    return _LABEL_LINE.sub(r"\\", text)
