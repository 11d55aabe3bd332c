"""Decisions in documents become facts in MEMORY.md, each once; or a gate says which are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memcli.edit import read
from memcli.layout import HOME, MEMORY_FILE
from memcli.ops.fact import memory_bytes, memory_text
from memcli.ops.index import index_written
from memcli.ops.pinned_budget import budget_notes
from memcli.ops.removed import removed_by_hand
from memcli.ops.secrets import without_secrets
from memcli.text import pinned
from memcli.text.decisions import MARKERS, Decision, extract
from memcli.text.decode import decode
from memcli.text.facts import Fact, Pinned, PinnedFact, clean_source, parse, sift
from memcli.text.joined import sources_of
from memcli.text.revisions import Change, diff
from memcli.text.similar import likeness
from memcli.workspace import Workspace

# From here on a changed bullet counts as the old fact in new words, not as another fact.
SAME_SUBJECT = 0.4


@dataclass(frozen=True, slots=True)
class Source:
    """What `mem promote` found in one document."""

    path: str
    found: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Superseded:
    """A fact whose source says something else now."""

    old: str
    new: str
    source: str


@dataclass(frozen=True, slots=True)
class Promoted:
    """The answer of ``mem promote``."""

    added: tuple[Fact, ...]
    superseded: tuple[Superseded, ...]
    known: int
    passed_over: tuple[Fact, ...]  # removed by hand or by tombstone
    sources: tuple[Source, ...]
    revision: int | None
    diff: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a gate holds against a file."""

    path: str  # relative to the project folder
    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer of ``mem promote --check``."""

    findings: tuple[Finding, ...]
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A text to look for decisions in; `path` is how facts name it as their source."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class _Read:
    """What the documents hold."""

    decisions: tuple[tuple[Document, Decision, Fact], ...]
    sources: tuple[Source, ...]
    notes: tuple[str, ...]

    @property
    def facts(self) -> list[Fact]:
        return [fact for _, _, fact in self.decisions]


def promote(
    workspace: Workspace,
    documents: Sequence[Document],
    *,
    markers: Sequence[str] = (),
    task_id: str = "",
    is_again: bool = False,
    is_dry: bool = False,
    now: datetime,
) -> Promoted:
    """Add what MEMORY.md does not say yet, and mark what a source says differently now.

    What was removed by tombstone, or by hand since it was promoted here, is left out unless
    `is_again`. A dry run answers with the diff and writes nothing.
    """
    task_id = without_secrets(workspace, task_id)
    found = _read(workspace, documents, markers)
    if is_dry:
        before = memory_text(read(workspace.layout, MEMORY_FILE))
        after, result = _rewritten(workspace, before, found, task_id, is_again, now)
        kind = "replace" if before else "create"
        change = Change(MEMORY_FILE, kind, memory_bytes(before) or None, memory_bytes(after))
        return replace(result, diff=diff([change]) if after != before else "")
    with workspace.edit("promote", now=now, note=_note(documents, task_id)) as files:
        before = memory_text(files.read(MEMORY_FILE))
        after, result = _rewritten(workspace, before, found, task_id, is_again, now)
        if after.startswith(before):
            files.append(MEMORY_FILE, memory_bytes(after[len(before) :]))
        else:
            files.replace(MEMORY_FILE, memory_bytes(after))
    notes = [*result.notes, *files.notes]
    if files.revision is not None:
        notes += index_written(workspace, [MEMORY_FILE], now=now.timestamp())
        notes += budget_notes(workspace, parse(after).facts)
    return replace(result, revision=files.revision, notes=tuple(notes))


def check(
    workspace: Workspace, documents: Sequence[Document], *, markers: Sequence[str] = ()
) -> Checked:
    """What a promote of these documents would change, as findings. Writes nothing."""
    found = _read(workspace, documents, markers)
    memory = parse(memory_text(read(workspace.layout, MEMORY_FILE)))
    new = {fact.hash for fact in sift(memory, found.facts).new}
    findings = []
    for document, decision, fact in found.decisions:
        (cleaned,) = sift(Pinned(), [fact]).new or (fact,)
        if cleaned.hash in new:
            new.discard(cleaned.hash)
            message = f"this decision is not in MEMORY.md: {fact.text}"
            findings.append(Finding(document.path, decision.start_line, "not-promoted", message))
    for it in _unsaid(memory, found):
        path = f"{HOME}/memory/{MEMORY_FILE}"
        message = f"{it.fact.source} no longer says this: {it.fact.text}"
        findings.append(Finding(path, it.start_line, "source-changed", message))
    return Checked(tuple(findings), found.sources, found.notes)


def _read(workspace: Workspace, documents: Sequence[Document], markers: Sequence[str]) -> _Read:
    decisions: list[tuple[Document, Decision, Fact]] = []
    sources: list[Source] = []
    notes: list[str] = []
    for document in documents:
        text, note = decode(document.data)
        if note:
            notes.append(f"{document.path}: {note}")
        found = extract(text, markers or MARKERS)
        for decision in found.decisions:
            fact = decision.fact(document.path)
            masked = replace(
                fact,
                text=without_secrets(workspace, fact.text),
                source=without_secrets(workspace, fact.source),  # it names a heading
            )
            decisions.append((document, decision, masked))
        sources.append(Source(document.path, len(found.decisions), found.notes))
    notes = [*notes, *workspace.notes]
    return _Read(tuple(decisions), tuple(sources), tuple(dict.fromkeys(notes)))


def _rewritten(
    workspace: Workspace, before: str, found: _Read, task_id: str, is_again: bool, now: datetime
) -> tuple[str, Promoted]:
    """MEMORY.md with the documents' decisions in it, and what was done."""
    memory = parse(before)
    sifted = sift(memory, found.facts, again=is_again)
    new = list(sifted.new)
    passed_over = list(sifted.removed)
    if not is_again:
        gone = removed_by_hand(workspace.layout, before, memory)
        passed_over += [fact for fact in new if fact.hash in gone]
        new = [fact for fact in new if fact.hash not in gone]
    pairs = _pairs(_unsaid(memory, found), new)
    text = before
    for it, fact in sorted(pairs, key=lambda pair: -pair[0].start_line):
        text = pinned.supersede(text, it, fact.hash)
    text = pinned.add(text, new, f"{now:%Y-%m-%d}", task_id)
    return text, Promoted(
        added=tuple(new),
        superseded=tuple(Superseded(it.fact.text, fact.text, it.fact.source) for it, fact in pairs),
        known=len(sifted.known),
        passed_over=tuple(passed_over),
        sources=found.sources,
        revision=None,
        notes=found.notes,
    )


def _unsaid(memory: Pinned, found: _Read) -> list[PinnedFact]:
    """Facts in force all of whose sources were read, none of which says them any more."""
    paths = {clean_source(source.path) for source in found.sources}
    said = {it.start_line for _, it in sift(memory, found.facts).known}
    return [
        it
        for it in memory.facts
        if it.fact.enabled
        and it.fact.source
        and {one.partition("#")[0] for one in sources_of(it.fact.source)} <= paths
        and it.start_line not in said
    ]


def _pairs(old: Sequence[PinnedFact], new: Sequence[Fact]) -> list[tuple[PinnedFact, Fact]]:
    """Each unsaid fact with the new one of the same heading that is most like it, each once."""
    scored = [
        (likeness(it.fact.text, fact.text), -it.start_line, it, fact)
        for it in old
        for fact in new
        if fact.source in sources_of(it.fact.source)
    ]
    pairs: list[tuple[PinnedFact, Fact]] = []
    for score, _, it, fact in sorted(scored, key=lambda one: one[:2], reverse=True):
        is_free = all(it is not a and fact is not b for a, b in pairs)
        if score >= SAME_SUBJECT and is_free:
            pairs.append((it, fact))
    return pairs


def _note(documents: Sequence[Document], task_id: str) -> str:
    names = ", ".join(document.path for document in documents[:3])
    more = f" and {len(documents) - 3} more" if len(documents) > 3 else ""
    return f"{names}{more}" + (f" for {task_id}" if task_id else "")
