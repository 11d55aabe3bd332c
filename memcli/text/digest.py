"""The digest of past daily logs in DREAMS.md: its form, its place, its citations.

Each line names the lines it was made from and carries their hash. The digest stands between two
marks; what a person writes around them is never touched. What is in it is chosen by `gleaning`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from memcli.text.remarks import Remark, shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcli.text.gleaning import Gleaning, Line, Thread, Week

BEGIN = "<!-- mem digest:"
END = "<!-- end of mem digest -->"
_BEGIN = re.compile(
    rf"^{BEGIN} (?P<days>\d+) days?, [\d-]{{10}} to (?P<until>[\d-]{{10}})\b.*-->[ \t\r]*$",
    re.MULTILINE,
)
CITATION = re.compile(
    r"(?P<path>(?:daily|archive)/[^\s#()]+\.md)#L(?P<start>\d+)(?:-L(?P<end>\d+))?"
    r" (?P<hash>[0-9a-f]{8})"
)
_MONTHS = (
    *("", "January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest, and what it was made from."""

    text: str  # from mark to mark, with "\\n" line ends; empty without any day
    days: int
    since: str
    until: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The digest as it stands in DREAMS.md: ``text[start:end]``."""

    start: int
    end: int
    days: int
    until: str


def render(gleaning: Gleaning, limit: int, clean: Callable[[str], str] = str) -> Digest:
    """The digest of what was gleaned, of about `limit` characters at most.

    `clean` goes over the text of each line.
    """
    if not gleaning.days:
        return Digest("", 0, "", "", ())
    chosen = gleaning.chosen(limit)
    span = f"{gleaning.since} to {gleaning.until}"
    parts = [
        f"{BEGIN} {_count(gleaning.days, 'day')}, {span}."
        " Made anew by `mem consolidate`; write above or below, not within. -->",
        "",
        f"## What {_count(gleaning.days, 'daily log')} of {span} say",
        "",
        "Each line names the lines it was made from: `mem get daily/…md#L1-L2` shows them.",
    ]
    threads = gleaning.threads()
    if threads:
        parts += ["", "### What kept coming up", ""]
        parts += [_thread_line(thread, clean) for thread in threads]
    for week, lines in chosen.items():
        topic = gleaning.topic(week, lines)
        parts += ["", f"### {_week_name(week)}{': ' if topic else ''}{clean(topic)}", ""]
        parts += [_week_line(line, clean) for line in lines]
    text = "\n".join([*parts, "", END, ""])
    kept = tuple(line for lines in chosen.values() for line in lines)
    return Digest(text, gleaning.days, gleaning.since, gleaning.until, kept)


def find(text: str) -> Found | None:
    """Find the digest in DREAMS.md, None when there is none.

    Raises ValueError when its marks are not a pair.
    """
    begins = list(_BEGIN.finditer(text))
    ends = list(re.finditer(rf"^{END}[ \t\r]*$\n?", text, re.MULTILINE))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise ValueError("the marks around the digest are no pair any more")
    begin = begins[0]
    return Found(begin.start(), ends[0].end(), int(begin["days"]), begin["until"])


def put(text: str, digest: str) -> str:
    """Return DREAMS.md with this digest in the place of the one there, or else at its end."""
    found = find(text)
    # A digest keeps its own line ends; a new one must not complete a lone \r that is before it.
    kind = text if found is None else text[found.start : found.end]
    newline = "\r\n" if "\r\n" in kind or kind.endswith("\r") else "\n"
    made = digest.replace("\n", newline)
    if found is not None:
        return text[: found.start] + made + text[found.end :]
    if not text.strip():
        return text + f"# Dreams{newline}{newline}{made}"
    gap = newline * (1 + (not text.endswith("\n")))
    return text + gap + made


def _week_name(week: Week) -> str:
    first, last = (date.fromisocalendar(*week, weekday) for weekday in (1, 7))
    start = f"{first.day}" + f" {_MONTHS[first.month]}" * (first.month != last.month)
    return f"{week[0]}-W{week[1]:02d}, {start} to {last.day} {_MONTHS[last.month]}"


def _week_line(line: Line, clean: Callable[[str], str]) -> str:
    cited = ", ".join(cite(remark) for remark in (line.remark, *line.others))
    more = line.days - 1 - len(line.others)
    cited += f" and {_count(more, 'more day')}" if more > 0 else ""
    return f"- **{line.remark.stage}** {clean(line.remark.text)} ({cited})"


def _thread_line(thread: Thread, clean: Callable[[str], str]) -> str:
    first, last = (
        f"{clean(shortened(remark.text, 140))} ({cite(remark)})"
        for remark in (thread.first, thread.last)
    )
    return f"- `{thread.name}` on {_count(thread.days, 'day')}. First: {first} Last: {last}"


def place(remark: Remark) -> str:
    """Name the lines of a remark as `mem get` takes them."""
    start, end = remark.start_line, remark.end_line
    return f"{remark.path}#L{start}" + f"-L{end}" * (end > start)


def cite(remark: Remark) -> str:
    """Name the lines of a remark, with their hash."""
    return f"{place(remark)} {remark.digest}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
