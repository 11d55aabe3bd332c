"""A task summary: the file name that belongs to a task id, and the text of the file."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256
from typing import TYPE_CHECKING

from memcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

NAME_BYTES = 80
HASH_DIGITS = 8

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_RECORDED_ID = re.compile(r"\ufeff?# ?[^\r\n]*(?:\r\n|\r|\n)+_Task: ([^\r\n]*)_[ \t]*(?:[\r\n]|\Z)")


def clean_task_id(task_id: str) -> str:
    """Return the id as it is recorded, or raise a UsageError for one that can name no file.

    Refused are blank and absolute ids, control characters, and ``.`` or ``..`` as a component.
    """
    cleaned = unicodedata.normalize("NFC", task_id).strip()
    if _CONTROL.search(task_id):
        raise UsageError("a task id must not contain control characters")
    if not cleaned:
        raise UsageError("a task id must not be blank")
    if _ABSOLUTE.match(cleaned) or {".", ".."} & set(re.split(r"[/\\]", cleaned)):
        raise UsageError(
            f"task id '{cleaned}' reads as a path", hint="use a plain name, such as a branch name"
        )
    return cleaned


def task_file_name(task_id: str) -> str:
    """Name the file of a task: ``feature/login`` is ``feature-login.md``.

    Letters, their marks and digits of any script stay; the stem is at most 80 bytes of UTF-8.
    """
    cleaned = clean_task_id(task_id)
    return f"{_stem(cleaned, NAME_BYTES) or f'task-{_short_hash(cleaned)}'}.md"


def hashed_file_name(task_id: str) -> str:
    """Name the file of a task whose plain name belongs to another task."""
    cleaned = clean_task_id(task_id)
    stem = _stem(cleaned, NAME_BYTES - HASH_DIGITS - 1) or "task"
    return f"{stem}-{_short_hash(cleaned)}.md"


def pick_file_name(task_id: str, recorded: Mapping[str, str | None]) -> str:
    """Choose the file for a task beside the files that are there.

    `recorded` maps their names to the ids they hold (None for one without, which is taken to be
    this task's own). Names that differ only in case are one file on some disks, so they are here.
    """
    cleaned = clean_task_id(task_id)
    hashed = hashed_file_name(cleaned)
    if hashed in recorded:
        return hashed
    plain = task_file_name(cleaned)
    alike = [name for name in recorded if name.casefold() == plain.casefold()]
    for name in sorted(alike, key=lambda name: name != plain):
        owner = recorded[name]
        if owner is None or unicodedata.normalize("NFC", owner) == cleaned:
            return name
    return hashed if alike else plain


def render(title: str, task_id: str, recorded_at: datetime, body: str) -> str:
    """Return the whole file; `recorded_at` must be aware. A blank title becomes the id."""
    cleaned = clean_task_id(task_id)
    heading = " ".join(_CONTROL.sub(" ", title).split()) or cleaned
    recorded = recorded_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    kept = _LINE_END.sub("\n", body).rstrip("\n")
    # The two spaces are a line break in markdown.
    return f"# {heading}\n\n_Task: {cleaned}_  \n_Recorded: {recorded}_\n\n{kept}\n"


def parse_task_id(text: str) -> str | None:
    """Return the id that a summary holds, None when it was not written by `render`."""
    found = _RECORDED_ID.match(text)
    if not found or not found[1].strip() or _CONTROL.search(found[1]):
        return None
    return found[1].strip()


def _stem(cleaned: str, limit: int) -> str:
    kept = "".join(char if _stays(char) else "\0" for char in cleaned)
    joined = re.sub("\0+", "-", kept).strip("-.")
    cut = joined.encode("utf-8")[:limit].decode("utf-8", errors="ignore")
    return cut.rstrip("-.")


def _stays(char: str) -> bool:
    return char.isalnum() or char in "._-" or unicodedata.category(char)[0] == "M"


def _short_hash(cleaned: str) -> str:
    return sha256(cleaned.encode("utf-8", errors="surrogatepass")).hexdigest()[:HASH_DIGITS]
