import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memcli.errors import RefusedError, UsageError
from memcli.text.facts import Fact, clean_text, fact_hash, parse, sift
from memcli.text.pinned import add, disable, edit, enable, remove, supersede

DAY = "2026-03-04"
A, B = Fact("Encrypt at rest", "d.md#Decisions"), Fact("Keep logs a year", "d.md#Decisions")
ROW_A = f"- Encrypt at rest  <!-- src=d.md#Decisions hash={fact_hash(A.text)} -->"
ROW_B = f"- Keep logs a year  <!-- src=d.md#Decisions hash={fact_hash(B.text)} -->"
NEW = f"""\
# Project Memory

Facts and decisions that hold until this file says otherwise.

## 2026-03-04 — promoted from task T-1

{ROW_A}
"""


def fact_named(memory, text):
    (it,) = (it for it in parse(memory).facts if it.fact.text == text)
    return it


def test_new_file():
    assert add("", [A], DAY, "T-1") == NEW
    assert add("\ufeff", [A], DAY, "T-1") == "\ufeff" + NEW


def test_nothing_new_changes_nothing():
    assert add("", [], DAY, "T-1") == ""
    assert add("# x", [], DAY) == "# x"


def test_same_day_and_task_join_their_section():
    assert add(NEW, [B], DAY, "T-1") == NEW + ROW_B + "\n"


@pytest.mark.parametrize("tail", ["", "- hand", "\nText.\n", "\n## Later\n\n- x\n"])
def test_otherwise_a_new_section(tail):
    memory = NEW + tail
    newline = "" if memory.endswith("\n") else "\n"
    other = f"{newline}\n## 2026-03-04 — promoted\n\n{ROW_B}\n"
    assert add(memory, [B], DAY) == memory + other
    if "\n" in tail:
        section = f"\n## 2026-03-04 — promoted from task T-1\n\n{ROW_B}\n"
        assert add(memory, [B], DAY, "T-1") == memory + section


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_of_the_file(newline):
    twin = NEW.replace("\n", newline)
    assert add(twin, [B], DAY, "T-1") == twin + ROW_B + newline
    assert add(twin.rstrip(), [B], "2026-03-05") == twin + (
        f"{newline}## 2026-03-05 — promoted{newline}{newline}{ROW_B}{newline}"
    )


@pytest.mark.parametrize(
    ("left_open", "closing"),
    [("````sh\ncode\n", "````\n"), ("~~~", "\n~~~\n"), ("<!-- x\n", "-->\n")],
)
def test_what_was_left_open_is_closed(left_open, closing):
    memory = add(left_open, [A], DAY)
    assert memory == f"{left_open}{closing}\n## 2026-03-04 — promoted\n\n{ROW_A}\n"


def test_open_html_is_refused():
    with pytest.raises(RefusedError):
        add("<script>\nx\n", [A], DAY)


def test_task_id_cannot_leave_its_heading():
    assert "\n## 2026-03-04 — promoted from task a - b\n" in add("", [A], DAY, "a\n- b")


HAND = "# M\r\n\r\n* [ ] By\r\n  hand  \r\n  - nested\r\n* Second\r\n\r\nText.\r\n"
FIRST = "By hand; nested"


def test_disable_and_enable_by_hand():
    off = disable(HAND, fact_named(HAND, FIRST))
    assert off == HAND.replace("hand  \r\n", "hand    <!-- off -->\r\n")
    assert not fact_named(off, FIRST).fact.enabled
    assert enable(off, fact_named(off, FIRST)) == HAND


def test_disable_and_enable_promoted():
    off = disable(NEW, fact_named(NEW, A.text))
    assert off == NEW.replace(" -->", " off -->")
    assert disable(off, fact_named(off, A.text)) == off
    assert enable(off, fact_named(off, A.text)) == NEW


def test_comment_of_an_empty_item_stands_with_the_text_nested_in_it():
    memory = "-\n   - three in\n  - two in\n"
    off = disable(memory, parse(memory).facts[0])
    assert off == "-\n   - three in  <!-- off -->\n  - two in\n"
    assert not fact_named(off, "three in; two in").fact.enabled


def test_superseded_shows_both():
    memory = add(NEW, [B], DAY, "T-1")
    memory = supersede(memory, fact_named(memory, A.text), by=fact_hash(B.text))
    assert f" off superseded-by={fact_hash(B.text)} -->\n{ROW_B}\n" in memory
    old = fact_named(memory, A.text)
    assert (old.fact.enabled, old.superseded_by) == (False, fact_hash(B.text))
    assert enable(memory, old) == add(NEW, [B], DAY, "T-1")
    assert sift(parse(memory), [A]).new == ()


def test_removed_leaves_a_tombstone():
    memory = remove(NEW, fact_named(NEW, A.text))
    assert memory == NEW.replace(ROW_A, f"<!-- removed hash={fact_hash(A.text)} -->")
    assert sift(parse(memory), [A]).removed[0].text == A.text
    assert remove(HAND, fact_named(HAND, FIRST)) == (
        f"# M\r\n\r\n<!-- removed hash={fact_hash(FIRST)} -->\r\n* Second\r\n\r\nText.\r\n"
    )


def test_edited_text_remembers_the_old_one():
    memory = edit(NEW, fact_named(NEW, A.text), "Encrypt\nalways")
    old, new = fact_hash(A.text), fact_hash("Encrypt always")
    assert memory == NEW.replace(
        ROW_A, f"- Encrypt always  <!-- src=d.md#Decisions hash={new} was-hash={old} -->"
    )
    assert sift(parse(memory), [A]).new == ()
    assert edit(HAND, fact_named(HAND, FIRST), "Short").startswith("# M\r\n\r\n* Short  <!-- src= ")
    with pytest.raises(UsageError):
        edit(NEW, fact_named(NEW, A.text), " \n")


def test_undecodable_bytes_stay():
    memory = b"- caf\xe9\n- b\n".decode("utf-8", "surrogateescape")
    changed = disable(memory, parse(memory).facts[1])
    assert changed.encode("utf-8", "surrogateescape") == b"- caf\xe9\n- b  <!-- off -->\n"


_LINES = st.sampled_from(
    [
        "- a",
        "- b  ",
        "  - nested",
        "  wrapped",
        "* c",
        "1. d",
        "12) e",
        "# H",
        "## x —",
        "text",
        "```",
        "~~~~",
        "<!--",
        "-->",
        "<!-- x -->",
        "> - q",
        "    code",
        "",
        "",
        "---",
        "===",
        "-",
        "- # h",
        "- - deep",
        "- ```",
        "- <div>",
        "- [x] box",
        "\ta",
        "<pre>",
        "+ f <!-- off -->",
        "- g  <!-- src=d.md hash=0123456789ab -->",
        "<!-- removed hash=0123456789ab -->",
        "| a |",
        "- h  <!-- hash=0123456789ac kind=summary off -->",
        " - one in",
        "   - three in",
    ]
)
_MEMORIES = st.tuples(
    st.sampled_from(["", "\ufeff"]),
    st.lists(_LINES, max_size=14),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
).map(lambda parts: parts[0] + parts[2].join(parts[1]) + (parts[2] if parts[3] else ""))
_TEXTS = st.text(min_size=1).filter(clean_text)


@settings(max_examples=150)
@given(_MEMORIES, st.lists(_TEXTS, min_size=1, max_size=3), st.sampled_from(["", "T-1"]))
def test_adding_appends_and_twice_is_once(memory, texts, task_id):
    before = parse(memory)
    new = sift(before, [Fact(text, "d.md") for text in texts]).new
    try:
        added = add(memory, new, DAY, task_id)
    except RefusedError:
        assert "<pre>" in memory
        return
    assert added.startswith(memory)
    assert [it.fact for it in parse(added).facts[len(before.facts) :]] == list(new)
    assert sift(parse(added), new).new == ()


@settings(max_examples=150)
@given(_MEMORIES, st.data())
def test_one_change_leaves_all_other_facts(memory, data):
    facts = parse(memory).facts
    assume(facts)
    it = data.draw(st.sampled_from(facts))
    place = facts.index(it)
    others = [other.fact for other in facts if other is not it]

    off = disable(memory, it)
    assert not parse(off).facts[place].fact.enabled
    back = enable(off, parse(off).facts[place])
    assert back == enable(memory, it)
    if it.fact.enabled:
        assert back == memory

    gone = remove(memory, it)
    assert [other.fact for other in parse(gone).facts] == others
    assert parse(gone).removed >= set(it.hashes)

    edited = parse(edit(memory, it, "# New -->")).facts
    assert edited[place].fact.text == "# New -->"
    assert set(edited[place].hashes) >= set(it.hashes)
    for changed in (edited, parse(off).facts):
        assert [other.fact for n, other in enumerate(changed) if n != place] == others
