"""The order of hits: what must hold for any candidates, and the published formulas."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.rank import (
    AGREED_ALPHA,
    ALPHA,
    BONUS_SHARE,
    POOL,
    Candidate,
    alpha_for,
    blend,
    bonus,
    cut,
    decay,
    fit,
    is_answered,
    nearness,
    rank,
    rarity,
    reward,
    sharpen,
    stretch,
    words_first,
)

scores = st.floats(0, 30, allow_nan=False)
cosines = st.floats(-1, 1, allow_nan=False)


@st.composite
def candidates(draw: st.DrawFn, most: int = 40) -> list[Candidate]:
    size = draw(st.integers(0, most))
    return [
        Candidate(
            id=at,
            path=draw(st.sampled_from(["daily/a.md", "tasks/b.md", "tasks/c.md"])),
            line=at + 1,
            bm25=draw(st.none() | scores),
            cosine=draw(st.none() | cosines),
            days=draw(st.none() | st.floats(0, 400)),
            shown=draw(st.integers(0, 30)),
        )
        for at in range(size)
    ]


@settings(max_examples=100)
@given(candidates(), st.randoms(), st.sampled_from(["blend", "rrf"]), st.none() | st.floats(0, 1))
def test_order_does_not_depend_on_the_order_given(pool, random, fusion, alpha) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(pool)
    random.shuffle(shuffled)
    first = rank(pool, fusion=fusion, alpha=alpha)
    assert [hit.candidate.id for hit in first] == [
        hit.candidate.id for hit in rank(shuffled, fusion=fusion, alpha=alpha)
    ]
    assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)


def test_asking_for_more_never_changes_the_first() -> None:
    keyword = [
        Candidate(id=n, path="a.md", line=n, bm25=300.0 - n, shown=n % 7) for n in range(250)
    ]
    shallow = [hit.candidate.id for hit in rank(keyword[:POOL])]
    deep = [hit.candidate.id for hit in rank(keyword)]
    assert deep[:POOL] == shallow
    assert deep[POOL:] == list(range(POOL, 250))


def test_alpha_outside_its_range_counts_as_a_half() -> None:
    pool = [
        Candidate(id=1, path="a.md", line=1, bm25=9.0, cosine=0.1),
        Candidate(id=2, path="b.md", line=1, bm25=1.0, cosine=0.9),
        Candidate(id=3, path="c.md", line=1, bm25=6.0, cosine=0.6),
    ]
    for alpha in (-1.0, 7.0, float("nan")):
        assert rank(pool, alpha=alpha) == rank(pool, alpha=0.5)
    assert [hit.candidate.id for hit in rank(pool, alpha=1.0)] == [1, 3, 2]
    assert [hit.candidate.id for hit in rank(pool, alpha=0.0)] == [2, 3, 1]


def test_meaning_counts_more_where_the_words_agree() -> None:
    assert alpha_for(None, 0.5, 0.75) == AGREED_ALPHA
    assert alpha_for(None, 1.0, 0.74) is None
    assert alpha_for(None, 0.45, 1.0) is None
    assert alpha_for(None, 0.45, 1.0, min_cosine=0.2) == AGREED_ALPHA
    assert alpha_for(ALPHA, 0.9, 0.0) == ALPHA
    for asked in (0.0, 0.2, ALPHA, 0.9, 1.0, -1.0):
        assert alpha_for(asked, 1.0, 1.0) == asked


def test_neighbours_are_rewarded_within_the_pool_only() -> None:
    found = [(n, 300.0 - n) for n in range(POOL + 20)]
    again = reward(found, {7: 1000.0, POOL + 5: 1000.0})
    assert again[0] == (7, 300.0 - 7 + 0.4 * 1000.0)
    assert [id_ for id_, _ in again[1:8]] == [0, 1, 2, 3, 4, 5, 6]
    assert again[POOL:] == found[POOL:]
    assert reward(found[:50], {}) == found[:50]


def test_rrf_sums_the_reciprocal_ranks_of_both_legs() -> None:
    pool = [
        Candidate(id=1, path="a.md", line=1, bm25=9.0, cosine=0.5),
        Candidate(id=2, path="b.md", line=1, bm25=1.0),
    ]
    first, second = rank(pool, fusion="rrf")
    assert first.fused == pytest.approx(2 / 61)
    assert second.fused == pytest.approx(1 / 62)
    assert (first.bm25_rank, first.cosine_rank) == (1, 1)
    assert (second.bm25_rank, second.cosine_rank) == (2, None)


def test_a_chunk_without_a_vector_is_not_held_down() -> None:
    pool = [
        Candidate(id=1, path="a.md", line=1, bm25=9.0),
        Candidate(id=2, path="b.md", line=1, bm25=8.0, cosine=0.6),
        Candidate(id=3, path="c.md", line=1, bm25=1.0, cosine=0.1),
    ]
    best = rank(pool)[0]
    assert best.candidate.id == 1
    assert best.score == 1.0


def test_scores_that_are_nearly_flat_are_not_torn_apart() -> None:
    assert stretch(1.0e-6, 1.0e-6, 1.2e-6) == pytest.approx(2 / 3)
    assert stretch(5.0, 5.0, 5.0) == stretch(0.0, 0.0, 0.0) == 1.0
    assert nearness(0.55, 0.6) == pytest.approx(0.7727, abs=1e-4)
    pool = [
        Candidate(id=1, path="a.md", line=1, bm25=1.1e-6, cosine=0.2),
        Candidate(id=2, path="b.md", line=1, bm25=1.0e-6, cosine=0.6),
    ]
    assert rank(pool)[0].candidate.id == 2


@settings(max_examples=100)
@given(candidates())
def test_the_best_keyword_hit_precedes_what_only_meaning_found(pool: list[Candidate]) -> None:
    young = [c._replace(days=None, shown=0) for c in pool]
    hits = rank(young)
    best = max((c.bm25 for c in young if c.bm25), default=None)
    places = [at for at, hit in enumerate(hits) if hit.candidate.bm25 == best]
    if best is not None:
        assert all(hit.candidate.bm25 is not None for hit in hits[: places[0]])


def test_scores_are_from_0_to_1() -> None:
    assert blend(1.0, 1.0, alpha=0.7) == blend(1.0, -1.0, alpha=1.0) == 1.0
    assert blend(None, -1.0, alpha=0.0) == 0.0
    assert blend(1.0, -1.0, alpha=0.7) > blend(None, 1.0, alpha=0.7)
    far = [Candidate(id=n, path="a.md", line=n, bm25=4.0 - n, cosine=0.9 / n) for n in (1, 2, 3)]
    hits = rank(far)
    assert [hit.score for hit in hits] == [1.0, pytest.approx(0.05**3), 0.0]
    assert hits[2].fused < 0


def test_decay() -> None:
    assert decay(None) == decay(0) == decay(-3) == decay(14) == 1.0
    assert decay(30) == pytest.approx(0.7866, abs=1e-4)
    assert decay(75) > 0.4
    assert decay(76) == decay(4000) == 0.4


def test_decay_and_bonus_are_applied_in_this_order() -> None:
    old = Candidate(id=1, path="daily/2025-01-01.md", line=1, bm25=4.0, days=400, shown=2)
    hit = rank([old])[0]
    assert (hit.fused, hit.decay, hit.bonus) == (1.0, 0.4, pytest.approx(0.004))
    assert hit.score == pytest.approx(0.404)


def test_an_old_answer_is_not_lost_behind_new_chance_hits() -> None:
    old = Candidate(id=1, path="daily/2025-01-01.md", line=1, bm25=9.0, cosine=0.6, days=400)
    new = [
        Candidate(id=n, path="daily/2026-01-01.md", line=n, bm25=7.5 - n, cosine=0.5, days=1)
        for n in range(2, 6)
    ]
    assert rank([*new, old])[0].candidate.id == 1
    as_good = Candidate(id=9, path="tasks/a.md", line=1, bm25=8.5, cosine=0.59)
    assert [hit.candidate.id for hit in rank([*new, old, as_good])][:2] == [9, 1]


@settings(max_examples=100)
@given(candidates())
def test_sharpening_leaves_the_order_of_what_does_not_age(pool: list[Candidate]) -> None:
    hits = rank([c._replace(days=None, shown=0) for c in pool])
    fused = [hit.fused for hit in hits if hit.bm25_rank or hit.cosine_rank]
    assert fused == sorted(fused, reverse=True)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_sharpening_keeps_the_sense_of_a_blend(first: float, second: float) -> None:
    assert (sharpen(first) > sharpen(second)) <= (first > second)
    assert sharpen(1.0) == 1.0
    assert sharpen(first) <= first or first < 0


@given(st.integers(-5, 1000), st.floats(0, 1))
def test_bonus_only_settles_near_ties(shown: int, score: float) -> None:
    assert 0 <= bonus(shown, score) <= BONUS_SHARE * score
    assert bonus(shown, score) <= 0.02


def test_ties_break_by_path_and_line() -> None:
    pool = [
        Candidate(id=n, path=path, line=line, bm25=2.0)
        for n, (path, line) in enumerate([("b.md", 1), ("a.md", 9), ("a.md", 2)])
    ]
    assert [hit.candidate.id for hit in rank(pool)] == [2, 1, 0]


@given(candidates(), st.sampled_from(["blend", "rrf"]))
def test_words_first_keeps_the_scores_in_order(pool: list[Candidate], fusion: str) -> None:
    hits = words_first(rank(pool, fusion=fusion))
    has_words = [hit.candidate.bm25 is not None for hit in hits]
    assert has_words == sorted(has_words, reverse=True)
    near = [hit.score for hit in hits if hit.bm25_rank or hit.cosine_rank]
    assert near == sorted(near, reverse=True)


def test_words_first_lowers_the_rest_to_the_last_at_most() -> None:
    pool = [
        Candidate(id=1, path="a.md", line=1, bm25=5.0),
        Candidate(id=2, path="b.md", line=1, cosine=0.9),
    ]
    first, second = rank(pool)
    for least in (n / 1_000_003 for n in range(1, 1_000)):
        found, rest = words_first([first._replace(score=least), second._replace(score=1 / 97)])
        assert found.score >= rest.score


def test_what_only_meaning_found_must_be_near() -> None:
    pool = [
        Candidate(id=1, path="a.md", line=1, bm25=1.0, cosine=0.05),
        Candidate(id=2, path="b.md", line=1, cosine=0.36),
        Candidate(id=3, path="c.md", line=1, cosine=0.34),
    ]
    assert {hit.candidate.id for hit in rank(pool)} == {1, 2}
    assert {hit.candidate.id for hit in rank(pool, min_cosine=0.2)} == {1, 2, 3}
    assert {hit.candidate.id for hit in rank(pool, alpha=1.0)} == {1}
    assert rank(pool[2:], alpha=0.0) == []


@pytest.mark.parametrize(
    ("found", "answered"),
    [
        ([(0.1, 1.0)], True),  # all words of the query, whatever the model thinks
        ([(0.55, 0.0)], True),  # no word, but the same meaning
        ([(0.3, 0.3)], True),
        ([(0.2, 0.3)], False),  # a stray word
        ([(0.2, 0.3), (0.4, 0.2)], True),
        ([(0.4, 0.0)], False),
        ([(None, 0.1)], True),  # no vector yet
        ([(None, 0.0)], False),
        ([], False),
    ],
)
def test_silence(found: list[tuple[float | None, float]], answered: bool) -> None:
    assert is_answered(found) is answered


def test_other_scripts_need_a_nearer_meaning() -> None:
    assert is_answered([(0.5, 0.0)])
    assert not is_answered([(0.5, 0.0)], is_foreign=True)
    assert is_answered([(0.0, 1.0)], is_foreign=True)


@given(st.integers(1, 1000), st.data())
def test_rarer_words_weigh_more_and_all_weigh_something(total: int, data: st.DataObject) -> None:
    having = data.draw(st.integers(0, total))
    assert rarity(total, having) > 0
    assert having == 0 or rarity(total, having) < rarity(total, having - 1)


@settings(max_examples=100)
@given(st.lists(st.text(max_size=30), max_size=6), st.none() | st.integers(0, 60))
def test_fit_keeps_a_prefix_within_the_limit(bodies: list[str], most: int | None) -> None:
    kept = fit(bodies, most)
    assert bool(kept) == bool(bodies)
    assert most is None or sum(map(len, kept)) <= most
    assert kept[1:] == bodies[1 : len(kept)]
    assert not kept or bodies[0].startswith(kept[0])


def test_a_body_is_cut_after_a_line_or_a_word() -> None:
    assert cut("one two\nthree four\nfive", 20) == "one two\nthree four"
    assert cut("one two three four five", 15) == "one two three"
    assert cut("one two three", 7) == "one two"
    assert cut("x" * 50, 10) == "x" * 10
    assert cut("short", 10) == "short"
