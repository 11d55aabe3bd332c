from pathlib import Path

from memcli.ops.status import WEEKS, status
from memcli.workspace import Workspace
from tests.conftest import Program, opened, write


def test_growth_counts_each_week_once_also_the_empty_ones(
    project: Path, workspace: Workspace
) -> None:
    result = status(workspace)
    assert result.weeks[-1].week == "2026-W47"
    assert len(result.weeks) == min(WEEKS, 55)
    assert any(one.bytes == 0 for one in result.weeks)
    sizes = {path.name: path.stat().st_size for path in (project / ".decsr/memory").rglob("*.md")}
    by_week = {one.week: one.bytes for one in result.weeks}
    names = ("2026-02-11.md", "2026-02-10-confirming-too-early.md")
    assert by_week["2026-W07"] == sum(sizes[name] for name in names)
    assert sum(result.bytes_by_kind.values()) == result.bytes


def test_facts_in_force_are_counted_and_their_budget_is_held(project: Path) -> None:
    result = status(opened(project, memory_max_chars="100"))
    assert result.facts == 24
    assert result.fact_chars > 1_000
    assert any("over the 100 allowed" in note for note in result.notes)


def test_an_empty_memory_has_no_growth(empty: Path) -> None:
    result = status(opened(empty))
    assert (result.weeks, result.facts, result.bytes_by_kind) == ((), 0, {})


def test_a_terminal_shows_it_also_one_without_unicode(mem: Program, project: Path) -> None:
    write(project, "daily/2026-11-19.md", "# Daily log 2026-11-19\n\n## 09:00 — build\n\nfine\n")
    wide = mem("status", "--format", "pretty", code=0).out
    assert "growth" in wide and "█" in wide
    plain = mem("status", "--format", "pretty", env={"PYTHONIOENCODING": "ascii"}, code=0).out
    assert plain.isascii() and "growth" in plain and "#" in plain
