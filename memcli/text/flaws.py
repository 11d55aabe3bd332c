"""What can be wrong with the text of a memory file; each flaw is a line, a code and a sentence."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from memcli.text import secrets as tokens
from memcli.text.dates import LOG_HEADING, date_of
from memcli.text.facts import read_note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

Flaw = tuple[int, str, str]

_LINK = re.compile(r"\]\(<?([^()<>\s]+\.md)(?:#[^()\s]*)?>?(?:\s+\"[^\"]*\")?\)")
_MENTION = re.compile(r"(?<![\w./(\[-])((?:daily|tasks|archive)/[^\s#()\[\]<>`\"',;]+?\.md)\b")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
# A heading that begins with a time, however it was typed.
_TIMED = re.compile(r" {0,3}(?:#{1,6}[ \t]*\d{1,2}[:.h]\d{2}\b|##\d)")
_OF_OURS = re.compile(r"<!--(?:(?!-->).)*\bhash=|<!--\s*(?:src=|removed\b)")
_TOMBSTONE = re.compile(r"\s*<!-- removed(?: hash=[0-9a-f]{12})+ -->\s*")


def secrets(text: str) -> Iterator[Flaw]:
    """Tokens; the sentence never shows one."""
    for secret in tokens.find(text):
        line = text.count("\n", 0, secret.start) + 1
        yield line, "secret", f"looks like a secret ({secret.rule}): revoke it, then take it out"


def broken_links(path: str, lines: Sequence[str], paths: Collection[str]) -> Iterator[Flaw]:
    """Links and mentions of memory files that are none of `paths`; code is passed over."""
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        if fence or ".md" not in line:
            continue
        prose = _CODE.sub("", line)
        found = [(target, _within(path, target)) for target in _LINK.findall(prose)]
        found += [(target, target) for target in _MENTION.findall(prose)]
        for target, place in found:
            if place is not None and place not in paths and unquote(target) not in paths:
                moved = f"archive/daily-{posixpath.basename(place)}"
                tail = f" (it is {moved} now)" if moved in paths else ""
                yield number, "broken-link", f"there is no {target}{tail}"


def entries(path: str, lines: Sequence[str]) -> Iterator[Flaw]:
    """In a daily log: a name that is no day, and headings meant as entries that are none."""
    if not path.startswith("daily/"):
        return
    if path != f"daily/{date_of(path)}.md":
        yield 1, "odd-name", "not named for a day: it is searched, but never digested or folded"
    for number, line in enumerate(lines, 1):
        if _TIMED.match(line) and not re.match(LOG_HEADING, line):
            shown = line.strip()
            yield (
                number,
                "malformed-entry",
                f"no entry, which begins as '## 09:30 — stage': {shown}",
            )


def comments(lines: Sequence[str]) -> Iterator[Flaw]:
    """In MEMORY.md: comments that are meant to say where a fact comes from and cannot be read."""
    for number, line in enumerate(lines, 1):
        is_read = read_note(line.rstrip("\r\n")) is not None or _TOMBSTONE.fullmatch(line)
        if _OF_OURS.search(line) and not is_read:
            yield number, "malformed-fact", "the comment of this fact cannot be read"


def _within(path: str, target: str) -> str | None:
    """The memory path that a link leads to, None for one that leads elsewhere."""
    if "://" in target or target.startswith(("/", "mailto:")):
        return None
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
    return None if place.startswith("../") else place
