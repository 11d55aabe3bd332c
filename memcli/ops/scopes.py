"""Search several memories as one: the project's, and the person's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memcli import rank
from memcli.model import Hit, Hits, IndexState, SearchOptions
from memcli.ops.search import fitted, record, search
from memcli.text.printable import one_line
from memcli.workspace import Workspace

_STATES = ("fresh", "partial", "stale")  # the worst last


def search_all(
    places: Sequence[Workspace], text: str, options: SearchOptions, *, now: datetime
) -> Hits:
    """The best passages of all memories, each hit with its scope.

    What several hold to the letter is shown once, of the first.
    """
    wide = options
    if len(places) > 1:
        wide = options._replace(k=max(options.k, rank.POOL), max_chars=None, min_score=None)
    answers = [_scoped(search(it, text, wide, now=now), it.scope) for it in places]
    if len(answers) == 1:
        return answers[0]
    kept = [hit for hit in _joined(answers) if hit.score >= (options.min_score or 0.0)]
    return Hits(
        text,
        fitted(kept[: options.k], options.max_chars),
        joined_state([answer.index for answer in answers]),
        options.mode,
        answers[0].terms,
        joined_notes((it.scope, answer.notes) for it, answer in zip(places, answers, strict=True)),
    )


def record_all(
    places: Sequence[Workspace],
    hits: Sequence[Hit],
    *,
    now: float,
    others: Collection[tuple[str, str]] = (),
) -> None:
    """Count the retrieval of hits that were shown, each in its own memory.

    `others` are files, by scope and path, that were shown too, though no search found them.
    """
    for it in places:
        mine = tuple(hit for hit in hits if hit.scope == it.scope)
        files = {path for scope, path in others if scope == it.scope}
        record(it, Hits("", mine, IndexState("fresh"), ""), now=now, others=files)


def joined_state(states: Sequence[IndexState]) -> IndexState:
    """One state for all: the worst, with the sums."""
    return IndexState(
        max((one.state for one in states), key=_STATES.index),
        files=sum(one.files for one in states),
        chunks=sum(one.chunks for one in states),
        pending=sum(one.pending for one in states),
        behind=sum(one.behind for one in states),
    )


def joined_notes(said: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """The notes of all scopes, each once, those of a personal memory with its name."""
    return tuple(
        dict.fromkeys(
            note if scope == "project" else f"{scope} memory: {note}"
            for scope, notes in said
            for note in notes
        )
    )


def _scoped(answer: Hits, scope: str) -> Hits:
    if all(hit.scope == scope for hit in answer.hits):
        return answer
    return replace(answer, hits=tuple(replace(hit, scope=scope) for hit in answer.hits))


def _joined(answers: Sequence[Hits]) -> list[Hit]:
    """All hits, best first; ties in the order of the answers, each in its own order.

    The best hit of any memory scores about 1 there, however good it is, and BM25 of a handful of
    notes cannot be held against that of thousands. So a memory's scores are weighed by how much of
    the query its best hit covers, and how near in meaning it is, beside the best of all.
    """
    strengths = [max((_strength(hit, one.terms) for hit in one.hits), default=0) for one in answers]
    best = max(strengths) or 1.0
    said: set[str] = set()
    hits = []
    for answer, strength in zip(answers, strengths, strict=True):
        share = rank.sharpen(strength / best)  # as the scores are that it weighs
        hits += [
            replace(hit, score=hit.score * share, fused=hit.fused * share, bonus=hit.bonus * share)
            for hit in answer.hits
            if one_line(hit.body) not in said
        ]
        said.update(one_line(hit.body) for hit in answer.hits)
    return sorted(hits, key=lambda hit: -hit.score)


def _strength(hit: Hit, terms: Sequence[str]) -> float:
    text = f"{hit.heading}\n{hit.body}".casefold()
    covered = sum(term.casefold() in text for term in terms) / len(terms) if terms else 0.0
    return covered + max(hit.cosine or 0.0, 0.0)
