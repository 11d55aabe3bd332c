"""A conversation as facts are found in it: without its secrets, with names for its places."""

from __future__ import annotations

import re

from memcli.edit import read as read_file
from memcli.errors import MemError
from memcli.ops.conversations import masked
from memcli.ops.secrets import without_secrets
from memcli.text.decode import decode
from memcli.text.facts import clean_source
from memcli.text.messages import read
from memcli.text.turns import CALL, SYSTEM
from memcli.text.voices import Voice, names, voices
from memcli.workspace import Workspace

CONVERSATION = "conversation"  # the source of a text without a name


class Talk:
    """A conversation without its secrets, and how to name the places in it."""

    def __init__(self, workspace: Workspace, data: bytes, source: str) -> None:
        conversation = read(data)
        if conversation.note:
            workspace.notes.append(conversation.note)
        self.voiced = [
            one for one in voices(conversation) if one.message.role not in (CALL, SYSTEM)
        ]
        self.messages = masked(workspace, [one.message for one in self.voiced])
        self.names = names([Voice(one, 0) for one in self.messages])
        self.source = _name(without_secrets(workspace, source))
        is_plain = conversation.shape in ("text", "document")
        self._at = 0
        self._text = _of_memory(workspace, self.source) or conversation.text * is_plain

    @property
    def is_shared(self) -> bool:
        return len(self.names) > 1

    def place(self, turn: int, words: str) -> str:
        """The source with the line where `words` begin, as in "chat.jsonl:12"."""
        if self.source == CONVERSATION:
            return self.source
        pattern = r"\s+".join(map(re.escape, words.split()[:8]))
        found = self._found(re.compile(pattern)) if self._text and pattern else None
        line = self._text.count("\n", 0, found.start()) + 1 if found else self.voiced[turn].line
        return f"{self.source}:{line}" if line else self.source

    def _found(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        # Most places are asked for in their order, and a long text is not searched anew for each.
        found = pattern.search(self._text, self._at) or pattern.search(self._text)
        self._at = found.start() if found else self._at
        return found


def _name(source: str) -> str:
    name = source.replace("\\", "/")
    if name[:1] in ("/", "~") or name[1:2] == ":" or ".." in name.split("/"):
        name = name.rpartition("/")[2]
    return clean_source(name.replace(", ", " ")) or CONVERSATION


def _of_memory(workspace: Workspace, name: str) -> str:
    """The text of the memory file of that name, of which a part may have been given."""
    if not name.endswith(".md"):
        return ""
    try:
        data = read_file(workspace.layout, name)
    except MemError:
        return ""  # it is the name of something else
    return decode(data)[0] if data else ""
