"""A result as JSON, a line an item; a result without items is one line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from memcli.formats.json import dumps


def render(result: Any, **how: Any) -> Iterator[str]:
    """A line for every record of the first field that holds records."""
    for one in fields(result):
        value = getattr(result, one.name)
        if (
            isinstance(value, tuple)
            and one.type != "tuple[str, ...]"
            and all(hasattr(item, "__dataclass_fields__") for item in value)
        ):
            for item in value:
                yield dumps(item) + "\n"
            return
    yield dumps(result) + "\n"
