"""What scripts call: the five functions on a real workspace, their types and their errors."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from datetime import datetime
from pathlib import Path

import pytest

from memcli import api
from memcli.api import append_daily, open_workspace, promote, recall, search
from memcli.errors import ConflictError, MemError, RefusedError, UsageError, WorkspaceError
from tests.conftest import ROOT, Program, write


def test_a_script_reads_and_writes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "docs")
    memory = open_workspace()
    assert memory.layout.root == str(project)
    found = search(memory, "defrost alarm", k=2, kind="task")
    assert [hit.kind for hit in found.hits] == ["task", "task"]
    assert found.index.state == "fresh"
    write(project, "packs/short.md", "Be brief.\n")
    fragment = recall(
        memory, "defrost", budget=800, packs=["short"], history="We spoke of alarms.\n"
    )
    assert fragment.tokens <= 800
    assert "> Be brief." in fragment.text
    assert "> We spoke of alarms." in fragment.text
    done = append_daily(memory, "Wrynecks came.", stage="build", at=datetime(2026, 11, 20, 8, 5))
    assert done.path == "daily/2026-11-20.md"
    assert "## 08:05 — build" in (project / ".decsr/memory" / done.path).read_text()
    (project / "docs/new.md").write_text("# N\n\n## Decisions\n\n- Gulls nest on crane 4.\n")
    dry = promote(memory, ["new.md"], is_dry=True)
    assert dry.revision is None
    assert "+- Gulls nest on crane 4." in dry.diff
    made = promote(memory, [Path("new.md")], task_id="QY-200")
    assert [fact.source for fact in made.added] == ["docs/new.md#Decisions"]
    assert promote(memory, ["new.md"]).added == ()
    memory.close()


def test_a_personal_memory_counts_too(mem: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    mem("--personal", "init", code=0)
    monkeypatch.setenv("HOME", str(mem.home))
    mine, project = open_workspace(personal=True), open_workspace(mem.cwd)
    append_daily(mine, "The wryneck at home.")
    assert search(project, "wryneck").hits == ()
    assert search(project, "wryneck", personal=mine).hits[0].scope == "personal"
    assert search(mine, "wryneck").hits[0].scope == "personal"
    assert "wryneck at home" in recall(project, "wryneck", personal=mine).text
    assert "wryneck at home" not in recall(project, "wryneck").text


def test_what_goes_wrong_is_a_mem_error(project: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"no \.decsr in") as error:
        open_workspace(tmp_path)
    assert error.value.hint == f"mem init --root {tmp_path}"
    memory = open_workspace(project)
    with pytest.raises(UsageError, match="nothing to search for"):
        search(memory, " ")
    with pytest.raises(UsageError, match="not a date"):
        search(memory, "x", since="soon")
    with pytest.raises(RefusedError, match="the budget is 10"):
        recall(memory, budget=10)
    with pytest.raises(UsageError, match="no pack none"):
        recall(memory, packs=["none"])
    with pytest.raises(UsageError, match="no document"):
        promote(memory, ["none.md"])
    with pytest.raises(UsageError, match="has one place"):
        open_workspace(project, personal=True)
    for kind in (WorkspaceError, UsageError, RefusedError, ConflictError):
        assert issubclass(kind, MemError)


def test_all_of_it_is_typed_and_documented() -> None:
    assert len(api.__all__) == 5
    for name in api.__all__:
        function = getattr(api, name)
        hints = typing.get_type_hints(function)
        assert set(hints) == {*inspect.signature(function).parameters, "return"}
        assert len(function.__doc__.splitlines()) > 1
    assert (ROOT / "memcli/py.typed").exists()


def test_the_package_itself_imports_nothing() -> None:
    code = "import sys; before = set(sys.modules); import memcli; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["memcli"]
