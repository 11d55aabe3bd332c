"""Tags of the writer's own (``<decisions>``), alone on a line: they hide headings, or part text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memcli.text.bullets import label
from memcli.text.lines import HTML_START, HTML_TAG

if TYPE_CHECKING:
    from collections.abc import Sequence

_TAG = re.compile(r"<[A-Za-z][\w-]*>")


def without_own_tags(lines: Sequence[str]) -> list[str]:
    """Empty the lines that hold only such a tag: one right above a heading or label, or its end.

    To CommonMark what follows is HTML as far as the next empty line. The tags that HTML knows as
    blocks keep that meaning.
    """
    return [
        "\n" if _is_own(line) and (line[1] == "/" or _is_title(below)) else line
        for line, below in zip(lines, [*lines[1:], ""], strict=False)
    ]


def is_tag(line: str) -> bool:
    """Say whether a line is a tag and no more; a name with underscores is none to CommonMark."""
    return bool(_TAG.fullmatch(line.rstrip()))


def _is_own(line: str) -> bool:
    return line[:1] == "<" and bool(HTML_TAG.match(line) and not HTML_START.match(line))


def _is_title(line: str) -> bool:
    return line.startswith("#") or bool(label(line))
