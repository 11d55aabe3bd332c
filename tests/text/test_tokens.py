import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.text.decode import split_lines
from memcli.text.tokens import estimate, weigh, weigh_each


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("word", 1),
        ("words", 2),
        ("1234", 4),
        ("a1", 2),
        ("2026-05-19", 9),
        ("記憶", 2),
        ("記憶。", 3),
        ("память", 6),
        ("naïve Ærøskøbing", 4),
        ("٣٤", 2),
        ("ＡＢＣＤ", 1),
        ("🎉🎉🎉🎉", 1),
        ("snake_case", 3),
    ],
)
def test_estimate(text, tokens):
    assert estimate(text) == tokens


def test_all_latin_letters_are_narrow_and_other_letters_wide():
    wrong = []
    for character in map(chr, range(0x20000)):
        if unicodedata.category(character) in ("Lu", "Ll", "Lo", "Nd"):
            name = unicodedata.name(character, "")
            latin = name.startswith("LATIN ") or "FULLWIDTH LATIN" in name or "ORDINAL" in name
            if weigh(character) != (1 if latin else 4):
                wrong.append((hex(ord(character)), name))
    assert wrong == []


@given(st.text(), st.text())
def test_weights_add_up(one, other):
    assert weigh(one) + weigh(other) == weigh(one + other)
    assert estimate(one) <= estimate(one + other) <= len(one + other)


def test_half_a_surrogate_pair_is_counted():
    assert estimate("\ud800abc") == 1


@given(st.lists(st.text("a1é記\r\n\x0c", max_size=9), max_size=9).map("\n".join))
def test_lines_weigh_each_what_they_weigh_alone(text: str) -> None:
    lines = split_lines(text)
    assert weigh_each(lines) == [weigh(line) for line in lines]
