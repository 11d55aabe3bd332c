import unicodedata

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from memcli.text.similar import is_near_copy, key, signature


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Encrypt at rest.", "encrypt   at rest"),
        ("- [x] Encrypt at rest", "Encrypt at rest!"),
        ("1. Encrypt at rest;", "* Encrypt at rest"),
        ("**Encrypt** at _rest_", "Encrypt at rest"),
        ("Cafe\u0301 first", "Café first"),
        ("Don’t retry.", "don't retry"),
        ("索引は毎晩更新する。", "索引は毎晩更新する"),
    ],
)
def test_same_key_but_for_spelling(one, other):
    assert key(one) == key(other)
    assert is_near_copy(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Set `PATH` first", "Set `path` first"),
        ("Call getUser first", "Call getuser first"),
        ('The button says "Save"', 'The button says "save"'),
        ("Use SQLite?", "Use SQLite"),
        ("Keep __init__ empty", "Keep init empty"),
        ("Area is 2*3*4", "Area is 234"),
    ],
)
def test_different_keys(one, other):
    assert key(one) != key(other)
    assert not is_near_copy(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The index uses SQLite", "Index uses SQLite."),
        ("We use SQLite for the index", "Use SQLite for the index"),
        ("Logs are read-only", "Log is read only"),
        ("Don't retry failed writes", "Do not retry failed writes"),
        ("It cannot be undone", "It can't be undone"),
        ("Use `sqlite3`, nothing else", "Use sqlite3, nothing else"),
        ("Names & dates stay", "Names and dates stay"),
        ("(Always) ask first", "Always ask first"),
    ],
)
def test_near_copies(one, other):
    assert is_near_copy(one, other)
    assert is_near_copy(other, one)


LONG = (
    "Every night at the end of the run the {} are written to the archive in the cellar by the host"
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Port 8080 is public", "Port 8081 is public"),
        ("Keep logs 14 days", "Keep logs 14 hours"),
        ("Wait 5 ms", "Wait 5 s"),
        ("Wait -5", "Wait 5"),
        ("At most 5%", "At most 5"),
        ("x > 5", "x < 5"),
        ("Cost is $5", "Cost is €5"),
        ("Released 2026-03-04", "Released 2026-03-05"),
        ("Needs Python 3.11", "Needs Python 3.12"),
        ("Needs v1.2", "Needs v12"),
        ("Reviews need one approval", "Reviews need two approvals"),
        ("Retry failed writes", "Do not retry failed writes"),
        ("Retry failed writes", "Never retry failed writes"),
        ("Works with a cache", "Works without a cache"),
        ("On réessaie", "On ne réessaie pas"),
        ("Wir löschen Daten", "Wir löschen keine Daten"),
        ("All hosts are patched", "Some hosts are patched"),
        ("Only admins may write", "Admins may write"),
        ("Clients must retry", "Clients should retry"),
        ("Logs were kept", "Logs are kept"),
        ("Ask before the deploy", "Ask after the deploy"),
        ("Use --force", "Use force"),
        ("Edit /etc/hosts", "Edit /etc/host"),
        ("See https://a.example/x", "See https://a.example/X"),
        ("Call set_user", "Call set_users"),
        ("Call foo()", "Call foo"),
        ("Take plan A today", "Take plan B today"),
        ("Take plan A today", "Take a plan today"),
        ("Move from Redis to Postgres", "Move from Postgres to Redis"),
        ("The backend calls the frontend", "The frontend calls the backend"),
        ("Anna owns the billing", "Hanna owns the billing"),
        ("The old name stays", "~~The old name stays~~"),
        (LONG.format("logs"), LONG.format("keys")),
        ("索引は毎晩更新する", "索引は毎晩更新しない"),
        ("...", "!!!"),
    ],
)
def test_never_near(one, other):
    assert not is_near_copy(one, other)


SCOPE = ["all", "any", "none", "not", "never", "only", "always", "before", "must", "may", "should"]
NUMBERS = ["1", "2", "10", "-1", "1.0", "v1", "5%", "ms", "s", "<", ">", "=", "~~", "--force"]
NAMES = ["Anna", "Redis", "redis_url", "getUser", "`x`", "`X`", '"x"', "/a/b", "A"]
SMALL = ["log", "logs", "is", "was", "a", "the"]
WORDS = st.lists(st.sampled_from(SCOPE + NUMBERS + NAMES + SMALL), min_size=1, max_size=8)


@settings(max_examples=200)
@given(WORDS, st.integers(0, 7), st.sampled_from(["not", "7", "Bob", "`y`", "only", "2027-01-01"]))
def test_one_more_detail_is_never_a_copy(words, place, extra):
    longer = [*words[:place], extra, *words[place:]]
    assert not is_near_copy(" ".join(words), " ".join(longer))


@settings(max_examples=200)
@given(st.text())
@example("** a **")
@example('"`"`"')
def test_any_text_is_its_own_copy(text):
    assert key(text) == key(unicodedata.normalize("NFD", text))
    assert signature(text) == signature(text + " ")
    assume(signature(text))
    assert is_near_copy(text, text)


@settings(max_examples=200)
@given(WORDS)
def test_respelling_makes_a_copy(words):
    text = " ".join(words)
    assert key(f"-  {text} .") == key(text)
    assert is_near_copy(f"* {'  '.join(words)}.", text) or signature(text) == ()
