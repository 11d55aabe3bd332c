import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.text.tokens import estimate, weigh


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


def is_wide(character):
    if character.isdigit():
        return True
    return character.isalpha() and "LATIN" not in unicodedata.name(character, "")


LETTERS = st.characters(categories=["Lu", "Ll", "Lo", "Nd", "Po", "Zs"], max_codepoint=0x1FFFF)


@given(st.text(LETTERS))
def test_agrees_with_the_names_of_characters(text):
    wide = sum(map(is_wide, text))
    assert abs(estimate(text) - (wide + (len(text) - wide + 3) // 4)) <= sum(
        unicodedata.name(c, "").startswith(
            ("MODIFIER", "FEMININE", "MASCULINE", "KELVIN", "ANGSTROM")
        )
        for c in text
    )


@given(st.text(), st.text())
def test_weights_add_up(one, other):
    assert weigh(one) + weigh(other) == weigh(one + other)
    assert estimate(one) <= estimate(one + other) <= len(one + other)


def test_half_a_surrogate_pair_is_counted():
    assert estimate("\ud800abc") == 1
