import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text.budget import Item, Section, share_out
from memcli.text.tokens import weigh

LINES = st.lists(st.text("ab 7語", max_size=12), min_size=1, max_size=6).map(tuple)
ITEMS = st.lists(st.builds(Item, LINES, st.integers(0, 3)), max_size=6)
SHARES = (0.2, 0.1, 0.3, 0.4, 0.0)  # the first of the section that is whole


@st.composite
def sections(draw):
    heads = st.sampled_from([(), ("", "### A", "")])
    return [
        Section(str(number), share, draw(ITEMS), draw(heads), is_whole=number == 0)
        for number, share in enumerate(SHARES)
    ]


def needed(section):
    return sum(weigh(line) + 1 for line in section.head) + sum(it.weight for it in section.items)


def lines_of(section, got):
    taken = [line for item in section.items[: got.items] for line in item.lines]
    return [*taken, *(section.items[got.items].lines[: got.lines] if got.lines else ())]


def shared(given_sections, weight):
    try:
        return share_out(given_sections, weight)
    except ValueError as error:
        whole = given_sections[0]
        assert error.args == (needed(whole) if whole.items else 0,)
        return None


@settings(max_examples=80)
@given(sections(), st.integers(0, 1_000))
def test_no_more_is_taken_than_there_is(those, weight):
    found = shared(those, weight)
    if found is None:
        return
    assert found.weight <= weight
    for section in those:
        got = found.taken[section.name]
        lines = lines_of(section, got)
        head = section.head if lines or (section.is_whole and section.items) else ()
        assert got.weight == sum(weigh(line) + 1 for line in [*head, *lines])


@settings(max_examples=80)
@given(sections(), st.integers(0, 1_000))
def test_what_is_whole_is_taken_whole(those, weight):
    found = shared(those, weight)
    if found is not None:
        assert found.taken["0"].items == len(those[0].items)


@settings(max_examples=80)
@given(sections(), st.integers(0, 1_000), st.integers(0, 500))
def test_more_takes_all_that_less_took(those, weight, more):
    small, large = shared(those, weight), shared(those, weight + more)
    if small is None:
        return
    for section in those:
        less = lines_of(section, small.taken[section.name])
        assert lines_of(section, large.taken[section.name])[: len(less)] == less


@settings(max_examples=80)
@given(sections(), st.integers(0, 1_000))
def test_a_section_lacks_no_more_of_its_share_than_its_next_lines_cost(those, weight):
    found = shared(those, weight)
    if found is None or found.taken["0"].weight > SHARES[0] * weight:
        return  # what must be whole may take from the others
    for section in those[1:]:
        got = found.taken[section.name]
        if got.items < len(section.items):
            item = section.items[got.items]
            # The next lines: at most the fixed ones and one more, or one and the empty ones after.
            ends = range(max(item.fixed, got.lines) + 1, len(item.lines))
            end = next((at for at in ends if item.lines[at]), len(item.lines))
            cost = sum(weigh(line) + 1 for line in item.lines[got.lines : end])
            head = sum(weigh(line) + 1 for line in section.head) if not got.weight else 0
            assert got.weight + cost + head > section.share * weight


@settings(max_examples=80)
@given(sections(), st.integers(0, 1_000))
def test_what_is_over_is_less_than_any_section_could_use(those, weight):
    found = shared(those, weight)
    if found is not None and found.weight < weight - max(map(needed, those)):
        assert all(found.taken[one.name].items == len(one.items) for one in those)


@settings(max_examples=80)
@given(sections(), st.integers(0, 1_000))
def test_an_item_is_never_cut_within_its_fixed_lines(those, weight):
    found = shared(those, weight)
    for section in those if found else ():
        got = found.taken[section.name]
        if got.lines:
            item = section.items[got.items]
            assert item.fixed < got.lines < len(item.lines)
            assert item.lines[got.lines]  # an empty line goes with the one before it


def test_shares_that_are_left_flow_on_by_shares():
    one = Item(("a" * 39,))  # 40 of weight
    those = [
        Section("none", 0.5, []),
        Section("few", 0.25, [one] * 100),
        Section("many", 0.25, [one] * 100),
    ]
    found = share_out(those, 4_000)
    assert [found.taken[name].items for name in ("none", "few", "many")] == [0, 50, 50]


def test_a_section_without_a_share_gets_what_all_others_leave():
    one = Item(("a" * 39,))
    those = [Section("last", 0.0, [one] * 9), Section("first", 0.1, [one] * 9)]
    assert share_out(those, 360).taken["last"].items == 0
    assert share_out(those, 480).taken["last"].items == 3


def test_what_must_be_whole_and_is_not_paid_for():
    those = [Section("rules", 0.1, [Item(("a" * 39,))] * 3, ("###",), is_whole=True)]
    with pytest.raises(ValueError) as error:
        share_out(those, 120)
    assert error.value.args == (124,)
    assert share_out(those, 124).weight == 124
