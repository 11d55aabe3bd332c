import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.text.daily import parse, render_entry
from memcli.text.dates import LOG_HEADING, date_of


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("daily/2026-05-19.md", "2026-05-19"),
        ("daily/2026-05-19-evening.md", "2026-05-19"),
        ("archive/session 2026-05-19 10-30.md", "2026-05-19"),
        ("archive/old/talk_2024-02-29.md", "2024-02-29"),
        ("archive/1-2026-99-99-2026-05-19.md", "2026-05-19"),
        ("daily/2026-13-40.md", None),
        ("daily/2026-02-29.md", None),
        ("daily/1900-02-29.md", None),
        ("daily/2000-02-29.md", "2000-02-29"),
        ("daily/0000-01-01.md", None),
        ("daily/12026-05-19.md", None),
        ("daily/2026-05-191.md", None),
        ("daily/２０２６-05-19.md", None),
        ("archive/2026-05-19/talk.md", None),
        ("tasks/2026-05-19.md", None),
        ("MEMORY.md", None),
        ("", None),
    ],
)
def test_date_of(path, date):
    assert date_of(path) == date


@given(st.integers(0, 9999), st.integers(0, 99), st.integers(0, 99))
def test_only_days_of_the_calendar_are_dates(year, month, day):
    name = f"{year:04}-{month:02}-{day:02}"
    try:
        expected = datetime.date(year, month, day).isoformat()
    except ValueError:
        expected = None
    assert date_of(f"daily/{name}.md") == expected


@pytest.mark.parametrize(
    "line",
    [
        "## 09:30 — plan\n",
        "## 9:30 - plan",
        "## 23:59\r\n",
        "  ## 00:00 —",
        "# Daily log 2026-05-19\r",
    ],
)
def test_lines_that_structure_a_log(line):
    assert re.match(LOG_HEADING, line)


@pytest.mark.parametrize(
    "line",
    [
        "## 24:00 — x",
        "### 09:30 — x",
        "\\## 09:30 — x",
        "    ## 09:30 — x",
        "## 09:30 plan",
        "# Daily",
    ],
)
def test_lines_that_do_not(line):
    assert not re.match(LOG_HEADING, line)


LINES = st.sampled_from(
    ["## 09:30 — x", "## 9:30", "# Daily log 1", "## 25:00 — x", "text", "```", "##"]
)


@given(st.lists(LINES, min_size=1))
def test_a_log_is_cut_where_its_entries_are_read(lines):
    day = datetime.datetime(2026, 5, 19, tzinfo=datetime.UTC)
    body = render_entry(day, "stage", "\n".join(lines), first_of_day=True)
    text = body + "\n".join(lines)
    starts = [
        number for number, line in enumerate(text.split("\n"), 1) if re.match(LOG_HEADING, line)
    ]
    days = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith("# Daily")]
    assert [entry.start_line for entry in parse(text, day)] == sorted(set(starts) - set(days))
