"""Every writing verb stopped everywhere, with a count of it: ``python -m tests.bench.crashes``.

Each verb is killed, and meets EIO and ENOSPC, at every system call that writes, and is killed at
random moments; a line a verb and fault tells of strikes and violations. TMPDIR on a memory file
system makes it faster: a flush changes nothing for a process that is killed.
"""

from __future__ import annotations

import argparse
import compileall
import multiprocessing
import os
import sys
import time
from collections.abc import Callable

import memcli
from tests.conftest import BY_WORD
from tests.kill_sweep import EIO, ENOSPC, KILL, OPENS, WRITES, Struck, kill_at_random, sweep
from tests.test_crashes import VERBS, command, proof

RANDOM = "kill at random"
SHOWN = 5  # violations of one line
FAULTS = (KILL, EIO, ENOSPC, RANDOM)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[], help="verbs, all if none")
    parser.add_argument("--fault", action="append", choices=FAULTS, help="all if none")
    parser.add_argument("--kills", type=int, default=50, help="at random, of each verb")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    # Or else every run compiles the package again.
    compileall.compile_dir(os.path.dirname(memcli.__file__), quiet=1)
    os.environ.update(BY_WORD, OPENBLAS_NUM_THREADS="1")
    work = [
        (name, fault, options.kills, options.seed)
        for name in options.names or VERBS
        for fault in options.fault or FAULTS
    ]
    strikes = violations = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for line, struck, broken in pool.imap(_struck, work):
            print(line, flush=True)
            strikes += struck
            violations += broken
    print(f"{'all':<38}{'':<16}{strikes:>6} strikes {violations:>4} violations")
    return 1 if violations else 0


def _struck(work: tuple[str, str, int, int]) -> tuple[str, int, int]:
    """Deal one fault to one verb everywhere: a line about it, the strikes and the violations."""
    name, fault, kills, seed = work
    broken: list[str] = []
    started = time.monotonic()
    with proof(name) as it:
        check = _collecting(it.check, broken)
        run = command(it.verb.words)
        if fault == RANDOM:
            strikes = 0
            while strikes < kills:
                strikes += kill_at_random(
                    run, it.build, check, runs=kills - strikes, seconds=it.seconds, seed=seed
                )
                seed += 1
        else:
            strikes = sweep(run, it.build, check, fault=fault, calls=f"{WRITES},{OPENS}")
    took = time.monotonic() - started
    line = f"{name:<38}{fault:<16}{strikes:>6} strikes {len(broken):>4} violations {took:>6.0f} s"
    return "\n  ".join([line, *broken[:SHOWN]]), strikes, len(broken)


def _collecting(check: Callable[[Struck], None], broken: list[str]) -> Callable[[Struck], None]:
    def checked(struck: Struck) -> None:
        try:
            check(struck)
        except AssertionError as error:
            broken.append(f"at {struck.at}, exit {struck.code}: {error}; said: {struck.output}")

    return checked


if __name__ == "__main__":
    sys.exit(main())
