"""Two branches that both remembered something merge without loss, and copies are mended after."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memcli.text.facts import parse
from tests.conftest import Program

UNION = ".decsr/memory/MEMORY.md merge=union\n.decsr/memory/daily/*.md merge=union\n"
DAY = ("--date", "2026-11-20T10:00")


def git(mem: Program, *words: str, code: int = 0) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words],
        cwd=mem.cwd,
        env={**mem.environ(), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def commit(mem: Program) -> None:
    git(mem, "add", "-A")
    git(mem, "commit", "-q", "-m", "x")


@pytest.fixture
def repo(mem: Program, tmp_path: Path) -> Program:
    """A repository on its main branch with a workspace, a document and one fact of it."""
    root = tmp_path / "repo"
    root.mkdir()
    mem.cwd = root
    git(mem, "init", "-q", "-b", "main")
    mem("init", code=0)
    (root / "plan.md").write_text("# Plan\n\n## Decisions\n\n- Logs stay one year.\n")
    (root / ".gitattributes").write_text(UNION)
    mem("promote", "plan.md", code=0)
    mem("append-daily", *DAY, "before the branches", code=0)
    commit(mem)
    return mem


def work(repo: Program, name: str, *decisions: str) -> None:
    """Log something, and promote a document, on the branch that is checked out."""
    bullets = "".join(f"- {one}\n" for one in decisions)
    (repo.cwd / f"{name}.md").write_text(f"# {name}\n\n## Decisions\n\n{bullets}")
    repo("append-daily", *DAY, f"work on {name}", code=0)
    repo("promote", f"{name}.md", code=0)
    commit(repo)


def facts(repo: Program) -> list[str]:
    text = (repo.cwd / ".decsr/memory/MEMORY.md").read_text()
    return [it.fact.text for it in parse(text).facts if it.fact.enabled]


def branched(repo: Program) -> None:
    git(repo, "checkout", "-q", "-b", "side")
    work(repo, "side", "Backups run hourly.", "Deploys need two reviewers.")
    git(repo, "checkout", "-q", "main")
    work(repo, "main", "Tokens live for a day.", "Deploys need two reviewers")


@pytest.mark.parametrize("mending", [("lint", "--fix"), ("doctor", "--fix")], ids=" ".join)
def test_nothing_is_lost_and_copies_are_found_and_mended(
    repo: Program, mending: tuple[str, ...]
) -> None:
    branched(repo)
    git(repo, "merge", "-q", "--no-edit", "side")
    wanted = {"Logs stay one year.", "Backups run hourly.", "Tokens live for a day."}
    assert wanted < set(facts(repo))
    assert len(facts(repo)) == 5  # one of them twice
    log = (repo.cwd / ".decsr/memory/daily/2026-11-20.md").read_text()
    for text in ("before the branches", "work on side", "work on main"):
        assert log.count(text) == 1
    found = repo("lint", "--json", code=1).json["findings"]
    assert [one["code"] for one in found] == ["duplicate-fact"]
    found = repo("doctor", "--json", code=1).json["problems"]
    assert [one["code"] for one in found] == ["duplicate-fact"]
    assert "says the same: Deploys need two reviewers" in found[0]["message"]
    repo(*mending, code=0)
    assert wanted < set(facts(repo))
    assert len(facts(repo)) == 4
    repo("lint", code=0)
    repo("doctor", code=0)
    repo("promote", "--check", "plan.md", "side.md", "main.md", code=0)
    before = facts(repo)
    repo("promote", "plan.md", "side.md", "main.md", code=0)
    assert facts(repo) == before


def test_what_one_branch_superseded_does_not_stay_in_force_again(repo: Program) -> None:
    git(repo, "checkout", "-q", "-b", "side")
    (repo.cwd / "plan.md").write_text("# Plan\n\n## Decisions\n\n- Logs stay two years.\n")
    repo("promote", "plan.md", code=0)
    commit(repo)
    git(repo, "checkout", "-q", "main")
    work(repo, "main", "Tokens live for a day.")
    git(repo, "merge", "-q", "--no-edit", "side")
    wanted = ["Tokens live for a day.", "Logs stay two years."]
    assert facts(repo) == ["Logs stay one year.", *wanted]
    assert "superseded" in repo("doctor", code=1).out
    repo("doctor", "--fix", code=0)
    assert facts(repo) == wanted
    repo("lint", code=0)


def test_the_index_follows_a_checkout_and_a_merge(repo: Program) -> None:
    branched(repo)
    repo("index", code=0)
    assert "MEMORY.md" not in repo("search", "--mode", "keyword", '"hourly"').out
    git(repo, "merge", "-q", "--no-edit", "side")
    assert "MEMORY.md" in repo("search", "--mode", "keyword", '"hourly"', code=0).out


def test_what_the_other_branch_has_was_not_removed_on_this_one(repo: Program) -> None:
    branched(repo)
    git(repo, "checkout", "-q", "-b", "third", "main~1")
    (repo.cwd / "side.md").write_text("## Decisions\n\n- Backups run hourly.\n")
    repo("promote", "side.md", code=0)
    assert "Backups run hourly." in facts(repo)


def test_the_history_of_a_branch_is_not_shared(repo: Program) -> None:
    branched(repo)
    assert [one for one in git(repo, "ls-files").splitlines() if "history" in one] == []
    git(repo, "merge", "-q", "--no-edit", "side")
    assert git(repo, "status", "--porcelain") == ""
