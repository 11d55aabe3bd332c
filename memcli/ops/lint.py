"""A gate for the memory: what in it is double, contradictory, dead, malformed or too much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from memcli import layout
from memcli.edit import read
from memcli.errors import WorkspaceError
from memcli.layout import DREAMS_FILE, HOME, MEMORY_FILE
from memcli.ops.consolidate import contradictions
from memcli.ops.fact import memory_bytes, memory_text
from memcli.ops.index import index_written
from memcli.ops.promote import Finding
from memcli.ops.sources import dead
from memcli.text import digest, flaws, joined, pinned
from memcli.text.decode import decode, split_lines
from memcli.text.facts import parse
from memcli.text.limits import WHAT_TO_DO, over_budget
from memcli.text.remarks import cite_hash
from memcli.workspace import Workspace

FIXABLE = ("duplicate-fact", "superseded-in-force")


@dataclass(frozen=True, slots=True)
class Linted:
    """The answer of ``mem lint``."""

    findings: tuple[Finding, ...]  # those that are left
    fixed: tuple[Finding, ...]
    facts: int
    files: int
    revision: int | None = None
    notes: tuple[str, ...] = ()


def lint(workspace: Workspace, *, is_fixing: bool = False, now: datetime) -> Linted:
    """Check everything; only `is_fixing` changes anything, and only what loses nothing.

    Copies are joined and superseded facts are switched off, as one revision.
    """
    before = _linted(workspace)
    fixed = tuple(one for one in before.findings if one.code in FIXABLE)
    if not is_fixing or not fixed:
        return before
    revision, notes = mend(workspace, now=now)
    after = _linted(workspace)
    return replace(after, fixed=fixed, revision=revision, notes=(*after.notes, *notes))


def fixable(workspace: Workspace) -> list[Finding]:
    """What `mend` would mend. Raises WorkspaceError when MEMORY.md cannot be read."""
    memory = memory_text(read(workspace.layout, MEMORY_FILE))
    return [*_copies(memory), *_in_force(memory)]


def mend(workspace: Workspace, *, now: datetime) -> tuple[int | None, list[str]]:
    """Join copies and switch superseded facts off: the revision, and what there is to say."""
    with workspace.edit(
        "lint", now=now, note="joins copies, switches superseded facts off"
    ) as files:
        text = memory_text(files.read(MEMORY_FILE))
        text = joined.join(text, joined.find(text))
        for it in reversed(parse(text).facts):
            if it.superseded_by and it.fact.enabled:
                text = pinned.supersede(text, it, it.superseded_by)
        files.replace(MEMORY_FILE, memory_bytes(text))
    notes = list(files.notes)
    if files.revision is not None:
        notes += index_written(workspace, [MEMORY_FILE], now=now.timestamp())
    return files.revision, notes


def _linted(workspace: Workspace) -> Linted:
    paths = {path for path, found in layout.scan(workspace.layout) if found is not None}
    notes: list[str] = []
    memory = memory_text(read(workspace.layout, MEMORY_FILE))
    findings = [*_facts(workspace, memory)]
    for path in layout.in_listing_order(list(paths)):
        try:
            text = decode(read(workspace.layout, path) or b"")[0]
        except WorkspaceError as error:
            notes.append(str(error))
            continue
        lines = split_lines(text)
        found = [*flaws.secrets(text), *flaws.broken_links(path, _own(path, text, lines), paths)]
        found += flaws.entries(path, lines)
        if path == MEMORY_FILE:
            found += flaws.comments(lines)
        if path == DREAMS_FILE:
            found += _stale(workspace, text)
        findings += [_finding(path, *one) for one in sorted(found)]
    count = len(parse(memory).facts)
    return Linted(tuple(findings), (), count, len(paths), None, (*workspace.notes, *notes))


def _facts(workspace: Workspace, memory: str) -> Iterator[Finding]:
    facts = parse(memory).facts
    yield from _copies(memory)
    for pair in contradictions(facts):
        message = (
            f"contradicts line {pair.one.line} ({pair.what}): {pair.other.text} / {pair.one.text}"
        )
        yield _finding(MEMORY_FILE, pair.other.line, "contradiction", message)
    settings = workspace.settings
    for over in over_budget(
        facts, max_chars=settings.memory_max_chars, max_facts=settings.memory_max_facts
    ):
        yield _finding(MEMORY_FILE, 1, "over-budget", f"{over}: {WHAT_TO_DO}")
    yield from _in_force(memory)
    for line, code, message in dead(workspace, facts):
        yield _finding(MEMORY_FILE, line, code, message)


def _copies(memory: str) -> Iterator[Finding]:
    for one in joined.find(memory):
        for it in one.dropped:
            message = f"line {one.kept.start_line} says the same: {it.fact.text}"
            if not one.kept.fact.enabled:
                message = f"line {one.kept.start_line} says that it was superseded: {it.fact.text}"
            yield _finding(MEMORY_FILE, it.start_line, "duplicate-fact", message)


def _in_force(memory: str) -> Iterator[Finding]:
    for it in parse(memory).facts:
        if it.superseded_by and it.fact.enabled:
            message = f"superseded by {it.superseded_by[:6]}, and still in force: {it.fact.text}"
            yield _finding(MEMORY_FILE, it.start_line, "superseded-in-force", message)


def _own(path: str, text: str, lines: list[str]) -> list[str]:
    """The lines of a file, those of the digest blank: its citations are checked by their hash."""
    if path != DREAMS_FILE:
        return lines
    try:
        found = digest.find(text)
    except ValueError:
        return lines
    if found is None:
        return lines
    inner = text[found.start : found.end]
    return split_lines(text[: found.start] + "\n" * inner.count("\n") + text[found.end :])


def _stale(workspace: Workspace, text: str) -> Iterator[tuple[int, str, str]]:
    """Lines of the digest whose source is gone or says something else now."""
    try:
        found = digest.find(text)
    except ValueError as error:
        yield 1, "malformed-digest", f"{error}: take them out by hand, then mem consolidate"
        return
    if found is None:
        return
    sources: dict[str, list[str]] = {}
    first = text.count("\n", 0, found.start) + 1
    for number, line in enumerate(text[found.start : found.end].split("\n"), first):
        for cited in digest.CITATION.finditer(line):
            path = cited["path"]
            if path not in sources:
                sources[path] = split_lines(decode(read(workspace.layout, path) or b"")[0])
            start = int(cited["start"])
            lines = sources[path][start - 1 : int(cited["end"] or start)]
            if not lines or cite_hash(lines) != cited["hash"]:
                place = cited[0].rpartition(" ")[0]
                yield number, "stale-digest", f"{place} says something else now: mem consolidate"


def _finding(path: str, line: int, code: str, message: str) -> Finding:
    return Finding(f"{HOME}/memory/{path}", line, code, message)
