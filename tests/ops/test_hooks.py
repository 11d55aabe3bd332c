"""Git hooks: real commits, each logged once and none held up, and hooks that come out exactly."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.errors import RefusedError, WorkspaceError
from memcli.ops import hooks
from memcli.text import hook
from tests.conftest import BY_WORD, ROOT
from tests.test_lock import held_by_another

LOGGED = re.compile(r"^- (?P<subject>.*) \((?P<hash>[0-9a-f]+) on (?P<rest>.*)\)$", re.MULTILINE)


@dataclass
class Repo:
    """A repository with a memory, and a mem for its hooks; no setting of this machine counts."""

    path: Path
    program: str
    env: dict[str, str] = field(default_factory=dict)

    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
            "TZ": "UTC",
            **BY_WORD,
            **self.env,
        }

    def run(
        self, *words: str | bytes, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            words,
            cwd=cwd or self.path,
            env={**self.environ(), **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )

    def git(self, *words: str | bytes, cwd: Path | None = None, **env: str) -> str:
        done = self.run("git", *words, cwd=cwd, **env)
        assert done.returncode == 0, done
        return done.stdout.decode("utf-8", "replace").strip()

    def commit(self, subject: str | bytes = "a change", cwd: Path | None = None) -> str:
        self.git("commit", "-q", "--allow-empty", "-m", subject, cwd=cwd)
        return self.git("rev-parse", "--short", "HEAD", cwd=cwd)

    def change(self, name: str, text: str = "text\n") -> str:
        """A commit of one file."""
        (self.path / name).write_text(text)
        self.git("add", name)
        return self.commit(f"write {name}")

    def install(self, *events: str, cwd: Path | None = None, **how: bool) -> hooks.HooksChanged:
        return hooks.install(
            str(cwd or self.path),
            environ=self.environ(),
            program=self.program,
            events=events or ("post-commit",),
            **how,
        )

    def remove(self, cwd: Path | None = None, *, force: bool = False) -> hooks.HooksChanged:
        return hooks.remove(str(cwd or self.path), environ=self.environ(), force=force)

    def states(self) -> list[str]:
        found = hooks.status(str(self.path), environ=self.environ()).hooks
        return [f"{one.hook} {one.state}" for one in found]

    @property
    def hook(self) -> Path:
        return self.path / ".git/hooks/post-commit"

    @property
    def log(self) -> str:
        days = sorted((self.path / ".decsr/memory/daily").glob("*.md"))
        return "".join(day.read_text() for day in days)

    @property
    def logged(self) -> list[str]:
        return [found["hash"] for found in LOGGED.finditer(self.log)]

    @property
    def subjects(self) -> list[str]:
        return [found["subject"] for found in LOGGED.finditer(self.log)]


def script(path: Path, text: str | bytes, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def real_mem(path: Path) -> Path:
    """A `mem` that runs this source, as an installed one would."""
    return script(
        path,
        "#!/bin/sh\n"
        f"PYTHONPATH='{ROOT}' PYTHONDONTWRITEBYTECODE=1 exec '{sys.executable}' -m memcli \"$@\"\n",
    )


@pytest.fixture
def bare_repo(tmp_path: Path) -> Repo:
    """A repository without a commit or a memory."""
    program = real_mem(tmp_path / "it's a $HOME/bin/mem")
    repo = Repo(tmp_path / 'my "repo"', str(program))
    repo.path.mkdir()
    repo.git("init", "-q", "-b", "main")
    return repo


@pytest.fixture
def repo(bare_repo: Repo) -> Repo:
    """A repository with a memory and one commit."""
    (bare_repo.path / ".decsr/memory/daily").mkdir(parents=True)
    (bare_repo.path / ".git/info").mkdir(exist_ok=True)
    (bare_repo.path / ".git/info/exclude").write_text(".decsr/\n")
    bare_repo.commit("start")
    return bare_repo


# What is logged


def test_a_commit_is_one_line(repo: Repo) -> None:
    repo.install()
    (repo.path / "one").write_text("1\n")
    (repo.path / "two").write_text("2\n")
    repo.git("add", ".")
    done = repo.run("git", "commit", "-q", "-m", "Write both\n\nWith a body.")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    short = repo.git("rev-parse", "--short", "HEAD")
    assert f"— post-commit\n\n- Write both ({short} on main, 2 files)\n" in repo.log
    (repo.path / "two").rename(repo.path / "three")
    repo.git("add", "-A")
    repo.git("checkout", "-q", "-b", "topic/names")
    moved = repo.commit("Rename")
    assert f"- Rename ({moved} on topic/names, 1 file)\n" in repo.log
    repo.git("checkout", "-q", "--detach")
    assert f"({repo.commit()} on a detached HEAD, 0 files)" in repo.log


def test_a_partial_commit_counts_what_it_holds(repo: Repo) -> None:
    repo.install()
    for name in ("one", "two"):
        (repo.path / name).write_text(name)
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "Only one", "--", "one")
    assert "on main, 1 file)" in repo.log
    assert repo.git("status", "--porcelain") == "A  two"


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ('it\'s "quoted" `id` $(touch pwned) $HOME \\n %s', None),
        ("## 12:00 — forged", None),
        ("-n --once", None),
        ("MEM_ENTRY", None),
        ("```", None),
        ("naïve 日本語 🎉", None),
        ("a\rb\x1b[31mc\x07", "a b [31mc "),
        ("x" * 200_000, None),
    ],
    ids=["quotes", "heading", "options", "heredoc", "fence", "scripts", "controls", "long"],
)
def test_any_subject_is_text(repo: Repo, subject: str, shown: str | None) -> None:
    repo.install()
    (repo.path.parent / "message").write_bytes(subject.encode())
    repo.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "../message")
    assert repo.subjects == [shown or subject]
    assert len(re.findall(r"^## ", repo.log, re.MULTILINE)) == 1
    assert not (repo.path / "pwned").exists()


def test_a_subject_that_is_no_utf8_and_none_at_all(repo: Repo) -> None:
    repo.install()
    repo.commit(b"caf\xe9")
    repo.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    assert len(repo.logged) == 2
    assert repo.subjects[1] == "(no message)"


def test_an_amended_commit_is_logged_as_such_and_once(repo: Repo) -> None:
    repo.install()
    first = repo.change("file")
    dates = {"GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    for _ in range(2):  # the second time it comes out as the very same commit
        repo.git("commit", "-q", "--amend", "-m", "better", **dates)
    second = repo.git("rev-parse", "--short", "HEAD")
    assert repo.logged == [first, second]
    assert f"({second} on main, 1 file, amends {first})" in repo.log


@pytest.mark.parametrize("backend", ["--merge", "--apply", "--interactive"])
def test_a_rebase_logs_nothing_again(repo: Repo, backend: str) -> None:
    repo.install("post-commit", "post-merge")
    repo.git("checkout", "-q", "-b", "topic")
    made = [repo.change(f"file{number}") for number in range(5)]
    repo.git("checkout", "-q", "main")
    made.append(repo.change("other"))
    repo.git("checkout", "-q", "topic")
    editors = {"GIT_SEQUENCE_EDITOR": "sed -i '2s/pick/squash/'", "GIT_EDITOR": "true"}
    repo.git("rebase", "-q", backend, "main", **editors)
    assert repo.logged == made
    assert repo.git("rev-list", "--count", "main..HEAD") == ("4" if backend[2] == "i" else "5")
    made.append(repo.change("later"))
    assert repo.logged == made


def test_a_rebase_that_stops_and_goes_on_logs_nothing_again(repo: Repo) -> None:
    repo.install()
    repo.git("checkout", "-q", "-b", "topic")
    made = [repo.change("file", "topic\n"), repo.change("more")]
    repo.git("checkout", "-q", "main")
    made.append(repo.change("file", "main\n"))
    repo.git("checkout", "-q", "topic")
    assert repo.run("git", "rebase", "-q", "main").returncode == 1
    (repo.path / "file").write_text("both\n")
    repo.git("add", "file")
    repo.git("commit", "-q", "-m", "resolved by hand")
    repo.git("rebase", "--continue", GIT_EDITOR="true")
    assert repo.logged == made


def test_picks_and_reverts_are_commits(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "topic")
    for number in range(3):
        repo.change(f"file{number}")
    repo.git("checkout", "-q", "main")
    repo.change("other")
    repo.install()
    repo.git("cherry-pick", "main..topic")
    repo.git("revert", "--no-edit", "HEAD", "HEAD~1")
    assert repo.logged == repo.git("log", "--reverse", "--format=%h", "-5").split()
    assert repo.subjects[3] == 'Revert "write file2"'


def test_merges(repo: Repo) -> None:
    repo.install("post-commit", "post-merge")
    repo.git("checkout", "-q", "-b", "topic")
    made = [repo.change("file1"), repo.change("file2")]
    repo.git("checkout", "-q", "-b", "other", "main")
    made.append(repo.change("file", "other\n"))
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "topic")  # a fast-forward: nothing new
    made.append(repo.change("file", "main\n"))
    assert repo.logged == made
    repo.git("checkout", "-q", "-b", "merged", "other")
    repo.git("merge", "-q", "--no-edit", "topic")
    made.append(repo.git("rev-parse", "--short", "HEAD"))
    assert repo.logged == made
    assert f"Merge branch 'topic' into merged ({made[-1]} on merged, 2 files)" in repo.log
    repo.git("checkout", "-q", "other")
    repo.git("merge", "-q", "merged")  # a fast-forward onto a merge
    repo.git("checkout", "-q", "main")
    assert repo.run("git", "merge", "other").returncode == 1
    (repo.path / "file").write_text("both\n")
    repo.git("commit", "-q", "-a", "--no-edit")
    made.append(repo.git("rev-parse", "--short", "HEAD"))
    repo.git("checkout", "-q", "-b", "squashed", "HEAD~2")
    repo.git("merge", "-q", "--squash", "main")
    assert repo.logged == made
    made.append(repo.commit("all at once"))
    assert repo.logged == made


def test_a_merge_that_others_made_is_not_logged(repo: Repo) -> None:
    repo.git("branch", "behind")
    repo.git("checkout", "-q", "-b", "topic")
    repo.change("file")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "--no-edit", "topic")
    repo.git("checkout", "-q", "-b", "later")
    repo.change("more")
    repo.install("post-commit", "post-merge")
    repo.git("checkout", "-q", "behind")
    repo.git("merge", "-q", "main")  # by fast-forward, as most pulls are
    assert repo.git("rev-list", "--merges", "--count", "HEAD") == "1"
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "later")
    assert repo.logged == []


def test_lines_in_two_hooks_of_one_commit_log_it_once(repo: Repo) -> None:
    """What a manager leaves that keeps the old hook, runs it, and is added to as well."""
    repo.install()
    legacy = repo.hook.with_name("post-commit.legacy")
    repo.hook.rename(legacy)
    script(repo.hook, '#!/usr/bin/env bash\n# File generated by pre-commit\nexec "$0.legacy"\n')
    changed = repo.install()
    assert "pre-commit" in changed.notes[0]
    made = repo.commit()
    assert repo.logged == [made]


# Where it works


def test_a_linked_worktree_logs_in_the_memory_of_the_main_one(repo: Repo, tmp_path: Path) -> None:
    linked = tmp_path / "linked tree"
    repo.git("worktree", "add", "-q", "-b", "side", str(linked))
    changed = repo.install(cwd=linked)
    assert changed.hooks[0].path == str(repo.hook)
    made = [repo.commit("in the linked one", cwd=linked), repo.commit("in the main one")]
    assert repo.logged == made
    repo.remove(cwd=linked)
    assert not repo.hook.exists()


def test_a_rebase_elsewhere_hides_no_commit_here(repo: Repo, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "-b", "side", str(linked))
    repo.install()
    first = repo.commit("kept", cwd=linked)
    assert repo.run("git", "rebase", "-x", "false", "--force", "main", cwd=linked).returncode
    assert (repo.path / ".git/worktrees/linked/rebase-merge").is_dir()
    assert repo.logged == [first]
    assert repo.logged == [first, repo.commit()][:1] and len(repo.logged) == 2


def test_a_submodule_has_hooks_of_its_own(repo: Repo, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner", repo.program)
    inner.path.mkdir()
    inner.git("init", "-q", "-b", "main")
    inner.commit("inner start")
    allow = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "protocol.file.allow",
        "GIT_CONFIG_VALUE_0": "always",
    }
    repo.git("submodule", "add", "-q", str(inner.path), "lib", **allow)
    repo.git("commit", "-q", "-m", "Add lib")
    changed = repo.install(cwd=repo.path / "lib")
    assert changed.hooks[0].path == str(repo.path / ".git/modules/lib/hooks/post-commit")
    made = repo.commit("in the submodule", cwd=repo.path / "lib")
    repo.commit("in the outer one, which has no hooks")
    assert repo.logged == [made]


def test_a_bare_repository_is_refused_and_its_worktree_is_not(repo: Repo, tmp_path: Path) -> None:
    store = tmp_path / "store.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(store))
    with pytest.raises(RefusedError, match="bare"):
        repo.install(cwd=store)
    tree = tmp_path / "tree"
    repo.git("worktree", "add", "-q", "-b", "work", str(tree), cwd=store)
    repo.install(cwd=tree)
    assert (store / "hooks/post-commit").exists()
    repo.commit("without a memory", cwd=tree)
    (tree / ".decsr/memory/daily").mkdir(parents=True)
    made = repo.commit("with one", cwd=tree)
    assert made in next((tree / ".decsr/memory/daily").iterdir()).read_text()
    assert len(repo.remove(cwd=store).hooks) == 1


def test_outside_a_repository(tmp_path: Path, bare_repo: Repo) -> None:
    with pytest.raises(WorkspaceError, match="not a git repository"):
        bare_repo.install(cwd=tmp_path)
    with pytest.raises(WorkspaceError, match="work tree"):
        bare_repo.install(cwd=bare_repo.path / ".git")
    with pytest.raises(WorkspaceError, match="cannot run git"):
        hooks.status(str(bare_repo.path), environ={"PATH": str(tmp_path)})


@pytest.mark.parametrize("is_absolute", [False, True])
def test_hooks_path_in_the_working_tree(repo: Repo, is_absolute: bool) -> None:
    below = repo.path / "below"
    below.mkdir()
    folder = repo.path / ".githooks"
    repo.git("config", "core.hooksPath", str(folder) if is_absolute else ".githooks")
    changed = repo.install(cwd=below)
    assert changed.hooks[0].path == str(folder / "post-commit")
    assert any("working tree" in note for note in changed.notes)
    made = repo.commit(cwd=below)
    assert repo.logged == [made]
    repo.remove(cwd=below)
    assert not folder.exists()


def test_hooks_path_of_several_repositories(repo: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "global hooks"
    repo.git("config", "core.hooksPath", str(folder))
    with pytest.raises(RefusedError, match="other repositories") as caught:
        repo.install()
    assert "--global" in caught.value.hint
    assert not folder.exists()
    repo.install(is_global=True)
    made = repo.commit()
    assert repo.logged == [made]
    repo.git("config", "core.hooksPath", os.devnull)
    with pytest.raises(RefusedError, match="no folder"):
        repo.install()


def test_lines_that_core_hooks_path_left_behind(repo: Repo) -> None:
    repo.install()
    repo.git("config", "core.hooksPath", ".githooks")
    assert repo.states() == [
        "post-commit not installed",
        "post-merge not installed",
        "post-commit not run: core.hooksPath is another folder",
    ]
    repo.install()
    assert len(repo.remove().hooks) == 2
    assert not repo.hook.exists()


# What must never happen


def test_the_git_dir_of_another_repository(repo: Repo, tmp_path: Path) -> None:
    """What a hook of one repository does to a commit that it makes in another."""
    other = Repo(tmp_path / "other", repo.program)
    (other.path / ".decsr/memory/daily").mkdir(parents=True)
    other.git("init", "-q", "-b", "trunk")
    other.commit("other start")
    for one in (repo, other):
        one.install()
    before = repo.git("for-each-ref"), repo.git("ls-files", "-s")
    told = {
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(repo.path),
        "GIT_INDEX_FILE": str(other.path / ".git/index"),
    }
    repo.git("commit", "-q", "--allow-empty", "-m", "astray", **told)
    assert other.git("log", "-1", "--format=%s") == "astray"
    assert (repo.logged, other.logged) == ([], [])
    assert (repo.git("for-each-ref"), repo.git("ls-files", "-s")) == before
    for one in (repo, other):
        one.git("fsck", "--strict")
        assert one.commit("on its own") in one.logged


def test_its_own_git_dir_and_a_time_out_of_config(repo: Repo) -> None:
    repo.install()
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "color.ui", "always")
    repo.git("config", "format.pretty", "fuller")
    repo.git("commit", "-q", "--allow-empty", "-m", "told", GIT_DIR=str(repo.path / ".git"))
    assert repo.subjects == ["told"]
    assert "\x1b" not in repo.log


@pytest.mark.parametrize("program", ["#!/bin/sh\nexec sleep 60\n", "#!/bin/sh\nsleep 60\n"])
def test_a_mem_that_hangs_is_stopped(repo: Repo, tmp_path: Path, program: str) -> None:
    repo.program = str(script(tmp_path / "hang/mem", program.replace("\n", "\necho $$ >pid\n", 1)))
    repo.install()
    text = repo.hook.read_text()
    assert text.count("sleep 10") == 1
    repo.hook.write_text(text.replace("sleep 10", "sleep 1"))
    before = time.monotonic()
    done = repo.run("git", "commit", "--allow-empty", "-q", "-m", "patience")
    assert 1 <= time.monotonic() - before < 4
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    with pytest.raises(ProcessLookupError):
        os.kill(int((repo.path / "pid").read_text()), 0)


def test_a_commit_while_the_memory_is_held_up_is_logged_by_the_next(repo: Repo) -> None:
    repo.install()
    holder = held_by_another(str(repo.path / ".decsr/lock"))
    before = time.monotonic()
    done = repo.run("git", "commit", "-q", "--allow-empty", "-m", "held up")
    took = time.monotonic() - before
    holder.kill()
    holder.wait()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert took < hook.SECONDS
    assert repo.log == ""
    repo.commit("after it")
    assert repo.subjects == ["held up", "after it"]
    assert list((repo.path / ".decsr").glob("waiting*")) == []


def test_nothing_is_left_running(repo: Repo, tmp_path: Path) -> None:
    repo.program = str(script(tmp_path / "quick/mem", "#!/bin/sh\nexit 70\n"))
    repo.install()
    mark = f"MARK_{os.getpid()}"
    repo.git("commit", "-q", "--allow-empty", "-m", "quick", **{mark: "1"})
    time.sleep(0.2)  # the nap is told to end, and nobody waits for it
    for process in Path("/proc").glob("[0-9]*/environ"):
        try:
            assert mark.encode() not in process.read_bytes(), process
        except (PermissionError, FileNotFoundError, ProcessLookupError):
            continue


def test_without_mem_or_a_memory_it_is_silent(bare_repo: Repo, tmp_path: Path) -> None:
    repo = bare_repo
    changed = repo.install()
    assert any("until there is a memory" in note for note in changed.notes)
    for program in (repo.program, str(tmp_path / "nowhere/mem")):
        repo.program = program
        repo.install()
        done = repo.run("git", "commit", "--allow-empty", "-q", "-m", "alone", PATH="/usr/bin:/bin")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (repo.path / ".decsr").exists()


def test_the_path_of_git_is_the_second_choice(repo: Repo, tmp_path: Path) -> None:
    repo.program = str(tmp_path / "gone/mem")
    repo.install()
    folder = tmp_path / "on the path"
    script(folder / "mem", "#!/bin/sh\n: another program of this name\n")
    real_mem(folder / "memcli")
    made = []
    for path in (f"{folder}:/usr/bin:/bin", str(folder)):
        repo.env["PATH"] = path
        git = "/usr/bin/git" if os.access("/usr/bin/git", os.X_OK) else "git"
        assert repo.run(git, "commit", "--allow-empty", "-q", "-m", path).returncode == 0
        made.append(path)
    assert repo.subjects == made
    found = hooks.status(str(repo.path), environ=os.environ).hooks[0]
    assert (found.state, found.is_program_there) == ("installed", False)


# Beside other hooks

OTHERS = {
    "shell": b'#!/bin/sh\necho ran $# "$2" >&2\ncat\nexit 3\n',
    "early exit": b'#!/usr/bin/env bash\n[ "$1" = a ] && { echo early; exit 4; }\necho late\n',
    "exec": b'#!/bin/sh -e\nexec printf "%s;" "$@"\n',
    "unset and false": b"#!/bin/sh -eu\nfalse\necho not here\n",
    "python": f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:])\nsys.exit(5)\n".encode(),
    "no first line": b"echo plain $#; exit 6\n",
    "no line end": b"#!/bin/sh",
    "binary tail": b'#!/bin/sh\ntail -n +3 "$0"; exit 7\n\0\xff\n',
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("is_link", [False, True])
def test_a_hook_that_was_there_runs_as_before(repo: Repo, name: str, is_link: bool) -> None:
    target = repo.hook
    if is_link:
        target = script(repo.path / "scripts/hook", OTHERS[name])
        repo.hook.symlink_to("../../scripts/hook")
    else:
        script(target, OTHERS[name])
    # By way of a shell, which also runs a script without a first line, as git does.
    call = ("sh", "-c", '.git/hooks/post-commit "$@"; exit $?', "sh", "a", "b  c")
    before = repo.run(*call)
    changed = repo.install()
    assert changed.hooks[0].what == "installed"
    after = repo.run(*call)
    assert [after.returncode, after.stdout] == [before.returncode, before.stdout]
    assert after.stderr.replace(b".mem-chained", b"") == before.stderr
    assert len(repo.logged) == 1, "run by hand it logs HEAD"
    made = repo.commit()
    assert made in repo.logged
    repo.remove()
    assert repo.hook.is_symlink() == is_link
    assert target.read_bytes() == OTHERS[name]


def test_a_hook_that_was_switched_off_stays_off(repo: Repo) -> None:
    script(repo.hook, "#!/bin/sh\ntouch ran\n", mode=0o644)
    changed = repo.install()
    assert changed.hooks[0].did[0].startswith(f"moved {repo.hook} to")
    assert repo.commit() in repo.logged
    assert not (repo.path / "ran").exists()
    repo.remove()
    assert stat.S_IMODE(repo.hook.stat().st_mode) == 0o644


def test_a_hook_that_commits_is_logged_with_its_commit(repo: Repo) -> None:
    script(
        repo.hook,
        "#!/bin/sh\n[ -e once ] || { touch once; git commit -q --amend --allow-empty -m ours; }\n",
    )
    repo.install()
    repo.commit("theirs")
    assert repo.subjects == ["theirs", "ours"]


FIRST_LINES = st.sampled_from(
    [
        b"#!/bin/sh\n",
        b"#! /bin/bash -e\n",
        b"#!/usr/bin/env bash\n",
        b"#!/bin/sh\r\n",
        b"#!/usr/bin/python3\n",
        b"#!/bin/sh",
        b"",
        b"# >>> conda >>>\n",
        hook.HEAD + b"\n",
    ]
)
MODES = st.sampled_from([0o755, 0o700, 0o644, 0o600, 0o775, 0o555, 0o4755])
BODIES = st.one_of(
    st.binary(max_size=60), st.text(alphabet="exit \n\r\t#<>'\"$", max_size=60).map(str.encode)
)
FILES = st.tuples(FIRST_LINES, BODIES, MODES)


def seen(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The folder itself and all in it: modes, and bytes or where a link leads."""
    found = {".": (folder.lstat().st_mode, b"")} if folder.exists() else {}
    for path in sorted(folder.glob("*")):
        data = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
        found[path.name] = (path.lstat().st_mode, data)
    return found


@pytest.fixture(scope="module")
def empty_repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("exact") / "repo", "/opt/mem's/mem")
    repo.path.mkdir()
    repo.git("init", "-q", "--template=")
    return repo


@settings(max_examples=40)
@given(
    files=st.dictionaries(
        st.sampled_from(hook.EVENTS), st.one_of(FILES, st.text("ab/.", min_size=1))
    ),
    events=st.sampled_from([hook.EVENTS, hook.EVENTS[:1], hook.EVENTS[1:]]),
    has_folder=st.booleans(),
    umask=st.sampled_from([0o022, 0o077]),
)
def test_what_was_there_comes_back_to_the_byte(
    empty_repo: Repo,
    files: dict[str, tuple[bytes, bytes, int] | str],
    events: Sequence[str],
    has_folder: bool,
    umask: int,
) -> None:
    with tempfile.TemporaryDirectory(dir=empty_repo.path) as name:
        folder = Path(name) / "hooks"
        empty_repo.git("config", "core.hooksPath", str(folder))
        if has_folder or files:
            folder.mkdir()
        for event, what in files.items():
            if isinstance(what, str):
                (folder / event).symlink_to(what)
            else:
                script(folder / event, what[0] + what[1], what[2])
        before = seen(folder)
        mask = os.umask(umask)
        try:
            assert {one.what for one in empty_repo.install(*events).hooks} == {"installed"}
            installed = seen(folder)
            assert {one.what for one in empty_repo.install(*events).hooks} == {"unchanged"}
            assert seen(folder) == installed
            assert set(empty_repo.states()) >= {f"{event} installed" for event in events}
            for event in events:
                assert os.access(folder / event, os.X_OK)
                assert b"mem='/opt/mem'\\''s/mem'" in (folder / event).read_bytes()
            assert len(empty_repo.remove().hooks) == len(events)
        finally:
            os.umask(mask)
        assert seen(folder) == before
        assert empty_repo.remove().hooks == ()


# Edited, outdated, in the way


def test_what_is_written_around_the_lines_stays(repo: Repo) -> None:
    repo.install()
    with repo.hook.open("a") as file:
        file.write("echo mine\n")
    repo.remove()
    assert repo.hook.read_bytes() == b"#!/bin/sh\necho mine\n"


def test_edited_lines_are_not_lost_unasked(repo: Repo) -> None:
    script(repo.hook, "#!/bin/sh\necho mine\n")
    repo.install()
    edited = repo.hook.read_bytes().replace(b"sleep 10", b"sleep 99")
    repo.hook.write_bytes(edited)
    assert repo.states()[0] == "post-commit edited"
    for change in (repo.install, repo.remove):
        with pytest.raises(RefusedError, match="edited") as caught:
            change()
        assert "--force" in caught.value.hint
    assert repo.hook.read_bytes() == edited
    assert repo.install(force=True).hooks[0].what == "updated"
    assert repo.states()[0] == "post-commit installed"
    repo.hook.write_bytes(edited)
    repo.remove(force=True)
    assert repo.hook.read_bytes() == b"#!/bin/sh\necho mine\n"
    repo.hook.write_bytes(edited[: edited.index(b"# <<<")])
    for change in (repo.install, repo.remove):
        with pytest.raises(RefusedError, match="lost their end"):
            change()


def test_lines_beside_a_moved_hook_are_not_lost(repo: Repo) -> None:
    script(repo.hook, f"#!{sys.executable}\n")
    repo.install("post-commit", "post-merge")
    with repo.hook.open("a") as file:
        file.write("echo mine\n")
    with pytest.raises(RefusedError, match="not of mem"):
        repo.remove(force=True)
    assert "echo mine" in repo.hook.read_text()
    assert (repo.path / ".git/hooks/post-merge").exists(), "nothing is done by halves"


def test_lines_of_another_version_are_outdated_and_replaced(repo: Repo) -> None:
    repo.install()
    now = repo.hook.read_bytes()
    start, _, _ = now.removeprefix(hook.HEAD).rpartition(b"# <<<")
    old = start.replace(b"hooks 1:", b"hooks 0:").replace(b"sleep 10", b"sleep 30")
    summed = hashlib.sha256(old).hexdigest()[:16].encode()
    repo.hook.write_bytes(hook.HEAD + old + b"# <<< mem hooks: " + summed + b" <<<\n")
    assert repo.states()[0] == "post-commit outdated"
    assert repo.install().hooks[0].what == "updated"
    assert repo.hook.read_bytes() == now
    repo.hook.chmod(0o644)
    assert repo.states()[0] == "post-commit not run: it is not executable"


def test_a_moved_hook_in_the_way_is_not_overwritten(repo: Repo) -> None:
    chained = script(repo.hook.with_name("post-commit.mem-chained"), "#!/bin/sh\necho kept\n")
    with pytest.raises(RefusedError, match="in the way"):
        repo.install()
    assert chained.read_text() == "#!/bin/sh\necho kept\n"
    repo.hook.hardlink_to(chained)  # as a crash leaves it, halfway through
    repo.hook.chmod(0o644)
    repo.install()
    repo.remove()
    assert (repo.hook.read_text(), chained.exists()) == ("#!/bin/sh\necho kept\n", False)


def test_a_folder_by_the_name_of_a_hook_is_refused(repo: Repo) -> None:
    repo.hook.mkdir()
    with pytest.raises(RefusedError, match="neither"):
        repo.install()


# At the terminal


def test_the_command(bare_repo: Repo) -> None:
    repo = bare_repo
    done = repo.run(repo.program, "hooks", "status")
    assert done.returncode == 1
    done = repo.run(repo.program, "init", "--hooks", "--json")
    assert done.returncode == 0, done
    answer = json.loads(done.stdout)
    assert answer["hooks"][0]["did"] == [f"made {repo.hook}"]
    assert answer["created"]
    done = repo.run(repo.program, "hooks", "install", "--post-merge")
    assert done.stdout.decode().splitlines() == [
        f"unchanged post-commit: {repo.hook}",
        f"installed post-merge: made {repo.hook.with_name('post-merge')}",
    ]
    done = repo.run(repo.program, "hooks", "status", GIT_DIR="/nonexistent")
    assert done.returncode == 0
    assert b"post-commit: installed, " in done.stdout
    done = repo.run(repo.program, "hooks", "remove", "--json")
    assert [one["what"] for one in json.loads(done.stdout)["hooks"]] == ["removed"] * 2
    assert repo.run(repo.program, "hooks", "remove").returncode == 0


def test_init_with_hooks_outside_a_repository_still_makes_the_memory(
    tmp_path: Path, bare_repo: Repo
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    done = bare_repo.run(bare_repo.program, "init", "--hooks", cwd=outside)
    assert done.returncode == 3
    assert (outside / ".decsr/memory").is_dir()
    assert b"made .decsr/" in done.stdout
