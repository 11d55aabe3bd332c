import os
import re
import time
from glob import glob
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memcli.text.blocks import scan
from memcli.text.chunk import chunk
from memcli.text.decode import decode, split_lines
from memcli.text.overlong import cut_line
from memcli.text.tokens import estimate

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures")
NOTES = sorted(glob("**/*.md", root_dir=FIXTURES, recursive=True, include_hidden=True))


def spans(text, path="tasks/a.md", **limits):
    return [(c.start_line, c.end_line) for c in chunk(path, text, **limits)]


def words(tokens, word="abc "):
    """A line of exactly so many tokens."""
    return (word * tokens)[: 4 * tokens - 1] + "."


def check(path, text, size, overlap):
    """Everything that holds for the chunks of any text."""
    lines = split_lines(text)
    chunks = chunk(path, text, size, overlap)
    assert [c.ord for c in chunks] == list(range(len(chunks)))
    assert len({c.id for c in chunks}) == len(chunks)
    covered = set()
    before = None
    for c in chunks:
        assert c.path == path
        assert c.tokens == estimate(c.body) <= size
        key = f"{path}\0{c.start_line}\0{c.body}".encode()
        assert c.id == sha256(key).hexdigest()
        assert not c.body.isspace()
        whole = "".join(lines[c.start_line - 1 : c.end_line]).rstrip("\r\n")
        if estimate(whole) <= size:
            assert c.body == whole
            if before:
                assert before.start_line < c.start_line
                assert before.end_line < c.end_line
                shared = lines[c.start_line - 1 : before.end_line]
                assert estimate("".join(shared).rstrip("\r\n")) <= overlap
        else:
            assert c.start_line == c.end_line
            assert c.body in whole
        covered.update(range(c.start_line, c.end_line + 1))
        before = c
    blank = {number for number, line in enumerate(lines, 1) if line.isspace()}
    assert covered | blank == set(range(1, len(lines) + 1))
    assert not blank & {edge for c in chunks for edge in (c.start_line, c.end_line)}
    return chunks


PIECES = st.sampled_from(
    """# T,## A b,---,a: b,```,~~~,- item one,  more,  - child,> quote,| a | b |,|---|---|,<!-- x
,-->,    code,text and words. Then more.,,,,記憶の検索。引擎,12345678901234567890,## 10:30 — plan
,===,Label:,\x0c,é\u0301🇩🇪""".replace("\n", "").split(",")
)
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", " "]))).map(
    lambda rows: "".join(piece + end for piece, end in rows)
)


@settings(max_examples=400)
@example("- item one\n\x0c\n", "tasks/a.md", 1, 0)
@given(
    TEXTS,
    st.sampled_from(["tasks/a.md", "daily/2026-05-19.md"]),
    st.integers(1, 60),
    st.integers(0, 70),
)
def test_chunks_of_made_up_documents(text, path, size, overlap):
    check(path, text, size, overlap)


@settings(max_examples=200)
@given(st.binary(max_size=400), st.integers(1, 20))
def test_any_bytes_make_chunks(data, size):
    check("archive/x.md", decode(data)[0], size, size // 4)


@pytest.mark.parametrize("path", NOTES)
def test_chunks_of_the_fixtures(path):
    with open(os.path.join(FIXTURES, path), "rb") as file:
        text = decode(file.read())[0]
    check("daily/x.md" if "/daily/" in path else "tasks/x.md", text, 400, 80)


@pytest.mark.parametrize("text", ["", "\n", " \n\t\r\n\n", "\u2003\n"])
def test_nothing_makes_no_chunks(text):
    assert chunk("tasks/a.md", text) == []


def test_each_heading_begins_a_chunk_with_its_path():
    text = "# Design\n\nIntro.\n\n## *Storage*\n\nRows.\n\n### Index\nFTS.\n"
    text += "## Query ##\nWords.\n# Next\nx\n"
    assert [(c.start_line, c.end_line, c.heading) for c in chunk("tasks/a.md", text)] == [
        (1, 3, "Design"),
        (5, 7, "Design > Storage"),
        (9, 10, "Design > Storage > Index"),
        (11, 12, "Design > Query"),
        (13, 14, "Next"),
    ]


def test_a_heading_without_content_joins_what_follows():
    (one,) = chunk("tasks/a.md", "# Title\n\n## Part\n\ntext\n")
    assert (one.start_line, one.heading) == (1, "Title > Part")
    assert spans("## A\n## B\ntext\n## C\n") == [(1, 3), (4, 4)]


def test_front_matter_and_comments_at_the_top_stay_with_the_title():
    text = "---\ntags: [x]\n---\n<!-- note -->\n\n# Title\n\ntext\n"
    (one,) = chunk("tasks/a.md", text)
    assert one.heading == "Title"
    assert one.body == text[:-1]


def test_text_before_the_first_heading_is_a_chunk():
    assert spans("Hello.\n\n# T\nx") == [(1, 1), (3, 4)]


def test_body_is_the_lines_as_they_are():
    text = "\r\n# T  \r\n\ttext\r\rmore\n\n"
    (one,) = chunk("tasks/a.md", text)
    assert (one.start_line, one.end_line) == (2, 5)
    assert one.body == "# T  \r\n\ttext\r\rmore"


def test_appending_leaves_earlier_chunks_alone():
    before = "# Daily log 2026-05-19\n\n## 09:00 — plan\n\nfirst\n"
    after = before + "\n## 10:00 — build\n\nsecond\n"
    path = "daily/2026-05-19.md"
    assert chunk(path, after)[:-1] == chunk(path, before)


def test_entries_of_a_log_begin_chunks_also_in_an_open_fence():
    text = "# Daily log 2026-05-19\n\n## 09:00 — plan\n\n```\nopen\n\n"
    text += "## 10:00 — build\n\nx\n## 11:00 — y\n"
    chunks = chunk("daily/2026-05-19.md", text)
    assert [(c.start_line, c.end_line) for c in chunks] == [(1, 6), (8, 10), (11, 11)]
    assert chunks[1].heading == "Daily log 2026-05-19 > 10:00 — build"
    assert spans(text, "tasks/a.md") == [(1, 11)]


def test_empty_entries_of_a_log_stay_apart():
    text = "## 09:00 — a\n\n## 10:00 — b\n\ntext\n"
    assert spans(text, "daily/2026-05-19.md") == [(1, 1), (3, 5)]


def test_a_long_section_is_cut_between_paragraphs_with_overlap():
    text = "# T\n\n" + "\n\n".join([words(30), words(15), words(30), words(15)])
    assert spans(text, size=60, overlap=0) == [(1, 5), (7, 9)]
    assert spans(text, size=60, overlap=16) == [(1, 5), (5, 7), (9, 9)]


def test_a_cut_prefers_the_stronger_boundary():
    item = f"- {words(10)}"
    text = words(30) + "\n\n" + "\n".join([item] * 8)
    # The list would begin in the first chunk's second half; better before it than within it.
    assert spans(text, size=55, overlap=0) == [(1, 1), (3, 7), (8, 10)]
    # No overlap takes in the whole chunk before.
    assert spans(text, size=55, overlap=40)[:2] == [(1, 1), (3, 7)]
    text = words(20) + "\n\n" + "\n".join([item] * 8)
    assert spans(text, size=55, overlap=0) == [(1, 5), (6, 10)]


@pytest.mark.parametrize(
    "block",
    [
        "```py\n" + "\n\n".join(["x = 1"] * 8) + "\n```",
        "| a | b |\n|---|---|\n" + "\n".join(["| c | d |"] * 8),
        "- parent\n\n" + "\n\n".join(["  - child and words"] * 5),
        "<!-- a\n\n" + "\n\n".join(["words and words"] * 6) + "\n-->",
    ],
    ids=["fence", "table", "item", "comment"],
)
def test_what_fits_is_not_cut(block):
    size = estimate(block)
    text = f"{words(20)}\n\n{block}\n\n{words(20)}\n"
    lines = block.count("\n") + 1
    found = spans(text, size=size, overlap=10)
    assert (3, lines + 2) in found
    assert not [end for _, end in found if 3 <= end < lines + 2]


def test_a_fence_over_the_budget_is_cut_at_lines():
    text = "```\n" + "\n".join(words(10) for _ in range(12)) + "\n```\n"
    chunks = chunk("tasks/a.md", text, size=40, overlap=0)
    assert chunks[0].start_line == 1 and chunks[-1].end_line == 14
    assert all(one.end_line + 1 == next_.start_line for one, next_ in pairwise(chunks))


def test_a_heading_and_a_label_stay_with_what_follows():
    text = f"# T\n\n{words(20)}\n\n**Decisions:**\n\n" + "\n".join([f"- {words(15)}"] * 3)
    assert spans(text, size=36, overlap=0) == [(1, 3), (5, 8), (9, 9)]


def test_one_endless_line_is_cut_at_sentences():
    sentence = "Words that make a sentence. "
    chunks = chunk("tasks/a.md", f"# T\n{sentence * 200}\nend\n", size=50)
    parts = [c for c in chunks if c.start_line == c.end_line == 2]
    assert all(c.body.rstrip().endswith("sentence.") for c in parts)
    assert len({c.id for c in chunks}) == len(chunks)
    assert chunks[-1].end_line == 3


@given(st.text(min_size=1), st.integers(1, 10))
def test_parts_make_up_the_line(line, size):
    parts = list(cut_line(line, size))
    assert all(estimate(part) <= size for part in parts)
    assert re.sub(r"\s", "", "".join(parts)) == re.sub(r"\s", "", line)


@pytest.mark.parametrize("unit", ["🇩🇪", "e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "ก็", "❤\ufe0f"])
def test_parts_do_not_end_within_a_character(unit):
    for shift in range(4):
        parts = list(cut_line("x" * shift + unit * 60, 10))
        assert len(parts) > 1
        assert all(re.fullmatch(f"x*(?:{unit})+", part) for part in parts)


def test_the_fence_that_a_chunk_begins_after_is_not_entered():
    text = f"```\n{words(5)}\n{words(5)}\n```\n\n{words(30)}\n\n{words(30)}\n"
    for c in chunk("tasks/a.md", text, size=40, overlap=8):
        kinds = [block.kind for block in scan(split_lines(c.body))]
        assert kinds.count("fence") == c.body.startswith("```")


HUGE = {
    "a megabyte in one line": "word and more, " * 70_000,
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0" * 5_600,
    "flags": "🇩🇪" * 5_000,
    "marks": "a" + "\u0301" * 200_000,
    "paragraphs": "para text\n\n" * 150_000,
    "blank lines": "a\n" + "\n" * 300_000 + "b",
    "open fence": "```\n" + "code\n" * 100_000,
    "one list": "- item text\n" * 50_000,
    "headings": "# a\n" * 50_000,
    "nul": "word\0" + "\0" * 20_000 + "end",
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_text_takes_linear_time(name):
    started = time.process_time()
    chunks = chunk("tasks/a.md", HUGE[name])
    assert time.process_time() - started < 5
    assert chunks and max(c.tokens for c in chunks) <= 400
