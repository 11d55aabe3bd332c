"""A repository as people use one for months, driven twice: with the hooks on, and without."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memcli.text import hook
from tests.ops.test_hooks import LOGGED, Repo, real_mem

COMMITS = 200


@dataclass
class Developer:
    """Works in a repository by a fixed script; `made` is every commit that the log must name."""

    repo: Repo
    dice: random.Random = field(default_factory=lambda: random.Random(20260301))
    made: list[str] = field(default_factory=list)
    slowest: float = 0.0
    ticks: int = 0
    branches: int = 0

    @property
    def main(self) -> Path:
        return self.repo.path

    def git(self, *words: str, cwd: Path | None = None, code: int = 0) -> str:
        """Run git a minute after the last command, so that both runs make the same commits."""
        self.ticks += 1
        date = f"{1_770_000_000 + 60 * self.ticks} +0000"
        started = time.monotonic()
        done = self.repo.run(
            "git",
            *words,
            cwd=cwd,
            GIT_AUTHOR_DATE=date,
            GIT_COMMITTER_DATE=date,
            GIT_EDITOR="true",
            GIT_SEQUENCE_EDITOR="sed -i '2s/pick/squash/'",
        )
        self.slowest = max(self.slowest, time.monotonic() - started)
        assert done.returncode == code, done
        return done.stdout.decode().strip()

    def new(self, *words: str, cwd: Path | None = None) -> None:
        """Run git, and remember the commits that it has put on top of where HEAD was."""
        before = self.repo.run("git", "rev-parse", "HEAD", cwd=cwd).stdout.decode().strip()
        self.git(*words, cwd=cwd)
        tops = self.repo.git("rev-list", "--reverse", "--first-parent", f"{before}..HEAD", cwd=cwd)
        self.made += tops.split()

    def write(self, name: str, cwd: Path | None = None) -> None:
        path = (cwd or self.main) / name
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            file.write(f"line {self.ticks}\n")
        self.git("add", name, cwd=cwd)

    def commit(self, cwd: Path | None = None, name: str = "") -> None:
        self.write(name or f"src/file{self.dice.randrange(30)}", cwd)
        subject = self.dice.choice(["Fix it", "## 12:00 — forged", 'Say "it\'s" `so` $HOME', "Ünï"])
        self.new("commit", "-q", "-m", f"{subject} {self.ticks}", cwd=cwd)

    def branch(self, start: str = "HEAD") -> str:
        self.branches += 1
        self.git("checkout", "-q", "-b", f"topic/{self.branches}", start)
        return f"topic/{self.branches}"

    # What a developer does of a day; each leaves main checked out and clean.

    def amend(self) -> None:
        self.commit()
        self.write("src/forgotten")
        self.git("commit", "-q", "--amend", "--no-edit")
        self.made.append(self.repo.git("rev-parse", "HEAD"))

    def merge(self) -> None:
        topic = self.branch()
        for number in range(self.dice.randrange(1, 4)):
            self.commit(name=f"{topic}-{number}")
        self.git("checkout", "-q", "main")
        if self.dice.random() < 0.7:
            self.commit()
            self.new("merge", "-q", "--no-edit", topic)
        else:
            self.git("merge", "-q", "--ff-only", topic)

    def conflict(self) -> None:
        topic = self.branch()
        self.commit(name="both")
        self.git("checkout", "-q", "main")
        self.commit(name="both")
        self.git("merge", topic, code=1)
        self.write("both")
        self.new("commit", "-q", "--no-edit")

    def rebase(self) -> None:
        topic = self.branch()
        for number in range(3):
            self.commit(name=f"{topic}-{number}")
        self.git("checkout", "-q", "main")
        self.commit()
        how = self.dice.choice(["--merge", "--apply", "--interactive"])
        self.git("rebase", "-q", how, "main", topic)
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--ff-only", topic)

    def pick(self) -> None:
        topic = self.branch("HEAD~3")
        for number in range(2):
            self.commit(name=f"{topic}-{number}")
        self.git("checkout", "-q", "main")
        self.new("cherry-pick", f"{topic}~2..{topic}")
        self.new("revert", "--no-edit", "HEAD")

    def squash(self) -> None:
        topic = self.branch()
        self.commit(name=f"{topic}-a")
        self.commit(name=f"{topic}-b")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--squash", topic)
        self.new("commit", "-q", "-m", "All of it")

    def stash(self) -> None:
        self.write("src/unfinished")
        self.git("stash", "-q")
        self.commit()
        self.git("stash", "pop", "-q", "--index")
        self.new("commit", "-q", "-m", "Finished")

    def side(self) -> None:
        """In the linked worktree, and back to main by a merge."""
        side = self.main.parent / "side"
        self.commit(side, name=f"side/{self.ticks}")
        self.git("rebase", "-q", "--force-rebase", "HEAD~1", cwd=side)
        self.new("merge", "-q", "--no-edit", "--no-ff", "side")

    def lib(self) -> None:
        """In the submodule, and its new state in the repository around it."""
        self.commit(self.main / "lib", name="code")
        self.git("add", "lib")
        self.new("commit", "-q", "-m", "Take the new lib")


def driven(folder: Path, *, has_hooks: bool) -> Developer:
    """A repository with a linked worktree and a submodule after about `COMMITS` commits."""
    folder.mkdir()
    repo = Repo(folder / "project", str(real_mem(folder / "bin/mem")))
    repo.path.mkdir()
    developer = Developer(repo)
    _begin(developer)
    if has_hooks:
        for cwd in (repo.path, repo.path / "lib"):
            repo.install("post-commit", "post-merge", cwd=cwd)
        developer.made.clear()
    days: list[Callable[[], None]] = [
        developer.commit,
        developer.amend,
        developer.merge,
        developer.conflict,
        developer.rebase,
        developer.pick,
        developer.squash,
        developer.stash,
        developer.side,
        developer.lib,
    ]
    while len(developer.made) < COMMITS:
        for day in developer.dice.sample(days, len(days)):
            day()
    return developer


def _begin(developer: Developer) -> None:
    repo = developer.repo
    repo.env.update(
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="protocol.file.allow",
        GIT_CONFIG_VALUE_0="always",
    )
    inner = repo.path.parent / "inner"
    inner.mkdir()
    for cwd in (inner, repo.path):
        developer.git("init", "-q", "-b", "main", cwd=cwd)
        for _ in range(4):
            developer.write("start", cwd)
            developer.git("commit", "-q", "-m", "Start", cwd=cwd)
    (repo.path / ".decsr/memory/daily").mkdir(parents=True)
    (repo.path / ".git/info/exclude").write_text(".decsr/\n")
    # By a relative address, so that .gitmodules is the same in both runs.
    developer.git("config", "remote.origin.url", str(repo.path))
    developer.git("submodule", "add", "-q", "../inner", "lib")
    developer.git("commit", "-q", "-m", "Add lib")
    developer.git("worktree", "add", "-q", "-b", "side", "../side")


def state(developer: Developer) -> dict[str, str]:
    """Everything of git's own that hooks could have touched."""
    found = {}
    for name in ("project", "project/lib", "side"):
        cwd = developer.main.parent / name
        for words in (
            ("for-each-ref",),
            ("rev-parse", "HEAD"),
            ("ls-files", "--stage"),
            ("status", "--porcelain"),
            ("stash", "list"),
            ("log", "-g", "--format=%H %gs"),
            ("config", "--local", "--list"),
        ):
            answer = developer.repo.git(*words, cwd=cwd)
            found[f"{name}: {words}"] = answer.replace(str(developer.main.parent), "")
        assert developer.repo.git("fsck", "--strict", "--no-dangling", cwd=cwd) == ""
    for path in (developer.main / ".git").rglob("*"):
        if not {"objects", "hooks"} & set(path.relative_to(developer.main).parts):
            found[str(path.relative_to(developer.main))] = ""
    return found


@pytest.mark.slow
def test_months_of_work_with_the_hooks_on(tmp_path: Path) -> None:
    plain = driven(tmp_path / "plain", has_hooks=False)
    hooked = driven(tmp_path / "hooked", has_hooks=True)

    assert state(hooked) == state(plain)
    logged = [found["hash"] for found in LOGGED.finditer(hooked.repo.log)]
    expected = [next((one for one in logged if full.startswith(one)), full) for full in hooked.made]
    assert logged == expected
    assert len(set(logged)) == len(logged) >= COMMITS
    assert len(re.findall("^## ", hooked.repo.log, re.MULTILINE)) == len(logged)
    assert hooked.slowest < hook.SECONDS + 5

    for cwd in (hooked.main, hooked.main / "lib"):
        hooked.repo.remove(cwd=cwd)
    assert state(hooked) == state(plain)
    for one in ("project/.git/hooks", "project/.git/modules/lib/hooks"):
        names = {
            run: sorted(path.name for path in (tmp_path / run / one).iterdir())
            for run in ("plain", "hooked")
        }
        assert names["hooked"] == names["plain"]
