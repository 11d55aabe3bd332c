"""Put what the two legs found in order: fusion, decay, access bonus, silence and cuts.

``score = fused x decay + bonus``, where ``fused`` is the sharpened blend of both legs. Pure
functions on plain floats; every score grows with relevance.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# How many chunks each leg offers. Each leg is normalised over this pool whatever k is, so that
# search(k) is a prefix of search(k + n).
POOL = 100

# Of heading, body and further words in BM25. A chunk's own heading stands in its body too.
COLUMN_WEIGHTS = (0.7, 1.0, 0.5)

# What the BM25 of the query's pairs of neighbours adds to that of its words: 0.5 to 3 points of
# nDCG@10 on every evaluation set but scientific abstracts, which a larger weight would hurt.
PAIR_WEIGHT = 0.4

ALPHA = 0.7  # weight of BM25 in the blend
# Where the passage nearest in meaning is near enough to be an answer (see ANSWER_MARGIN) and also
# holds this share of the query's words, by weight, the cosine counts more. Worth 2 points of
# nDCG@10 on questions to documentation (1.5 and 2.6 in its halves), 0 to 0.3 less elsewhere. A
# share of 0.7 or a weight of 0.45 moves no set by more than 0.7; a weight of 0.4 for all queries
# would cost those others 3 to 6.
AGREED_COVERAGE = 0.75
AGREED_ALPHA = 0.35
RRF_BASE = 60  # Cormack, Clarke and Buettcher 2009

# The least range that a pool of BM25 scores is stretched over, as a share of its best. Without it
# two notes of nearly the same score would become 0 and 1.
BM25_RANGE = 0.5
# A cosine counts by how far it is below the best of its pool, in units of this range: 1 for the
# best, down to -1. Stretched over the pool's own range, as BM25 is, it is 0.3 to 1 point of nDCG@10
# lower on documentation and chat turns, and 0.5 to 0.8 higher on sessions and decision records. The
# floor of -1 keeps the best keyword hit ahead of what no word of the query found. Lifting it all to
# 0 to 1 would let the decay, which multiplies, push old notes behind anything.
COSINE_RANGE = 0.22

# A blend counts by this power, which leaves the order of what does not age. Were age to multiply
# the blend itself, an old note that answers would fall behind all that has some of the words: with
# a year of dated chats that costs 6 to 10 points of nDCG@10 against no decay, squared 2 to 3, cubed
# 1 to 2. Of two that answer alike, the newer is still first.
SHARPNESS = 3.0

FRESH_DAYS = 14.0
DECAY_RATE = 0.015
DECAY_FLOOR = 0.4

BONUS = 0.002  # for each time a chunk was shown
BONUS_MOST = 10  # times that count
BONUS_SHARE = 0.02  # and never more than this share of the chunk's own score

# A passage that only the vector leg found must be as near as this: on the evaluation sets that
# costs no recall. Questions that a memory cannot answer find such a passage all the same, hence the
# next rule.
MIN_COSINE = 0.35

# A query counts as answered when one of its first hits has
# ``cosine + COVERAGE_SHARE x coverage >= min_cosine + ANSWER_MARGIN``: the nearer in meaning, the
# fewer of the words it must hold. A stray common word beside a far meaning is no answer.
COVERAGE_SHARE = 0.7
ANSWER_MARGIN = 0.13
ANSWER_DEPTH = 10  # hits that are looked at
# The built-in model reads English; other scripts come out near to one another.
FOREIGN_DISCOUNT = 0.1


class Candidate(NamedTuple):
    """A chunk that a leg found.

    The store gives the exact cosine of every candidate that has a vector, also of those that only
    BM25 found; a chunk that BM25 did not find has no bm25.
    """

    id: int
    path: str
    line: int
    bm25: float | None = None  # FTS5's with its sign turned
    cosine: float | None = None  # None: no vector yet, or not asked for
    days: float | None = None  # age of a dated chunk; None never decays
    shown: int = 0  # times it was shown before


class Ranked(NamedTuple):
    """A candidate with its place and how it came to it. Ranks count from 1.

    ``fused`` may be below 0, where the score is 0 and only the order is left.
    """

    candidate: Candidate
    score: float
    fused: float
    decay: float
    bonus: float
    bm25_rank: int | None
    cosine_rank: int | None


def rank(
    candidates: Iterable[Candidate],
    *,
    alpha: float | None = None,
    fusion: str = "blend",
    min_cosine: float = MIN_COSINE,
) -> list[Ranked]:
    """Order the candidates, best first, without those that must not be shown.

    ``alpha`` is the weight of BM25, 0.5 when outside 0 to 1. Candidates beyond ``POOL`` in both
    legs follow all others, in the order of BM25 and then of the cosine.
    """
    pool = list(candidates)
    alpha = ALPHA if alpha is None else alpha if 0 <= alpha <= 1 else 0.5
    by_bm25 = _places((c, c.bm25) for c in pool)
    by_cosine = _places((c, c.cosine) for c in pool)
    if not by_bm25 or not by_cosine:
        alpha = 1.0 if by_bm25 else 0.0
    scores = [c.bm25 for c in pool if c.id in by_bm25 and c.bm25 is not None]
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    cosines = [c.cosine for c in pool if c.id in by_cosine and c.cosine is not None]
    nearest = max(cosines, default=0.0)
    ranked = []
    for candidate in pool:
        if not is_relevant(candidate, alpha=alpha, min_cosine=min_cosine):
            continue
        places = (by_bm25.get(candidate.id), by_cosine.get(candidate.id))
        if fusion == "rrf":
            fused = sum(1 / (RRF_BASE + place + 1) for place in places if place is not None)
        else:
            fused = sharpen(
                blend(
                    stretch(candidate.bm25, least, most),
                    nearness(candidate.cosine, nearest),
                    alpha=alpha,
                )
            )
        ranked.append(_scored(candidate, fused, places))
    return sorted(ranked, key=_order)


def reward(
    found: Sequence[tuple[int, float]], pairs: Mapping[int, float]
) -> list[tuple[int, float]]:
    """Return the keyword leg (ids with BM25, best first) with the BM25 of the query's pairs added.

    Only within ``POOL``, so that asking for more changes nothing at the head.
    """
    head = [(id_, score + PAIR_WEIGHT * pairs.get(id_, 0.0)) for id_, score in found[:POOL]]
    return sorted(head, key=lambda pair: -pair[1]) + list(found[POOL:])


def alpha_for(
    alpha: float | None, cosine: float, covered: float, *, min_cosine: float = MIN_COSINE
) -> float | None:
    """Return the weight of BM25, given the cosine and the coverage of the nearest passage.

    Only the default follows the query; any other weight is as it was asked for.
    """
    is_agreed = covered >= AGREED_COVERAGE and cosine >= min_cosine + ANSWER_MARGIN
    return AGREED_ALPHA if is_agreed and alpha is None else alpha


def words_first(ranked: list[Ranked]) -> list[Ranked]:
    """Put what BM25 found before the rest, whose scores are lowered to stay below.

    For a query of one word or identifier: a note that has it is not lost behind notes that are
    only near in meaning, however old it is.
    """
    found = [hit for hit in ranked if hit.candidate.bm25 is not None]
    rest = [hit for hit in ranked if hit.candidate.bm25 is None]
    least = min((hit.score for hit in found), default=0.0)
    most = max((hit.score for hit in rest), default=0.0)
    if not found or most <= least:
        return found + rest
    lower = least / most  # rounded, so that most times this may be the least and a little more
    return found + [
        hit._replace(
            score=min(hit.score * lower, least), fused=hit.fused * lower, bonus=hit.bonus * lower
        )
        for hit in rest
    ]


def is_relevant(candidate: Candidate, *, alpha: float, min_cosine: float) -> bool:
    """Say whether a candidate may be shown at all.

    What only the vector leg found must be at least as near as ``min_cosine``, and is nothing to
    pure BM25.
    """
    if candidate.bm25 is not None:
        return True
    return candidate.cosine is not None and candidate.cosine >= min_cosine and alpha < 1


def is_answered(
    found: Iterable[tuple[float | None, float]],
    *,
    min_cosine: float = MIN_COSINE,
    is_foreign: bool = False,
) -> bool:
    """Say whether a hybrid search found anything worth showing.

    ``found`` has the cosine and the coverage (``text.query.coverage``) of the first
    ``ANSWER_DEPTH`` hits. A hit without a vector yet is an answer by its words. Not to be asked
    for a query with quoted phrases, which has its own condition, nor without a vector leg.
    """
    needed = min_cosine + ANSWER_MARGIN + (FOREIGN_DISCOUNT if is_foreign else 0.0)
    return any(
        (share > 0) if cosine is None else cosine + COVERAGE_SHARE * share >= needed
        for cosine, share in found
    )


def rarity(total: int, having: int) -> float:
    """Return the weight of a word that ``having`` of ``total`` chunks have: its smoothed idf.

    Above 0 also for a word that is everywhere, and in a memory of one note.
    """
    return log(1 + (total - having + 0.5) / (having + 0.5))


def stretch(score: float | None, least: float, most: float) -> float | None:
    """Return a BM25 score's place between the least (0) and the most (1) of its pool."""
    if score is None:
        return None
    span = max(most - least, BM25_RANGE * most)
    if span <= 0:
        return 1.0
    return min(1.0, max(0.0, 1.0 - (most - score) / span))


def nearness(cosine: float | None, top: float) -> float | None:
    """Return how near a cosine comes to the best of its pool: 1 at the top, -1 at the least."""
    if cosine is None:
        return None
    return min(1.0, max(-1.0, 1.0 - (top - cosine) / COSINE_RANGE))


def blend(bm25: float | None, cosine: float | None, *, alpha: float) -> float:
    """Return ``alpha`` parts BM25 (0 to 1) and the rest cosine (-1 to 1).

    A chunk without a vector yet is judged by BM25 alone; one that BM25 did not find has 0 there.
    Where only the cosine counts it is brought to 0 to 1.
    """
    if cosine is None:
        return bm25 or 0.0
    if alpha == 0:
        return (cosine + 1) / 2
    return alpha * (bm25 or 0.0) + (1 - alpha) * cosine


def sharpen(blended: float) -> float:
    """Return a blend raised to ``SHARPNESS``; what is below 0 stays."""
    return blended**SHARPNESS if blended > 0 else blended


def decay(days: float | None) -> float:
    """Return the weight of a chunk of that age: 1 up to 14 days, 0.4 from 75 days on."""
    if days is None or days <= FRESH_DAYS:
        return 1.0
    return max(DECAY_FLOOR, exp(-DECAY_RATE * (days - FRESH_DAYS)))


def bonus(shown: int, score: float) -> float:
    """Return what a chunk gains by having been shown: enough to settle near-ties, never more."""
    return min(BONUS * min(max(shown, 0), BONUS_MOST), BONUS_SHARE * score)


def fit(bodies: Sequence[str], max_chars: int | None) -> list[str]:
    """Return the first bodies that have together at most ``max_chars`` characters.

    The first one is never dropped but cut, after a whole line or word if there is one.
    """
    if max_chars is None or not bodies:
        return list(bodies)
    kept = [cut(bodies[0], max_chars)]
    left = max_chars - len(bodies[0])
    for body in bodies[1:]:
        left -= len(body)
        if left < 0:
            break
        kept.append(body)
    return kept


def cut(body: str, most: int) -> str:
    """Shorten a body to at most ``most`` characters, after a whole line or else a whole word."""
    if len(body) <= most:
        return body
    head = body[: max(most, 0)]
    ends_whole = body[len(head)].isspace() if head else True
    for end in (head.rfind("\n"), len(head) if ends_whole else head.rfind(" ")):
        if end > len(head) // 2:
            return head[:end].rstrip()
    return head


def _places(scored: Iterable[tuple[Candidate, float | None]]) -> dict[int, int]:
    """Return the places from 0 in one leg of those within ``POOL``; ties by path and line.

    Beyond it places would depend on how many candidates were asked for. At its edge ties go by id,
    as they do where candidates come from.
    """
    found = [(-score, c.id, c.path, c.line) for c, score in scored if score is not None]
    within = [(score, path, line, id_) for score, id_, path, line in sorted(found)[:POOL]]
    return {id_: place for place, (_, _, _, id_) in enumerate(sorted(within))}


def _scored(candidate: Candidate, fused: float, places: tuple[int | None, int | None]) -> Ranked:
    weight = decay(candidate.days)
    base = max(fused, 0.0) * weight
    extra = bonus(candidate.shown, base)
    bm25_rank, cosine_rank = (None if place is None else place + 1 for place in places)
    return Ranked(candidate, base + extra, fused, weight, extra, bm25_rank, cosine_rank)


def _order(hit: Ranked) -> tuple[bool, float, float, float, str, int]:
    candidate = hit.candidate
    bm25 = candidate.bm25 or 0.0
    if hit.bm25_rank is None and hit.cosine_rank is None:  # as they came, so that more add behind
        return True, -bm25, -(candidate.cosine or 0.0), 0.0, "", candidate.id
    return False, -hit.score, -hit.fused, -bm25, candidate.path, candidate.line
