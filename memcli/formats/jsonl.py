"""A result as JSON, a line an item; a result without items is one line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from memcli.formats.json import dumps


def render(result: Any, **how: Any) -> Iterator[str]:
    """A line for every record of the first field that holds records.

    One line for a result that begins with a record of its own, as a status does with its index.
    """
    for one in fields(result):
        value = getattr(result, one.name)
        if hasattr(value, "__dataclass_fields__"):
            break
        if (
            isinstance(value, tuple)
            and one.type != "tuple[str, ...]"
            and all(hasattr(item, "__dataclass_fields__") for item in value)
        ):
            for item in value:
                yield dumps(item) + "\n"
            return
    yield dumps(result) + "\n"
