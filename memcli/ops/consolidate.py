"""Join facts that say the same, digest old daily logs into DREAMS.md, fold them into the archive.

Nothing is lost on the way: a joined fact keeps every source and hash, the digest cites the lines
it was made from, and a folded log is moved whole. A second run finds nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memcli import edit
from memcli.layout import DREAMS_FILE, HOME, MEMORY_FILE
from memcli.ops.dreams import (
    Log,
    cleaner,
    dreams_text,
    gleaned,
    guard,
    old_logs,
    shown_counts,
    targets,
)
from memcli.ops.fact import memory_bytes, memory_text
from memcli.ops.index import index_written
from memcli.text import digest, joined, pinned
from memcli.text.contradict import clashes
from memcli.text.duplicates import near_pairs
from memcli.text.facts import Fact, PinnedFact, parse, sift
from memcli.text.gleaning import Gleaning
from memcli.text.limits import WHAT_TO_DO, characters, over_budget
from memcli.text.revisions import Change, diff
from memcli.workspace import Workspace

_Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class FactAt:
    """A fact of MEMORY.md and its line."""

    text: str
    hash: str
    line: int
    source: str


@dataclass(frozen=True, slots=True)
class Merged:
    """Facts that said the same: the one that stays, with all sources, and those that went."""

    kept: FactAt
    dropped: tuple[FactAt, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two facts that cannot both hold, and in what they differ."""

    what: str  # number, date, version, name, negation, scope or preference
    one: FactAt
    other: FactAt
    differs: tuple[str, str]


@dataclass(frozen=True, slots=True)
class NearCopy:
    """Two facts that may say the same; nothing is done about them."""

    one: FactAt
    other: FactAt
    likeness: float


@dataclass(frozen=True, slots=True)
class Digested:
    """What the digest in DREAMS.md is made from, and whether this run changes it."""

    days: int
    since: str
    until: str
    lines: int
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Folded:
    """A daily log that moves to the archive."""

    path: str
    to: str


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The answer of ``mem consolidate``. A preview has no revision and wrote nothing."""

    merged: tuple[Merged, ...]
    near: tuple[NearCopy, ...]
    contradictions: tuple[Contradiction, ...]
    digest: Digested
    folded: tuple[Folded, ...]
    proposed: tuple[Fact, ...]  # lasting facts of the folded logs
    revision: int | None
    is_preview: bool
    diff: str = ""  # of a preview, without the logs that only move
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """The new bytes of each file, the logs that only move aside, and what to tell of it."""

    files: Mapping[str, bytes]
    result: Consolidated


def consolidate(
    workspace: Workspace,
    *,
    older_than: int | None = None,
    is_folding: bool = False,
    is_preview: bool = False,
    now: datetime,
) -> Consolidated:
    """Do all of it as one revision, or with `is_preview` only say what would be done.

    `older_than` is in days; the day of `now` and later ones are never touched. Raises RefusedError
    when half of the logs that the digest was made from are gone, or a log cannot be read.
    """
    days = workspace.settings.consolidate_older_than if older_than is None else older_than
    shown = shown_counts(workspace)
    if is_preview:
        plan = _plan(
            workspace, lambda path: edit.read(workspace.layout, path), shown, days, is_folding, now
        )
        changes = [_change(workspace, path, data) for path, data in plan.files.items()]
        return replace(plan.result, diff=diff(changes), is_preview=True)
    with workspace.edit("consolidate", now=now, note=_note(is_folding)) as files:
        plan = _plan(workspace, files.read, shown, days, is_folding, now)
        for path, data in plan.files.items():
            files.replace(path, data)
        for log in plan.result.folded:
            files.move(log.path, log.to)
    notes = [*plan.result.notes, *files.notes]
    if files.revision is not None:
        moved = [path for log in plan.result.folded for path in (log.path, log.to)]
        notes += index_written(workspace, [*plan.files, *moved], now=now.timestamp())
    return replace(plan.result, revision=files.revision, notes=tuple(notes))


def contradictions(facts: Sequence[PinnedFact]) -> list[Contradiction]:
    """The pairs of facts in force that cannot both hold."""
    own = [it for it in facts if it.fact.enabled]
    return [
        Contradiction(
            clash.what, _at(own[clash.first]), _at(own[clash.second]), (clash.one, clash.other)
        )
        for clash in clashes([it.fact.text for it in own])
    ]


def _plan(
    workspace: Workspace,
    read: _Read,
    shown: Mapping[str, int],
    older_than: int,
    is_folding: bool,
    now: datetime,
) -> _Plan:
    memory = memory_text(read(MEMORY_FILE))
    joins = joined.find(memory)
    new_memory = joined.join(memory, joins)
    notes: list[str] = []
    logs, available = old_logs(workspace, now, older_than, notes)
    moved: list[Log] = []
    if is_folding:
        logs, moved = targets(workspace, logs, notes)
    dreams = dreams_text(read(DREAMS_FILE))
    guard(dreams, available)
    gleaning = gleaned(workspace, logs, shown)
    made = digest.render(gleaning, workspace.settings.consolidate_max_chars, cleaner(workspace))
    new_dreams = digest.put(dreams, made.text) if made.text else dreams
    proposed: list[Fact] = []
    if is_folding:
        proposed = _proposed(workspace, gleaning, new_memory, notes)
        new_memory = pinned.add(new_memory, proposed, f"{now:%Y-%m-%d}")
    files: dict[str, bytes] = {}
    if new_memory != memory:
        files[MEMORY_FILE] = memory_bytes(new_memory)
    if new_dreams != dreams:
        files[DREAMS_FILE] = memory_bytes(new_dreams)
    facts = parse(new_memory).facts
    clashing = contradictions(facts)
    limits = workspace.settings.memory_max_chars, workspace.settings.memory_max_facts
    over = over_budget(facts, max_chars=limits[0], max_facts=limits[1])
    notes += [f"{MEMORY_FILE}: {one} ({WHAT_TO_DO})" for one in over]
    result = Consolidated(
        merged=tuple(
            Merged(_at(one.kept), tuple(map(_at, one.dropped)), one.sources) for one in joins
        ),
        near=tuple(_near(facts, clashing)),
        contradictions=tuple(clashing),
        digest=Digested(made.days, made.since, made.until, len(made.lines), DREAMS_FILE in files),
        folded=tuple(Folded(log.path, log.to) for log in moved),
        proposed=tuple(proposed),
        revision=None,
        is_preview=False,
        notes=(*workspace.notes, *notes),
    )
    return _Plan(files, result)


def _proposed(
    workspace: Workspace, gleaning: Gleaning, memory: str, notes: list[str]
) -> list[Fact]:
    """Lasting facts that MEMORY.md neither says nor denies, as many as its budget has room for."""
    clean = cleaner(workspace)
    found = [
        Fact(clean(line.remark.text), source=f"{HOME}/memory/{digest.place(line.remark)}")
        for line in gleaning.lasting()
    ]
    there = parse(memory)
    own = [it for it in there.facts if it.fact.enabled]
    new = sift(there, found).new
    texts = [it.fact.text for it in own]
    clashing = {
        clash.second
        for clash in clashes([*texts, *(fact.text for fact in new)])
        if clash.second >= len(texts)
    }
    room = workspace.settings.memory_max_chars - characters(own)
    places = workspace.settings.memory_max_facts - len(own)
    kept: list[Fact] = []
    for place, fact in enumerate(new, len(texts)):
        if place in clashing:
            notes.append(f"not proposed, since {MEMORY_FILE} says otherwise: {fact.text}")
        elif len(fact.text) + 3 > room or not places:
            notes.append(f"not proposed, since {MEMORY_FILE} has no room: {fact.text}")
        else:
            kept.append(fact)
            room -= len(fact.text) + 3
            places -= 1
    return kept


def _near(facts: Sequence[PinnedFact], clashing: Sequence[Contradiction]) -> list[NearCopy]:
    own = [it for it in facts if it.fact.enabled]
    apart = {(one.one.line, one.other.line) for one in clashing}
    pairs = near_pairs([it.fact.text for it in own])
    found = [
        NearCopy(_at(own[pair.first]), _at(own[pair.second]), round(pair.likeness, 2))
        for pair in pairs
    ]
    return [it for it in found if (it.one.line, it.other.line) not in apart]


def _change(workspace: Workspace, path: str, data: bytes) -> Change:
    before = edit.read(workspace.layout, path)
    return Change(path, "create" if before is None else "replace", before, data)


def _at(it: PinnedFact) -> FactAt:
    return FactAt(it.fact.text, it.fact.hash, it.start_line, it.fact.source)


def _note(is_folding: bool) -> str:
    return "joins, digest and fold" if is_folding else "joins and digest"
