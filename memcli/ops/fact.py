"""The pinned facts one by one: list, add, edit, remove, disable, enable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memcli.edit import read
from memcli.errors import RefusedError, UsageError, WorkspaceError
from memcli.layout import MEMORY_FILE
from memcli.ops.index import index_written
from memcli.ops.pinned_budget import budget_notes
from memcli.ops.remembered import without_recalled
from memcli.ops.secrets import without_secrets
from memcli.text import pinned
from memcli.text.contradict import clashes
from memcli.text.facts import KINDS, Fact, PinnedFact, clean_text, fact_hash, parse, sift
from memcli.workspace import Workspace


@dataclass(frozen=True, slots=True)
class FactLine:
    """A pinned fact as `mem fact` shows it."""

    hash: str
    kind: str
    text: str
    source: str
    line: int
    is_enabled: bool
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class FactList:
    """The answer of ``mem fact list``."""

    facts: tuple[FactLine, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactChanged:
    """The answer of the verbs that change one fact."""

    what: str  # added, edited, removed, disabled, enabled or known
    text: str
    hash: str
    revision: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Against:
    """A fact in force that a new one contradicts, and what settles it."""

    new: str
    old: str
    hash: str
    what: str  # number, date, version, name, negation, scope or preference

    @property
    def command(self) -> str:
        """What takes the older fact out of force."""
        return f"mem fact disable {self.hash[:6]}"

    @property
    def sentence(self) -> str:
        """All of it in one line, for a note."""
        return (
            f"contradicts {self.hash[:6]} ({self.what}): {self.old} (to settle it: {self.command})"
        )


def contradicted(facts: Sequence[PinnedFact], new: Sequence[str]) -> list[Against]:
    """What the `new` texts contradict among the facts in force, and among those before them."""
    own = [it.fact.text for it in facts if it.fact.enabled]
    texts = [*own, *new]
    return [
        Against(texts[clash.second], texts[clash.first], fact_hash(texts[clash.first]), clash.what)
        for clash in clashes(texts)
        if clash.second >= len(own)
    ]


def list_facts(workspace: Workspace, *, kind: str | None = None, is_all: bool = False) -> FactList:
    """The facts in force, in the order of MEMORY.md; `is_all` adds disabled and superseded ones."""
    text = memory_text(read(workspace.layout, MEMORY_FILE))
    lines = [
        FactLine(
            hash=it.fact.hash,
            kind=it.fact.kind,
            text=it.fact.text,
            source=it.fact.source,
            line=it.start_line,
            is_enabled=it.fact.enabled,
            superseded_by=it.superseded_by,
        )
        for it in parse(text).facts
        if (is_all or it.fact.enabled) and (kind is None or it.fact.kind == kind)
    ]
    return FactList(tuple(lines), tuple(workspace.notes))


def add_fact(
    workspace: Workspace, text: str, *, kind: str, source: str, is_forced: bool, now: datetime
) -> FactChanged:
    """Pin one more fact, unless it is there already, word for word or nearly; `is_forced` adds.

    The answer says "known" for what is there. Raises RefusedError for a near copy and for a fact
    that was removed before, UsageError for a blank text.
    """
    if kind not in KINDS:
        raise UsageError(f"unknown kind '{kind}'", hint=f"one of: {', '.join(KINDS)}")
    text = without_recalled(workspace, text)
    text = clean_text(without_secrets(workspace, text))
    if not text:
        raise UsageError("a fact without words", hint='mem fact add "what holds"')
    fact = Fact(text, source=without_secrets(workspace, source), kind=kind)
    with workspace.edit("fact", now=now, note=f"add: {text[:60]}") as files:
        before = memory_text(files.read(MEMORY_FILE))
        found = sift(parse(before), [fact], again=is_forced)
        if found.known and not is_forced:
            _, there = found.known[0]
            if there.fact.hash == fact_hash(text) and there.fact.enabled:
                notes = (*workspace.notes, *files.notes)
                return FactChanged("known", there.fact.text, there.fact.hash, None, notes)
            raise RefusedError(
                f"much the same is there already: {there.fact.text}",
                hint=f"mem fact edit {there.fact.hash[:6]} …, or --force",
            )
        if found.removed:
            raise RefusedError("this fact was removed before", hint="add it again with --force")
        after = pinned.add(before, [fact], f"{now:%Y-%m-%d}")
        files.append(MEMORY_FILE, memory_bytes(after[len(before) :]))
    said = [one.sentence for one in contradicted(parse(before).facts, [text])]
    said += [*files.notes, *budget_notes(workspace, parse(after).facts)]
    return _changed(workspace, "added", text, files.revision, now, said)


def edit_fact(workspace: Workspace, prefix: str, text: str, *, now: datetime) -> FactChanged:
    """Give a fact other words; it still answers to its old hash."""
    text = without_recalled(workspace, text)
    text = clean_text(without_secrets(workspace, text))
    if not text:
        raise UsageError("a fact without words", hint=f"mem fact remove {prefix}")
    return _change(
        workspace, "edited", prefix, lambda memory, it: pinned.edit(memory, it, text), now, text
    )


def remove_fact(workspace: Workspace, prefix: str, *, now: datetime) -> FactChanged:
    """Take a fact out; a tombstone keeps it from being promoted again."""
    return _change(workspace, "removed", prefix, pinned.remove, now)


def disable_fact(workspace: Workspace, prefix: str, *, now: datetime) -> FactChanged:
    """Keep a fact in the file but out of every recall."""
    return _change(workspace, "disabled", prefix, pinned.disable, now)


def enable_fact(workspace: Workspace, prefix: str, *, now: datetime) -> FactChanged:
    """Bring a disabled or superseded fact back."""
    return _change(workspace, "enabled", prefix, pinned.enable, now)


def _change(
    workspace: Workspace,
    what: str,
    prefix: str,
    rewrite: Callable[[str, PinnedFact], str],
    now: datetime,
    text: str | None = None,
) -> FactChanged:
    with workspace.edit("fact", now=now, note=f"{what} {prefix}") as files:
        before = memory_text(files.read(MEMORY_FILE))
        it = _the_one(before, prefix)
        files.replace(MEMORY_FILE, memory_bytes(rewrite(before, it)))
    shown = it.fact.text if text is None else text
    return _changed(workspace, what, shown, files.revision, now, files.notes)


def _the_one(memory: str, prefix: str) -> PinnedFact:
    """The fact whose hash begins with `prefix`. Raises RefusedError for none or several."""
    if not prefix or any(char not in "0123456789abcdef" for char in prefix.lower()):
        raise UsageError(f"not a hash: '{prefix}'", hint="mem fact list")
    found = parse(memory).find(prefix)
    if not found:
        raise RefusedError(f"no fact with a hash like {prefix}", hint="mem fact list --all")
    if len(found) > 1:
        hashes = ", ".join(it.fact.hash for it in found)
        raise RefusedError(f"several facts have a hash like {prefix}", hint=f"one of: {hashes}")
    return found[0]


def _changed(
    workspace: Workspace,
    what: str,
    text: str,
    revision: int | None,
    now: datetime,
    notes: list[str],
) -> FactChanged:
    if revision is not None:
        notes = [*notes, *index_written(workspace, [MEMORY_FILE], now=now.timestamp())]
    return FactChanged(what, text, fact_hash(text), revision, (*workspace.notes, *notes))


def memory_text(data: bytes | None) -> str:
    """MEMORY.md as text that gives the same bytes back. Raises WorkspaceError for UTF-16."""
    if data and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise WorkspaceError(f"{MEMORY_FILE} is UTF-16", hint="save it as UTF-8")
    return (data or b"").decode("utf-8", "surrogateescape")


def memory_bytes(text: str) -> bytes:
    """What `memory_text` was made from."""
    return text.encode("utf-8", "surrogateescape")
