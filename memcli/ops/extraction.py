"""Find what lasts in a conversation and pin it in MEMORY.md, each fact once, with its source.

With a model, stretch by stretch in the order of the conversation; without one, and where it fails,
from the sentences that say so themselves (`text.stated`). Either way a fact is what a person said
or a tool returned, never an assistant's word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memcli.edit import read as read_file
from memcli.errors import RefusedError
from memcli.layout import MEMORY_FILE
from memcli.ops.alike import restated
from memcli.ops.conversations import asked, note_nonsense
from memcli.ops.fact import Against, contradicted, memory_bytes, memory_text
from memcli.ops.index import index_written
from memcli.ops.removed import removed_by_hand
from memcli.ops.secrets import without_secrets
from memcli.ops.summarize import EXTRACT
from memcli.ops.talk import Talk
from memcli.providers.base import LLM
from memcli.text import answers, pinned, prompts
from memcli.text.facts import OFF, Fact, PinnedFact, parse, sift
from memcli.text.limits import WHAT_TO_DO, characters
from memcli.text.stated import attributed, claimed, stated
from memcli.text.stretches import Said, stretches, told
from memcli.text.turns import ASSISTANT, PERSON, Message, label
from memcli.workspace import Workspace

TOKENS = 2_000  # of a stretch, which gives LASTING_FACTS at most
STATEMENTS = 12  # new ones that a run without a model takes
LOOKED_AT = 100  # of those, when very many are new
STRETCHES = 32  # the newest, which a model is asked about; those before are read without it

_USER = re.compile(r"(?:The )?(?:user|person)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Known:
    """A fact that was found, and the one of MEMORY.md that says it already."""

    text: str
    there: str
    hash: str
    state: str = ""  # "off" or "superseded" where it is not in force


@dataclass(frozen=True, slots=True)
class Extracted:
    """The answer of ``mem summarize --facts``."""

    source: str
    by: str  # a model's name or "extract"
    added: tuple[Fact, ...] = ()
    known: tuple[Known, ...] = ()
    passed_over: tuple[Fact, ...] = ()  # removed before, by tombstone or by hand
    left_out: tuple[Fact, ...] = ()  # for which MEMORY.md has no room
    against: tuple[Against, ...] = ()  # what the added ones contradict
    calls: int = 0  # of the model
    revision: int | None = None
    is_dry: bool = False
    notes: tuple[str, ...] = ()


def extract_facts(
    workspace: Workspace,
    data: bytes,
    *,
    source: str,
    job: str = "",
    is_dry: bool = False,
    now: datetime,
) -> Extracted:
    """Add what lasts and is not known yet, as one revision; a dry run asks no model.

    `source` is a name, as of a file; a path that leads out of the project is cut to its last part.
    What MEMORY.md has no room for is left out, and what contradicts an older fact is said. `job`
    goes into the revision's note; with it a model that fails raises ProviderError, without it that
    costs a note. Raises RefusedError for a source without a text, unless it is a job's.
    """
    talk = Talk(workspace, data, source)
    if not talk.messages and not job:
        raise RefusedError("there is no text to find facts in, so nothing was written")
    llm = None if is_dry else workspace.llm
    if llm is None:
        facts, by, calls = _by_words(talk, range(len(talk.messages))), EXTRACT, 0
    else:
        facts, by, calls = _by_model(workspace, talk, llm, is_job=bool(job))
    facts = [replace(fact, text=without_secrets(workspace, fact.text)) for fact in facts]
    before = memory_text(read_file(workspace.layout, MEMORY_FILE))
    again = _said_again(workspace, facts, before)
    result = Extracted(talk.source, by, calls=calls, is_dry=is_dry)
    if is_dry:
        result = _sorted(workspace, before, facts, again, result)
        if workspace.llm is not None:
            workspace.notes.append(f"{workspace.llm.name} was not asked, and may find others")
        return replace(result, notes=workspace.take_notes())
    note = " ".join(one for one in (f"facts of {talk.source}", job) if one)
    with workspace.edit("fact", now=now, note=note) as files:
        before = memory_text(files.read(MEMORY_FILE))
        result = _sorted(workspace, before, facts, again, result)
        after = pinned.add(before, result.added, f"{now:%Y-%m-%d}")
        files.append(MEMORY_FILE, memory_bytes(after[len(before) :]))
    notes = [*workspace.take_notes(), *files.notes]
    if files.revision is not None:
        notes += index_written(workspace, [MEMORY_FILE], now=now.timestamp())
    return replace(result, revision=files.revision, notes=tuple(notes))


def _by_words(talk: Talk, turns: Sequence[int]) -> list[Fact]:
    """What persons say in these turns that says of itself that it lasts, in their order."""
    said = stated([talk.messages[turn] for turn in turns], is_shared=talk.is_shared)
    return [
        Fact(one.text, talk.place(turns[one.said.turn], one.said.text), one.kind) for one in said
    ]


def _few(facts: Sequence[Fact], most: int) -> list[Fact]:
    """At most so many in their order: instructions and preferences before facts."""
    if len(facts) <= most:
        return list(facts)
    best = sorted(facts, key=lambda fact: fact.kind not in ("instruction", "preference"))[:most]
    return [fact for fact in facts if fact in best]


def _by_model(
    workspace: Workspace, talk: Talk, llm: LLM, *, is_job: bool
) -> tuple[list[Fact], str, int]:
    """The facts in their order, who found them, and how often the model was asked."""
    found = [it for it in stretches(talk.messages, TOKENS) if any(_claims(it))]
    early, late = found[:-STRETCHES], found[-STRETCHES:]
    facts: list[Fact] = []
    if early:
        before = range(early[-1][-1].turn + 1)
        facts += _few(_by_words(talk, before), STATEMENTS)
        workspace.notes.append(
            f"of {len(found)} stretches {llm.name} was asked about the newest {STRETCHES}"
        )
    calls = used = 0
    is_failing = False
    for stretch in late:
        chosen = None
        if not is_failing:
            calls += 1
            answer = _asked(workspace, llm, prompts.lasting_facts(told(stretch)), is_job=is_job)
            is_failing = answer is None
            if answer is not None and (chosen := _held(talk, stretch, answer)) is None:
                note_nonsense(workspace, llm)
        if chosen is None:
            turns = sorted({one.turn for one in stretch})
            chosen = _few(_by_words(talk, turns), prompts.LASTING_FACTS)
        else:
            used += 1
        facts += chosen
    return facts, llm.name if used else EXTRACT, calls


def _asked(workspace: Workspace, llm: LLM, prompt: prompts.Prompt, *, is_job: bool) -> str | None:
    if not is_job:
        return asked(workspace, llm, prompt)
    return llm.complete(
        prompt.text, system=prompt.system, schema=prompt.schema, max_tokens=prompt.max_tokens
    )


def _held(talk: Talk, stretch: Sequence[Said], answer: str) -> list[Fact] | None:
    """The facts of an answer that the stretch bears out, or None for nonsense."""
    claims = _claims(stretch)
    told_by = [
        answers.Claim(f"{one.message.name}\n{claim}" if claim else "", one.message.role)
        for one, claim in zip(stretch, claims, strict=True)
    ]
    found = answers.lasting(answer, told_by)
    if found is None:
        return None
    facts = []
    for one in found:
        said = stretch[one.claim]
        text = _attributed(one, said.message, talk)
        if text:
            place = talk.place(said.turn, claims[one.claim].partition("\n")[0])
            facts.append(Fact(text, place, one.kind))
    return facts


def _claims(stretch: Sequence[Said]) -> list[str]:
    """What each turn claims; an assistant's claims are none."""
    claims = claimed([one.message for one in stretch])
    return [
        "" if one.message.role == ASSISTANT else claim
        for one, claim in zip(stretch, claims, strict=True)
    ]


def _attributed(one: answers.Lasting, message: Message, talk: Talk) -> str:
    """The fact with the name of who said it where it is theirs; empty when it names another."""
    name = label(message).partition("(")[2].rstrip(")") if message.role == PERSON else ""
    folded = one.text.casefold()
    others = (it for it in talk.names if it != name)
    if any(re.search(rf"\b{re.escape(it.casefold())}\b", folded) for it in others):
        return one.text if one.kind == "fact" else ""
    is_own = one.kind == "preference" or (one.kind == "instruction" and talk.is_shared)
    if not name or name.casefold() in folded or not is_own:
        return one.text
    user = _USER.match(one.text)
    return f"{name}{one.text[user.end() :]}" if user else attributed(one.text, name)


def _said_again(workspace: Workspace, facts: Sequence[Fact], before: str) -> dict[str, str]:
    """What says in other words what is there already, or what was found before it.

    Of very many only those are looked at that may be taken.
    """
    memory = parse(before)
    there = [it.fact.text for it in memory.facts]
    found: dict[str, str] = {}
    fresh: list[str] = []
    new = sift(memory, facts).new
    for fact in _few(new, LOOKED_AT):
        again = restated(workspace, [fact], [*there, *fresh])
        found.update(again)
        fresh += [fact.text] * (not again)
    return found


def _sorted(
    workspace: Workspace,
    before: str,
    facts: Sequence[Fact],
    again: dict[str, str],
    result: Extracted,
) -> Extracted:
    """What to add of `facts`, and why not the others."""
    memory = parse(before)
    sifted = sift(memory, facts)
    gone = removed_by_hand(workspace.layout, before, memory)
    by_text = {it.fact.text: it for it in memory.facts}
    known = [_known(fact, it) for fact, it in sifted.known]
    fresh = []
    for fact in sifted.new:
        there = by_text.get(again.get(fact.text, ""))
        if there is not None:
            known.append(_known(fact, there))
        elif fact.text not in again and fact.hash not in gone:
            fresh.append(fact)
    if result.by == EXTRACT and len(fresh) > STATEMENTS:
        workspace.notes.append(f"{len(fresh) - STATEMENTS} more statements wait for another run")
        fresh = _few(fresh, STATEMENTS)
    added = _within(workspace, memory.facts, fresh)
    left_out = [fact for fact in fresh if fact not in added]
    if left_out:
        workspace.notes.append(
            f"{MEMORY_FILE} has no room for {len(left_out)} of them: {WHAT_TO_DO}"
        )
    return replace(
        result,
        added=tuple(added),
        known=tuple(known),
        passed_over=(*sifted.removed, *(fact for fact in sifted.new if fact.hash in gone)),
        left_out=tuple(left_out),
        against=tuple(contradicted(memory.facts, [fact.text for fact in added])),
    )


def _known(fact: Fact, it: PinnedFact) -> Known:
    state = "superseded" if it.superseded_by else "" if it.fact.enabled else OFF
    return Known(fact.text, it.fact.text, it.fact.hash, state)


def _within(workspace: Workspace, there: Sequence[PinnedFact], facts: Sequence[Fact]) -> list[Fact]:
    """Those that the budget of MEMORY.md has room for, in their order."""
    settings = workspace.settings
    room = settings.memory_max_chars - characters(there)
    places = settings.memory_max_facts - sum(it.fact.enabled for it in there)
    kept = []
    for fact in facts:
        is_short = not settings.memory_max_chars or len(fact.text) + 3 <= room
        if is_short and (not settings.memory_max_facts or places > 0):
            kept.append(fact)
            room -= len(fact.text) + 3
            places -= 1
    return kept
