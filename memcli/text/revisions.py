"""A revision as readable JSON, and as a diff for people.

An append keeps its offset and the added bytes. A replaced file keeps all its earlier bytes and, to
save room, of the later ones only the lines that took the place of bytes `start` to `end`. A file
that goes, or comes back, has its permission bits, in octal. Bytes that are no UTF-8 are kept as
base64.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

# Encoded by hand: every hook call writes a revision, and json would take a millisecond to import.
_ESCAPES = {number: f"\\u{number:04x}" for number in (*range(32), 127)} | {
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    ord("\n"): "\\n",
    ord("\t"): "\\t",
    ord("\r"): "\\r",
}


@dataclass(frozen=True, slots=True)
class Change:
    """What a revision did to one memory file.

    ``before`` holds all earlier bytes of a replaced file and is None for a new one. For an append
    ``offset`` says where the new bytes begin, and ``before`` is empty. ``mode`` has the permission
    bits of a file that goes or comes back; with None they are left to the umask.
    """

    path: str
    kind: str  # create, append, replace or delete
    before: bytes | None
    after: bytes | None  # the added bytes of an append, all bytes otherwise, None for a deletion
    offset: int = 0
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """One recorded change of the memory, the unit of undo."""

    id: int
    op: str  # the verb that made it
    created_at: datetime
    note: str
    changes: tuple[Change, ...]
    undoes: int | None = None
    state: str = "done"  # open while it is being written


def encode(revision: Revision) -> bytes:
    """A revision as readable JSON; its number and state are the name of its file."""
    fields: dict[str, object] = {
        "op": revision.op,
        "created_at": revision.created_at.isoformat(timespec="seconds"),
        "note": revision.note,
    }
    if revision.undoes is not None:
        fields["undoes"] = revision.undoes
    fields["changes"] = [_fields(change) for change in revision.changes]
    # A file name that is no UTF-8 arrives as lone surrogates, whose escapes are valid JSON.
    return f"{_json(fields)}\n".encode("utf-8", "backslashreplace")


def decode(number: int, data: bytes, state: str = "done") -> Revision | None:
    """The revision of an `encode`, or None when `data` is cut short or no such thing."""
    import json  # only those who read a revision pay for it

    try:
        fields = json.loads(data)
        return Revision(
            id=number,
            op=str(fields["op"]),
            created_at=datetime.fromisoformat(fields["created_at"]),
            note=str(fields["note"]),
            changes=tuple(_change(item) for item in fields["changes"]),
            undoes=None if fields.get("undoes") is None else int(fields["undoes"]),
            state=state,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def diff(changes: Iterable[Change]) -> str:
    """What was changed, as a unified diff; an append shows its byte offset instead of a line."""
    return "".join(line for change in changes for line in _diff(change))


def _diff(change: Change) -> Iterator[str]:
    import difflib  # only those who look at a revision pay for it

    old = "/dev/null" if change.before is None else f"a/{change.path}"
    new = "/dev/null" if change.after is None else f"b/{change.path}"
    if change.kind == "append":
        yield f"--- {old}\n+++ {new}\n@@ appended at byte {change.offset} @@\n"
        yield from (_ended(f"+{line}") for line in _lines(change.after))
        return
    for line in difflib.unified_diff(_lines(change.before), _lines(change.after), old, new):
        yield _ended(line)


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _fields(change: Change) -> dict[str, object]:
    fields: dict[str, object] = {"path": change.path, "kind": change.kind}
    if change.kind == "append":
        return fields | {"offset": change.offset, "added": change.after}
    if change.before is None or change.after is None:
        if change.mode is not None:
            fields["mode"] = f"{change.mode:o}"
        return fields | {"before": change.before, "after": change.after}
    start, end, put = _splice(change.before, change.after)
    return fields | {"before": change.before, "start": start, "end": end, "put": put}


def _json(value: object, indent: str = "\n") -> str:
    deeper = indent + "  "
    if isinstance(value, dict):
        inner = ("," + deeper).join(f"{_json(k)}: {_json(v, deeper)}" for k, v in value.items())
        return f"{{{deeper}{inner}{indent}}}"
    if isinstance(value, list):
        inner = ("," + deeper).join(_json(item, deeper) for item in value)
        return f"[{deeper}{inner}{indent}]" if value else "[]"
    if isinstance(value, bytes):
        try:
            return _json(value.decode("utf-8"))
        except UnicodeDecodeError:
            encoded = binascii.b2a_base64(value, newline=False).decode("ascii")
            return f'{{"base64": "{encoded}"}}'
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPES)}"'
    return "null" if value is None else str(value)


def _change(fields: dict[str, Any]) -> Change:
    path, kind = str(fields["path"]), str(fields["kind"])
    if kind == "append":
        return Change(path, kind, b"", _decoded(fields["added"]), int(fields["offset"]))
    before = None if fields["before"] is None else _decoded(fields["before"])
    if "put" not in fields:
        after = None if fields["after"] is None else _decoded(fields["after"])
        mode = int(fields["mode"], 8) & 0o777 if "mode" in fields else None
        return Change(path, kind, before, after, mode=mode)
    if before is None:
        raise ValueError("nothing was replaced")
    start, end = int(fields["start"]), int(fields["end"])
    return Change(path, kind, before, before[:start] + _decoded(fields["put"]) + before[end:])


def _decoded(value: object) -> bytes:
    if isinstance(value, dict):
        return binascii.a2b_base64(value["base64"])
    if not isinstance(value, str):
        raise TypeError("neither text nor base64")
    return value.encode("utf-8")


def _splice(before: bytes, after: bytes) -> tuple[int, int, bytes]:
    """Where `before` and `after` differ, widened to whole lines of `before`."""
    most = min(len(before), len(after))
    start = before.rfind(b"\n", 0, _common(most, lambda n: before[:n] == after[:n])) + 1
    same = _common(most - start, lambda n: before[len(before) - n :] == after[len(after) - n :])
    end = len(before) - same
    if 0 < end < len(before) and before[end - 1] != 10:
        end = before.find(b"\n", end) + 1 or len(before)
    return start, end, after[start : len(after) - (len(before) - end)]


def _common(most: int, is_same: Callable[[int], bool]) -> int:
    """The largest length up to `most` at which both sides are the same, by bisection."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if is_same(middle):
            low = middle
        else:
            high = middle - 1
    return low
