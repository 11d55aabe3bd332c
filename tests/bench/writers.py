"""What many writers at one moment leave, and how long they wait: ``python -m tests.bench.writers``.

A wait is from the moment at which all are told to write until the process has ended.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from tests.conftest import Program
from tests.test_writers import Seen, appends, promotes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=50, help="that append")
    parser.add_argument("--promotes", type=int, default=8, help="processes that promote")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    bad = 0
    for name, processes, run in (
        ("append-daily", options.processes, appends),
        ("promote", options.promotes, promotes),
    ):
        with tempfile.TemporaryDirectory() as scratch:
            mem = Program(Path(scratch), Path(scratch))
            mem("init", code=0)
            mem("index", code=0)
            seen = run(mem, processes, options.rounds)
            mem("doctor", code=0)
        print(f"{name}: {processes} at once x {options.rounds} rounds: {_told(seen)}", flush=True)
        bad += len(seen.lost) + len(seen.twice)
    return 1 if bad else 0


def _told(seen: Seen) -> str:
    return (
        f"{seen.found.total()} written, {len(seen.lost)} lost, {len(seen.twice)} twice;"
        f" a wait is {statistics.median(seen.waits):.2f} s at the median, {max(seen.waits):.2f} s"
        " at most"
    )


if __name__ == "__main__":
    sys.exit(main())
