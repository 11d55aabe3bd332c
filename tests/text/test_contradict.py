import json

import pytest

from memcli.text.contradict import clashes
from memcli.text.facts import parse
from tests.conftest import FIXTURES


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("Readings are kept for 90 days", "Readings are kept for 400 days", "number"),
        ("Reviews need one approval.", "Reviews need two approvals.", "number"),
        ("Tokens live 15 minutes", "Tokens live for 30 minutes.", "number"),
        ("The freeze starts on October 15", "The freeze starts on 16 October", "date"),
        ("Client library must be 2.4 or newer", "Client library must be 2.5 or newer", "version"),
        ("The mirror is writable", "The mirror isn't writable", "negation"),
        ("Retry failed writes", "Never retry failed writes", "negation"),
        ("Feature flags are enabled", "Feature flags are disabled", "negation"),
        ("Clients must retry", "Clients should retry", "scope"),
        ("Anna owns the billing service", "Ben owns the billing service", "name"),
        ("The ledger runs on Postgres 17", "The ledger runs on MariaDB 17", "name"),
        ("Use tabs for indentation", "Use spaces for indentation", "preference"),
        ("Ines prefers tables", "Ines prefers prose", "preference"),
        ("Prefer copies over links", "Prefer links over copies", "preference"),
        ("ログは14日間保存する", "ログは15日間保存する", "number"),
        ("再試行します", "再試行しません", "negation"),
        ("Der Spiegel ist schreibbar", "Der Spiegel ist nicht schreibbar", "negation"),
        ("On réessaie les appels", "On ne réessaie pas les appels", "negation"),
        ("Always use tabs in Go", "Never use tabs in Go", "negation"),
        ("We support Python 3.9", "We no longer support Python 3.9", "negation"),
        ("We decided on three retries", "We decided on five retries", "number"),
        ("Answer in German", "Always answer in English", "name"),
    ],
)
def test_a_contradiction_is_found_in_either_order(one, other, what):
    assert [clash.what for clash in clashes([one, other])] == [what]
    assert [clash.what for clash in clashes([other, one])] == [what]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Port 8080 is public", "Port 8081 is public"),
        ("Step 3 needs a reviewer", "Step 4 needs a reviewer"),
        ("Use Redis for caching", "Use Redis for queues"),
        ("Use Redis", "Use Postgres"),
        ("Tokens live 15 minutes", "Sessions live 30 minutes"),
        ("Backups are encrypted", "Backups are stored twice"),
        ("Anna owns billing", "Anna owns search"),
        ("A batch holds 4,096 rows", "A batch holds 4096 rows"),
        ("Anna prefers small pull requests", "Ben prefers big pull requests"),
        ("Anna: Always run the linter", "Ben: Never run the linter"),
        ("Tokens live 15 minutes", "tokens live 15 min."),
    ],
)
def test_what_can_both_hold_is_no_contradiction(one, other):
    assert not clashes([one, other])


def test_no_pair_that_is_labelled_same_or_near_contradicts():
    for line in (FIXTURES / "fact_pairs.jsonl").read_text("utf-8").splitlines():
        pair = json.loads(line)
        if pair["label"] == "same":
            assert not clashes([pair["one"], pair["other"]]), pair


def test_a_pair_is_named_once_with_what_each_side_says():
    texts = ["Logs go to stderr", "Readings stay for 90 days", "x", "Readings stay for 400 days"]
    (clash,) = clashes(texts)
    assert (clash.first, clash.second, clash.one, clash.other) == (1, 3, "90d", "400d")


def test_a_believable_memory_contradicts_itself_only_where_it_was_superseded():
    text = (FIXTURES / "workspace/.decsr/memory/MEMORY.md").read_text("utf-8")
    facts = parse(text).facts
    assert not clashes([it.fact.text for it in facts if it.fact.enabled])
    (clash,) = clashes([it.fact.text for it in facts])
    assert (clash.one, clash.other) == ("90d", "400d")


def test_thousands_of_facts_about_one_thing_take_no_quadratic_time():
    texts = [f"The limit of the queue is {number}" for number in range(1000)]
    assert len(clashes(texts)) < 20 * len(texts)
