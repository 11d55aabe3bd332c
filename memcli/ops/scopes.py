"""Search several memories as one: the project's, and the person's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    The legs are normalised over what all memories offer, so that the best of a small one is not
    taken for as good as the best of a large one. What several hold to the letter is shown once, of
    the first.
    """
    if len(places) == 1:
        found = search(places[0], text, options, now=now)
        return replace(found, hits=_scoped(found.hits, places[0].scope))
    wide = replace(options, k=max(options.k, rank.POOL), max_chars=None, min_score=None)
    answers = [search(it, text, wide, now=now) for it in places]
    hits = [
        hit
        for it, answer in zip(places, answers, strict=True)
        for hit in _scoped(answer.hits, it.scope)
    ]
    ranked = _ranked(_once(hits), options, min_cosine=places[0].settings.search_min_cosine)
    kept = [hit for hit in ranked if options.min_score is None or hit.score >= options.min_score]
    return Hits(
        text,
        fitted(kept[: options.k], options.max_chars),
        joined_state([answer.index for answer in answers]),
        options.mode,
        answers[0].terms,
        joined_notes((it.scope, answer.notes) for it, answer in zip(places, answers, strict=True)),
    )


def record_all(places: Sequence[Workspace], hits: Sequence[Hit], *, now: float) -> None:
    """Count the retrieval of hits that were shown, each in its own memory."""
    for it in places:
        mine = tuple(hit for hit in hits if hit.scope == it.scope)
        record(it, Hits("", mine, IndexState("fresh"), ""), now=now)


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


def _scoped(hits: Sequence[Hit], scope: str) -> tuple[Hit, ...]:
    return tuple(hit if hit.scope == scope else replace(hit, scope=scope) for hit in hits)


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without what an earlier scope says in the same words."""
    said: dict[str, str] = {}
    return [hit for hit in hits if said.setdefault(one_line(hit.body), hit.scope) == hit.scope]


def _ranked(hits: Sequence[Hit], options: SearchOptions, *, min_cosine: float) -> list[Hit]:
    candidates = [
        rank.Candidate(at, hit.path, hit.start_line, bm25=hit.bm25, cosine=hit.cosine)
        for at, hit in enumerate(hits)
    ]
    ranked = rank.rank(
        candidates,
        alpha=0.0 if options.mode == "vector" else options.alpha,
        fusion=options.fusion,
        min_cosine=min_cosine,
    )
    placed = []
    for one in ranked:
        hit = hits[one.candidate.id]
        score = one.fused * hit.decay + hit.bonus
        placed.append(
            replace(
                hit,
                score=score,
                fused=one.fused,
                bm25_rank=one.bm25_rank,
                cosine_rank=one.cosine_rank,
            )
        )
    placed.sort(key=lambda hit: -hit.score)  # a stable sort: ties stay as ranked
    # What was found within a longer word has no rank; it comes after all that has one.
    return placed + [hit for hit in hits if hit.bm25 is None and hit.cosine is None]
