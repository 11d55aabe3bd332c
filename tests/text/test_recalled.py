import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.recalled import BEGIN, END, harmless, named, quoted, without_recalled

BLOCK = f"{BEGIN}\n## Project Memory\n\n> - a fact\n\n{END}\n"

PARTS = ["a", " ", "\n", "\r", ">", "<!-- mem:", "<\U000e0041!-- mem:", BEGIN, END, "\t", "#"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (BLOCK, ""),
        (f"before\n{BLOCK}after\n", "before\nafter\n"),
        (f"before\n{BLOCK}{BLOCK}after", "before\nafter"),
        (BLOCK.replace("\n", "\r\n") + "after", "after"),
        ("".join(f"> {line}\n" for line in BLOCK.splitlines()) + "after", "after"),
        (f"before\n{BEGIN}\ncut off in the mid", "before\n"),
        (f"{END}\nno beginning", f"{END}\nno beginning"),
        (f"the mark {BEGIN} within a line", f"the mark {BEGIN} within a line"),
        ("nothing", "nothing"),
        ("", ""),
    ],
)
def test_without_recalled(text, left):
    assert without_recalled(text) == left


@settings(max_examples=80)
@given(st.lists(TEXTS), st.sampled_from(["", "before\n"]), st.sampled_from(["", "after"]))
def test_a_block_of_quoted_lines_is_taken_out_exactly(lines, before, after):
    block = "\n".join([BEGIN, *quoted(lines), END, ""])
    assert without_recalled(before + block + after) == before + after


@settings(max_examples=80)
@given(st.lists(st.text(max_size=30) | TEXTS, max_size=4))
def test_every_line_is_quoted(lines):
    found = quoted(lines)
    assert len(found) == sum(line.count("\n") + 1 for line in lines)
    assert all(one.startswith(">") and len(one.splitlines()) == 1 for one in found)


@settings(max_examples=80)
@given(st.text("ab ", max_size=4_000))
def test_a_long_line_is_broken_and_nothing_of_it_is_lost(line):
    pieces = quoted([line])
    assert all(len(piece) <= 1_002 for piece in pieces)
    assert "".join(piece[2:] for piece in pieces).replace(" ", "") == line.replace(" ", "")


@settings(max_examples=80)
@given(st.text())
def test_a_name_is_one_line_without_marks(text):
    assert not set(named(text)) & set("*`<>[]|\\\n\r")


def test_only_recall_writes_a_mark():
    assert BEGIN not in harmless(BEGIN)
    assert harmless("<!-- hash=12 -->") == "<!-- hash=12 -->"
