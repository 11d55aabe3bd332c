import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.decisions import MARKERS, extract
from memcli.text.facts import fact_hash, parse
from memcli.text.pinned import add


def texts(document, markers=MARKERS):
    return [it.text for it in extract(document, markers).decisions]


def found(document):
    return [(it.heading, it.text) for it in extract(document).decisions]


def test_other_markers_replace_the_default():
    document = "## Decisions\n\n- a\n\n## House rules\n\n- b\n\n## House style\n\n- c\n"
    assert texts(document, ["House rule"]) == ["b"]
    assert texts("## 主な決定事項\n\n- 夜間に索引を作る。\n", ["決定"]) == ["夜間に索引を作る。"]
    assert texts(document, ["  "]) == []


def test_heading_forms():
    document = """\
Decisions
---------
- setext
# Plain
- no
## Decisions ##
- closing hashes
## **Decisions**
- bold
## [Decisions](#x) `here`
- link

Decisions are good:
- no heading
- at all
"""
    assert texts(document) == ["setext", "closing hashes", "bold", "link", "no heading", "at all"]
    assert texts("Decisions\n\n---\n\n- no\n") == []


def test_section_ends_at_the_next_heading_of_its_level():
    document = """\
## Decisions
- a
### Decisions about storage
- b
### Network
- c
#### Constraints
- d
## Other
- no
"""
    assert found(document) == [
        ("Decisions", "a"),
        ("Decisions about storage", "b"),
        ("Network", "c"),
        ("Constraints", "d"),
    ]


def test_parts_that_say_something_else_are_skipped():
    document = """\
## Decision
- a
### Consequences
- no
#### Deeper
- no
### Chosen option
- b
**Alternatives:**
- no
**Storage:**
- c

We rejected these:
- no

So we do:

- d
- **Rationale:** no
- Status: no
- Good, because no
- **Cache:** e
"""
    assert texts(document) == ["a", "b", "c", "d", "**Cache:** e"]


def test_bold_labels_are_headings():
    document = """\
# Plan
**Key decisions:**
- a
**Risks**
- no
__Constraints__:
1. b
## Next
- no
**Decision** is a word in a sentence

- no
"""
    assert found(document) == [("Key decisions", "a"), ("Constraints", "b")]


def test_bullets_of_every_kind():
    document = (
        "## Decisions\n\n- a\n* b\n+ c\n\n1. d\n1) e\n10. f\n\n"
        "- [ ] g\n- [x] h\n- `[x]` **D-01:** i\n- j wraps\n  twice\nlazily\n"
        "- k:\n  - k1\n  - [ ] k2.\n\n  more of k\n- l <!-- no --> l\n"
    )
    assert texts(document) == [
        *("a", "b", "c", "d", "e", "f", "g", "h", "**D-01:** i", "j wraps twice lazily"),
        *("k: k1; k2. more of k", "l l"),
    ]


def test_nothing_from_code_comments_and_front_matter():
    document = """\
---
decisions:
  - no
# Decisions
---

## Decisions

- a
  ```sh
  - no
  ```

~~~~
## Decisions
- no
~~~
- no
~~~~

    - no

<!--
- no
-->

> - no

- b

```
- never closed
"""
    assert texts(document) == ["a", "b"]


def test_bullets_are_tidied_and_placeholders_left_out():
    document = "## Decisions\n\n- TBD\n-\n- ## no\n- [ ] {x}\n- [x] See [[a|b]] ^id\n- Say `<!--`\n"
    assert texts(document) == ["See b", "Say `&lt;!--`"]


def test_title_of_a_record_is_no_section():
    record = "# Decision record: a bus\n\n- [Context](#context)\n- no\n\n## Context\n\n- no\n\n"
    assert texts(record + "## Decision\n\n- a\n\n## Consequences\n\n- no\n") == ["a"]
    assert texts("# Decisions\n\n- a\n\n## Notes on format\n\n- no\n") == ["a"]
    assert texts("# Decision log\n\n## 2026-03-01\n\n- a\n\n## 2026-03-02: more\n\n- b\n") == [
        "a",
        "b",
    ]
    assert texts("# Context\n- no\n# Decision\n## Storage\n- a\n# Status\n- no\n") == ["a"]


def test_decision_logs():
    document = """\
# Log
### DL-001
- **Date:** 2026-03-01
- **Decision:** Use one file.
- **Rationale:** no
### DL-002: Bus
**Date:** 2026-03-02
**Decision:** Run the bus
on one host.
**Rationale:** no
### DL-003
- Cache
  - Decision: No cache.
  - Why: no
- **Decision**:
  - Keep it small.

Decision: no, this is a sentence.
## Related decisions
- Decision: no
"""
    assert found(document) == [
        ("DL-001", "Use one file."),
        ("DL-002: Bus", "Run the bus on one host."),
        ("DL-003", "Cache: No cache."),
        ("DL-003", "Keep it small."),
    ]


def test_labels_within_a_list():
    document = "# Plan\n- **Key decisions:**\n  - a\n  - b\n- **Risks:**\n  - no\n"
    assert found(document) == [("Plan", "a"), ("Plan", "b")]


def test_callouts():
    document = """\
## Notes
> [!decision] Use one file
> because copying is easy.

> [!Decision]-
> - a
> - b

> [!note] Decision
> no
"""
    assert found(document) == [
        ("Notes", "Use one file: because copying is easy."),
        ("Notes", "a"),
        ("Notes", "b"),
    ]


def test_lines_and_facts():
    (it,) = extract("# T\r\n\r\n## Key *decisions*\r\n\r\n- a\r\n  b\r\n  - c\r\n").decisions
    assert (it.start_line, it.end_line) == (5, 7)
    fact = it.fact("docs/plan.md")
    assert (fact.text, fact.source) == ("a b; c", "docs/plan.md#Key decisions")
    assert fact.hash == fact_hash("a b; c")


def test_finding_nothing_is_explained():
    document = """\
## Decisions

As follows.

| a | b |
|---|---|
| c | d |

## Decision

We chose.

## Constraints

## Principles

- TBD

### Consequences

Prose.

## Decisions

- Real.
"""
    found = extract(document)
    assert found.headings == 5
    assert found.notes == (
        "line 1: 'Decisions' holds a table",
        "line 9: 'Decision' holds prose",
        "line 13: 'Constraints' holds nothing",
        "line 15: 'Principles' holds no decision in its bullets",
    )
    assert extract("# Notes\n").notes == ("no heading says that decisions follow",)
    assert extract("## Decisions\n- a\n").notes == ()


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_same_from_every_line_end_and_with_a_mark(newline):
    document = "## Decisions\n\n- a\n  b\n\n```\n- no\n```\n\n- c"
    twin = "\ufeff" + document.replace("\n", newline)
    assert extract(twin) == extract(document)


PIECES = (
    "# Decision¦## Decisions¦### Storage¦**Decision:**¦**Decision:** x¦## Why¦¦- a¦  - b¦* c¦1. d"
    "¦- [ ] e¦text¦```¦<!--¦-->¦| a | b |¦|---|---|¦> [!decision]¦> - q¦> text¦---¦    code¦- # h"
    "¦[x]: y¦- **Decision:**"
)


@settings(max_examples=200)
@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES.split("¦")), max_size=16).map("\n".join))
)
def test_any_text_gives_facts_that_can_be_written(document):
    decisions = extract(document).decisions
    count = len(document.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for it in decisions:
        assert it.text == " ".join(it.text.split())
        assert 1 <= it.start_line <= it.end_line <= count
    facts = [it.fact("d.md") for it in decisions]
    assert [it.fact for it in parse(add("", facts, "2026-01-02")).facts] == facts
