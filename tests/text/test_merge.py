"""Three-way merge: byte-exact, symmetric, and never a guess where both sides changed a line."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.merge import Conflict, merge, take_out

LINES = st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"d\r", b"- x\n", b"e"])
TEXTS = st.lists(LINES, max_size=12).map(b"".join)


@given(TEXTS, TEXTS)
def test_one_changed_side_wins_whole(base: bytes, side: bytes) -> None:
    assert merge(base, side, base).data == side
    assert merge(base, base, side).data == side
    assert merge(base, side, side).data == side
    for merged in (merge(base, side, base), merge(base, base, side), merge(base, side, side)):
        assert merged.conflicts == ()


@given(TEXTS, TEXTS, TEXTS)
def test_sides_may_be_swapped(base: bytes, ours: bytes, theirs: bytes) -> None:
    one, two = merge(base, ours, theirs), merge(base, theirs, ours)
    assert [(c.line, c.ours, c.theirs) for c in one.conflicts] == [
        (c.line, c.theirs, c.ours) for c in two.conflicts
    ]
    if not one.conflicts:
        assert one.data == two.data


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_edits_of_different_lines_are_both_there(plan: list[tuple[int, int]]) -> None:
    """Unique lines, each edited by one side at most: 0 keep, 1 change, 2 delete."""
    base, ours, theirs, wanted = [], [], [], []
    for number, (who, what) in enumerate(plan):
        line = b"line %d\n" % number
        new = {0: [line], 1: [b"new %d\n" % number], 2: []}[what]
        base.append(line)
        ours += new if who == 1 else [line]
        theirs += new if who == 2 else [line]
        wanted += [line] if who == 0 else new
    merged = merge(*(b"".join(side) for side in (base, ours, theirs)))
    assert merged.conflicts == ()
    assert merged.data == b"".join(wanted)


def test_the_same_line_changed_twice_is_a_conflict_with_both_sides() -> None:
    merged = merge(b"a\nb\nc\n", b"a\nours\nc\nmore\n", b"a\ntheirs\nc\n")
    assert merged.conflicts == (Conflict(2, b"b\n", b"ours\n", b"theirs\n"),)
    assert merged.data == b"a\nours\nc\nmore\n"


def test_two_insertions_at_one_place_are_a_conflict() -> None:
    assert merge(b"a\n", b"a\nours\n", b"a\ntheirs\n").conflicts == (
        Conflict(2, b"", b"ours\n", b"theirs\n"),
    )


def test_text_added_behind_what_is_taken_back_survives() -> None:
    assert merge(b"a\nb\n", b"a\nb\nlater\n", b"a\n").data == b"a\nlater\n"
    assert merge(b"a\nb\n", b"before\na\nb\n", b"b\n").data == b"before\nb\n"


def test_an_insertion_within_what_is_taken_back_is_a_conflict() -> None:
    assert merge(b"a\nb\n", b"a\nnew\nb\n", b"").conflicts == (
        Conflict(1, b"a\nb\n", b"a\nnew\nb\n", b""),
    )


def test_line_endings_and_a_missing_last_one_stay() -> None:
    base = b"one\r\ntwo\r\nthree"
    assert merge(base, b"one\r\ntwo\r\nTHREE", b"ONE\r\ntwo\r\nthree").data == (
        b"ONE\r\ntwo\r\nTHREE"
    )
    assert merge(b"a\r\n", b"a\n", b"a\r\n").data == b"a\n"


def test_a_line_without_an_end_does_not_swallow_the_next() -> None:
    assert merge(b"a\nb\n", b"a\nb\nlater\n", b"a").data == b"a\nlater\n"
    assert take_out(b"a\nnew\nlater\n", b"\nnew\n", 1) == b"a\nlater\n"
    assert take_out(b"anew\nlater\n", b"new\n", 1) == b"a\nlater\n"


@given(TEXTS, TEXTS.filter(bool))
def test_an_append_is_taken_out_exactly(before: bytes, added: bytes) -> None:
    assert take_out(before + added, added, len(before)) == before


@given(TEXTS, TEXTS, st.text().map(str.encode))
def test_an_append_is_found_wherever_it_went(before: bytes, after: bytes, said: bytes) -> None:
    added = b"## 10:00 \xe2\x80\x94 unique\n\n" + said + b" end of it\n"
    head = before if before.endswith((b"\n", b"")) and not before.rstrip(b"\n") else before + b"\n"
    assert take_out(head + added + after, added, 7) == head + after


def test_an_append_that_was_edited_or_doubled_is_not_guessed() -> None:
    assert take_out(b"a\nneW\n", b"new\n", 2) is None
    assert take_out(b"zz\nnew\nnew\n", b"new\n", 2) is None
    assert take_out(b"a\nnewer\n", b"new", 2) is None
    assert take_out(b"renew\n", b"new\n", 1) is None
    assert take_out(b"a\nnew\nnew\n", b"new\n", 2) == b"a\nnew\n"
    assert take_out(b"a\nnew", b"\nnew", 1) == b"a"
    assert take_out(b"a\nnew\nb", b"\nnew", 1) == b"a\nb"
