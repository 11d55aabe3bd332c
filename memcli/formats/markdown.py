"""Passages ready to be pasted into a prompt or a pull request; everything else as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memcli.formats import text
from memcli.model import Hits
from memcli.text.printable import one_line, printable


def render(result: Any, **how: Any) -> Iterator[str]:
    """Hits as quoted passages under their place; another result within a code block."""
    if type(result).__name__ == "Recalled" and not how.get("is_receipt"):
        yield from text.render(result)  # markdown as it is
        return
    if not isinstance(result, Hits):
        body = "".join(text.render(result, **how))
        fence = fence_for(body)
        yield f"{fence}\n{body}{fence}\n"
        return
    if not result.hits:
        yield f"Nothing found for {one_line(result.query)[: text.WIDTH]}.\n"
    for hit in result.hits:
        place = f"`{printable(hit.scoped_path)}` lines {hit.start_line}-{hit.end_line}"
        heading = f" {one_line(hit.heading)}" if hit.heading else ""
        yield f"**{place}**{heading} ({hit.score:.2f})\n\n"
        for line in printable(hit.body).rstrip("\n").split("\n"):
            yield f"> {line}".rstrip() + "\n"
        yield "\n"


def fence_for(body: str) -> str:
    """A fence of backticks longer than any in `body`."""
    longest = run = 0
    for char in body:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return "`" * max(3, longest + 1)
