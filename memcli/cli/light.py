"""Parse a plain, well-formed call without Typer, or say that Typer must.

Only what both parsers read alike is taken: long and short flags with their value as the next word
or behind "=", switches, and words by place. Anything else, and every mistake, is left to Typer,
which words it.
"""

from typing import Any

from memcli.cli.options import Command, Option, Parameter, parameters


def parse(command: Command, words: list[str]) -> dict[str, Any] | None:
    """The values of all parameters of `command`, or None when this is no plain call."""
    declared = parameters(command)
    by_flag = {
        name: one
        for one in declared
        if isinstance(one.declared, Option)
        for name in one.declared.names
    }
    values: dict[str, Any] = {
        one.name: list(one.default or ()) if one.is_list else one.default for one in declared
    }
    placed: list[str] = []
    given: set[str] = set()
    rest = iter(words)
    for word in rest:
        if word == "--":
            placed += rest
        elif word[:1] != "-" or word == "-":
            placed.append(word)
        else:
            flag, equals, value = word.partition("=")
            found = by_flag.get(flag)
            if found is None or (equals and not flag.startswith("--")):
                return None
            if found.type is bool:
                if equals:
                    return None
                values[found.name] = True
                continue
            if not equals:
                value = next(rest, "")
                if not value or (value[0] == "-" and value != "-"):
                    return None
            if not _take(values, found, value, is_again=found.name in given):
                return None
            given.add(found.name)
    return values if _place(values, declared, placed) else None


def _place(values: dict[str, Any], declared: list[Parameter], words: list[str]) -> bool:
    """Give the words to the arguments in order; whether they all found a place."""
    left = list(words)
    for one in declared:
        if isinstance(one.declared, Option):
            continue
        if one.is_list:
            if one.is_required and not left:
                return False
            values[one.name] = left
            left = []
        elif left:
            if not _take(values, one, left.pop(0), is_again=False):
                return False
        elif one.is_required:
            return False
    return not left


def _take(values: dict[str, Any], one: Parameter, text: str, *, is_again: bool) -> bool:
    """Convert and set one value; False where Typer has to say what is wrong with it."""
    allowed = one.declared.one_of if isinstance(one.declared, Option) else ()
    if allowed and text not in allowed:
        return False
    try:
        value = one.type(text)
    except ValueError:
        return False
    if one.is_list:
        values[one.name] = [*values[one.name], value] if is_again else [value]
    else:
        values[one.name] = value
    return True
