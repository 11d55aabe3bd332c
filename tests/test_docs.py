"""Help, manual, README and change log say what the program does, and all of it."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib import import_module

import pytest

from memcli import __version__
from memcli.cli.app import COMMANDS
from memcli.cli.options import parameters
from tests import manual

README = manual.README.read_text("utf-8")


def commands_of(name: str) -> dict[str, object]:
    module = import_module(COMMANDS[name])
    return getattr(module, "SUBCOMMANDS", None) or {"": module.run}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_and_each_of_its_options_have_help(name: str) -> None:
    for sub, command in commands_of(name).items():
        assert (command.__doc__ or "").strip().endswith("."), f"mem {name} {sub} has no help"
        for one in parameters(command):  # type: ignore[arg-type]  # a command file's function
            assert one.declared.help.strip(), f"mem {name} {sub}: {one.name} has no help"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_page_that_agrees_with_it(name: str) -> None:
    text = manual.page(name).read_text("utf-8")
    assert text == manual.with_synopsis(text, name), "python -m tests.manual writes it anew"
    for section in ("NAME", "DESCRIPTION", "EXAMPLES", "SEE ALSO"):
        assert f"\n.SH {section}\n" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_line_in_the_readme_and_in_the_first_page(name: str) -> None:
    assert re.search(rf"^\| `mem {name}` \|", README, re.M)
    roff = name.replace("-", "\\-")
    assert f".B mem {roff}\n" in (manual.MAN / "mem.1").read_text("utf-8")


def test_no_page_is_left_of_a_command_that_is_gone() -> None:
    pages = {path.name for path in manual.MAN.iterdir()}
    assert pages == {"mem.1", *(manual.page(name).name for name in COMMANDS)}


def test_the_settings_table_is_the_programs() -> None:
    assert manual.with_settings(README) == README, "python -m tests.manual writes it anew"


def test_ci_runs_the_readmes_test_command() -> None:
    (line,) = re.findall(r"^python3 -m venv .* pytest .*$", README, re.M)
    assert line in (manual.ROOT / ".ci" / "run").read_text("utf-8")


def test_every_command_line_of_the_readme_names_a_command_and_its_options() -> None:
    for line in re.findall(r"^(?:\$ )?mem ([a-z].*)$", README, re.M):
        words = shlex.split(line, comments=True)
        assert words[0] in COMMANDS, line
        subs = commands_of(words[0])
        command = subs.get(words[1] if len(words) > 1 else "") or subs.get("")
        if command is None:
            continue
        known = {
            flag
            for one in parameters(command)  # type: ignore[arg-type]  # a command file's function
            for flag in getattr(one.declared, "names", ())
        }
        flags = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert flags <= known, line


def test_the_change_log_has_a_place_for_what_comes_and_names_the_version() -> None:
    text = (manual.ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "## [Unreleased]" in text or f"## [{__version__}]" in text


def test_every_dependency_has_its_reason() -> None:
    text = (manual.ROOT / "pyproject.toml").read_text("utf-8")
    for requirement in tomllib.loads(text)["project"]["dependencies"]:
        (line,) = [one for one in text.splitlines() if f'"{requirement}"' in one]
        assert "#" in line, f"{requirement} is there without a reason"
