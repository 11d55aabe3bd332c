"""Any result as JSON: results are records, so their fields are the documentation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

# What JSON leaves alone but a terminal obeys, written as JSON's own escapes.
_ESCAPED = {
    code: f"\\u{code:04x}"
    for codes in (
        range(0x7F, 0xA0),
        (0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF),
        range(0x202A, 0x202F),
        range(0x2066, 0x206A),
    )
    for code in codes
}


def render(result: Any, **how: Any) -> Iterator[str]:
    """The whole result as one indented object."""
    yield dumps(result, indent=2) + "\n"


def dumps(result: Any, *, indent: int | None = None) -> str:
    """`result` as JSON that is safe to print and, on an ASCII terminal, is ASCII."""
    is_ascii = (sys.stdout.encoding or "ascii").lower().replace("-", "")[:3] != "utf"
    text = json.dumps(plain(result), indent=indent, ensure_ascii=is_ascii)
    return text.translate(_ESCAPED)


def plain(value: Any) -> Any:
    """Records as objects, tuples as arrays, bytes as text; private fields left out."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value
