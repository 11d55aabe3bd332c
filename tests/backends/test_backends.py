"""Runs the contract over every backend, and holds them to what `scan` finds."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli import backends, tables
from memcli.backends.base import Backend
from memcli.text.query import build
from tests.backends import contract
from tests.conftest import opened

NEAR = 1e-6  # relative: two programs add floats in another order


@pytest.fixture(params=sorted(backends.TABLE))
def open_index(request: pytest.FixtureRequest, empty: Path) -> Iterator[contract.Open]:
    workspace = opened(empty)
    made: list[Backend] = []

    def opens() -> Backend:
        module = tables.load("backend", backends.TABLE, request.param)
        made.append(module.open_backend(workspace, anew=True))
        return made[-1]

    yield opens
    for one in made:
        one.close()


@pytest.mark.parametrize("clause", contract.CONTRACT, ids=lambda clause: clause.__name__)
def test_contract(open_index: contract.Open, clause: Callable[[contract.Open], None]) -> None:
    clause(open_index)


_WORDS = """
    commit commits committed buffer the The and of append_daily appendDaily AppendDaily append-daily
    daily Zürich zurich naïve 東京 東京タワー 夜の警報 当直 รายงาน ประจำวัน файл файлы سجل القاعدة
    हिंदी v1.2.3 C++ 10-20 user@example.org ½ it's l'été e\u0301t\u00e9 İstanbul ﬁle ΣΑΣ straße é
"""
WORDS = st.sampled_from(_WORDS.split())
LINE = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
NOTE = st.builds(
    lambda title, lines: f"# {title}\n\n" + "\n".join(lines),
    WORDS,
    st.lists(LINE | st.just(""), max_size=6),
)
QUERY = st.lists(WORDS | LINE.map('"{}"'.format) | st.text(max_size=6), max_size=5).map(" ".join)


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[dict[str, str]], list[Backend]]]:
    """The yardstick and the rest, each holding the same notes."""
    root = tmp_path_factory.mktemp("pair")
    (root / ".decsr/memory").mkdir(parents=True)
    workspace = opened(root)
    others = [
        tables.load("backend", backends.TABLE, name).open_backend(workspace, anew=True)
        for name in sorted(backends.TABLE)
        if name != "scan"
    ]

    def fill(texts: dict[str, str]) -> list[Backend]:
        scan = tables.load("backend", backends.TABLE, "scan").open_backend(workspace)
        scan.put(contract.files(texts))
        for other in others:
            other.drop(list(other.stamps()))
            other.put(contract.files(texts))
        return [scan, *others]

    yield fill
    for other in others:
        other.close()


def answer(backend: Backend, text: str, n: int, **options: set[str]) -> list[tuple[str, float]]:
    found = backend.keyword(build(text), n, **options)
    rows = backend.found([id_ for id_, _ in found])
    return [(rows[id_].id, score) for id_, score in found]


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    notes=st.lists(NOTE, min_size=1, max_size=8), query=QUERY, only=st.none() | st.integers(0, 9)
)
def test_finds_what_scan_finds(
    pair: Callable[[dict[str, str]], list[Backend]],
    notes: list[str],
    query: str,
    only: int | None,
) -> None:
    texts = {f"tasks/{at}.md": note for at, note in enumerate(notes)}
    scan, *others = pair(texts)
    within = {} if only is None else {"within": {f"tasks/{only}.md", "tasks/0.md"}}
    wanted = answer(scan, query, 100, **within)
    for other in others:
        got = answer(other, query, 100, **within)
        assert dict(got).keys() == dict(wanted).keys()
        scores = dict(wanted)
        for (_, score), (chunk, _) in zip(wanted, got, strict=True):
            assert scores[chunk] == pytest.approx(score, rel=NEAR)  # the order, but for near ties
        assert dict(got) == pytest.approx(scores, rel=1e-3)


@settings(max_examples=25)
@given(data=st.data())
def test_any_order_of_edits_leaves_a_whole_word_index(
    pair: Callable[[dict[str, str]], list[Backend]], data: st.DataObject
) -> None:
    _, *others = pair({})
    texts: dict[str, str] = {}
    for _ in range(data.draw(st.integers(1, 8))):
        path = f"tasks/{data.draw(st.integers(0, 3))}.md"
        note = data.draw(st.none() | NOTE)
        for other in others:
            if note is None:
                other.drop([path])
            else:
                other.put(contract.files({path: note}))
        texts.pop(path, None)
        if note is not None:
            texts[path] = note
    for other in others:
        assert other.faults() == []
        assert other.counts()[0] == len(texts)
        have = {one.chunk for one in other.pending(1000)}
        stored = {row.id for row in other.found(have).values()}
        assert stored == {one.id for _, chunks in contract.files(texts) for one in chunks}


def test_random_words_of_many_notes(
    pair: Callable[[dict[str, str]], list[Backend]],
) -> None:
    rng = random.Random(7)
    common = [f"common{n}" for n in range(20)]
    rare = [f"rare{n}" for n in range(400)]
    texts = {
        f"daily/2026-01-{n:02}.md": " ".join(rng.choices(common, k=30) + rng.choices(rare, k=5))
        for n in range(150)
    }
    scan, *others = pair(texts)
    for _ in range(20):
        query = " ".join(rng.choices(common, k=2) + rng.choices(rare, k=2))
        wanted = answer(scan, query, 30)
        for other in others:
            got = answer(other, query, 30)
            assert [score for _, score in got] == pytest.approx([s for _, s in wanted], rel=1e-3)
