import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.blocks import scan
from memcli.text.decode import split_lines
from memcli.text.standing import Ended, ended, parts_of


def parts(document):
    lines = split_lines(document)
    return [tuple(it) for it in ended(lines, scan(lines))]


@pytest.mark.parametrize(
    "status",
    [
        "Status: rejected",
        "**Status:** Superseded by [7](7.md)",
        "- Status: superseded by [7](7.md)",
        "* **Status**: Superceded",
        "| Status | Withdrawn |\n|---|---|\n| Date | today |",
        "Superseded: 2026-02-03 by ADR 7",
        "Superseded by: ADR 7",
        "## Status\n\n❌ Rejected",
        "## Status: deprecated\n\nWe never did it.",
        "## Status\n\nAccepted\n\nSuperseded by [7](7.md)",
        "### Status\n\n- ~~Accepted~~ Deprecated",
    ],
)
def test_records_that_stand_no_more(status):
    (part,) = parts(f"# Use a bus\n\n{status}\n\n## Decision\n\n- a\n")
    assert part[0] == 1
    assert part[2] == "Use a bus"
    assert parts("---\nstatus: obsolete\n---\n# T\n") == [(1, 4, "", "obsolete")]


@pytest.mark.parametrize(
    "status",
    [
        "Status: accepted",
        "Status: proposed | rejected | accepted",
        "Status: rejected, accepted or proposed",
        "Superseded by: N/A",
        "Superseded in part by 7",
        "Supersedes: ADR 3",
        "## Status\n\nAccepted, replaces 3",
        "## Status codes\n\nRejected",
        "```\nStatus: rejected\n```",
        "Status: accepted\nStatus: rejected",
    ],
)
def test_records_that_stand(status):
    assert parts(f"# Use a bus\n\n{status}\n\n## Decision\n\n- a\n") == []


def test_only_the_part_that_the_status_is_about():
    log = """\
# Log
## D-1
- **Decision:** a
- **Status:** rejected
### More
- b
## D-2
### Status
Superseded
### Decision
- c
## D-3
- d
"""
    assert parts(log) == [(2, 6, "D-1", "rejected"), (7, 11, "D-2", "superseded")]


def test_part_of_a_line():
    inner, outer = Ended(3, 4, "a", "rejected"), Ended(2, 6, "b", "obsolete")
    assert list(parts_of([1, 2, 3, 6, 7], [outer, inner])) == [None, outer, outer, outer, None]
    assert list(parts_of([5], [])) == [None]


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(["# a", "## Status", "Rejected", "- Status: rejected", "", "---", "- b"]),
        max_size=12,
    )
)
def test_parts_lie_within_the_document(lines):
    for start, end, *_ in parts("\n".join(lines)):
        assert 1 <= start <= end <= max(1, len(lines))
