"""The summary that a conversation carries along of what was cut off before: PREVIOUS CONTEXT.

Each cut adds a paragraph; the newest are kept. In JSON it is a message of its own, in text a block
between two marks at the top.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memcli.text.turns import SYSTEM

if TYPE_CHECKING:
    from memcli.text.turns import Record

CHARS = 4_000  # of all paragraphs together
HEAD = "PREVIOUS CONTEXT"

_BEGIN = "<!-- mem: previous context of a "
_KINDS = ("conversation", "document")
_END = "<!-- mem: end of previous context -->"


class Block(NamedTuple):
    """The block at the top of a text, which ends at ``text[end]``, its blank lines included."""

    text: str
    is_conversation: bool
    end: int


def is_carried(record: Record) -> bool:
    """Say whether a record is such a summary, as written here."""
    return len(record.messages) == 1 and (
        record.messages[0].role == SYSTEM and record.messages[0].text.startswith(HEAD)
    )


def paragraphs(text: str) -> str:
    """What a summary with its head says."""
    return text.removeprefix(HEAD).strip()


def joined(before: str, paragraph: str) -> str:
    """Both, cut to the newest CHARS characters: whole paragraphs while that leaves any."""
    said = "\n\n".join(one for one in (before, paragraph) if one)
    if len(said) <= CHARS:
        return said
    newest = said[-CHARS:]
    if said[-CHARS - 2 : -CHARS] != "\n\n" and "\n\n" in newest:
        newest = newest[newest.index("\n\n") + 2 :]
    return newest


def message(said: str) -> str:
    """The text of the message that carries `said`."""
    return f"{HEAD}\n\n{said}"


def render(said: str, *, is_conversation: bool) -> str:
    """The block that carries `said` at the top of a text; nothing in it can end it."""
    kind = _KINDS[0] if is_conversation else _KINDS[1]
    return f"{_BEGIN}{kind} -->\n{message(said).replace('<!--', '&lt;!--')}\n{_END}\n\n"


def block(text: str) -> Block | None:
    """The block that `text` begins with, None when there is none or it has no end."""
    start = len(text) - len(text.lstrip("\ufeff"))
    end = text.find(_END, start)
    line = text[start:].partition("\n")[0].rstrip("\r")
    kind = line.removeprefix(_BEGIN).removesuffix(" -->")
    if end < 0 or kind not in _KINDS or line != f"{_BEGIN}{kind} -->":
        return None
    said = text[start + len(line) : end].strip().replace("\r\n", "\n")
    after = end + len(_END)
    return Block(said, kind == _KINDS[0], after + len(text[after:]) - len(text[after:].lstrip()))
