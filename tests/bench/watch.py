"""What a watch costs and how far it is behind: ``python -m tests.bench.watch ROOT [--minutes N]``.

ROOT holds the memory of ``.decsr``, which is copied. Figures: seconds from a save until the file is
found, CPU while nothing happens, and CPU and resident memory over minutes of churn.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from memcli.ops.watch import DEBOUNCE
from tests.conftest import Program
from tests.ops.test_watch import work
from tests.watching import Watching, wait_in_step, watching

SAVES = 40
IDLE = 30  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--minutes", type=float, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "project")
        shutil.copytree(options.root / ".decsr/memory", root / ".decsr/memory")
        mem = Program(Path(scratch), root)
        for words in ((), ("--poll",)):
            with watching(mem, *words) as seen:
                seen.next(600)
                print(" ".join(["mem watch", *words]))
                idle(seen)
                save(mem, seen)
        with watching(mem) as seen:
            seen.next(600)
            churn(mem, seen, options.minutes)


def save(mem: Program, seen: Watching) -> None:
    path = mem.cwd / ".decsr/memory/tasks/saved.md"
    took = []
    for number in range(SAVES):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Saved\n\nfor the {number}th time\n")
        started = time.monotonic()
        seen.until(lambda batch: "tasks/saved.md" in {*batch["added"], *batch["changed"]})
        took.append(time.monotonic() - started - DEBOUNCE)
    print(
        f"  saved to found, beyond the debounce: median {statistics.median(took):.3f} s,"
        f" most {max(took):.3f} s of {SAVES}"
    )


def idle(seen: Watching) -> None:
    time.sleep(5)
    before = cpu(seen)
    time.sleep(IDLE)
    spent = (cpu(seen) - before) / IDLE
    print(f"  idle: {spent * 1000:.1f} ms CPU a second, {resident(seen):.0f} MB")


def churn(mem: Program, seen: Watching, minutes: float) -> None:
    chance = random.Random(1)
    memory = mem.cwd / ".decsr/memory"
    done = 0
    for part in range(max(1, round(minutes * 2))):
        before, limit = cpu(seen), time.monotonic() + 30
        while time.monotonic() < limit:
            work(memory, chance, done)
            done += 1
            time.sleep(0.02)
        spent = (cpu(seen) - before) / 30
        print(f"  churn {(part + 1) / 2:g} min: {done} operations, {resident(seen):.1f} MB,"
              f" {spent:.0%} of a core")  # fmt: skip
    print(f"  in step {wait_in_step(mem.cwd):.2f} s after the last of them")


def cpu(seen: Watching) -> float:
    """Seconds of CPU that the watch has taken."""
    text = Path(f"/proc/{seen.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(text[11]) + int(text[12])) / os.sysconf("SC_CLK_TCK")


def resident(seen: Watching) -> float:
    """Megabytes of resident memory of the watch."""
    pages = int(Path(f"/proc/{seen.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


if __name__ == "__main__":
    main()
