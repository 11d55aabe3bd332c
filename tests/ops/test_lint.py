"""Lint: every kind of finding, none where nothing is wrong, and fixes that lose nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli import history
from memcli.ops.consolidate import consolidate
from memcli.ops.lint import FIXABLE, Linted, lint
from memcli.ops.promote import Document, promote
from memcli.ops.undo import undo
from memcli.text.facts import fact_hash, parse
from memcli.workspace import Workspace
from tests.conftest import NOW, Program, opened, write


def found(workspace: Workspace) -> list[tuple[str, int, str]]:
    return [
        (one.path.removeprefix(".decsr/memory/"), one.line, one.code)
        for one in run(workspace).findings
    ]


def run(workspace: Workspace, *, fix: bool = False) -> Linted:
    return lint(workspace, is_fixing=fix, now=NOW)


def with_memory(workspace: Workspace, *lines: str) -> Path:
    root = Path(workspace.layout.root)
    write(root, "MEMORY.md", "\n".join(["# Project Memory", "", *lines, ""]))
    return root


def test_a_memory_in_order_has_no_findings(bare: Workspace) -> None:
    root = with_memory(bare, "- Logs stay 14 days", "- See [the plan](tasks/plan.md)")
    write(root, "tasks/plan.md", "# Plan\n\nBack to [the facts](../MEMORY.md) or ../README.md\n")
    write(root, "daily/2026-01-05.md", "# Daily log 2026-01-05\n\n## 09:00 — build\n\nfine\n")
    assert run(bare).findings == ()
    assert found(opened(root)) == []


def test_an_empty_workspace_has_no_findings(bare: Workspace) -> None:
    assert run(bare).findings == ()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("- Logs stay 14 days", "- the logs stay 14 days."), (3, "duplicate-fact")),
        (("- Reviews need one approval", "- Reviews need two approvals"), (4, "contradiction")),
        (
            ("- Old way  <!-- hash=aaaaaaaaaaaa superseded-by=bbbbbbbbbbbb -->",),
            (3, "superseded-in-force"),
        ),
        (("- Gone  <!-- src=docs/none.md#D hash=aaaaaaaaaaaa -->",), (3, "dead-source")),
        (("- Far  <!-- src=../../etc/passwd.md hash=aaaaaaaaaaaa -->",), (3, "dead-source")),
        (("- [x](tasks/none.md)",), (3, "broken-link")),
        (("- The order is in tasks/none.md",), (3, "broken-link")),
        (("- Broken  <!-- src=a.md hash=xyz -->",), (3, "malformed-fact")),
        (("<!-- removed hash=12 -->",), (3, "malformed-fact")),
        (("- key gh" + "p_" + "Z7" * 18,), (3, "secret")),
    ],
)
def test_each_flaw_is_found_at_its_line(
    bare: Workspace, lines: tuple[str, ...], expected: tuple[int, str]
) -> None:
    with_memory(bare, *lines)
    assert ("MEMORY.md", *expected) in found(bare)


def test_a_secret_is_never_shown(bare: Workspace) -> None:
    token = "gh" + "p_" + "Z7" * 18
    with_memory(bare, f"- key {token}")
    assert all(token not in one.message for one in run(bare).findings)


@pytest.mark.parametrize(
    "line",
    [
        "- Old way  <!-- hash=aaaaaaaaaaaa off superseded-by=bbbbbbbbbbbb -->",
        "- Off  <!-- src=docs/none.md#D hash=aaaaaaaaaaaa off -->",
        "- By hand <!-- went up in June -->",
        "- From a pipe  <!-- src=stdin#Decisions hash=aaaaaaaaaaaa -->",
        "- Out there  <!-- src=https://example.org/a.md#D hash=aaaaaaaaaaaa -->",
        "- See [the site](https://example.org/a.md) and `tasks/none.md`",
        "<!-- removed hash=aaaaaaaaaaaa hash=bbbbbbbbbbbb -->",
        "```\n[x](tasks/none.md)\n```",
    ],
)
def test_what_is_well_is_no_finding(bare: Workspace, line: str) -> None:
    with_memory(bare, line)
    assert found(bare) == []


def promoted(workspace: Workspace, text: str) -> Path:
    root = Path(workspace.layout.root)
    (root / "docs").mkdir()
    (root / "docs/plan.md").write_text(text)
    promote(workspace, [Document("docs/plan.md", text.encode())], now=NOW)
    return root / "docs/plan.md"


def test_a_source_that_says_it_no_longer_is_found(bare: Workspace) -> None:
    text = "# Plan\n\n## Decisions\n\n- The importer retries three times.\n- Logs stay in hall 5.\n"
    path = promoted(bare, text)
    assert found(bare) == []
    path.write_text(text.replace("three", "five"))
    assert found(bare) == [("MEMORY.md", 7, "source-changed")]
    path.write_text(text.replace("## Decisions", "## Notes"))
    assert [code for *_, code in found(bare)] == ["dead-heading"] * 2
    path.write_text(
        text.replace("The importer retries three times", "the importer retries 3 times")
    )
    assert found(bare) == []
    path.unlink()
    assert [code for *_, code in found(bare)] == ["dead-source"] * 2


def test_each_source_of_a_joined_fact_is_looked_at(bare: Workspace) -> None:
    text = "# Plan\n\n## Decisions\n\n- The importer retries three times.\n"
    path = promoted(bare, text)
    memory = Path(bare.layout.root) / ".decsr/memory/MEMORY.md"
    both = memory.read_text().replace(
        "src=docs/plan.md#Decisions", "src=docs/plan.md#Decisions, docs/b.md#D"
    )
    memory.write_text(both)
    assert [code for *_, code in found(bare)] == ["dead-source"]
    path.with_name("b.md").write_text("# B\n\n## D\n\nThe importer retries three times.\n")
    assert found(bare) == []


def test_flaws_of_daily_logs(bare: Workspace) -> None:
    root = Path(bare.layout.root)
    write(root, "daily/2026-01-05.md", "# Daily log 2026-01-05\n\n## 25:61 — x\n\n### 9.30 y\n")
    write(root, "daily/2026-1-7.md", "## 09:00 — build\n\nfine\n")
    assert found(bare) == [
        ("daily/2026-1-7.md", 1, "odd-name"),
        ("daily/2026-01-05.md", 3, "malformed-entry"),
        ("daily/2026-01-05.md", 5, "malformed-entry"),
    ]


def test_a_budget_is_held(empty: Path) -> None:
    workspace = opened(empty, memory_max_chars="60", memory_max_facts="2")
    with_memory(workspace, *[f"- The lamp in hall {n} is number {n}" for n in range(3)])
    assert [code for *_, code in found(workspace) if code == "over-budget"] == ["over-budget"] * 2
    none = opened(empty, memory_max_chars="0", memory_max_facts="0")
    assert "over-budget" not in [code for *_, code in found(none)]


def test_a_digest_whose_source_changed_is_stale(project: Path, workspace: Workspace) -> None:
    consolidate(workspace, now=NOW)
    assert "stale-digest" not in [code for *_, code in found(workspace)]
    path = project / ".decsr/memory/daily/2026-02-11.md"
    path.write_text(path.read_text("utf-8").replace("we drop the write queue", "we keep it"))
    stale = [one for one in run(workspace).findings if one.code == "stale-digest"]
    assert stale and all("daily/2026-02-11.md#L15" in one.message for one in stale)
    lines = (project / ".decsr/memory/DREAMS.md").read_text("utf-8").split("\n")
    assert "2026-02-11.md#L15" in lines[stale[0].line - 1]
    consolidate(workspace, now=NOW)
    assert "stale-digest" not in [code for *_, code in found(workspace)]


def test_after_a_fold_links_to_the_old_place_are_named(project: Path, workspace: Workspace) -> None:
    write(project, "tasks/pointer.md", "See daily/2026-02-11.md for why.\n")
    consolidate(workspace, is_folding=True, now=NOW)
    (one,) = [one for one in run(workspace).findings if one.code == "broken-link"]
    assert "archive/daily-2026-02-11.md" in one.message


def test_fixes_are_one_revision_that_undoes_to_the_same_bytes(bare: Workspace) -> None:
    root = with_memory(
        bare,
        "- Logs stay 14 days",
        f"- Old way  <!-- hash={fact_hash('Old way')} superseded-by=bbbbbbbbbbbb -->",
        "- logs stay 14 days.",
        "- Gone  <!-- src=docs/none.md#D hash=aaaaaaaaaaaa -->",
    )
    path = root / ".decsr/memory/MEMORY.md"
    before = path.read_bytes()
    result = run(bare, fix=True)
    assert {one.code for one in result.fixed} == set(FIXABLE)
    assert [one.code for one in result.findings] == ["dead-source"]
    facts = parse(path.read_text()).facts
    assert [it.fact.text for it in facts if it.fact.enabled] == ["Logs stay 14 days", "Gone"]
    assert run(bare, fix=True).revision is None
    undo(bare.layout, now=NOW)
    assert path.read_bytes() == before


def test_looking_changes_nothing(project: Path, workspace: Workspace) -> None:
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*.md")}
    run(workspace)
    assert {path: path.stat().st_mtime_ns for path in project.rglob("*.md")} == before
    assert not history.ids(workspace.layout)


def test_the_command_is_a_gate_in_three_formats(mem: Program, project: Path) -> None:
    ran = mem("lint", code=1)
    assert ".decsr/memory/MEMORY.md:14: dead-source: architecture.md is gone" in ran.out
    assert mem("lint", "--json", code=1).json["findings"][0]["code"] == "dead-source"
    first = mem("lint", "--format", "github", code=1).out.splitlines()[0]
    assert first.startswith("::error file=.decsr/memory/MEMORY.md,line=14,title=dead-source::")
    write(project, "MEMORY.md", "- Logs stay 14 days\n")
    assert mem("lint", code=0).out.startswith("ok: 1 facts")
