"""The entries of a daily log: how one is written, and how all of them are read back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

DEFAULT_STAGE = "note"
STAGE_CHARS = 80

# Patterns are compiled on first use: the entry of a plain commit needs none of them.
_TIME = r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)"
_DASH_STAGE = r"(?:[ \t]+(?:—|–|-{1,3})(?:[ \t]+(?P<stage>.*?))?)?[ \t]*$"
# Written with two digits and an em dash; read as people retype it.
_ENTRY = rf" {{0,3}}##[ \t]+{_TIME}{_DASH_STAGE}"
_DAY = r" {0,3}#[ \t]+Daily log\b"
# The two kinds of line that structure a log, with any backslashes already before them.
_STRUCTURE = r"(?s)(?P<indent> {0,3})(?P<slashes>\\*)(?P<mark>#.*)"
# A time and a dash, then a row of hyphens: the same heading in setext form.
_TIME_LINE = rf" {{0,3}}{_TIME}{_DASH_STAGE}"
_UNDERLINE = r"(?P<indent> {0,3})(?P<slashes>\\*)(?P<mark>-+[ \t]*)$"

# Spaces, control characters, and marks that break the line or turn its direction.
_NOT_IN_STAGE = r"[\s\x00-\x20\x7f-\xa0\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+"


@dataclass(frozen=True, slots=True)
class Entry:
    """One dated record of a daily log."""

    timestamp: datetime  # the caller's local time
    stage: str
    body: str


@dataclass(frozen=True, slots=True)
class LoggedEntry:
    """An entry and the lines it fills: its heading to its last line that is not empty."""

    entry: Entry
    start_line: int
    end_line: int


def clean_stage(stage: str) -> str:
    """Make `stage` one short line; a blank one is ``note``."""
    line = " ".join(stage.split())
    if not line.isprintable():
        line = re.sub(_NOT_IN_STAGE, " ", line).strip()
    return line[:STAGE_CHARS].strip() or DEFAULT_STAGE


def render_entry(timestamp: datetime, stage: str, body: str, *, first_of_day: bool) -> str:
    """Return the text to append to the day's log, or nothing at all for a blank body.

    It begins with an empty line, so the log must end with a line end before it. A line of `body`
    that would read as a heading of the log gets a backslash, which markdown does not show.
    """
    if not body.strip():
        return ""
    kept = _shift("\n".join(_lines(body)).strip("\n"), 1)
    day = f"# Daily log {timestamp.date()}\n" if first_of_day else ""
    return f"{day}\n## {timestamp:%H:%M} — {clean_stage(stage)}\n\n{kept}\n"


def parse(text: str, day: datetime) -> list[LoggedEntry]:
    """Read all entries of a log; `day` gives their date and time zone.

    Headings count wherever they stand, also inside a fence that was left open. What is before the
    first entry belongs to none.
    """
    lines = _lines(text)
    bounds = [number for number, line in enumerate(lines) if _opens(line)]
    return [
        _read_entry(lines, start, stop, day)
        for start, stop in pairwise([*bounds, len(lines)])
        if re.match(_ENTRY, lines[start])
    ]


def _read_entry(lines: list[str], start: int, stop: int, day: datetime) -> LoggedEntry:
    heading = re.match(_ENTRY, lines[start])
    assert heading, "an entry starts with its heading"
    while not lines[stop - 1]:
        stop -= 1
    body = "\n".join(lines[start + 1 : stop]).strip("\n")
    at = day.replace(
        hour=int(heading["hour"]), minute=int(heading["minute"]), second=0, microsecond=0
    )
    entry = Entry(timestamp=at, stage=heading["stage"] or DEFAULT_STAGE, body=_shift(body, -1))
    return LoggedEntry(entry, start_line=start + 1, end_line=stop)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _opens(line: str) -> bool:
    return bool(re.match(_ENTRY, line) or re.match(_DAY, line))


def _shift(body: str, step: int) -> str:
    """Add (1) or take away (-1) the backslash before each line that could pass for a heading."""
    may_be_setext = "\n" in body and ":" in body and "-" in body
    if not may_be_setext and "#" not in body:
        return body
    shifted = []
    after_time = False
    for line in body.split("\n"):
        found = re.match(_STRUCTURE, line)
        if found and _opens(found["mark"]):
            shifted.append(_slashed(found, step))
            after_time = False
            continue
        underline = re.match(_UNDERLINE, line) if after_time else None
        shifted.append(_slashed(underline, step) if underline else line)
        after_time = bool(line.strip()) and (after_time or bool(re.match(_TIME_LINE, line)))
    return "\n".join(shifted)


def _slashed(found: re.Match[str], step: int) -> str:
    slashes = found["slashes"]
    return found["indent"] + ("\\" + slashes if step > 0 else slashes[1:]) + found["mark"]
