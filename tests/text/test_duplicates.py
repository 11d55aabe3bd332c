"""No wrong merge at all on the labelled pairs, and nearly every copy found."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.duplicates import groups, meaning, near_pairs, same
from tests.conftest import FIXTURES

PAIRS = [
    json.loads(line) for line in (FIXTURES / "fact_pairs.jsonl").read_text("utf-8").splitlines()
]
RECALL = 0.9


def test_the_labelled_set_is_what_it_says():
    assert len(PAIRS) >= 300
    assert {pair["label"] for pair in PAIRS} == {"same", "near", "differ"}
    assert len({pair["lang"] for pair in PAIRS}) >= 8
    assert len({(pair["one"], pair["other"]) for pair in PAIRS}) == len(PAIRS)


def test_no_wrong_merge():
    wrong = [
        (pair["kind"], pair["one"], pair["other"])
        for pair in PAIRS
        if pair["label"] != "same" and same(pair["one"], pair["other"])
    ]
    assert not wrong


def test_nearly_every_copy_is_found():
    copies = [pair for pair in PAIRS if pair["label"] == "same"]
    missed = [(it["one"], it["other"]) for it in copies if not same(it["one"], it["other"])]
    assert 1 - len(missed) / len(copies) >= RECALL, missed


def test_all_labelled_facts_at_once_are_joined_no_otherwise_than_in_pairs():
    texts = list(dict.fromkeys(text for pair in PAIRS for text in (pair["one"], pair["other"])))
    apart = {frozenset((pair["one"], pair["other"])) for pair in PAIRS if pair["label"] != "same"}
    for group in groups(texts):
        for one in group:
            for other in group:
                assert frozenset((texts[one], texts[other])) not in apart


@pytest.mark.parametrize("pair", [it for it in PAIRS if it["kind"] in ("name", "unit", "several")])
def test_the_order_of_two_facts_does_not_matter(pair):
    assert same(pair["one"], pair["other"]) == same(pair["other"], pair["one"])


WORDS = ["log", "logs", "the", "Anna", "5", "s", "`x`", "not", "IT", "it", "A", "B", "May", "may"]


@settings(max_examples=150)
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), max_size=12))
def test_every_two_of_a_group_are_the_same(sentences):
    texts = [" ".join(words) for words in sentences]
    found = groups(texts)
    places = [place for group in found for place in group]
    assert len(places) == len(set(places))
    assert all(same(texts[a], texts[b]) for group in found for a in group for b in group)


@settings(max_examples=60)
@given(st.lists(st.text("abcde ", min_size=1, max_size=12), max_size=20))
def test_near_pairs_are_those_that_comparing_all_finds(texts):
    found = {(pair.first, pair.second) for pair in near_pairs(texts, 0.7)}
    assert found == set(_all_pairs(texts, 0.7))


def _all_pairs(texts, least):
    for second, two in enumerate(texts):
        for first, one in enumerate(texts[:second]):
            a, b = set(meaning(one)), set(meaning(two))
            likeness = 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
            if likeness >= least and meaning(one) != meaning(two):
                yield first, second


def test_many_texts_that_differ_in_a_number_are_no_quadratic_work():
    texts = [f"Host {number} of the old cluster is drained tonight" for number in range(2000)]
    random.Random(1).shuffle(texts)
    assert len(near_pairs(texts)) < 200 * len(texts)
    assert not groups(texts)


def test_many_copies_of_one_fact_are_no_quadratic_work_either():
    texts = ["Drain the old host tonight", "drain the old host tonight."] * 3000
    assert groups(texts) == [list(range(6000))]
