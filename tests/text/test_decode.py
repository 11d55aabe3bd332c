import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.text.decode import decode, split_lines


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("é — 記憶".encode(), "é — 記憶"),
        (b"\xef\xbb\xbf# T\r\n", "# T\r\n"),
        ("記憶\n".encode("utf-16"), "記憶\n"),
        (b"\xfe\xff" + "記憶\n".encode("utf-16-be"), "記憶\n"),
        (b"a\0b\n", "a\0b\n"),
    ],
)
def test_what_unicode_says(data, text):
    assert decode(data) == (text, None)


def test_only_the_first_mark_is_taken_off():
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfa") == ("\ufeffa", None)


def test_a_stray_byte_is_windows_and_spoils_nothing_else():
    text, note = decode("eins\n記憶 ".encode() + b"caf\xe9 \x97 dash\n")
    assert text == "eins\n記憶 café — dash\n"
    assert note == "not UTF-8 (line 2: byte 0xe9), read as Windows-1252"


def test_bytes_without_a_meaning_stay_one_character():
    text, note = decode(b"a\x81b")
    assert text == "a\x81b"
    assert note and "0x81" in note


def test_damaged_utf16_is_read_as_far_as_possible():
    text, note = decode("ab".encode("utf-16") + b"x")
    assert text.startswith("ab")
    assert note and "UTF-16" in note


@given(st.binary())
def test_any_bytes_decode_and_keep_their_line_numbers(data):
    text, _ = decode(data)
    text.encode("utf-8")  # no half characters are left that could not be stored
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert len(split_lines(text)) == len(re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", data))


SEPARATORS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029a"


@given(st.text(alphabet=SEPARATORS))
def test_lines_end_where_editors_see_an_end(text):
    assert split_lines(text) == re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def test_other_separators_are_text():
    assert split_lines("a\u2028b\x0cc\n\x0c\nd") == ["a\u2028b\x0cc\n", "\x0c\n", "d"]
