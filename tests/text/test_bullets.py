import pytest

from memcli.text.bullets import (
    callout,
    defines,
    explains,
    field,
    is_aside,
    is_choice,
    is_placeholder,
    label,
    tidy,
)

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
Use X (superseded by D-4)
Use X; Status: rejected
**Which store do we take?** (files, a database)
Good: it is fast
`+` fast
Why files
Whether to cache
Relates to [a](a.md)
Superseded by [b](b.md)
[ADR-7](7-cache.md) - Cache answers
[Cache answers](adr/7-cache.md): how we do it
(see inline)
It is not yet clear which store to take
Decision 1
(+) fast
(-) dear
**Speed**: [How fast it is]
❌ WRONG: each host copies it
This will then enable others to copy it
Example of a block:"""

DECIDES = """\
None of the hosts is public
Paths are {tenant}/{id}
Use `{a b}` as it is
Make releases monthly
**D-01:** Use X
[ADR-1](adr-1.md) stays
See above all that copies are small
This host stays
Decision 1 stays
One host keeps all names, though which one that is has not yet decided
**Speed**: [X]
**Speed**: [one second](speed.md)
✅ RIGHT: one host copies it
Not TBD any more
Use <br> nowhere
1.5 s is the limit
`a` takes the place of `b`
Who asks first? The host asks"""


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


def test_fields_beside_a_decision():
    assert is_aside("Rationale")
    assert is_aside("Alternatives considered")
    assert not is_aside("Date format")
    assert not is_aside("Links")
    assert is_aside("Justification")
    assert is_aside("Strengths")
    assert is_aside("**Benefits**:")
    assert is_aside("Future work")
    assert is_aside("When to include")
    assert not is_aside("When it fails")


def test_names_of_a_choice():
    assert is_choice("Chosen alternative")
    assert not is_choice("Alternative chosen by vote")


def test_bullets_that_go_on_about_the_sentence_above():
    assert explains("This avoids a second copy.")
    assert explains("This also means less work")
    assert not explains("This repository holds the docs")


def test_bullets_that_define():
    assert defines("`name` - whom to ask")
    assert defines("**`name`** is whom to ask")
    assert not defines("Ask `name`")


def test_callout():
    assert callout("[!decision]- Use X") == ("decision", "Use X")
    assert callout("[decision] Use X") is None
