"""What the names and headings of dated files say about time; file times are never asked."""

from __future__ import annotations

import re
from typing import Final

# The lines that structure a daily log: its title, and the entries (also as people retype them).
# A pattern, not compiled: a search asks for nothing but dates.
LOG_HEADING: Final = (
    r" {0,3}(?:#[ \t]+Daily log\b"
    r"|##[ \t]+(?:[01]?\d|2[0-3]):[0-5]\d(?:[ \t]+(?:—|–|-{1,3})(?:[ \t].*)?)?[ \t]*[\r\n]*$)"
)

_DATE = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)", re.ASCII)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def date_of(path: str) -> str | None:
    """Return the ISO date that the name of a daily log or archived file holds, else None.

    The first date of the name that exists in the calendar counts; names in other folders have none.
    """
    if not path.startswith(("daily/", "archive/")):
        return None
    name = path.rpartition("/")[2]
    return next((found[0] for found in _DATE.finditer(name) if _exists(found)), None)


def _exists(found: re.Match[str]) -> bool:
    year, month, day = map(int, found.groups())
    if not (year and 1 <= month <= 12):
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _DAYS[month - 1] + leap
