"""Conversations kept as JSON or JSONL: message lists, Claude Code, OpenAI, ChatGPT's export.

A record is one JSON value of the source and all that is said in it. What a program adds to a
person's turn (reminders, the echo of commands) is not taken for theirs, and thoughts are left out.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memcli.text.decode import split_lines
from memcli.text.turns import ASSISTANT, CALL, PERSON, SYSTEM, TOOL, Message, Record, role_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_DECODER = json.JSONDecoder(strict=False)
_BLANK = re.compile(r"[ \t\r\n\ufeff]*")
_LISTS = ("messages", "conversation", "history", "turns", "chat_messages", "input", "items")
_TIMES = ("time", "timestamp", "created_at", "create_time", "createdAt", "ts", "date")
_PATHS = ("file_path", "path", "notebook_path", "filename", "target_file")
_WRITES = re.compile(r"edit|write|create|patch|replace|insert|save|delete|move|rename", re.I)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
# What an agent's program puts into a person's turn.
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)\s*", re.DOTALL)
_NOT_TYPED = ("<command-", "<local-command-", "<bash-", "Caveat: The messages below")
_LONE = re.compile("[\ud800-\udfff]")


def read(text: str) -> tuple[str, list[Record]] | None:
    """The shape of `text` and its records, or None when it is no conversation in JSON.

    The shapes are "array" (records between commas), "lines" (JSONL; a line that is not JSON is a
    record without messages) and "export" (a tree of messages, whose records have no place).
    """
    start = _after_blank(text, 0)
    if text[start : start + 1] not in ("{", "["):
        return None
    try:
        value, end = _DECODER.raw_decode(text, start)
        is_whole = _after_blank(text, end) == len(text)
    except (ValueError, RecursionError):
        value, is_whole = None, False
    reader = _Reader()
    if is_whole and (chats := _exported(value)):
        shape = "export"
        records = [Record(0, 0, reader.read(node)) for chat in chats for node in _path(chat)]
    elif is_whole and (at := _list_start(text, start, value)) is not None:
        shape = "array"
        records = [Record(a, b, reader.read(item)) for a, b, item in _elements(text, at)]
    else:
        shape = "lines"
        records = [Record(a, b, reader.read(item)) for a, b, item in _lines(text)]
    return (shape, records) if any(record.messages for record in records) else None


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _elements(text: str, at: int) -> Iterator[tuple[int, int, Any]]:
    """The values of the array whose bracket is at `at`, each with its place."""
    at = _after_blank(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield at, end, value
        at = _after_blank(text, end)
        if text[at] == ",":
            at = _after_blank(text, at + 1)


def _list_start(text: str, at: int, value: Any) -> int | None:
    """Where the array of messages begins: the whole text, or a member of an object."""
    if isinstance(value, list):
        return at
    if not isinstance(value, dict):
        return None
    wanted = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
    if wanted is None or "role" in value:
        return None
    at = _after_blank(text, at + 1)
    found = None
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _after_blank(text, _after_blank(text, at) + 1)
        _, at = _DECODER.raw_decode(text, start)
        if key == wanted:
            found = start  # the last one of a name counts, as for the decoder
        at = _after_blank(text, at)
        if text[at] == ",":
            at = _after_blank(text, at + 1)
    return found


def _lines(text: str) -> Iterator[tuple[int, int, Any]]:
    at = 0
    for line in split_lines(text):
        end = at + len(line)
        try:
            value = _DECODER.decode(line.strip(" \t\r\n\ufeff")) if line.strip() else None
        except (ValueError, RecursionError):
            value = None
        yield at, end, value
        at = end


def _exported(value: Any) -> list[dict[str, Any]]:
    """The conversations of a ChatGPT export."""
    chats = value if isinstance(value, list) else [value]
    return [
        chat for chat in chats if isinstance(chat, dict) and isinstance(chat.get("mapping"), dict)
    ]


def _path(chat: dict[str, Any]) -> Iterator[Any]:
    """The messages of the branch that was shown last, from its first to its last."""
    nodes = chat["mapping"]
    at = chat.get("current_node")
    if at not in nodes:
        at = next(reversed(nodes), None)
    trail: list[Any] = []
    seen = set()
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        node = nodes[at] if isinstance(nodes[at], dict) else {}
        trail.append(node.get("message"))
        at = node.get("parent")
    yield from reversed(trail)


class _Reader:
    """Reads one record after the other; results of calls get the names of their tools."""

    def __init__(self) -> None:
        self.tools: dict[str, str] = {}

    def read(self, item: Any) -> tuple[Message, ...]:
        """What is said in a record; nothing for one that is of another kind."""
        if not isinstance(item, dict):
            return ()
        if item.get("type") == "summary" and isinstance(item.get("summary"), str):
            return (Message(SYSTEM, _clean(item["summary"])),)
        inner = next(
            (item[k] for k in ("message", "payload") if isinstance(item.get(k), dict)), item
        )
        time = _time(inner) or _time(item)
        if inner.get("type") in ("function_call", "function_call_output"):
            return tuple(replace(one, time=time) for one in self._function(inner))
        role = self._role(inner, item)
        if role is None:
            return ()
        name = next((one["name"] for one in (inner, item) if isinstance(one.get("name"), str)), "")
        content = next((inner[k] for k in ("content", "parts", "text") if inner.get(k)), None)
        answered = inner.get("tool_call_id")
        said = Message(role, "", name=_clean(name), time=time, id=str(answered or ""))
        if role == TOOL and answered in self.tools:
            said = replace(said, name=self.tools[answered])
        found = list(self._parts(content, said))
        for call in inner.get("tool_calls") or ():
            found += self._call(call, said)
        is_meta = item.get("isMeta") or item.get("isCompactSummary")
        return tuple(_typed(one, is_meta=bool(is_meta)) for one in found if one.text.strip())

    def _role(self, inner: dict[str, Any], item: dict[str, Any]) -> str | None:
        author = inner.get("author")
        words = [inner.get("role"), inner.get("sender"), item.get("type")]
        if isinstance(author, dict):
            words.insert(0, author.get("role"))
        return next((role for w in words if isinstance(w, str) and (role := role_of(w))), None)

    def _parts(self, content: Any, said: Message) -> Iterator[Message]:
        """What a content holds: a text, or parts of which texts are joined."""
        if isinstance(content, dict):
            content = content.get("parts") or content.get("text") or content.get("result")
        if isinstance(content, str):
            yield replace(said, text=_clean(content))
            return
        texts: list[str] = []
        for part in content if isinstance(content, list) else ():
            if isinstance(part, str):
                texts.append(part)
            elif not isinstance(part, dict):
                continue
            elif part.get("type") in ("tool_use", "tool_result"):
                if texts:
                    yield replace(said, text=_clean("\n\n".join(texts)))
                    texts = []
                yield from self._use(part, said)
            elif isinstance(part.get("text"), str) and part.get("type") != "thinking":
                texts.append(part["text"])
        if texts:
            yield replace(said, text=_clean("\n\n".join(texts)))

    def _use(self, part: dict[str, Any], said: Message) -> Iterator[Message]:
        if part["type"] == "tool_use":
            yield self._called(part.get("id"), part.get("name"), part.get("input"), said)
            return
        key = str(part.get("tool_use_id") or "")
        answer = replace(said, role=TOOL, name=self.tools.get(key, ""), id=key)
        texts = [one.text for one in self._parts(part.get("content"), answer) if one.text]
        yield replace(answer, text="\n\n".join(texts))

    def _call(self, call: Any, said: Message) -> Iterator[Message]:
        """A call as OpenAI's chats hold it."""
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield self._called(
                call.get("id"), function.get("name"), function.get("arguments"), said
            )

    def _function(self, item: dict[str, Any]) -> Iterator[Message]:
        """A call or its result as OpenAI's responses hold them."""
        key = str(item.get("call_id") or "")
        if item["type"] == "function_call":
            yield self._called(key, item.get("name"), item.get("arguments"), Message(ASSISTANT, ""))
            return
        output = Message(TOOL, "", name=self.tools.get(key, ""), id=key)
        yield from self._parts(item.get("output"), output)

    def _called(self, key: Any, name: Any, given: Any, said: Message) -> Message:
        name = _clean(name) if isinstance(name, str) else ""
        if key:
            self.tools[str(key)] = name
        if isinstance(given, str):
            try:
                given = _DECODER.decode(given)
            except (ValueError, RecursionError):
                given = {"input": given}
        if not isinstance(given, dict):
            given = {"input": given}
        values = {
            k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
            for k, v in given.items()
        }
        text = _clean("\n".join(f"{k}: {v}" for k, v in values.items())) or name
        files = [values[k] for k in _PATHS if values.get(k)] if _WRITES.search(name) else []
        files += _PATCHED.findall("\n".join(values.values()))
        cleaned = tuple(dict.fromkeys(" ".join(_clean(one).split()) for one in files))
        return replace(said, role=CALL, text=text, name=name, id=str(key or ""), files=cleaned)


def _typed(message: Message, *, is_meta: bool) -> Message:
    """A turn of a person without what a program put there in their name."""
    if message.role != PERSON:
        return message
    if is_meta or message.text.lstrip().startswith(_NOT_TYPED):
        return replace(message, role=SYSTEM)
    return message


def _clean(text: str) -> str:
    text = _LONE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _REMINDER.sub("", text) if "<system-reminder>" in text else text


def _time(item: dict[str, Any]) -> str:
    value = next((item[key] for key in _TIMES if item.get(key)), "")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return ""
    if isinstance(value, str):
        return value
    try:
        seconds = value / 1000 if value > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
