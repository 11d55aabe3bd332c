"""Facts of MEMORY.md that a newer one contradicts: superseded where that is sure, else reported.

Which of two facts is newer is told by the dated sections that `mem` writes, and in one section by
the order in them. A fact written or edited by hand has no time that could be known, so that it
neither wins nor loses here. An older fact whose document still says it stays in force too: the
document is the truth, and `mem promote` follows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memcli.edit import read
from memcli.errors import ProviderError
from memcli.layout import HOME, MEMORY_FILE
from memcli.ops.fact import memory_bytes, memory_text
from memcli.ops.index import index_written
from memcli.ops.sources import dead
from memcli.providers.base import LLM
from memcli.text import answers, pinned, prompts
from memcli.text.contradict import Clash, clashes
from memcli.text.facts import WAS, PinnedFact, parse
from memcli.text.joined import sources_of
from memcli.text.outdated import doubt
from memcli.workspace import Workspace

PAIRS = 20  # that a model is asked about in one run, the newest first

_DATED = re.compile(r"(\d{4}-\d\d-\d\d) — promoted")
_DOCUMENT = re.compile(r"\.\w+$")


@dataclass(frozen=True, slots=True)
class Belief:
    """A newer fact and the older one that it contradicts."""

    what: str  # number, date, version, name, negation, scope or preference
    new: str
    new_hash: str
    old: str
    old_hash: str
    why: str = ""  # the older one stays in force

    @property
    def command(self) -> str:
        """What takes the older fact out of force."""
        return f"mem fact disable {self.old_hash[:6]}"


@dataclass(frozen=True, slots=True)
class Revised:
    """What became of facts that contradict each other."""

    superseded: tuple[Belief, ...]
    reported: tuple[Belief, ...]
    by: str  # a model's name, or "rules"
    calls: int = 0  # of the model
    revision: int | None = None
    is_dry: bool = False
    notes: tuple[str, ...] = ()


def revise_beliefs(
    workspace: Workspace,
    hashes: Sequence[str],
    *,
    job: str = "",
    is_dry: bool = False,
    now: datetime,
) -> Revised:
    """Mark facts in force as superseded by the newer ones of `hashes`, or without any by all newer.

    Contradictions are found without a model; if there is one it is asked about each pair, and what
    it does not call superseded stays. Without one the newer fact wins where `text.outdated` has no
    doubt, and the rest is reported. The old text stays, switched off, with the hash of the new one,
    as one revision with `job` in its note. With `job` a model that fails raises ProviderError
    before anything is written; otherwise it costs a note and the rules decide. A dry run asks no
    model.
    """
    memory = memory_text(read(workspace.layout, MEMORY_FILE))
    judge = _Judge(workspace, None if is_dry else workspace.llm, is_job=bool(job))
    won: list[Belief] = []
    open_: list[Belief] = []
    for pair in _pairs(memory, hashes):
        why = judge.why_not(pair)
        (open_ if why else won).append(replace(pair.belief, why=why))
    # The newest that contradicts a fact takes its place, and stands itself.
    last: dict[str, Belief] = {}
    for one in won:
        last.setdefault(one.old_hash, one)
    result = Revised(tuple(last.values()), tuple(open_), judge.name, judge.calls, is_dry=is_dry)
    if is_dry or not last:
        return replace(result, notes=workspace.take_notes())
    note = " ".join(one for one in (f"{len(last)} superseded", job) if one)
    with workspace.edit("fact", now=now, note=note) as files:
        text = memory_text(files.read(MEMORY_FILE))
        for it in reversed(parse(text).facts):
            belief = last.get(it.fact.hash)
            if belief and it.fact.enabled and it.fact.text == belief.old:
                text = pinned.supersede(text, it, belief.new_hash)
        files.replace(MEMORY_FILE, memory_bytes(text))
    notes = [*workspace.take_notes(), *files.notes]
    if files.revision is not None:
        notes += index_written(workspace, [MEMORY_FILE], now=now.timestamp())
    return replace(result, revision=files.revision, notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two facts that contradict each other, the newer one second as far as that is known."""

    clash: Clash
    old: PinnedFact
    new: PinnedFact
    is_timed: bool

    @property
    def belief(self) -> Belief:
        old, new = self.old.fact, self.new.fact
        return Belief(self.clash.what, new.text, new.hash, old.text, old.hash)


def _pairs(memory: str, hashes: Sequence[str]) -> list[_Pair]:
    """The contradictions in which one of `hashes` is the newer fact, the newest first."""
    facts = [it for it in parse(memory).facts if it.fact.enabled]
    found = []
    for clash in clashes([it.fact.text for it in facts]):
        one, other = facts[clash.first], facts[clash.second]
        times = _time(one), _time(other)
        old, new = (other, one) if all(times) and times[0] > times[1] else (one, other)
        is_wanted = not hashes or any(it.startswith(tuple(hashes)) for it in new.hashes)
        if is_wanted:
            found.append(_Pair(clash, old, new, all(times)))
    return sorted(found, key=lambda pair: (_time(pair.new), pair.new.start_line), reverse=True)


def _time(it: PinnedFact) -> tuple[str, int] | tuple[()]:
    """When a fact was written, to be compared; nothing for one that a person wrote or edited."""
    dated = _DATED.match(it.section)
    is_own = it.recorded == it.fact.hash and not any(word.startswith(WAS) for word in it.words)
    return (dated[1], it.start_line) if dated and is_own else ()


class _Judge:
    """Says why an older fact stays in force, if it does."""

    def __init__(self, workspace: Workspace, llm: LLM | None, *, is_job: bool) -> None:
        self.calls = 0
        self.name = llm.name if llm is not None else "rules"
        self._workspace = workspace
        self._llm = llm
        self._is_job = is_job

    def why_not(self, pair: _Pair) -> str:
        """Why the newer fact does not supersede the older one; empty when it does."""
        if not pair.is_timed:
            return "which one is newer is not known: one was written or edited by hand"
        document = _document(self._workspace, pair.old)
        if document:
            return f"{document} still says it: change that, then mem promote it"
        if self._llm is None:
            return _by_rule(pair)
        if self.calls >= PAIRS:
            return f"{self._llm.name} is asked about {PAIRS} pairs a run"
        return self._by_model(self._llm, pair)

    def _by_model(self, llm: LLM, pair: _Pair) -> str:
        prompt = prompts.belief(pair.old.fact.text, pair.new.fact.text)
        self.calls += 1
        try:
            answer = llm.complete(
                prompt.text,
                system=prompt.system,
                schema=prompt.schema,
                max_tokens=prompt.max_tokens,
            )
        except ProviderError as error:
            if self._is_job:
                raise
            self._workspace.notes.append(f"judged without a model: {error.with_hint}")
            self._llm, self.name = None, "rules"
            return _by_rule(pair)
        told = answers.verdict(answer)
        if told == "supersedes":
            return ""
        return f"{llm.name}: {told}"


def _by_rule(pair: _Pair) -> str:
    why = doubt(pair.clash, pair.old.fact.text, pair.new.fact.text)
    return f"{why}, which a person has to judge" if why else ""


def _document(workspace: Workspace, it: PinnedFact) -> str:
    """The document outside of the memory that a fact was promoted from and that still says it."""
    for source in sources_of(it.fact.source):
        path = source.partition("#")[0]
        is_document = bool(_DOCUMENT.search(path)) and not path.startswith(f"{HOME}/")
        alone = replace(it, fact=replace(it.fact, source=source))
        if is_document and "://" not in source and not [*dead(workspace, [alone])]:
            return source
    return ""
