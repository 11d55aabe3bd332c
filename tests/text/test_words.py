"""Words are found again, whatever the script, the spelling or the joints."""

import re
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.extra import extra_terms
from memcli.text.scripts import grams
from memcli.text.stem import stem
from memcli.text.words import TOKENIZER, clean, normalise, tokens

CLASSIC = """
caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized
hopping tanned falling hissing fizzed failing filing happy sky relational conditional rational
valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization
predication operator feudalism decisiveness hopefulness callousness formaliti sensitiviti
sensibiliti triplicate formative formalize electriciti electrical hopeful goodness revival allowance
inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent
adoption homologou communism activate angulariti homologous effective bowdlerize probate rate cease
controll roll migrations decided yes yelled y by eyed dying s is ss es ies sses ion sion eed ing ed
"""
WORDS = CLASSIC.split()


def stored(text: str) -> list[str]:
    """Return what FTS5 really stores for a text, in order."""
    with sqlite3.connect(":memory:") as db:
        db.execute(f'CREATE VIRTUAL TABLE f USING fts5(b, tokenize="{TOKENIZER}")')
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(f, 'instance')")
        db.execute("INSERT INTO f VALUES (?)", (text,))
        found = [row[0] for row in db.execute("SELECT term FROM v ORDER BY offset")]
    db.close()
    return found


def test_stems_are_those_of_fts5() -> None:
    assert [stem(word) for word in WORDS] == stored(" ".join(WORDS))


@settings(max_examples=300)
@given(st.lists(st.text("abcdeilnorstuyzé", min_size=1, max_size=9), min_size=1, max_size=30))
def test_any_made_up_word_has_the_stem_of_fts5(words: list[str]) -> None:
    assert tokens(" ".join(words)) == stored(" ".join(words))


@pytest.mark.parametrize(
    "text",
    [
        "café cafe\u0301 Straße ﬁne x² Ⅷ ÉTÉ tiếng Việt İstanbul ø đ ł",
        "監視基盤を移行した 한국어를 処理 แผนการย้ายฐานข้อมูล ที่ हिन्दी में مَرحَبًا",
        "ДОМ ёж Ελλάδα ΟΔΥΣΣΕΎΣ ОДИН",
        "C++ RULE-0042 conf/app.d/base.toml snake_case CamelCase don't l’été 😀 a\u200bb १२३ ½",
    ],
)
def test_tokens_are_those_of_fts5(text: str) -> None:
    assert tokens(text) == stored(text)


@settings(max_examples=300)
@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CAFÉ", "cafe\u0301"),
        ("Straße", "STRASSE"),
        ("Ｆｕｌｌ１２", "full12"),
        ("Łódź", "lodz"),
        ("Ёж", "еж"),
        ("Οδυσσεύς", "ΟΔΥΣΣΕΥΣ"),
        ("مَرحَبًا", "مرحبا"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("ｶﾞ", "ガ"),
    ],
)
def test_spellings_of_one_word_are_equal(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(("one", "other"), [("か", "が"), ("นา", "น้า"), ("कि", "की")])
def test_marks_that_make_another_word_stay(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("body", "extra"),
    [
        ("Plain prose, in the year 2026. It has two sentences.", ""),
        ("Le modèle de coût est figé jusqu'à l'été — enfin.", ""),
        ("On 2026-03-14 at 1.5 and 10.0.0.1", ""),
        ("AppendDaily", "append daily"),
        ("append_daily append-daily", ""),
        ("conf.app, HTTPServer; IDs", "http server"),
        ("C++ and F#, not # this", "cplusplus fsharp"),
        ("AppendDailyAppendDaily", "append daily"),
        ("the naïve_fooBar, “FlushQueue”", "foo bar flush queue"),
        ("使用AppendDaily函数", "append daily 使 使用 用 appenddaily 函 函数 数"),
        ("監視基", "監 監視 視 視基 基"),
        ("名簿-2026 (監視)", "名 名簿 簿 監 監視 視"),
        ("Redisを", "redis を"),
        ("ที่นา", "ที่ ที่น น นา า"),
        ("Straße", "strasse"),
        ("\u2066safe\u2069 ₽500 done\U0001f90c", "safe 500 done"),
        ("⏰ → ✅done €5", ""),
    ],
)
def test_extra_terms(body: str, extra: str) -> None:
    assert extra_terms("", body) == extra


def test_extra_terms_of_a_heading_count_too() -> None:
    assert extra_terms("Design > AppendDaily", "text") == "append daily"


@settings(max_examples=300)
@given(st.text(), st.text())
def test_extra_terms_are_storable_and_in_comparison_form(heading: str, body: str) -> None:
    extra = extra_terms(heading, body)
    assert clean(extra) == extra
    assert all(re.search(r"\w", word) or not word.isascii() for word in extra.split())
    extra.encode()


@settings(max_examples=200)
@given(st.text("監視基盤をのมูลข้อ한국", min_size=1, max_size=12))
def test_grams_of_a_part_stand_in_a_row_in_the_whole(run: str) -> None:
    whole = " " + " ".join(grams(run)) + " "
    units = grams(run)[::2]
    for at in range(len(units)):
        inner = grams("".join(units[at:]))
        assert " " + " ".join(inner) + " " in whole
