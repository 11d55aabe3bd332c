"""Find passages by word and by meaning, and say how current the index was."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from math import isnan

from memcli import layout, rank
from memcli.errors import UsageError
from memcli.model import Chunk, Hit, Hits, SearchOptions
from memcli.ops.refresh import refresh, state_of
from memcli.store.db import DamagedError
from memcli.text.dates import date_of
from memcli.text.query import Query, Word, build, coverage
from memcli.workspace import Workspace

MOST = 1_000_000  # passages that are shown at most: more is no number to SQLite


def search(workspace: Workspace, text: str, options: SearchOptions, *, now: datetime) -> Hits:
    """The best `options.k` passages. An empty answer for a technical reason is an error or a note.

    Raises UsageError for a blank query or a wrong filter.
    """
    if not text.strip():
        raise UsageError("nothing to search for", hint='mem search "what you want to know"')
    if options.max_chars is not None and options.max_chars < 1:
        raise UsageError(f"an answer of {options.max_chars} characters is none")
    if options.min_score is not None and isnan(options.min_score):
        raise UsageError("a score that is no number bounds nothing")
    # An argument may be any bytes; what is no text finds nothing, and not every question mark.
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    try:
        return _search(workspace, text, options, now)
    except DamagedError:
        # The index is a cache: one that breaks under a search is made again, once.
        workspace.open_backend(anew=True)
        return _search(workspace, text, options, now)


def options_of(workspace: Workspace) -> SearchOptions:
    """How to search where nothing else is asked for."""
    settings, origins, _ = workspace.loaded
    return SearchOptions(
        k=settings.search_k,
        mode=settings.search_mode,
        # Only where nobody set it may it follow the query: see `rank.alpha_for`.
        alpha=None if origins["search.alpha"] == "default" else settings.search_alpha,
        fusion=settings.search_fusion,
    )


def _search(workspace: Workspace, text: str, options: SearchOptions, now: datetime) -> Hits:
    options = options._replace(k=min(options.k, MOST))
    is_empty = not workspace.backend.counts()[0]  # never made, or just being made again
    if options.refresh or is_empty:
        state = refresh(workspace, now=now.timestamp())
    else:
        state = state_of(workspace, behind=0, is_partial=True)
    query = build(text)
    within = None
    if options.within or options.kind or options.since or options.until:
        from memcli.ops.filters import allowed  # spared a search without filters

        within = allowed(workspace, options, now.date())
    n = max(rank.POOL, options.k)
    by_word: list[tuple[int, float]] = []
    if options.mode != "vector":
        by_word = workspace.backend.keyword(query, n, within=within)
    by_meaning: dict[int, float] = {}
    vector = None
    if options.mode != "keyword" and options.alpha != 1:
        from memcli.ops.question import query_vector  # spared a search by words

        is_required = options.mode == "vector"
        vector = query_vector(workspace, text, is_required=is_required)
    if vector is not None:
        if state.pending:
            from memcli.ops.embed import embed_found  # only while something is pending

            state = embed_found(workspace, [chunk for chunk, _ in by_word], state)
        by_meaning = dict(workspace.backend.nearest(vector, n, within=within))
        rest = [chunk for chunk, _ in by_word if chunk not in by_meaning]
        by_meaning.update(workspace.backend.cosines(vector, rest))
    if query.phrases and options.mode != "vector":  # what must occur is the keyword leg's to say
        found = dict(by_word)
        by_meaning = {chunk: near for chunk, near in by_meaning.items() if chunk in found}
    is_hybrid = vector is not None and options.mode == "hybrid"
    weights = workspace.backend.rarities(query) if is_hybrid else {}
    ranked = _ranked(workspace, query, dict(by_word), by_meaning, options, weights, now.date())
    if is_hybrid and not _is_answer(workspace, query, weights, ranked):
        ranked = []
    hits = _hits(workspace, {one.candidate.id: one for one in ranked[: options.k]})
    if not ranked and not by_word and options.mode != "vector" and query.needle:
        # What the legs did not find may still stand in the text, within a longer word.
        ids = workspace.backend.substring(query.needle, options.k, within=within)
        hits = _hits(workspace, dict.fromkeys(ids))
    shown = fitted(hits, options.max_chars)
    return Hits(text, shown, state, options.mode, query.terms, workspace.take_notes())


def record(workspace: Workspace, hits: Hits, *, now: float, others: Collection[str] = ()) -> None:
    """Count the retrieval of hits that were shown, unless somebody else is writing just now.

    `others` are files that were shown too, though no search found them.
    """
    ids = [hit.chunk_id for hit in hits.hits]
    if ids:
        workspace.write_if_free("search", lambda: workspace.backend.record(ids, int(now)))
    if others:
        workspace.write_if_free("search", lambda: workspace.backend.note_uses(others, int(now)))


def _ranked(
    workspace: Workspace,
    query: Query,
    by_word: dict[int, float],
    by_meaning: dict[int, float],
    options: SearchOptions,
    weights: Mapping[Word, float],
    today: date,
) -> list[rank.Ranked]:
    backend = workspace.backend
    places = backend.places([*by_word, *(c for c in by_meaning if c not in by_word)])
    candidates = [
        rank.Candidate(
            id=id_,
            path=place.path,
            line=place.start_line,
            bm25=by_word.get(id_),
            cosine=by_meaning.get(id_),
            days=_age(place.path, today),
            shown=place.retrievals,
        )
        for id_, place in places.items()
    ]
    alpha = 0.0 if options.mode == "vector" else options.alpha
    near = [(cosine, -id_) for id_, cosine in by_meaning.items() if id_ in places]
    if weights and near:
        cosine, id_ = max(near)
        covered = coverage(query, backend.held(query, -id_), weights)
        min_cosine = workspace.settings.search_min_cosine
        alpha = rank.alpha_for(alpha, cosine, covered, min_cosine=min_cosine)
    ranked = rank.rank(
        candidates,
        alpha=alpha,
        fusion=options.fusion,
        min_cosine=workspace.settings.search_min_cosine,
    )
    if _is_word(query) and options.mode == "hybrid":
        ranked = rank.words_first(ranked)
    if options.min_score is not None:
        ranked = [one for one in ranked if one.score >= options.min_score]
    return ranked


def _is_word(query: Query) -> bool:
    """Whether the query is one word or identifier; where no spaces are written it may be more."""
    is_one = len(query.text.split()) == 1
    return is_one and (query.text.isascii() or len(query.parts) == 1)


def _is_answer(
    workspace: Workspace, query: Query, weights: Mapping[Word, float], ranked: list[rank.Ranked]
) -> bool:
    """Whether the best hits say anything about the question: see `rank.is_answered`."""
    if query.phrases:
        return True
    return rank.is_answered(
        (
            (it.cosine, coverage(query, workspace.backend.held(query, it.id), weights))
            for it, *_ in ranked[: rank.ANSWER_DEPTH]
        ),
        min_cosine=workspace.settings.search_min_cosine,
        is_foreign=query.is_foreign,
    )


def _hits(workspace: Workspace, best: Mapping[int, rank.Ranked | None]) -> list[Hit]:
    """The chunks with these ids as they are shown, in that order."""
    found = workspace.backend.found(best)
    return [_hit(found[id_], ranked) for id_, ranked in best.items() if id_ in found]


def _hit(chunk: Chunk, ranked: rank.Ranked | None) -> Hit:
    return Hit(
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        heading=chunk.heading,
        score=ranked.score if ranked else 0.0,
        bm25=ranked.candidate.bm25 if ranked else None,
        cosine=ranked.candidate.cosine if ranked else None,
        body=chunk.body,
        chunk_id=chunk.id,
        date=date_of(chunk.path),
        kind=layout.kind_of(chunk.path),
        bm25_rank=ranked.bm25_rank if ranked else None,
        cosine_rank=ranked.cosine_rank if ranked else None,
        fused=ranked.fused if ranked else 0.0,
        decay=ranked.decay if ranked else 1.0,
        bonus=ranked.bonus if ranked else 0.0,
    )


def fitted(hits: Sequence[Hit], max_chars: int | None) -> tuple[Hit, ...]:
    """The first hits whose bodies have at most `max_chars` characters in all; the first is cut."""
    bodies = rank.fit([hit.body for hit in hits], max_chars)
    return tuple(
        hit if hit.body == body else _cut(hit, body)
        for hit, body in zip(hits, bodies, strict=False)
    )


def _cut(hit: Hit, body: str) -> Hit:
    return replace(
        hit, body=body, end_line=hit.start_line + body.rstrip("\n").count("\n"), is_cut=True
    )


def _age(path: str, today: date) -> float | None:
    """Days since the date in the name of a daily log or an archive; None for what never ages."""
    if layout.kind_of(path) not in ("daily", "archive"):
        return None
    day = date_of(path)
    return None if day is None else (today - date.fromisoformat(day)).days
