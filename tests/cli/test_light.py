"""The two parsers read every plain call alike; the light one leaves the rest to Typer."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.cli import light
from memcli.cli.app import COMMANDS, PLAIN
from memcli.cli.options import Option, parameters
from memcli.cli.parser import build

NAMES = sorted(PLAIN)

ODD = ["", "-", "--", "a b", "x=y", "-x", "--nope", "-k5", "-k=5", "-qv", "--in=", "--root", "-é"]
VALUES = ["5", "0", "-1", " 7", "1_000", "٣", "0x5", "1e3", "0.5", "nan", "-inf", "hybrid", "json"]
WORDS = ["commit", "--json", "日本", "\udcff", "tasks/*", "2026-01-01", "-q", "-v", "None", "\n"]


def module_of(name: str) -> ModuleType:
    return import_module(COMMANDS[name])


def flags_of(name: str) -> list[str]:
    declared = [one.declared for one in parameters(module_of(name).run)]
    return [flag for one in declared if isinstance(one, Option) for flag in one.names]


@st.composite
def calls(draw: st.DrawFn, name: str) -> list[str]:
    flags = flags_of(name)
    choices = [
        value
        for one in parameters(module_of(name).run)
        if isinstance(one.declared, Option)
        for value in one.declared.one_of
    ]
    value = st.sampled_from([*VALUES, *choices]) | st.text(max_size=4)
    word = st.sampled_from([*WORDS, *ODD])
    piece = st.one_of(
        st.tuples(word),
        st.tuples(value),
        st.tuples(st.sampled_from(flags)),
        st.tuples(st.sampled_from(flags), value),
        st.tuples(st.builds("{}={}".format, st.sampled_from(flags), value)),
    )
    return [one for pieces in draw(st.lists(piece, max_size=6)) for one in pieces]


def by_typer(name: str, words: list[str]) -> dict[str, Any]:
    """What Typer makes of the words. Raises what it raises for a mistake."""
    return build(name, module_of(name)).make_context(name, list(words)).params


def alike(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [repr(one) for one in value]
    return repr(value)


def check(name: str, words: list[str]) -> None:
    light_values = light.parse(module_of(name).run, words)
    if light_values is None:
        return
    wanted = by_typer(name, words)
    lists = {one.name for one in parameters(module_of(name).run) if one.is_list}
    for key, value in light_values.items():
        other = wanted[key]
        if key in lists:
            value, other = value or [], other or []
        assert alike(value) == alike(other), (key, words)
    assert light_values.keys() == wanted.keys() - {"help"}


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300)
@given(data=st.data())
def test_both_read_alike(name: str, data: st.DataObject) -> None:
    check(name, data.draw(calls(name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=3_000)
@given(data=st.data())
def test_both_read_thousands_alike(name: str, data: st.DataObject) -> None:
    check(name, data.draw(calls(name)))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("search", ["why", "did", "we"]),
        ("search", ["-k", "3", "--mode", "keyword", "a", "--json"]),
        ("search", ["a", "--in=tasks/*", "--alpha=0.2", "-q"]),
        ("search", ["--root", "/x", "--", "-a", "--b"]),
        ("get", ["MEMORY.md#L3-L9", "--format", "json"]),
        ("append-daily", ["--stage", "commit", "text"]),
        ("append-daily", ["-"]),
        ("append-daily", []),
        ("recall", ["--budget", "900", "what", "now"]),
        ("recall", []),
    ],
)
def test_plain_calls_need_no_typer(name: str, words: list[str]) -> None:
    assert light.parse(module_of(name).run, words) is not None
    check(name, words)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("search", []),
        ("search", ["-k", "many", "a"]),
        ("search", ["--mode", "magic", "a"]),
        ("search", ["--help"]),
        ("search", ["--nope", "a"]),
        ("get", ["a", "b"]),
        ("get", []),
    ],
)
def test_mistakes_are_left_to_typer(name: str, words: list[str]) -> None:
    assert light.parse(module_of(name).run, words) is None
