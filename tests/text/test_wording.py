import pytest

from memcli.text.decisions import MARKERS
from memcli.text.wording import (
    Markers,
    field,
    is_aside,
    is_placeholder,
    label,
    leads_away,
    speaks_of_else,
    tidy,
)

OPENING = """\
Decisions
Decision
Constraints
Guiding principles
Decision Outcome
DECISIONS:
11. Agreed decisions
Locked Decisions (do not reopen)
Decisions: storage
Decision 3
Decision log
Open questions and decisions
Decisions and consequences
Context & Constraints
Decisions made in May
Decision — storage
Key design decisions"""

OTHER = """\
Decision Drivers
Considered Options
Related decisions
Undecided
Consequences
Decision-making
Open decisions
Pending design decisions
Decisions needed
Decisions (pending)
Decision criteria
Rejected decisions
Unconstrained growth
What is a decision?
Guidelines for good decisions
After "Decision Outcome"
Constraint solver
Decision record template
Decisions to make
Show recent decisions"""

SOMETHING_ELSE = """\
Consequences
Positive Consequences
Pros and Cons of the Options
Options considered
Why X
Status
Reasons for X
Next steps
Related work
Status: accepted
Alternatives (rejected)
Risks - open"""

DECIDES_NOTHING = """\
TBD
TODO: write
None
none yet.
_None_
N/A
…
...
to be decided
{describe the decision}
<decision>
[What was decided]
Good, because {argument a}
Good, because it is fast
[ADR-1](adr-1.md)
[a](b), [[c|d]]
https://a.example/x
![x](y.png)
~~Use X~~
Which one do we take?
`make all`
git clone https://a.example/x
$ make
**Use:**
Use X (superseded by D-4)"""

DECIDES = """\
None of the hosts is public
Paths are {tenant}/{id}
Use `{a b}` as it is
Make releases monthly
**D-01:** Use X
[ADR-1](adr-1.md) stays
Not TBD any more
Use <br> nowhere
1.5 s is the limit"""


@pytest.mark.parametrize("title", OPENING.splitlines())
def test_titles_that_open(title):
    assert Markers(MARKERS).open(title)


@pytest.mark.parametrize("title", ["", *OTHER.splitlines()])
def test_titles_that_do_not(title):
    assert not Markers(MARKERS).open(title)


@pytest.mark.parametrize("bullet", ["", "-", "[ ]", *DECIDES_NOTHING.splitlines()])
def test_bullets_that_decide_nothing(bullet):
    assert is_placeholder(bullet)


@pytest.mark.parametrize("bullet", DECIDES.splitlines())
def test_bullets_that_decide(bullet):
    assert not is_placeholder(bullet)


@pytest.mark.parametrize(
    ("bullet", "text"),
    [
        ("Use [[storage|the store]] ^abc123", "Use the store"),
        ("Use [[storage]] ![[picture.png]]now", "Use storage now"),
        ("Follow [the guide](guide.md#x), not ![x](y.png)", "Follow the guide, not x"),
        ("See [RFC 1](https://a.example/1)", "See [RFC 1](https://a.example/1)"),
        ("one<br>line", "one line"),
        ("`[x]` **D-01:** done", "**D-01:** done"),
        ("x^2 stays", "x^2 stays"),
    ],
)
def test_tidied(bullet, text):
    assert tidy(bullet) == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("**Key decisions:**", "Key decisions:"),
        ("__Risks__ :", "Risks"),
        ("**a** and **b**", ""),
        ("**Decision:** x", ""),
        ("Decision:", ""),
    ],
)
def test_label(line, text):
    assert label(line) == text


def test_field():
    assert field("**Decision:** Use X: now") == ("Decision", "Use X: now")
    assert field("**Decision**: Use X") == ("Decision", "Use X")
    assert field("Decision: Use X") == ("Decision", "Use X")
    assert field("Use https://a.example") is None
    assert field("**Keep it simple.** Always.") is None


@pytest.mark.parametrize(
    "title",
    SOMETHING_ELSE.splitlines(),
)
def test_titles_of_something_else(title):
    assert speaks_of_else(title)


@pytest.mark.parametrize(
    "title",
    ["Status codes", "Date format", "Chosen option", "Link handling", "Storage", "Optional"],
)
def test_titles_of_a_topic(title):
    assert not speaks_of_else(title)


def test_fields_beside_a_decision():
    assert is_aside("Rationale")
    assert is_aside("Alternatives considered")
    assert not is_aside("Date format")
    assert not is_aside("Links")


def test_lead_in():
    assert leads_away("We take X. We take it for these reasons:")
    assert leads_away("**Options considered:**")
    assert not leads_away('Chosen option: "X", because')
    assert not leads_away("We rejected Y for good reasons. So we do this:")
