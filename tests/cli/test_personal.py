"""A person's own memory, by the real program, with and without a project around."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import platformdirs
import pytest

from memcli.config import personal_folder, user_folder
from tests.conftest import Program


@pytest.mark.parametrize("variables", [{}, {"XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/conf"}])
def test_the_folders_are_those_of_platformdirs(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert personal_folder(os.environ) == platformdirs.user_data_dir("mem", appauthor=False)
    assert user_folder(os.environ) == platformdirs.user_config_dir("mem", appauthor=False)


@pytest.mark.parametrize("variables", [{}, {"HOME": ""}, {"HOME": "", "XDG_DATA_HOME": "not/abs"}])
def test_without_a_home_there_is_none(variables: dict[str, str]) -> None:
    assert personal_folder(variables) is None


def test_it_is_made_for_its_owner_alone(mem: Program) -> None:
    ran = mem("--personal", "init", code=0)
    folder = mem.home / ".local/share/mem"
    assert "made .decsr/memory/" in ran.out
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert mem("init", "--personal", code=0).out.startswith("already there")
    assert not (mem.cwd / "mem").exists()


def test_before_it_is_made_there_is_a_hint(mem: Program) -> None:
    ran = mem("append-daily", "--personal", "x", code=3)
    assert ran.err.splitlines()[-1] == "hint: mem init --personal"
    ran = mem("search", "alarm", "--scope", "personal", code=3)
    assert "hint: mem init --personal" in ran.err
    assert mem("search", "alarm", "--scope", "all", code=0).out  # of all that there are
    assert mem("append-daily", "--personal", "x", env={"HOME": None}, code=3)


def test_every_command_reaches_it(mem: Program, tmp_path: Path) -> None:
    mem("--personal", "init", code=0)
    ran = mem("--personal", "append-daily", "the wryneck at home", code=0)
    assert ran.err.endswith("where mem undo needs --personal\n")
    mem("fact", "add", "--personal", "I answer mail at noon", code=0)
    assert "wryneck" not in mem("list", code=0).out
    assert mem("search", "wryneck", code=1).out.startswith("nothing found")
    hit = mem("search", "wryneck", "--scope", "all", "--json", code=0).json["hits"][0]
    assert hit["scope"] == "personal"
    ran = mem("search", "--scope", "personal", "wryneck", code=0)
    place = ran.out.split(": ")[0]
    assert place.startswith("personal:daily/")
    assert "wryneck" in mem("get", place, code=0).out
    assert "MEMORY.md" in mem("--personal", "list", code=0).out
    ran = mem("recall", "wryneck", cwd=tmp_path, code=0)
    assert "personal:daily/" in ran.out
    assert "so no project is looked at" in ran.err


def test_recall_reads_both_and_search_the_project(mem: Program) -> None:
    mem("--personal", "init", code=0)
    mem("fact", "add", "--personal", "--kind", "preference", "I like lists", code=0)
    assert "I like lists (personal:MEMORY.md:" in mem("recall", "defrost", code=0).out
    assert "I like lists" not in mem("recall", "--scope", "project", "defrost", code=0).out
    alone = mem("recall", "--personal", "defrost", code=0).out
    assert "I like lists" in alone
    assert "Ines" not in alone


@pytest.mark.parametrize(
    "words",
    [
        ("search", "x", "--personal", "--scope", "all"),
        ("search", "x", "--personal", "--root", "."),
        ("init", "--personal", "here"),
        ("init", "--personal", "--hooks"),
        ("hooks", "install", "--personal"),
    ],
)
def test_what_contradicts_itself_is_refused(mem: Program, words: tuple[str, ...]) -> None:
    mem("--personal", "init", code=0)
    assert mem(*words, code=2).err.startswith("mem: ")
