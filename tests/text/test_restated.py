"""A fact is taken for said already only where nothing could be otherwise."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.restated import may_restate
from tests.conftest import FIXTURES

PAIRS = [
    json.loads(line) for line in (FIXTURES / "fact_pairs.jsonl").read_text("utf-8").splitlines()
]
DIFFERENT = [pair for pair in PAIRS if pair["label"] == "differ"]


@pytest.mark.parametrize("pair", DIFFERENT, ids=lambda pair: f"{pair['kind']}-{pair['one'][:30]}")
def test_what_differs_in_a_detail_is_never_said_already(pair: dict[str, str]) -> None:
    assert not may_restate(pair["one"], pair["other"])
    assert not may_restate(pair["other"], pair["one"])


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Anna likes brief answers.", "Anna prefers short replies."),
        ("Always reply in German.", "Always answer in German, please."),
        ("The cache is cleared every night.", "Every night the cache is emptied."),
        ("Backups are encrypted.", "The backups are encrypted with a key of ours."),
        ("We use Terraform for the network.", "Use Terraform for the network"),
        ("Les clés tournent chaque mois", "Les clés tournent chaque mois, le premier lundi"),
    ],
)
def test_the_same_in_other_words_is(new: str, old: str) -> None:
    assert may_restate(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The backend calls the frontend", "The frontend calls the backend"),
        ("Tokens live 15 minutes in production", "Tokens live 15 minutes"),
        ("Invoices are immutable", "Invoices are immutable once they are sent"),
        ("Anna prefers short answers", "Ben prefers short answers"),
        ("The staging host is heron", "The staging host is eel"),
        ("Call getUser first", "Call getuser first"),
        ("Docs are built on every push", "Docs are published on every push"),
        ("The old queue is removed", "The old queue will be removed"),
        ("On réessaie", "On ne réessaie pas"),
        ("Is the ledger append only?", "The ledger is append only"),
        ("日志保留十四天", "日志保留十四天。"),
        ("", ""),
    ],
)
def test_what_says_more_less_or_else_is_not(new: str, old: str) -> None:
    assert not may_restate(new, old)


WORDS = st.sampled_from(
    ["The", "cache", "of", "Anna", "holds", "64", "128", "not", "never", "v1.2", "v1.3", "`a`"]
)


@settings(max_examples=200)
@given(st.lists(WORDS, max_size=8).map(" ".join), st.lists(WORDS, max_size=8).map(" ".join))
def test_numbers_versions_and_negation_are_always_equal(one: str, other: str) -> None:
    if may_restate(one, other):
        for word in ("64", "128", "v1.2", "v1.3", "not", "never", "`a`"):
            assert one.split().count(word) == other.split().count(word), (one, other)
