"""The tokenizer against the reference library, and the windows against what they promise."""

from __future__ import annotations

import os
import unicodedata
from itertools import chain, pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memcli.providers import minilm
from memcli.providers.minilm.windows import cut, head
from memcli.providers.minilm.wordpiece import WordPiece

VOCABULARY = os.path.join(os.path.dirname(minilm.__file__), "vocab.txt")


def open_tokenizer() -> WordPiece:
    with open(VOCABULARY, encoding="utf-8", newline="") as file:
        return WordPiece(file.read())


OURS = open_tokenizer()


def our_ids(text: str) -> list[int]:
    return list(chain.from_iterable(OURS.words(text)))


@pytest.fixture(scope="module")
def reference():
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordPiece.from_file(VOCABULARY, unk_token="[UNK]")
    )
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def alphabet(*spans: tuple[int, int]) -> st.SearchStrategy[str]:
    return st.one_of(*(st.characters(min_codepoint=a, max_codepoint=b) for a, b in spans))


SCRIPTS = {
    "latin": alphabet((0x20, 0x24F), (0x1E00, 0x1EFF)),
    "marks": alphabet((0x61, 0x7A), (0x300, 0x36F), (0x1AB0, 0x1AFF), (0x20D0, 0x20FF)),
    "greek and cyrillic": alphabet((0x370, 0x52F), (0x1F00, 0x1FFF)),
    "hebrew and arabic": alphabet((0x590, 0x77F), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFF)),
    "indic": alphabet((0x900, 0xDFF)),
    "thai to myanmar": alphabet((0xE00, 0x109F)),
    "korean": alphabet((0x1100, 0x11FF), (0xAC00, 0xD7A3)),
    "chinese and japanese": alphabet(
        (0x3000, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F)
    ),
    "full width": alphabet((0xFF00, 0xFFEF)),
    "control and format": alphabet((0x0, 0x20), (0x7F, 0xA0), (0x2000, 0x206F), (0xFFF0, 0xFFFF)),
    "punctuation and symbols": alphabet((0x2010, 0x2BFF), (0x2E00, 0x2E7F)),
    "emoji": alphabet((0x1F300, 0x1FAFF), (0xFE00, 0xFE0F), (0x200D, 0x200D)),
}
PLAIN = st.text(st.characters(exclude_categories=("Cs",)), max_size=200)
WORDS = st.sampled_from(["note", "##ing", "unaffable", "ΟΔΥΣΣΕΥΣ", "İstanbul", "x" * 101, "[SEP]"])


@given(
    st.lists(
        st.one_of(PLAIN, WORDS, *(st.text(script, max_size=40) for script in SCRIPTS.values())),
        max_size=8,
    ).map(" ".join)
)
@example("a\u0000b \u200b\ufeff\u00ad c\ufffdd\u0085e\u2028f")
@example("x" * 100 + " " + "x" * 101 + " " + "é" * 100 + " " + "e\u0301" * 101)
@example("\U0001d158\U0001d165\U0001d16d \u1112\u1161\u11ab 한국어 ﷺ ﬁ ½ ⅷ")
@settings(max_examples=300)
def test_any_text_has_the_ids_of_the_reference(reference, text: str) -> None:
    assert our_ids(text) == reference.encode(text, add_special_tokens=False).ids


def test_each_character_within_a_word_has_the_ids_of_the_reference(reference) -> None:
    for plane in range(0, 0x30000, 0x1000):
        codes = [c for c in range(plane, plane + 0x1000) if not 0xD800 <= c < 0xE000]
        # How a newer letter is lower-cased depends on the Unicode of either build.
        known = [c for c in codes if unicodedata.category(chr(c)) != "Cn"]
        text = "\n".join(f"a{chr(c)}b" for c in known)
        assert our_ids(text) == reference.encode(text, add_special_tokens=False).ids, hex(plane)


@given(st.text(st.characters(), max_size=300))
@example("\ud800 lone \udfff surrogates\ud83d")
@settings(max_examples=200)
def test_any_string_is_legal(text: str) -> None:
    assert all(0 <= piece < 30522 for piece in our_ids(text))


def test_a_surrogate_is_no_character() -> None:
    assert our_ids("wri\ud800te") == our_ids("write")


def test_the_marks_of_the_model_are_plain_text() -> None:
    assert not {101, 102, 103} & set(our_ids("[CLS] [SEP] [MASK] [cls]"))


WORD_LISTS = st.lists(
    st.lists(st.integers(0, 30521), min_size=1, max_size=12), min_size=0, max_size=120
)


@given(WORD_LISTS, st.integers(2, 60), st.data())
@settings(max_examples=300)
def test_windows_cover_every_token_in_order(words, size: int, data) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    numbered, total = number(words)
    windows = list(cut(numbered, size=size, overlap=overlap))
    assert all(0 < len(window) <= size for window in windows)
    assert sorted(set(chain.from_iterable(windows))) == list(range(total))
    for one, next_one in pairwise(windows):
        assert one == list(range(one[0], one[-1] + 1))
        assert one[0] < next_one[0]
        assert one[-1] + 1 - overlap <= next_one[0] <= one[-1] + 1


@given(WORD_LISTS, st.integers(12, 60))
@settings(max_examples=200)
def test_windows_begin_at_words_and_are_even(words, size: int) -> None:
    numbered, _ = number(words)
    begins = {word[0] for word in numbered}
    windows = list(cut(numbered, size=size, overlap=0))
    assert all(window[0] in begins for window in windows)
    if len(windows) > 1:
        # Each cut falls short of its even share by less than a word, and later windows make up.
        longest = max(map(len, numbered))
        assert max(map(len, windows)) - min(map(len, windows)) <= len(windows) * longest


@given(WORD_LISTS, st.integers(1, 60))
@settings(max_examples=200)
def test_the_head_is_whole_words_from_the_start(words, size: int) -> None:
    numbered, _ = number(words)
    tokens = head(iter(numbered), size=size)
    assert tokens == list(range(len(tokens)))
    assert len(tokens) <= size
    ends = {0, *(word[-1] + 1 for word in numbered)}
    assert len(tokens) in ends or len(tokens) == size


def test_a_text_that_fits_is_one_window() -> None:
    assert list(cut([[1, 2], [3]], size=3, overlap=1)) == [[1, 2, 3]]
    assert list(cut([], size=3, overlap=0)) == []


def test_two_windows_of_a_chunk_are_halves() -> None:
    assert [len(w) for w in cut(([i] for i in range(400)), size=254, overlap=0)] == [200, 200]
    assert [len(w) for w in cut(([i] for i in range(400)), size=254, overlap=40)] == [220, 220]


def number(words: list[list[int]]) -> tuple[list[list[int]], int]:
    """The same word lengths with every token its position, so that order and gaps show."""
    numbered, total = [], 0
    for word in words:
        numbered.append(list(range(total, total + len(word))))
        total += len(word)
    return numbered, total
