"""Which files a search is limited to, by place, kind and date."""

from __future__ import annotations

from datetime import date, timedelta
from fnmatch import fnmatchcase

from memcli import layout
from memcli.errors import UsageError
from memcli.model import SearchOptions
from memcli.text.dates import date_of
from memcli.workspace import Workspace


def allowed(workspace: Workspace, options: SearchOptions, today: date) -> set[str]:
    """The indexed paths that the filters leave. Raises UsageError for what is no date."""
    since = _day(options.since, today)
    until = _day(options.until, today)
    return {
        path
        for path in workspace.backend.signatures()
        if (options.kind is None or layout.kind_of(path) == options.kind)
        and (options.within is None or _is_in(path, options.within))
        and _is_between(date_of(path), since, until)
    }


def _is_in(path: str, glob: str) -> bool:
    return fnmatchcase(path, glob) or path.startswith(glob.rstrip("/") + "/")


def _is_between(day: str | None, since: str | None, until: str | None) -> bool:
    if since is None and until is None:
        return True
    return day is not None and (since or day) <= day <= (until or day)


def _day(text: str | None, today: date) -> str | None:
    """An ISO date, "today", "yesterday", or so many days or weeks ago: "14d", "2w"."""
    if text is None:
        return None
    ago = {"today": 0, "yesterday": 1}.get(text)
    try:
        if ago is None and text[-1:] in "dw" and text[:-1].isdecimal():
            ago = int(text[:-1]) * (7 if text[-1] == "w" else 1)
        return (
            (today - timedelta(days=ago)).isoformat()
            if ago is not None
            else (date.fromisoformat(text).isoformat())
        )
    except (ValueError, OverflowError):
        raise UsageError(f"not a date: '{text}'", hint="2026-05-19, yesterday, 14d or 2w") from None
