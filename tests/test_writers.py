"""Many processes that write at one moment: nothing is lost, nothing twice, no wait is long."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from memcli.text.daily import parse as parse_log
from memcli.text.facts import parse as parse_memory
from tests.conftest import Program

DAY = "2026-11-20"


@dataclass
class Seen:
    """What rounds of writers left."""

    wanted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)  # seconds from the start signal to the end

    @property
    def lost(self) -> list[str]:
        return sorted((self.wanted - self.found).elements())

    @property
    def twice(self) -> list[str]:
        return sorted((self.found - self.wanted).elements())


def at_once(mem: Program, commands: Sequence[Sequence[str]], stdins: Sequence[str]) -> list[float]:
    """Run commands that read standard input: all are started, then all are told at one moment."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "memcli", *words],
            cwd=mem.cwd,
            env=mem.environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for words in commands
    ]
    for process, text in zip(running, stdins, strict=True):
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.flush()
    # All have opened the workspace by now and wait for the end of their input.
    time.sleep(0.1 * len(running))
    began = time.monotonic()
    for process in running:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    left = dict(enumerate(running))
    waits = []
    while left:
        for number, process in list(left.items()):
            if process.poll() is not None:
                waits.append(time.monotonic() - began)
                del left[number]
                assert process.stdout is not None
                said = process.stdout.read()
                process.stdout.close()
                assert process.returncode == 0, said
        time.sleep(0.002)
    return waits


def appends(mem: Program, processes: int, rounds: int) -> Seen:
    seen = Seen()
    words = ("append-daily", "--date", f"{DAY}T10:00", "--stage", "bench", "-")
    for turn in range(rounds):
        bodies = [f"writer {number} in round {turn}\n\n- done" for number in range(processes)]
        seen.waits += at_once(mem, [words] * processes, bodies)
        seen.wanted.update(bodies)
    text = (mem.cwd / f".decsr/memory/daily/{DAY}.md").read_text()
    seen.found.update(
        one.entry.body for one in parse_log(text, datetime.fromisoformat(f"{DAY}T00:00"))
    )
    assert text.count("# Daily log") == 1
    return seen


def promotes(mem: Program, processes: int, rounds: int) -> Seen:
    """Each of them takes a document of its own, and two that others take as well."""
    seen = Seen()
    for turn in range(rounds):
        own = [_document(f"Hall {turn} takes pump {number}.") for number in range(processes)]
        shared = []
        for number in range(processes):
            path = mem.cwd / f"docs/{turn}-{number}.md"
            path.parent.mkdir(exist_ok=True)
            pair = (number, (number + 1) % processes)
            texts = [f"Gate {turn} closes at {100 + one} bar." for one in pair]
            path.write_text(_document(*texts, f"Round {turn} ends on time."))
            shared.append(str(path))
            seen.wanted.update(texts[:1])
        words = [
            ("promote", "-", shared[number], shared[(number + 3) % processes])
            for number in range(processes)
        ]
        seen.waits += at_once(mem, words, own)
        seen.wanted.update(f"Hall {turn} takes pump {number}." for number in range(processes))
        seen.wanted.update([f"Round {turn} ends on time."])
    text = (mem.cwd / ".decsr/memory/MEMORY.md").read_text()
    seen.found.update(it.fact.text for it in parse_memory(text).facts)
    return seen


def _document(*texts: str) -> str:
    return "## Decisions\n\n" + "".join(f"- {text}\n" for text in texts)


@pytest.fixture
def bare(mem: Program, tmp_path: Path) -> Program:
    """The program at home in a workspace with an index, in which nothing is remembered."""
    mem.cwd = tmp_path / "bare"
    mem.cwd.mkdir()
    mem("init", code=0)
    mem("index", code=0)
    return mem


@pytest.mark.parametrize(
    ("processes", "rounds"), [(8, 1), pytest.param(50, 20, marks=pytest.mark.slow)]
)
def test_entries_written_at_once_are_all_there(bare: Program, processes: int, rounds: int) -> None:
    seen = appends(bare, processes, rounds)
    assert (seen.lost, seen.twice) == ([], [])
    assert max(seen.waits) < 30
    bare("doctor", code=0)


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_documents_promoted_at_once_give_each_fact_once(bare: Program, rounds: int) -> None:
    seen = promotes(bare, 8, rounds)
    assert (seen.lost, seen.twice) == ([], [])
    assert max(seen.waits) < 30
    bare("doctor", code=0)
