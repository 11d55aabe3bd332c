"""Which facts somebody took out of MEMORY.md by hand, as far as history and git can tell."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memcli import history
from memcli.layout import MEMORY_FILE, Layout
from memcli.ops.fact import memory_text
from memcli.text.facts import Pinned

_HASH = re.compile(r"hash=([0-9a-f]{12})")
_SECTION = re.compile(r"^## \d{4}-\d{2}-\d{2} — promoted.*$", re.MULTILINE)

# A line of git's log of HEAD: when, and by what command.
_MOVE = re.compile(rb"> (?P<at>\d+) [-+]\d{4}(?:\t(?P<what>.*))?$")
# It leaves the folder as it is; but what a merge brings was put there before its commit.
_COMMIT = re.compile(rb"commit(?: \((?:initial|amend)\))?:")
_OTHERS = (".hg", ".jj", ".svn", ".bzr", "_darcs", ".pijul", ".fslckout")


def removed_by_hand(layout: Layout, before: str, memory: Pinned) -> set[str]:
    """Hashes that were promoted here and are gone though the file is one that they stood in.

    On another branch, or in an older state, they never stood in it, and were not taken out of it.
    Where no other branch was checked out since they were promoted, that needs no proof.
    """
    present = {digest for it in memory.facts for digest in it.hashes}
    sections = set(_SECTION.findall(before))
    additions = _additions(layout)
    times = Counter(digest for one in additions for digest in one.hashes)
    # What was added twice may stand here by the other addition.
    traces = {digest for digest in present if times[digest] == 1}
    moved = _last_checkout(layout.root)
    gone: set[str] = set()
    for one in additions:
        others = [other for other in additions if other is not one and other.hashes & traces]
        is_elsewhere = any(one.sections & other.sections for other in others)
        if (
            one.at > moved
            or one.hashes & traces
            or any(one.end == other.start for other in others)
            or (one.sections & sections and not is_elsewhere)
        ):
            gone |= one.hashes - present
    return gone


@dataclass(frozen=True, slots=True)
class _Addition:
    """What one revision added to MEMORY.md, and the bytes from `start` to `end` that it fills."""

    at: float  # in seconds
    hashes: frozenset[str]
    sections: frozenset[str]
    start: int
    end: int


def _additions(layout: Layout) -> list[_Addition]:
    revisions = list(history.revisions(layout, []))
    undone = history.taken_back(revisions)
    found = []
    for revision in revisions:
        if revision.id in undone or revision.op not in ("promote", "fact"):
            continue
        for change in revision.changes:
            if change.path != MEMORY_FILE or not change.after:
                continue
            after, earlier = memory_text(change.after), memory_text(change.before)
            hashes = frozenset(_HASH.findall(after)) - frozenset(_HASH.findall(earlier))
            headings = frozenset(_SECTION.findall(after)) - frozenset(_SECTION.findall(earlier))
            end = change.offset + len(change.after)
            at = revision.created_at.timestamp()
            found.append(_Addition(at, hashes, headings, change.offset or -1, end))
    return found


def _last_checkout(root: str) -> float:
    """When git last put other files into the working tree, in seconds; never is minus infinity.

    Infinity where that cannot be told.
    """
    folder = root
    while True:
        if any(os.path.lexists(os.path.join(folder, name)) for name in _OTHERS):
            return math.inf
        git = os.path.join(folder, ".git")
        if os.path.lexists(git):
            return max(_checkouts(git), default=-math.inf)
        above = os.path.dirname(folder)
        if above == folder:
            return -math.inf
        folder = above


def _checkouts(git: str) -> Iterator[float]:
    try:
        if not os.path.isdir(git):
            with open(git, "rb") as file:  # a linked worktree, or a submodule
                named = os.fsdecode(file.readline().removeprefix(b"gitdir: ").rstrip(b"\n"))
            git = os.path.join(os.path.dirname(git), named)
        with open(os.path.join(git, "logs", "HEAD"), "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        yield math.inf  # no such log is kept here
        return
    for line in lines:
        found = _MOVE.search(line)
        if found is None:
            yield math.inf
        elif not _COMMIT.match(found["what"] or b""):
            yield float(found["at"])
