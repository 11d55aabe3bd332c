"""Every writing verb, stopped at each system call that writes: files are as before or after."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from memcli.cli.app import main
from tests.kill_sweep import (
    EIO,
    ENOSPC,
    HAS_STRACE,
    KILL,
    NO_STRACE,
    OPENS,
    WRITES,
    Struck,
    kill_at_random,
    sweep,
)

MEMORY = """# Project Memory

- The importer retries three times.  <!-- src=docs/plan.md#Decisions hash=8b8f4b5f1a10 -->
- Backups run at night.
"""
COPIES = """# Project Memory

- Backups run at night.
- The backups run at night  <!-- src=docs/ops.md#Decisions hash=8b8f4b5f1a11 -->
- Logs stay one year.
"""
PLAN = "# Plan\n\n## Decisions\n\n- The importer retries five times.\n- Logs stay one year.\n"
LOG = """# Daily log {day}

## 09:00 — build

We decided that the pump of hall {number} waits {number} seconds.
TODO: ask Lena about hall {number}.
"""
TALK = "".join(
    f"**{who}:** {what} {number}.\n\n"
    for number in range(12)
    for who, what in (
        ("User", "We decided that the parser refuses dates such as"),
        ("Assistant", "I wrote a test for case"),
    )
)
FILES = {
    "docs/plan.md": PLAN,
    "docs/ops.md": "# Ops\n\n## Decisions\n\n- The backups run at night\n",
    "docs/talk.md": TALK,
    ".decsr/config.toml": "[session]\nmax_tokens = 100\n",
    **{
        f".decsr/memory/daily/2020-01-0{number}.md": LOG.format(
            day=f"2020-01-0{number}", number=number
        )
        for number in (5, 6, 7)
    },
}


@dataclass(frozen=True)
class Verb:
    """A command line, and what leads up to it."""

    words: tuple[str, ...]
    first: tuple[tuple[str, ...], ...] = ()  # the command lines before it
    memory: str = MEMORY
    codes: tuple[int, ...] = (0,)  # what a second run may answer
    adds: bool = False  # a second run adds once more
    last: str = ""  # the file that is written when all others are
    later: str = ""  # one that may be left to the next run, which is said
    beside: tuple[tuple[str, str], ...] = ()  # more files before it


DAY = ("--date", "2026-11-20T10:00")
WAITING = (
    ".decsr/waiting-20261119-100000-00000000.log",
    '{"now": "2026-11-19T10:00:00", "stage": "x", "once": "held up", "body": "held up"}',
)
APPENDED = ("append-daily", *DAY, "taken back")
FOLD = ("consolidate", "--older-than", "30", "--fold", "--yes")
SESSION = ("summarize", "--session", "docs/talk.md", "--out")
# Done before the kill, a fact is gone and a revision taken back, and a second run says so.
SAID = (0, 1)
VERBS = {
    "append-daily": Verb(("append-daily", *DAY, "the queue was drained"), adds=True),
    "append-daily again": Verb(
        ("append-daily", *DAY, "second"), first=(("append-daily", *DAY, "one"),), adds=True
    ),
    "append-daily behind one that waited": Verb(
        ("append-daily", *DAY, "--once", "next", "next"),
        beside=(WAITING,),
        later=".decsr/memory/daily/2026-11-19.md",
    ),
    "fact add": Verb(("fact", "add", "Deploys happen on Mondays.")),
    "fact edit": Verb(("fact", "edit", "0d08da", "Backups run hourly.")),
    "fact remove": Verb(("fact", "remove", "0d08da"), codes=SAID),
    "fact disable": Verb(("fact", "disable", "0d08da"), codes=SAID),
    "fact enable": Verb(
        ("fact", "enable", "0d08da"), first=(("fact", "disable", "0d08da"),), codes=SAID
    ),
    "promote": Verb(("promote", "docs/plan.md")),
    "lint --fix": Verb(("lint", "--fix"), memory=COPIES),
    "summarize --task": Verb(("summarize", "--task", "T-1", "docs/talk.md")),
    "summarize --task anew": Verb(
        ("summarize", "--task", "T-1", "docs/plan.md"),
        first=(("summarize", "--task", "T-1", "docs/talk.md"),),
    ),
    "summarize --flush": Verb(("summarize", "--flush", "docs/talk.md", "--now")),
    "summarize --session": Verb((*SESSION, "docs/cut.md"), last="docs/cut.md"),
    "summarize --session in place": Verb((*SESSION, "docs/talk.md"), last="docs/talk.md"),
    "consolidate": Verb(FOLD[:-2], memory=COPIES),
    "consolidate --fold": Verb(FOLD, memory=COPIES),
    "undo of an append": Verb(("undo", "1"), first=(APPENDED,), codes=SAID),
    "undo of a promote": Verb(("undo", "1"), first=(("promote", "docs/plan.md"),), codes=SAID),
    "undo of a fold": Verb(("undo", "1"), first=(FOLD,), memory=COPIES, codes=SAID),
    "undo of an undo": Verb(("undo", "2"), first=(APPENDED, ("undo", "1")), codes=SAID),
}


def command(words: Sequence[str]) -> Callable[[str], list[str]]:
    return lambda root: [sys.executable, "-m", "memcli", *at_root(words, root)]


def at_root(words: Sequence[str], root: str) -> list[str]:
    """The words with the workspace behind the subcommand, and documents by their full path."""
    full = [f"{root}/{word}" if word.startswith("docs/") else word for word in words]
    behind = 2 if words[0] == "fact" else 1
    return [*full[:behind], "--root", root, *full[behind:]]


def mem(root: str, *words: str) -> tuple[int, str]:
    """Run the program in this process, which saves its start; its exit code and what it said."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = main(at_root(words, root))
    return code, said.getvalue()


class Proof:
    """One verb's workspace, made once and copied for each strike, and what must hold after it."""

    def __init__(self, verb: Verb, folder: str) -> None:
        self.verb = verb
        self._model = os.path.join(folder, "model")
        os.mkdir(self._model)
        assert mem(self._model, "init")[0] == 0
        made = {**FILES, ".decsr/memory/MEMORY.md": verb.memory, **dict(verb.beside)}
        for path, text in made.items():
            full = Path(self._model, path)
            full.parent.mkdir(exist_ok=True)
            full.write_text(text)
        for words in (("index",), *verb.first):
            code, said = mem(self._model, *words)
            assert code == 0, said
        self.before = files(self._model)
        done = os.path.join(folder, "done")
        os.mkdir(done)
        self.build(done)
        started = time.monotonic()
        run = subprocess.run(
            command(verb.words)(done), capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        self.seconds = time.monotonic() - started
        assert run.returncode in verb.codes, run.stderr
        self.after = files(done)
        self.problems = problems(done)
        assert self.after != self.before

    def build(self, root: str) -> None:
        shutil.copytree(self._model, root, dirs_exist_ok=True)
        assert mem(root, "index")[0] == 0  # a copied file is another file to the index

    def check(self, struck: Struck) -> None:
        verb = self.verb
        assert "Traceback" not in struck.output and "unexpected" not in struck.output, struck.output
        found = files(struck.root)
        for path in self.before.keys() | self.after.keys() | found.keys():
            content = found.get(path)
            assert content in (self.before.get(path), self.after.get(path)), f"{path}: {content}"
        if struck.code == 0 and not (verb.later and "still waits" in struck.output):
            assert found == self.after, "said to be done, and is not"
        if struck.code == 0:
            assert {**found, verb.later: ""} == {**self.after, verb.later: ""}
        if verb.last and found.get(verb.last) == self.after[verb.last]:
            assert found == self.after, "the last file came before another one"
        code, said = mem(struck.root, *verb.words)
        assert code in verb.codes, said
        if not verb.adds or found == self.before:
            assert files(struck.root) == self.after, f"not as after a second run: {said}"
        assert problems(struck.root) == self.problems


def problems(root: str) -> list[str]:
    """How doctor ends and what it finds; an undo may have brought back what was mended."""
    code, said = mem(root, "doctor")
    return [str(code), *(line for line in said.splitlines() if line.startswith("problem"))]


def files(root: str) -> dict[str, str]:
    """The memory and what lies beside the workspace; the time of day is left out."""
    found = {}
    for folder in (Path(root, ".decsr/memory"), Path(root, "docs")):
        for path in folder.rglob("*"):
            if path.is_file() and not path.name.startswith("."):
                text = path.read_bytes().decode("utf-8", "backslashreplace")
                text = re.sub(r"\d\d:\d\d(:\d\d(Z|[+-]\d\d:\d\d))?", "TIME", text)
                found[str(path.relative_to(root))] = text
    return found


@contextmanager
def proof(name: str) -> Iterator[Proof]:
    with tempfile.TemporaryDirectory() as folder:
        yield Proof(VERBS[name], folder)


needs_strace = pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)


@needs_strace
def test_an_append_killed_at_any_tenth_write_is_whole_or_not_there() -> None:
    with proof("append-daily") as it:
        assert sweep(command(it.verb.words), it.build, it.check, step=10) > 1


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("fault", [KILL, EIO, ENOSPC])
@pytest.mark.parametrize("name", VERBS)
def test_every_verb_holds_at_every_write(name: str, fault: str) -> None:
    with proof(name) as it:
        calls = f"{WRITES},{OPENS}"
        assert sweep(command(it.verb.words), it.build, it.check, fault=fault, calls=calls) > 8


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
def test_every_verb_holds_at_random_moments(name: str) -> None:
    with proof(name) as it:
        assert kill_at_random(
            command(it.verb.words), it.build, it.check, runs=50, seconds=it.seconds, seed=11
        )
