from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.daily import clean_stage, parse, render_entry

NOON = datetime(2026, 3, 4, 12, 5, 59)


def test_first_entry_of_a_day_follows_the_day_heading():
    assert render_entry(NOON, "build", "It works.\n\n", first_of_day=True) == (
        "# Daily log 2026-03-04\n\n## 12:05 — build\n\nIt works.\n"
    )


def test_later_entry_begins_with_an_empty_line():
    assert render_entry(NOON, "build", "a\r\nb", first_of_day=False) == (
        "\n## 12:05 — build\n\na\nb\n"
    )


@pytest.mark.parametrize("body", ["", " ", "\n\n", "\t\r\n "])
def test_blank_body_writes_nothing(body):
    assert render_entry(NOON, "s", body, first_of_day=True) == ""


@pytest.mark.parametrize(
    ("line", "escaped"),
    [
        ("## 09:00 — forged", "\\## 09:00 — forged"),
        ("  ## 9:00 - forged", "  \\## 9:00 - forged"),
        ("## 09:00", "\\## 09:00"),
        ("\\## 09:00 — twice", "\\\\## 09:00 — twice"),
        ("# Daily log 2020-01-01", "\\# Daily log 2020-01-01"),
        ("09:00 — setext\n---", "09:00 — setext\n\\---"),
        ("09:00 — setext\nsecond line\n-", "09:00 — setext\nsecond line\n\\-"),
        ("x\r## 09:00 — after a lone CR", "x\n\\## 09:00 — after a lone CR"),
        ("## Plan for 09:00", "## Plan for 09:00"),
        ("### 09:00 — smaller", "### 09:00 — smaller"),
        ("    ## 09:00 — code", "    ## 09:00 — code"),
        ("09:00 — said\n\n---", "09:00 — said\n\n---"),
        ("## 25:00 — no such hour", "## 25:00 — no such hour"),
    ],
)
def test_a_line_that_reads_as_a_heading_is_escaped(line, escaped):
    assert render_entry(NOON, "s", line, first_of_day=False) == f"\n## 12:05 — s\n\n{escaped}\n"


def test_stage_cannot_leave_its_line():
    assert clean_stage("a\n## 01:00 — b\r\x1b[2J\u2028\u202ec") == "a ## 01:00 — b [2J c"
    assert clean_stage(" \n ") == "note"
    assert len(clean_stage("x" * 500)) == 80


def test_heading_inside_an_open_fence_starts_an_entry():
    log = (
        "# Daily log 2026-03-04\n\n## 08:00 — a\n\n```sh\nleft open\n"
        "\n## 08:30 — b\n\nnext\n\n# Daily log 2026-03-04\n\n## 09:00 — c\n\nlast"
    )
    assert [
        (it.entry.stage, it.entry.body, it.start_line, it.end_line) for it in parse(log, NOON)
    ] == [("a", "```sh\nleft open", 3, 6), ("b", "next", 8, 10), ("c", "last", 14, 16)]


def test_headings_as_people_retype_them():
    log = "## 9:05 - early\r\n\r\nx\r\n## 10:00\r\n## 11:00 – en dash  \r\n"
    found = [(it.entry.timestamp.hour, it.entry.stage, it.entry.body) for it in parse(log, NOON)]
    assert found == [(9, "early", "x"), (10, "note", ""), (11, "en dash", "")]


def test_entries_take_date_and_zone_from_the_day():
    (only,) = parse("## 01:02 — s\n\nb", datetime(2026, 1, 2, 23, 59, 58, tzinfo=UTC))
    assert only.entry.timestamp == datetime(2026, 1, 2, 1, 2, tzinfo=UTC)


_HEADINGS = ["## 09:00 — x", "# Daily log 2026-03-04", "09:00 — x", "## 9:00", "## "]
_MARKS = ["---", "-", "\\", "```", "\n", "\n\n", "\r", " ", "\t", "text", "\u2028"]
_PIECES = st.sampled_from([*_HEADINGS, *_MARKS])
_BODIES = st.one_of(st.text(), st.lists(_PIECES, max_size=12).map("".join))


@settings(max_examples=200)
@given(st.lists(st.tuples(st.datetimes(), st.text(), _BODIES), max_size=4))
def test_what_is_written_is_read_back(written):
    log = ""
    expected = []
    for at, stage, body in written:
        log += render_entry(at, stage, body, first_of_day=not log)
        if body.strip():
            kept = body.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
            expected.append((at.hour, at.minute, clean_stage(stage), kept))
    read = [it.entry for it in parse(log, NOON)]
    assert [(e.timestamp.hour, e.timestamp.minute, e.stage, e.body) for e in read] == expected


@settings(max_examples=200)
@given(_BODIES)
def test_line_ranges_hold_the_entries(text):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    last = 0
    for it in parse(text, NOON):
        assert last < it.start_line <= it.end_line <= len(lines)
        assert lines[it.start_line - 1].lstrip().startswith("##")
        assert lines[it.end_line - 1]
        last = it.end_line
