"""What the history shows as done, and as not wanted, however lost the queue is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256

from memcli import history
from memcli.layout import DREAMS_FILE, Layout
from memcli.text import digest

FACTS, BELIEFS, CONSOLIDATION = "fact_extract", "belief_revision", "memory_consolidate"

DIGITS = 12  # hexadecimal


def mark(kind: str, data: bytes) -> str:
    """The name of a piece of work, by its content alone."""
    return sha256(kind.encode() + b"\0" + data).hexdigest()[:DIGITS]


class Past:
    """The marks in the notes of all revisions, also of those that were taken back on purpose."""

    def __init__(self, layout: Layout) -> None:
        self.notes: list[str] = []
        self._layout = layout
        self._marks: dict[str, int] = {}
        self._last = 0

    def marks(self) -> Mapping[str, int]:
        """Each mark with its revision; only what is new since last time is read."""
        newest = max(history.ids(self._layout), default=0)
        if newest < self._last:
            self._marks, self._last = {}, 0  # somebody removed the history
        if newest > self._last:
            for revision in history.revisions(self._layout, self.notes):
                if revision.id <= self._last:
                    break
                for found in re.findall(rf"\b[0-9a-f]{{{DIGITS}}}\b", revision.note):
                    self._marks.setdefault(found, revision.id)
            self._last = newest
        return self._marks


def unwanted_digests(layout: Layout) -> Iterator[digest.Found]:
    """The digests of old logs that somebody has taken back."""
    revisions = list(history.revisions(layout))
    undone = history.taken_back(revisions)
    for revision in revisions:
        if revision.op != "consolidate" or revision.id not in undone:
            continue
        for change in revision.changes:
            if change.path == DREAMS_FILE and change.after is not None:
                made = digest.find(change.after.decode("utf-8", "replace"))
                if made is not None:
                    yield made
