"""Sections begin where the blocks of the whole file have top-level headings, and nowhere else."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memcli.text.blocks import scan
from memcli.text.dates import LOG_HEADING
from memcli.text.decode import split_lines
from memcli.text.sections import sections

OPENING = ("front_matter", "comment", "thematic_break")


def starts(text, opens=None):
    return [section.line for section in sections(text, opens)]


def starts_by_blocks(text, opens):
    found = [1]
    levels = []
    has_text = False
    for block in scan(split_lines(text), opens):
        if block.kind == "heading":
            if has_text or (opens is not None and levels and levels[-1] >= block.level):
                found.append(block.start_line)
            has_text = False
            levels = [*(level for level in levels if level < block.level), block.level]
        elif levels or block.kind not in OPENING:
            has_text = True
    return found


LINES = """# H;## H ##;#;###### x;#tag;text;a | b;|---|---|;Title;===;---;--- ;-;- a;1. x;> q;- # h
```;````;``` py;```py `x`;~~~;~~~ `;- ```;<!-- x;-->;<!-- y -->;<!-->;<div>;</div>;<a b=c>;< x;<?php
<https://x.y>;?>;<!X;\\# no;* * *;[a]: b;k: v;...;+++;k = 1;## 10:30 — plan;# Daily log 2026-01-01
\x0c;\x1f# x;### ```;- <!-- x;> ```""".replace("\n", ";").split(";")
TOPS = [
    "",
    "",
    "---\nk: v\n---\n",
    "+++\nk = 1\n+++\n\n",
    "---\nk: v\n...\n",
    "---  \nk: v\n---\t\n",
]


@st.composite
def documents(draw):
    indents = st.sampled_from(["", "", "", "", " ", "  ", "   ", "    ", "\t", "- ", "> "])
    pieces = st.sampled_from([*LINES, "# H", "# H", "", "", "", "", "", "", "```", "~~~"])
    lines = draw(st.lists(st.tuples(indents, pieces).map("".join), max_size=12))
    ends = draw(st.sampled_from(["\n", "\n", "\n", "\r\n"]))
    return draw(st.sampled_from(TOPS)) + ends.join(lines) + draw(st.sampled_from(["", ends]))


@settings(max_examples=1500)
@example("# A\n[a]: b\nTitle\n===\n", False)
@given(documents(), st.booleans())
def test_sections_are_those_of_the_blocks(text, is_log):
    opens = re.compile(LOG_HEADING).match if is_log else None
    assert starts(text, opens) == starts_by_blocks(text, opens)
    assert "".join(section.text for section in sections(text, opens)) == text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# A\nx\n```\n# no\n```\n# B\nx\n", [1, 6]),
        ("# A\nx\n````\n```\n# no\n`````\n# B\nx\n", [1, 7]),
        ("# A\nx\n``` `a`\n# B\nx\n", [1, 4]),
        ("# A\nx\n~~~ `a`\n# no\n", [1]),
        ("# A\nx\n<!-- y\n# no\n--> z\n# B\nx\n", [1, 6]),
        ("# A\nx\n<!-- y -->\n# B\nx\n", [1, 4]),
        ("# A\nx\n<div>\n# no\n\n# B\nx\n", [1, 6]),
        ("# A\nx\n<https://a.b>\n# B\nx\n", [1, 4]),
        ("# A\nx\n\nB\n---\nx\n\n---\nx\n", [1, 4]),
        ("# A\n- x\n\n  # no\n\n  ```\n# B\nx\n", [1, 7]),
        ("# A\nx\n  # B\nx\n   ```\n# no\n", [1, 3]),
        ("---\na: b\n# no\n---\n# A\nx\n", [1]),
        ("---\na: b\n---\nx\n# A\nx\n", [1, 5]),
        ("---\n# A\nx\n\n---\n# B\nx\n", [1, 6]),
    ],
)
def test_only_top_level_headings_begin_sections(text, lines):
    assert starts(text) == lines


def test_a_section_knows_its_headings():
    found = list(sections("# *A*\nx\n### B ###\nx\n## `C`\nx\n"))
    assert [section.heading for section in found] == ["A", "A > B", "A > C"]
