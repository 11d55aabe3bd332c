from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.facts import Fact, clean_source, clean_text, fact_hash, parse, render, sift
from memcli.text.pinned import add

HAND = """\
# Memory

- Encrypt at
  rest.
- [x] Keep logs
  - for a year
  - in one place
* Star
+ Plus

1. One
10) Ten

> - quoted

```
- in code
```

    - in indented code

<!--
- in a comment
-->
-
<!-- removed hash=0123456789ab hash=0123456789ac -->
"""


def texts(memory):
    return [it.fact.text for it in parse(memory).facts]


def test_hash_is_decsrs():
    assert fact_hash(" Encrypt At Rest ") == sha256(b"encrypt at rest").hexdigest()[:12]
    # Go's strings.ToLower knows no final sigma.
    assert fact_hash("ΟΔΟΣ") == sha256("οδοσ".encode()).hexdigest()[:12]
    assert fact_hash("İ") == fact_hash("i")


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (Fact("A b", "d.md#Decisions"), "- A b  <!-- src=d.md#Decisions hash={} -->"),
        (Fact("A b", kind="preference"), "- A b  <!-- src= hash={} kind=preference -->"),
        (Fact("A b", "d.md", enabled=False), "- A b  <!-- src=d.md hash={} off -->"),
        (
            Fact("A\n b", kind="summary", enabled=False),
            "- A b  <!-- src= hash={} kind=summary off -->",
        ),
    ],
)
def test_line_of_a_fact(fact, line):
    assert render(fact) == line.format(fact_hash("A b"))


def test_hand_written_items_are_facts():
    assert [(it.fact.text, it.start_line, it.end_line) for it in parse(HAND).facts] == [
        ("Encrypt at rest.", 3, 4),
        ("Keep logs; for a year; in one place", 5, 7),
        ("Star", 8, 8),
        ("Plus", 9, 9),
        ("One", 11, 11),
        ("Ten", 12, 12),
    ]
    first = parse(HAND).facts[0]
    assert (first.section, first.fact.hash, first.recorded) == (
        "Memory",
        fact_hash("Encrypt at rest."),
        "",
    )
    assert parse(HAND).removed == {"0123456789ab", "0123456789ac"}


def test_windows_file_reads_the_same():
    twin = "\ufeff" + HAND.replace("\n", "\r\n")
    assert parse(twin) == parse(HAND)
    assert parse(HAND.replace("\n", "\r")) == parse(HAND)


def test_comment_is_read_whole():
    (it,) = parse(
        "- A  <!-- src=my notes.md#Key decisions hash=0123456789ab kind=instruction off new=1 -->\n"
    ).facts
    assert it.fact == Fact("A", "my notes.md#Key decisions", "instruction", fact_hash("A"), False)
    assert it.recorded == "0123456789ab"
    assert it.hashes == (fact_hash("A"), "0123456789ab")
    assert it.words == ("kind=instruction", "off", "new=1")


def test_comment_after_wrapping_and_before_nested_items():
    memory = "- A long\n  line  <!-- src=d.md hash=0123456789ab -->\n  - nested\n"
    (it,) = parse(memory).facts
    assert (it.fact.text, it.note_line, it.end_line) == ("A long line; nested", 2, 3)


def test_no_hash_is_taken_from_text():
    memory = "- hash=0123456789ab is printed <!-- a remark --> twice\n\nhash=0123456789ac\n"
    (it,) = parse(memory).facts
    assert it.fact.text == "hash=0123456789ab is printed twice"
    assert it.hashes == (it.fact.hash,)


@pytest.mark.parametrize(
    "text",
    ["x <!-- src=a hash=0123456789ab -->", "<!-- removed hash=0123456789ab -->", "a --> b <!--"],
)
def test_text_forges_no_comment(text):
    memory = add("", [Fact(text, "d.md")], "2026-01-02")
    (it,) = parse(memory).facts
    assert it.fact.text == clean_text(text)
    assert it.fact.source == "d.md"
    assert parse(memory).removed == frozenset()


def test_source_neither_ends_the_comment_nor_forges_a_hash():
    source = "a--b.md#x --> - y hash=0123456789ab off"
    (it,) = parse(add("", [Fact("A", source)], "2026-01-02")).facts
    assert it.fact.source == clean_source(source) == clean_source(clean_source(source))
    assert (it.recorded, it.fact.enabled) == (fact_hash("A"), True)


def test_found_by_any_of_its_hashes():
    memory = "- A  <!-- src= hash=0123456789ab was-hash=ba9876543210 -->\n- B\n"
    pinned = parse(memory)
    for prefix in ("0123", "BA98", fact_hash("A")[:5]):
        assert [it.fact.text for it in pinned.find(prefix)] == ["A"]
    assert len(pinned.find("")) == 2


def test_sifting():
    memory = (
        "- Encrypt at rest\n- Keep `X`  <!-- src= hash=0123456789ab -->\n"
        f"<!-- removed hash={fact_hash('Gone')} -->\n"
    )
    candidates = [
        *map(Fact, ("- **Encrypt** at rest.", "Keep `x`", "Gone", "New one", "The new one.", "\n")),
        Fact("New two", "d.md", hash="wrong"),
    ]
    sifted = sift(parse(memory), candidates)
    assert [fact.text for fact in sifted.new] == ["New one", "New two"]
    assert sifted.new[1] == Fact("New two", "d.md", hash=fact_hash("New two"))
    assert [(fact.text, it.start_line) for fact, it in sifted.known] == [
        ("- **Encrypt** at rest.", 1),
        ("Keep `x`", 2),  # the hash knows no case
    ]
    assert [fact.text for fact in sifted.removed] == ["Gone"]
    again = sift(parse(memory), candidates, again=True)
    assert [fact.text for fact in again.new] == ["Gone", "New one", "New two"]


@settings(max_examples=200)
@given(st.text())
def test_any_text_is_read(text):
    for it in parse(text).facts:
        assert it.fact.text
        assert it.start_line <= it.note_line <= it.end_line


_HOSTILE = st.sampled_from(
    ["<!--", "-->", "- ", "# ", "```", "[x] ", "> ", "1. ", "hash=0123456789ab", "    ", "\n", "\r"]
)
ANY_TEXT = st.one_of(st.text(), st.lists(_HOSTILE | st.text(max_size=4), max_size=6).map("".join))


@settings(max_examples=200)
@given(ANY_TEXT, ANY_TEXT, st.sampled_from(["fact", "preference", "summary"]), st.booleans())
def test_what_is_written_is_read_back(text, source, kind, enabled):
    if not clean_text(text):
        return
    memory = add("", [Fact(text, source, kind, enabled=enabled)], "2026-01-02")
    (it,) = parse(memory).facts
    cleaned = clean_text(text)
    assert it.fact == Fact(cleaned, clean_source(source), kind, fact_hash(cleaned), enabled)
    assert it.recorded == it.fact.hash
    assert render(it.fact) in memory


@pytest.mark.parametrize(
    ("there", "candidate"),
    [
        ("Ask Adam about the relay.", "Ask Adams about the relay."),
        ("The report goes to Robert.", "The report goes to Roberts."),
    ],
)
def test_what_only_looks_like_a_copy_is_new(there: str, candidate: str) -> None:
    pinned = parse(f"# Project Memory\n\n- {there}\n")
    assert [fact.text for fact in sift(pinned, [Fact(candidate)]).new] == [candidate]
    both = sift(parse(""), [Fact(there), Fact(candidate)]).new
    assert [fact.text for fact in both] == [there, candidate]
