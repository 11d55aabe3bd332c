import pytest

from memcli.text.decisions import MARKERS
from memcli.text.wording import (
    Markers,
    is_else,
    leads_away,
    limit,
    speaks_of_else,
    speaks_of_work,
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
Key design decisions
Décision
Decisión 3"""

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
Show recent decisions
Decision log (decisions.md)
Notes/Constraints/Caveats
Details/Notes/Constraints
run(topic, constraints)
Parked decisions
A user can pick the host once for all and so keep the decisions as they were
Decisions via records
Principles check
Decisions are made here
Principles matter
Two kinds of decisions
Effects on decisions
First drafts of principles
Guidance after decisions
Facilitate strategic decisions
Documenting decisions
Needs decision
Constraints specification
Constraints response
Summary of proposed decisions
Facteurs de décision
Example decisions
Schedule constraints
Foreign key constraints
Scenario: A user changes a decision
Problem: slow decisions"""

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
Risks - open
Cache (rejected)
Required expertise
Next meeting agenda
Out of scope
Scenarios
Traceability
Conséquences
4.1 Validation"""


@pytest.mark.parametrize("title", OPENING.splitlines())
def test_titles_that_open(title):
    assert Markers(MARKERS).open(title)


@pytest.mark.parametrize("title", ["", *OTHER.splitlines()])
def test_titles_that_do_not(title):
    assert not Markers(MARKERS).open(title)


@pytest.mark.parametrize(
    "title",
    SOMETHING_ELSE.splitlines(),
)
def test_titles_of_something_else(title):
    assert speaks_of_else(title)


@pytest.mark.parametrize(
    "title",
    [
        "Status codes",
        "Date format",
        "Chosen option",
        "Link handling",
        "Storage",
        "Old ones (for context)",
        "Output validation",
        "Publishing scenarios",
        "Research findings",
    ],
)
def test_titles_of_a_topic(title):
    assert not speaks_of_else(title)


LEADS_AWAY = """\
We take X. We take it for these reasons:
**Options considered:**
A release takes these steps:
We keep the store because:
Some possibilities include:
Use one of the following instead:
The message has these fields:
Others are told later, e.g.:
We read the log. This prevents:
We copy the files. This:
where:
To note:
We copy the files in order to:
Currently there are two writers:
There are several hosts for it:
We would need to:
The host is changed when:
The procedure now looks like
The following decision needs to be taken:
There are four potential resolutions:
This stands for step 3:
Result:
Key to the picture:
The current host has two faces:
This store allows for a few things:
We take X due to:
Migration strategy:
It could be thought of as:
This setup will allow:
**We take X.** We take it because of the following:"""


@pytest.mark.parametrize("sentence", LEADS_AWAY.splitlines())
def test_lead_in_to_something_else(sentence):
    assert leads_away(sentence)


def test_lead_in():
    assert not leads_away('Chosen option: "X", because:')
    assert not leads_away("That is:")
    assert not leads_away("This includes:")
    assert not leads_away("There are two rules:")
    assert not leads_away("We extend the store in order to support:")
    assert not leads_away("Tell others in these steps.")
    assert not leads_away('Chosen option: "X", because')
    assert not leads_away("We rejected Y for good reasons. So we do this:")
    assert not leads_away("**We rejected Y for good reasons.** So we do this:")
    assert not leads_away("Because X is slow, we do this:")
    assert not leads_away("We will release by this process:")
    assert not leads_away("Add a multi-step check that:")
    assert not leads_away("The following options were chosen:")
    assert not leads_away("Two reason codes are told:")
    assert not leads_away("However, we begin with this:")
    assert not leads_away("The current host will do this:")
    assert not leads_away("A driver must (e.g. now) do this:")
    assert not leads_away("This means:")
    assert not leads_away("Take X. It:")
    assert not leads_away("One workflow is triggered on every push, with these jobs:")


def test_titles_of_work():
    assert speaks_of_work("Plan")
    assert speaks_of_work("Process")
    assert not speaks_of_work("Release process")
    assert speaks_of_work("Files to be changed")
    assert speaks_of_work("Phase 2: the store")
    assert speaks_of_work("Task 1: Build the store")
    assert not speaks_of_work("Plan files")
    assert not speaks_of_work("Control (phase 6)")


@pytest.mark.parametrize(
    "line", ["Constraints:", "UI design principles:", "We took these decisions:"]
)
def test_lines_that_announce(line):
    assert Markers(MARKERS).announce(line)


@pytest.mark.parametrize(
    "line",
    [
        "Constraints",
        "",
        ":",
        "Decisions are good:",
        "Open decisions:",
        "It names all the constraints:",
    ],
)
def test_lines_that_do_not(line):
    assert not Markers(MARKERS).announce(line)


@pytest.mark.parametrize(
    "sentence",
    [
        "The host must **not**:",
        "Explicitly not supported:",
        "It should not call others with:",
        "They don't copy:",
        "Do NOT copy other files, including:",
        "A copy is kept only when all of the following are true:",
        "A copy is kept when **both** conditions are met:",
    ],
)
def test_sentences_that_limit_a_list(sentence):
    assert limit(f"We take X. {sentence}") == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "We keep:",
        "Two rules follow, not enforced:",
        "We will not only copy:",
        "Never load a whole file at once:",
        "It does not copy.",
        "There is one folder, not three:",
        "",
    ],
)
def test_sentences_that_do_not_limit(sentence):
    assert limit(sentence) == ""


def test_title_without_a_mark():
    assert is_else("Rationale")
    assert not is_else("Rationale:")
    assert not is_else("Storage")
    assert not is_else("")
