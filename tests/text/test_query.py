"""Any string is a query, and it finds what it should, with FTS5 and without."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memcli.text.extra import extra_terms
from memcli.text.matching import matches, stored_tokens
from memcli.text.query import (
    STOP_WORDS,
    build,
    closeness,
    coverage,
    expression,
)
from memcli.text.words import TOKENIZER

NOTES = [
    ("Ticket", "We follow RULE-0042 for retries in the billing worker."),
    ("Loader", "The loader reads conf/app.d/base.toml and is built with C++ flags."),
    ("メモ", "来週から監視基盤を新しい構成に切り替える。"),
    ("Re\u0301sumé", "Le modèle de coût est figé jusqu'à l'été"),
    ("Names", "Call AppendDaily before flushQueue."),
    ("Names", "The hook runs append_daily, the flag is --append-daily."),
    ("ไทย", "แผนการย้ายฐานข้อมูลใหม่"),
    ("한국", "한국어를 처리"),
    ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165 in pieces"),
    ("Deutsch", "Die Straße nach Łódź"),
    ("Ελλάδα", "Ο Οδυσσεύς"),
    ("Order", "alpha beta gamma, to be or not to be"),
    ("Order", "beta then alpha"),
]


class Index:
    """A real FTS5 table beside the same notes as tokens."""

    def __init__(self, notes: list[tuple[str, str]]) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute(
            f'CREATE VIRTUAL TABLE fts USING fts5(heading, body, extra, tokenize="{TOKENIZER}")'
        )
        rows = [(heading, body, extra_terms(heading, body)) for heading, body in notes]
        self.db.executemany("INSERT INTO fts VALUES (?, ?, ?)", rows)
        self.columns = [stored_tokens(heading, body) for heading, body in notes]

    def search(self, match: str) -> set[int]:
        if not match:
            return set()
        rows = self.db.execute("SELECT rowid - 1 FROM fts WHERE fts MATCH ?", (match,))
        return {row[0] for row in rows}

    def scan(self, text: str) -> set[int]:
        query = build(text)
        return {at for at, columns in enumerate(self.columns) if matches(query, columns)}


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    made = Index(NOTES)
    yield made
    made.db.close()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RULE-0042", {0}),
        ("rule0042", {0}),
        ("conf/app.d/base.toml", {1}),
        ("base.toml", {1}),
        ("C++", {1}),
        ("監視基盤", {2}),
        ("監", {2}),
        ("基盤の構成は？", {2}),
        ("modele", {3}),
        ("modèle", {3}),
        ("mode\u0300le", {3}),
        ("l’été", {3}),
        ("resume", {3}),
        ("AppendDaily", {4, 5}),
        ("append-daily", {4, 5}),
        ("append_daily", {4, 5}),
        ("appenddaily", {4, 5}),
        ("appendDaily", {4, 5}),
        ("flush queues", {4}),
        ("flushqueue", {4}),
        ("flush_queue", {4}),
        ("ฐานข้อมูล", {6}),
        ("한국어", {7, 8}),
        ("strasse", {9}),
        ("STRASSE", {9}),
        ("lodz", {9}),
        ("ΟΔΥΣΣΕΥΣ", {10}),
        ("what is alpha", {11, 12}),
        ('"alpha beta"', {11}),
        ('zzz "alpha beta"', {11}),
        ('"to be or not to be" zzz', {11}),
        ("“beta gamma”", {11}),
        ('"新しい構成" alpha', {2}),
        ("-retries", {0}),
        ('5" disk and 3" retries', {0}),
        ("😀", set()),
        ("", set()),
        ('""', set()),
    ],
)
def test_finds_by_fts5_and_by_scan(index: Index, text: str, found: set[int]) -> None:
    assert index.search(build(text).match) == found
    assert index.scan(text) == found


OPERATORS = st.sampled_from(
    ["AND", "OR", "NOT", "NEAR(", ")", '"', '""', "*", "^", ":", "body:", "-", "+", "{a b}:", "\0"]
)


@settings(max_examples=400)
@given(
    st.one_of(
        st.text(),
        st.lists(st.one_of(OPERATORS, st.text(max_size=5)), max_size=12).map(" ".join),
        st.lists(OPERATORS, max_size=8).map("".join),
    )
)
@example("\ud800 a \udfff\0b")
@example("'; DROP TABLE fts; --")
def test_no_string_is_a_syntax_error_and_scan_agrees(index: Index, text: str) -> None:
    assert index.search(build(text).match) == index.scan(text)


@settings(max_examples=300)
@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4).map(" ".join),
    st.text(max_size=20),
)
def test_a_note_is_found_by_its_own_text(body: str, heading: str) -> None:
    query = build(body)
    if query.match:
        assert matches(query, stored_tokens(heading, body))
        index = Index([(heading.replace("\0", " "), body.replace("\0", " "))])
        assert index.search(query.match) == {0}
        index.db.close()


@pytest.mark.parametrize("text", ["word " * 20_000, "x" * 100_000, "監視" * 50_000, '"a' * 50_000])
def test_a_huge_query_is_still_a_small_expression(index: Index, text: str) -> None:
    query = build(text)
    assert len(query.parts) <= 96
    index.search(query.match)


def test_stop_words_count_only_when_nothing_else_is_there() -> None:
    assert build("how does the loader work").terms == ("loader", "work")
    assert [part.words for part in build("what is it").parts] == [("what",), ("is",), ("it",)]
    assert "not" not in STOP_WORDS


def test_parts_can_be_left_out() -> None:
    query = build('the "alpha beta" loader')
    rare = [part for part in query.parts if part.words != ("alpha",)]
    assert expression(rare, query.phrases) == (
        '"alpha beta" AND ("alpha beta" OR "beta" OR "loader")'
    )
    assert expression([]) == ""


SYLLABLES = st.lists(
    st.text("bdfgklmnprtz", min_size=3, max_size=6), min_size=2, max_size=3, unique=True
)


def written(words: list[str]) -> list[str]:
    """The ways in which programs and people join words."""
    camel = "".join(map(str.capitalize, words))
    return [
        camel,
        words[0] + camel[len(words[0]) :],
        *(j.join(words) for j in "_-."),
        "_".join(words).upper(),
    ]


@settings(max_examples=100)
@given(SYLLABLES)
def test_the_spellings_of_an_identifier_meet_in_every_direction(words: list[str]) -> None:
    spellings = written(words)
    index = Index([("", f"It calls {spelling} first.") for spelling in spellings])
    for typed in spellings:
        assert index.search(build(typed).match) == set(range(len(spellings))), typed
    if len(words) == 2:
        assert index.search(build("".join(words)).match) == set(range(len(spellings)))
    index.db.close()


def test_words_typed_as_one_are_parted() -> None:
    assert ("rule", "0042") in [part.words for part in build("see rule0042").parts]
    assert ("file", "name") in [part.words for part in build("filename").parts]
    assert len(build("the filename").parts) == 1
    assert len(build("forget").parts) == 1
    assert len(build("x" * 20_000).parts) == 1


def test_needle_keeps_signs() -> None:
    assert build(" C++  Ünï ").needle == "c++ uni"


def test_quotes_in_a_long_text_are_prose() -> None:
    assert build('retries of "alpha beta" here').phrases
    prose = build('We noticed that some of the retries have "alpha beta" in the log file.')
    assert not prose.phrases
    assert ("alpha", "beta") in [part.words for part in prose.parts]


def test_neighbours_make_pairs_also_across_stop_words() -> None:
    query = build("drop the write queue, not file-size limit")
    assert [pair.words for pair in query.pairs] == [
        ("drop", "the", "write"),
        ("write", "queue"),
        ("queue", "not"),
        ("not", "file"),
        ("file", "size"),
        ("size", "limit"),
    ]
    kept = [part for part in query.parts if part.words != ("not",)]
    assert '"queue not"' not in closeness(query, kept)
    assert '"file size"' in closeness(query, kept)


def test_pairs_do_not_reach_across_words_that_stand_elsewhere(index: Index) -> None:
    assert [pair.words for pair in build("alpha 監視基盤 beta").pairs] == []
    assert index.search(closeness(build("alpha beta"), build("alpha beta").parts)) == {11}


def test_coverage_is_the_weighted_share_of_the_words() -> None:
    query = build("write-queue retries")
    write, queue, retries = query.words
    weights = dict.fromkeys(query.words, 1.0)
    assert coverage(query, {write, retries}, weights) == 2 / 3
    assert coverage(query, set(), weights) == 0.0
    assert coverage(query, {write, queue, retries}, weights) == 1.0
    assert coverage(query, {retries}, {**weights, retries: 3.0}) == 0.6
    assert coverage(build("😀"), set(), {}) == 0.0
    (camel,) = build("AppendDaily").words
    assert camel.match == '"appenddaily" OR "append daily"'


def test_queries_in_other_scripts_are_told_apart() -> None:
    assert build("監視基盤 API").is_foreign
    assert build("почему").is_foreign
    assert not build("où est l'été 😀").is_foreign
    assert not build("plain → words").is_foreign
