"""Every writing verb, stopped at each system call that writes: files are as before or after."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.kill_sweep import (
    EIO,
    ENOSPC,
    HAS_STRACE,
    KILL,
    NO_STRACE,
    Struck,
    kill_at_random,
    sweep,
)

MEMORY = """# Project Memory

- The importer retries three times.  <!-- src=docs/plan.md#Decisions hash=8b8f4b5f1a10 -->
- Backups run at night.
"""
PLAN = "# Plan\n\n## Decisions\n\n- The importer retries five times.\n- Logs stay one year.\n"


@dataclass(frozen=True)
class Verb:
    """A command line, and the command lines that lead up to it."""

    words: tuple[str, ...]
    first: tuple[tuple[str, ...], ...] = ()
    codes: tuple[int, ...] = field(default=(0,))  # what a second run may answer


DAY = ("--date", "2026-11-20T10:00")
VERBS = {
    "append-daily": Verb(("append-daily", *DAY, "the queue was drained")),
    "append-daily again": Verb(
        ("append-daily", *DAY, "second"), first=(("append-daily", *DAY, "one"),)
    ),
    "fact add": Verb(("fact", "add", "Deploys happen on Mondays.")),
    # Done before the kill, the fact is gone, and a second run says so.
    "fact remove": Verb(("fact", "remove", "0d08da"), codes=(0, 1)),
    "fact edit": Verb(("fact", "edit", "0d08da", "Backups run hourly.")),
    "promote": Verb(("promote", "docs/plan.md")),
    "undo of an append": Verb(
        ("undo", "1"), first=(("append-daily", *DAY, "taken back"),), codes=(0, 1)
    ),
    "undo of a promote": Verb(("undo", "1"), first=(("promote", "docs/plan.md"),), codes=(0, 1)),
}


def command(words: Sequence[str]) -> Callable[[str], list[str]]:
    return lambda root: [
        sys.executable, "-m", "memcli", words[0], *at_root(words[1:], root)
    ]  # fmt: skip


def at_root(words: Sequence[str], root: str) -> list[str]:
    """The words with the workspace behind the subcommand, and documents by their full path."""
    full = [f"{root}/{word}" if word.startswith("docs/") else word for word in words]
    behind = 1 if full and full[0] in ("add", "remove", "edit") else 0
    return [*full[:behind], "--root", root, *full[behind:]]


def mem(root: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(words)(root), capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def built(verb: Verb) -> Callable[[str], None]:
    def build(root: str) -> None:
        assert mem(root, "init").returncode == 0
        Path(root, "docs").mkdir()
        Path(root, "docs/plan.md").write_text(PLAN)
        Path(root, ".decsr/memory/MEMORY.md").write_text(MEMORY)
        for words in (("index",), *verb.first):
            done = mem(root, *words)
            assert done.returncode == 0, done.stderr

    return build


def memory(root: str) -> dict[str, bytes]:
    folder = Path(root, ".decsr/memory")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def invariant(verb: Verb) -> Callable[[Struck], None]:
    with tempfile.TemporaryDirectory() as root:
        built(verb)(root)
        before = memory(root)
        assert mem(root, *verb.words).returncode == 0
        after = memory(root)

    def check(struck: Struck) -> None:
        assert "Traceback" not in struck.output, struck.output
        found = memory(struck.root)
        for path in before.keys() | after.keys() | found.keys():
            content = found.get(path)
            assert content in (before.get(path), after.get(path)), f"{path}: {content!r}"
        if struck.code == 0:
            assert found == after, "said to be done, and is not"
        again = mem(struck.root, *verb.words)
        assert again.returncode in verb.codes, again.stderr
        doctor = mem(struck.root, "doctor")
        assert doctor.returncode == 0, doctor.stdout

    return check


needs_strace = pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)


@needs_strace
def test_an_append_killed_at_any_tenth_write_is_whole_or_not_there() -> None:
    verb = VERBS["append-daily"]
    assert sweep(command(verb.words), built(verb), invariant(verb), step=10) > 1


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("fault", [KILL, EIO, ENOSPC])
@pytest.mark.parametrize("name", VERBS)
def test_every_verb_holds_at_every_write(name: str, fault: str) -> None:
    verb = VERBS[name]
    assert sweep(command(verb.words), built(verb), invariant(verb), fault=fault) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
def test_every_verb_holds_at_random_moments(name: str) -> None:
    verb = VERBS[name]
    runs = 125  # a thousand over all verbs
    check = invariant(verb)
    assert kill_at_random(command(verb.words), built(verb), check, runs=runs, seconds=0.4, seed=11)
