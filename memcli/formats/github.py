"""Findings as GitHub Actions annotations on the lines of a pull request; all else as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memcli.formats import text
from memcli.text.printable import one_line


def render(result: Any, **how: Any) -> Iterator[str]:
    """One workflow command a finding, then what text says."""
    for one in getattr(result, "findings", ()):
        place = f"file={_property(one.path)},line={one.line},title={_property(one.code)}"
        yield f"::error {place}::{_message(one.message)}\n"
    yield from text.render(result, **how)


def _message(value: str) -> str:
    return one_line(value).replace("%", "%25")


def _property(value: str) -> str:
    return _message(value).replace(":", "%3A").replace(",", "%2C")
