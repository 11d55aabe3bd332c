"""Settings: their layers, who may set what, and every way to get one wrong."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import platformdirs
import pytest

from memcli import config
from memcli.config import FIELDS, Settings, load, variable_of
from memcli.errors import UsageError


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The user's own settings file, not there yet; ENV points at it."""
    return tmp_path / "home/.config/mem/config.toml"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project.toml"


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_users_folder_is_that_of_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    for home, base in (("/home/ana", ""), ("/home/ana", "/elsewhere"), ("/home/ana", "relative")):
        monkeypatch.setenv("HOME", home)
        monkeypatch.setenv("XDG_CONFIG_HOME", base)
        found = config.user_folder({"HOME": home, "XDG_CONFIG_HOME": base})
        if base != "relative":  # which the standard says to ignore, and platformdirs does not
            assert found == platformdirs.user_config_dir("mem", appauthor=False)
    assert config.user_folder({}) is None


def test_later_layers_win_and_say_so(mine: Path, env: dict[str, str], project: Path) -> None:
    put(mine, "[search]\nk = 3\nalpha = 0.1\nmode = 'keyword'\n")
    put(project, "[search]\nalpha = 0.2\nmode = 'vector'\n")
    env["MEM_SEARCH_MODE"] = "hybrid"
    loaded = load(str(project), env, {"search.k": 9})
    assert loaded.settings.search_k == 9
    assert loaded.settings.search_alpha == 0.2
    assert loaded.settings.search_mode == "hybrid"
    assert loaded.origins["search.k"] == "flag"
    assert loaded.origins["search.alpha"] == str(project)
    assert loaded.origins["search.mode"] == "MEM_SEARCH_MODE"
    assert loaded.origins["search.fusion"] == "default"


@pytest.mark.parametrize("key", [key for key, one in FIELDS.items() if one.metadata["private"]])
def test_a_project_may_not_set_what_is_private(
    key: str, env: dict[str, str], project: Path
) -> None:
    section, _, name = key.partition(".")
    put(project, f"[{section}]\n{name} = 'http://evil.example'\n")
    loaded = load(str(project), env)
    assert astuple(loaded.settings) == astuple(Settings())
    assert key in loaded.notes[0]


def test_a_project_may_ask_for_more_care_with_secrets_and_not_for_less(
    env: dict[str, str], project: Path
) -> None:
    put(project, "secrets = 'off'\n")
    loaded = load(str(project), env)
    assert loaded.settings.secrets == "mask"
    assert "secrets" in loaded.notes[0]
    put(project, "secrets = 'refuse'\n")
    assert load(str(project), env).settings.secrets == "refuse"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[serch]\nk = 3\n", "unknown setting 'serch.k'"),
        ("[search]\nk = 'three'\n", "a whole number"),
        ("[search]\nk = true\n", "a whole number"),
        ("[search]\nalpha = -1\n", "0 or more"),
        ("[search]\nmode = 'fuzzy'\n", "unknown search.mode"),
        ("[promote]\nmarkers = 'decision'\n", "a list of words"),
        ("[search\n", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_named(text: str, said: str, env: dict[str, str], project: Path) -> None:
    put(project, text)
    with pytest.raises(UsageError, match=said) as caught:
        load(str(project), env)
    assert str(project) in str(caught.value)


def test_an_unknown_key_names_the_nearest(env: dict[str, str], project: Path) -> None:
    put(project, "[search]\nalhpa = 0.5\n")
    with pytest.raises(UsageError) as caught:
        load(str(project), env)
    assert "search.alpha" in caught.value.hint


def test_a_variable_is_read_as_its_settings_kind(env: dict[str, str]) -> None:
    env[variable_of("promote.markers")] = "rule, law"
    env[variable_of("search.k")] = "5"
    loaded = load("", env)
    assert loaded.settings.promote_markers == ("rule", "law")
    assert loaded.settings.search_k == 5
    with pytest.raises(UsageError, match="MEM_SEARCH_K"):
        load("", {**env, "MEM_SEARCH_K": "many"})


def test_a_file_of_comments_needs_no_parser(env: dict[str, str], project: Path) -> None:
    put(project, "# nothing\n\n   # here\n")
    assert astuple(load(str(project), env).settings) == astuple(Settings())
