import json
import os
import re
import time
from glob import glob

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memcli.text.blocks import MAX_DEPTH, scan
from memcli.text.dates import LOG_HEADING
from memcli.text.decode import decode, split_lines
from memcli.text.lines import TITLE_CHARS, front_matter_end, plain_title

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures")
NOTES = sorted(glob("**/*.md", root_dir=FIXTURES, recursive=True, include_hidden=True))
EVAL_SETS = os.environ.get("MEM_EVAL")  # read here, as tests run without our own variables
REFERENCE = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
KINDS = {
    "heading_open": "heading",
    "fence": "fence",
    "code_block": "indented_code",
    "html_block": "html",
    "hr": "thematic_break",
    "table_open": "table",
    "list_item_open": "list_item",
    "blockquote_open": "quote",
}


def outline(text, opens=None):
    """The top-level blocks, as short as a test can read them."""
    return [(b.kind, b.start_line, b.end_line) for b in scan(split_lines(text), opens)]


def headings(text):
    return [(b.start_line, b.level, b.text) for b in scan(split_lines(text)) if b.kind == "heading"]


def kinds(text):
    return [kind for kind, _, _ in outline(text)]


def flatten(blocks):
    for block in blocks:
        yield block
        yield from flatten(block.children)


# Held against the reference parser: every heading, piece of code, HTML, rule, table with its first
# and last line, and where every list item and quote begins. Known and meant differences:
# - front matter is not part of CommonMark: the reference sees empty lines in its place;
# - the reference lets a table begin on a line that opens another block (`- a | b`);
# - after a quote or a nested list it reads some lines that are indented by four or more as code or
#   as quoted where the specification has a paragraph go on; such lines are not generated;
# - it ends a link definition as soon as it can, where the specification has its paragraph go on;
# - it does not count a last line of nothing but blanks: the text is given a final newline.


def ours(lines):
    found = []
    for block in flatten(scan(lines)):
        kind = "html" if block.kind == "comment" else block.kind
        if kind not in KINDS.values():
            continue
        row = [block.start_line, kind]
        if kind not in ("list_item", "quote"):
            row.append(block.end_line)
        if kind == "heading":
            row += [block.level, " ".join(block.text.split())]
        if kind == "fence":
            row.append(block.text)
        found.append(tuple(row))
    return found


def theirs(lines):
    skipped = front_matter_end(lines)
    text = "\n" * skipped + "".join(lines[skipped:])
    tokens = REFERENCE.parse(text if text.endswith(("\n", "\r")) else text + "\n")
    found = []
    for place, token in enumerate(tokens):
        kind = KINDS.get(token.type)
        if kind is None:
            continue
        start, end = token.map
        row = [start + 1, kind]
        if kind not in ("list_item", "quote"):
            row.append(end)
        if kind == "heading":
            row += [int(token.tag[1]), " ".join(tokens[place + 1].content.split())]
        if kind == "fence":
            row.append(token.info.strip())
        found.append(tuple(row))
    return found


FRAGMENTS = """a|b c|text [x](y)|# H|## H ##|###### x|#tag|####### x|Title|===|---|-|- a|- |* b|+ c
1. x|2. y|10) z|1) q|>|> q|>> r|>- s|- > t|```|````|``` py|~~~|~~~ x|<!-- x|-->|<!-- y -->|<div>
</div>|<a b=c>|<a b='c'>x|<pre>|</pre>|<?php|?>|<!X|<script>|</script>|- - x|- # h|- ```|> ```|> # h
* * *|***|_ _ _|**b**|-\tx|1.\ty|>\tcode|====|--|= =|- -|+|*|1.|`x|\\# no|&amp;|<|<x|0. a|-a|#|# #
## # ##|-  x|-     y|> - a|> 1. b|- 1. a|1. - b|> \tcode|- a\tb|-\t\tc|1.     code|> ~~~|- <!-- x
- ---|> ---""".replace("\n", "|").split("|")
TABLES = ["a ; b\n--;--\nc", "; a ;\n;---;\n; b ;\n; c ; d ;", "a;b\n:-:;-\n", "x\na ; b\n-;-"]


@st.composite
def documents(draw):
    lines = []
    pieces = st.sampled_from([*FRAGMENTS, *[table.replace(";", "|") for table in TABLES], "", ""])
    for piece in draw(st.lists(pieces, min_size=1, max_size=9)):
        indents = ["", "", "", " ", "  ", "   ", "- ", "> ", "1. "]
        if not lines or not lines[-1].strip():
            indents += ["    ", "\t", "      "]
        lines.append(draw(st.sampled_from(indents)) + piece)
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))


@settings(max_examples=500)
@given(documents())
def test_agrees_with_the_reference_on_made_up_documents(text):
    lines = split_lines(text)
    expected = theirs(lines)
    for row in expected:
        if row[1] == "table":
            assume(not re.match(r"[ \t]*[-+*>#<`~0-9]", lines[row[0] - 1]))
    assert ours(lines) == expected


@pytest.mark.parametrize("path", NOTES)
def test_agrees_with_the_reference_on_the_fixtures(path):
    with open(os.path.join(FIXTURES, path), "rb") as file:
        lines = split_lines(decode(file.read())[0])
    assert ours(lines) == theirs(lines)


@pytest.mark.slow
@pytest.mark.skipif(not EVAL_SETS, reason="MEM_EVAL names no evaluation sets")
def test_agrees_with_the_reference_on_the_evaluation_sets():
    different = []
    for path in sorted(glob(os.path.join(EVAL_SETS or "", "*", "corpus.jsonl"))):
        with open(path, encoding="utf-8") as file:
            for row in map(json.loads, file):
                lines = split_lines(row["text"])
                if ours(lines) != theirs(lines):
                    different.append((path, row["id"]))
    assert different == []


def test_headings_have_level_title_and_lines():
    text = "# A\n## B ##\n### C#\n#### *D* # #\n#####\tE\n######\n"
    expected = [(1, 1, "A"), (2, 2, "B"), (3, 3, "C#"), (4, 4, "*D* #"), (5, 5, "E"), (6, 6, "")]
    assert headings(text) == expected


@pytest.mark.parametrize("line", ["#tag", "####### x", "\\# x", "    # x", "`# x`", "text # x"])
def test_is_no_heading(line):
    assert headings(line) == []


def test_a_setext_heading_takes_its_whole_paragraph():
    assert outline("One\ntwo\n---\n\nx\n===") == [("heading", 1, 3), ("heading", 5, 6)]
    assert headings("One\ntwo\n---\n\nx\n===") == [(1, 2, "One two"), (5, 1, "x")]


def test_a_rule_after_an_empty_line_is_no_heading():
    assert kinds("Decisions\n\n---\n") == ["paragraph", "thematic_break"]


def test_link_definitions_are_not_part_of_a_setext_title():
    assert headings("[a]: b\n[c]:\n d 'e'\ntitle\n===\n") == [(4, 1, "title")]
    assert headings("[a]: b\n===\n") == []


def test_headings_in_lists_and_quotes_are_children():
    blocks = scan(split_lines("> # q\n\n- # i\n"))
    assert [b.kind for b in blocks] == ["quote", "list"]
    assert [b.text for b in flatten(blocks) if b.kind == "heading"] == ["q", "i"]


@pytest.mark.parametrize("mark", ["```", "````", "~~~"])
def test_a_fence_ends_with_its_own_mark_only(mark):
    text = f"{mark} py x\n# no\n~~\n``\n{mark} not the end\n\n   {mark}{mark[0]}  \nafter"
    assert outline(text) == [("fence", 1, 7), ("paragraph", 8, 8)]
    assert scan(split_lines(text))[0].text == "py x"


def test_an_indented_mark_does_not_end_a_fence():
    assert kinds("```\n    ```\n# no\n") == ["fence"]


def test_longer_fences_hold_shorter_ones():
    assert kinds("````\n```\n# no\n```\n````\n# yes\n") == ["fence", "heading"]
    assert kinds("~~~\n```\n~~~\n# yes\n") == ["fence", "heading"]


def test_an_open_fence_runs_to_the_end():
    assert outline("a\n```\n# no\n\n- no\n") == [("paragraph", 1, 1), ("fence", 2, 5)]


def test_a_fence_in_a_list_ends_with_the_item():
    assert kinds("- a\n  ```\n  # no\n# yes\n") == ["list", "heading"]


def test_back_ticks_in_the_info_string_are_inline_code():
    assert kinds("``` x ``` y\n# yes\n") == ["paragraph", "heading"]


def test_indented_code_needs_an_empty_line_before():
    assert outline("a\n    b\n\n    # c\n\n\td\n\ne") == [
        ("paragraph", 1, 2),
        ("indented_code", 4, 6),
        ("paragraph", 8, 8),
    ]


def test_comments_span_empty_lines_and_other_html_does_not():
    text = "<!-- a\n\n# no\n\n--> b\n# yes\n<div>\n# no\n\n# yes\n"
    assert outline(text) == [
        ("comment", 1, 5),
        ("heading", 6, 6),
        ("html", 7, 8),
        ("heading", 10, 10),
    ]


def test_an_unknown_tag_does_not_interrupt_a_paragraph():
    assert kinds("a\n<x>\n# y\n") == ["paragraph", "heading"]
    assert kinds("<x>\n# y\n") == ["html"]


def test_list_items_know_marker_depth_and_lines():
    text = "1. one\n   goes on\nlazily\n   - child\n\n     more\n\n2. two\n10) three\n* four"
    items = [b for b in flatten(scan(split_lines(text))) if b.kind == "list_item"]
    assert [(b.marker, b.level, b.start_line, b.end_line) for b in items] == [
        ("1.", 1, 1, 6),
        ("-", 2, 4, 6),
        ("2.", 1, 8, 8),
        ("10)", 1, 9, 9),
        ("*", 1, 10, 10),
    ]
    assert items[0].children[0].lines == ["one", "goes on", "lazily"]
    assert [list(b.lines) for b in items[1].children] == [["child"], ["more"]]
    assert [b.kind for b in scan(split_lines(text))] == ["list", "list", "list"]


def test_an_item_begins_with_one_empty_line_at_most():
    assert outline("-\n  a\n") == [("list", 1, 2)]
    assert outline("-\n\n  a\n") == [("list", 1, 1), ("paragraph", 3, 3)]
    assert outline("-\n\n- a\n") == [("list", 1, 3)]


def test_more_than_four_blanks_after_a_marker_are_code():
    children = [scan(split_lines(f"-{' ' * n}a"))[0].children[0].children[0] for n in (1, 4, 5)]
    assert [child.kind for child in children] == ["paragraph", "paragraph", "indented_code"]
    assert kinds("-    a\n\n  b\n") == ["list", "paragraph"]
    assert kinds("-     a\n\n  b\n") == ["list"]


def test_a_bullet_without_blank_between_label_and_list():
    blocks = scan(split_lines("**Key decisions:**\n- one\n- two\n"))
    assert [b.kind for b in blocks] == ["paragraph", "list"]
    assert blocks[0].lines == ["**Key decisions:**"]


def test_a_number_other_than_one_does_not_interrupt_a_paragraph():
    assert kinds("in the year\n2019. It was\n") == ["paragraph"]
    assert kinds("then\n1. it was\n") == ["paragraph", "list"]


def test_quotes_hold_their_blocks():
    (quote,) = scan(split_lines("> [!decision] Title\n> line\nlazy\n>\n> - item\n"))
    assert (quote.start_line, quote.end_line) == (1, 5)
    assert [b.kind for b in quote.children] == ["paragraph", "list"]
    assert quote.children[0].lines == ["[!decision] Title", "line", "lazy"]


def test_a_table_needs_as_many_cells_of_dashes():
    assert outline("a\n| b | c |\n|---|:-:|\n| d |\n\ne") == [
        ("paragraph", 1, 1),
        ("table", 2, 4),
        ("paragraph", 6, 6),
    ]
    assert kinds("| b | c |\n|---|\n") == ["paragraph"]
    assert kinds("a \\| b\n---|---\n") == ["paragraph"]
    assert kinds("a\n    b | c\n---|---\n") == ["paragraph"]
    assert [b.kind for b in flatten(scan(split_lines("> a\nb | c\n> --|--\n")))][1:] == [
        "paragraph"
    ]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_do_not_matter(end):
    text = "---\na: 1\n---\n# T\n\nS\n---\n\n```\nx\n```\n- a\n  b\n\n> q\n"
    found = [(b.kind, b.start_line, b.text, list(b.lines)) for b in scan(split_lines(text))]
    twin = scan(split_lines(text.replace("\n", end)))
    assert [(b.kind, b.start_line, b.text, list(b.lines)) for b in twin] == found
    assert len(found) == 6


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: x\n# comment\ntags:\n  - a\n- b\n\n\"q k\": 'v'\n---\n",
        "---  \ntitle: |\n  prose\n...\n",
        "---\nkey: C:\\dir\n---\n",
        '+++\ntitle = "x"\n# Decisions\nlist = [\n"- item",\n]\n[table]\n+++\n',
        "---\r\na: b\r\n---\r\n",
    ],
)
def test_front_matter(text):
    lines = split_lines(text)
    block = scan(lines)[0]
    assert (block.kind, block.start_line, block.end_line) == ("front_matter", 1, len(lines))


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nAcme Corporation\n12 High Street\n\n---\n\nDear all,\n",
        "---\ntitle: never closed\n\n# Heading\n",
        "\n---\ntitle: not at the top\n---\n",
        "---\n---\n",
        "----\na: b\n----\n",
        "+++\nprose\n+++\n",
        "",
    ],
)
def test_is_no_front_matter(text):
    assert "front_matter" not in kinds(text)
    assert front_matter_end(split_lines(text)) == 0


def test_an_entry_opens_whatever_it_stands_in():
    for before in ["```\ncode", "<!-- open", "> quote", "- item\n\n  ~~~", "text", "    code"]:
        text = f"{before}\n## 10:30 — plan\nbody\n"
        line = text[: text.index("## 10:30")].count("\n") + 1
        found = outline(text, re.compile(LOG_HEADING).match)
        assert found[-2:] == [("heading", line, line), ("paragraph", line + 1, line + 1)]


def test_depth_is_bounded():
    blocks = scan(split_lines("> " * 500 + "\n" + "- " * 500 + "x"))
    depth = 0
    while blocks and blocks[-1].children:
        blocks = blocks[-1].children
        depth += 1
    assert depth <= 2 * MAX_DEPTH


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("**Decisions:** storage", "Decisions: storage"),
        (
            "The `append_daily` *verb* and snake_case_name",
            "The append_daily verb and snake_case_name",
        ),
        ("_so_ __it__ ***is***", "so it is"),
        ("[Link](http://x.y) ![image](i.png) [[page|alias]] [[p]] [a][b]", "Link image alias p a"),
        ("2 * 3 * 4 and a_b", "2 * 3 * 4 and a_b"),
        ("Kept <!-- omit in toc --> <b>bold</b>", "Kept bold"),
        ("\\*not emphasis\\*", "*not emphasis*"),
        ("~~old~~  new", "old new"),
        ("~~**both**~~", "both"),
        ("[x] < y", "[x] < y"),
    ],
)
def test_plain_title(title, plain):
    assert plain_title(title) == plain


@given(st.text(alphabet="*_`[]()<>!-|\\~ ab", max_size=60))
@settings(max_examples=300)
def test_plain_title_is_short_and_settled(title):
    plain = plain_title(title)
    assert len(plain) <= len(title)
    assert plain == " ".join(plain.split())


def test_a_title_of_a_megabyte_is_cut():
    assert len(plain_title("<!--*_[`" * 100_000)) <= TITLE_CHARS


@given(st.binary(max_size=300))
@settings(max_examples=300)
def test_any_bytes_scan_and_blocks_are_in_order(data):
    lines = split_lines(decode(data)[0])
    last = 0
    for block in scan(lines, re.compile(LOG_HEADING).match):
        assert last < block.start_line <= block.end_line <= len(lines)
        last = block.end_line


@pytest.mark.parametrize(
    "text",
    [
        ">" * 200_000,
        "- " * 100_000,
        "<a " + "x " * 100_000,
        "[" * 100_000 + "\n===",
        "[a]: b\n" * 20_000 + "===",
        "*" * 200_000 + "x",
        "|" * 100_000 + "\n" + "|-" * 50_000,
        "".join("  " * depth + "- x\n" for depth in range(600)),
    ],
    ids=["quotes", "bullets", "tag", "brackets", "definitions", "stars", "pipes", "nested"],
)
def test_hostile_text_takes_linear_time(text):
    started = time.process_time()
    scan(split_lines(text))
    assert time.process_time() - started < 2
