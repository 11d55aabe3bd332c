"""Kinds of lists in records that are decisions for a reader, or are not."""

from memcli.text.decisions import extract


def texts(document):
    return [it.text for it in extract(document).decisions]


def test_own_tags_hide_no_heading():
    document = """\
<decisions>
## Decisions

### Files
- **D-01:** a
</decisions>

**Constraints:**
- b

<checks>
- no
</checks>

<div>
## Decisions
- no
</div>
"""
    assert texts(document) == ["**D-01:** a", "b"]


def test_tag_ends_what_a_label_began():
    document = "**Constraints:**\n- a\n\n<success_criteria>\n- no\n</success_criteria>\n"
    assert texts(document) == ["a"]
    assert texts(document.replace("success_criteria", "checks") + "\n- no\n") == ["a"]


def test_freedom_left_to_others_decides_nothing():
    document = "## Decisions\n- a\n### Left to the team's discretion\n- no\n### Storage\n- b\n"
    assert texts(document) == ["a", "b"]


def test_work_within_a_section_is_skipped():
    document = """\
## Plan

- **Decision:** a

## Decision

- b

### Plan

- no

**Phase 1: the store** (first)

- no

### Storage

- c
"""
    assert texts(document) == ["a", "b", "c"]


def test_record_that_stands_no_more_gives_a_note():
    document = "# Use a bus\n\n## Status\n\nSuperseded by 7\n\n## Decision\n\n- no\n"
    found = extract(document)
    assert found.decisions == ()
    assert found.notes == ("line 1: 'Use a bus' holds decisions that are superseded",)
    assert extract(document.replace("Superseded by 7", "Accepted")).notes == ()
    assert extract("---\nstatus: rejected\n---\n## Decision\n- no\n").notes == (
        "line 1: the document holds decisions that are rejected",
    )


def test_definitions_below_code_are_skipped():
    document = "## Decision\n\n```\n{host}/{name}\n```\n\n- `{host}`: no\n- `{name}`: no\n\n- a\n"
    assert texts(document) == []
    assert texts("## Decision\n\n```\nx\n```\n\n- Copy `x` daily\n") == ["Copy `x` daily"]


def test_list_that_tells_what_the_sentence_is_good_for():
    document = "## Decision\n\nWe use X to send:\n\n- This avoids Y.\n- It is cheap.\n"
    assert texts(document) == []
    assert texts(document.replace("This avoids", "Avoid")) == ["Avoid Y.", "It is cheap."]


def test_sentence_right_above_a_list_belongs_to_it():
    document = "## Decision\n\nWe take X. It has benefits.\n1. no\n2. no\n"
    assert texts(document) == []
    assert texts(document.replace(".\n1. no", ".\n\n1. a")) == ["a", "no"]


def test_what_was_chosen_is_followed_by_why():
    document = "## Decision outcome\n* Chosen alternative: *X*\n* It has better docs.\n"
    assert texts(document) == ["Chosen alternative: *X*"]
    assert texts("# Log\n- **Selected by:** us\n- **Decision:** a\n") == ["a"]


def test_lists_in_a_row_share_their_sentence():
    document = "## Decision\nWe take X for these reasons:\n1. no\n  * no\n2. no\n\nWe do:\n- a\n"
    assert texts(document) == ["a"]


def test_short_line_names_its_list_alone():
    document = "# Screen\n\nDesign principles:\n- a\n- b\n\nThen:\n\n- no\n"
    found = extract(document)
    assert [(it.heading, it.text) for it in found.decisions] == [
        ("Design principles", "a"),
        ("Design principles", "b"),
    ]
    assert found.headings == 1
    assert texts("## Alternatives\n\nConstraints:\n- no\n") == []
    assert texts("## Summary\n\nAll is done. Key decisions:\n\n- a\n") == ["a"]


def test_list_of_what_people_said_decides_nothing():
    document = "## Principles\n\n- JB: no\n- TBL: no\n- JB: no\n"
    assert texts(document) == []
    assert texts("## Decisions\n\n- UI: a\n- DB: b\n") == ["UI: a", "DB: b"]


def test_field_of_a_record_with_an_accent():
    document = "## Decisiones\n\n### D1\n\n- **Decisión:** a\n- **Motivo:** no\n"
    assert texts(document) == ["a"]
    assert texts("## Décision\n\n- a\n\n### Conséquences\n\n- no\n") == ["a"]


def test_agenda_within_a_section_is_skipped():
    assert texts("## Decisions\n\n- a\n\n### Next meeting agenda\n\n- no\n") == ["a"]


def test_steps_that_name_each_other_decide_nothing():
    document = "## Decision\n\n1. Ask for X.\n2. If it is there, skip to step 3.\n3. Go on.\n"
    assert texts(document) == []


def test_list_that_is_denied_stays_with_its_sentence():
    document = "## Decision\n\nWe copy. The host must not:\n\n- copy,\n- TBD\n- ask; or\n- go.\n"
    assert texts(document) == ["The host must not: copy; ask; go"]


def test_benefits_above_a_nested_list():
    document = "## Decision\n\n1. a\n2. Take X\n   - b\n   - Benefits\n     - no\n"
    assert texts(document) == ["a", "Take X; b; Benefits; no"]
    assert texts("## Decision\n\nTake X\n\n- Benefits\n  - no\n- Rest\n  - a\n") == ["Rest; a"]


def test_title_without_a_mark_skips_the_rest_of_a_section():
    document = """\
## Decision

- a

Rationale

### Speed

- no

## Constraints

- b
"""
    assert texts(document) == ["a", "b"]
    assert texts(document.replace("Rationale", "Rationale:")) == ["a", "no", "b"]


def test_field_with_brackets_in_its_name():
    assert texts("## Plan\n\n**Decisions (this week):** a\n\n**Decisions captured:** b\n") == [
        "a",
        "b",
    ]


def test_title_of_principles_reaches_over_the_document():
    document = "# Principles\n\n- a\n\n## Speed\n\n- b\n\n### Why\n\n- no\n\n## Size\n\n- c\n"
    assert texts(document) == ["a", "b", "c"]
    assert texts(document.replace("Principles", "Decisions")) == ["a"]
    assert texts(document.replace("Principles", "Principles of our house")) == []


def test_list_below_a_title_that_denies_it():
    document = "# Principles\n\n## Offline\n\n**Forbidden**\n\n- a\n- b\n\n### Never\n\n- c\n"
    assert texts(document) == ["Forbidden: a; b", "Never: c"]
