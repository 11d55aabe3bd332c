"""What a child process costs: CPU time and peak memory, of several commands in turn.

A shared machine drifts, so commands that are compared run once a round each, in shuffled order, and
the least of all rounds counts: noise only ever adds.
"""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence

Command = Sequence[str] | Callable[[int], Sequence[str]]  # or made anew for each round


# Without what makes Python compile every module anew, or write each line by itself.
ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {
    "OPENBLAS_NUM_THREADS": "1"  # the second thread only spins
}


def cost(command: Sequence[str]) -> tuple[float, float]:
    """CPU milliseconds (user and system) and peak resident megabytes of one run.

    The peak is never below this process's own. Raises RuntimeError when the command fails.
    """
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=ENVIRON,
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            raise RuntimeError(f"{command} failed: {said.read().decode(errors='replace')}")
    return (used.ru_utime + used.ru_stime) * 1000, used.ru_maxrss / 1024


def least(commands: Mapping[str, Command], rounds: int) -> dict[str, float]:
    """The least CPU milliseconds of each command, after one run each that does not count."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    order = list(commands)
    for turn in range(rounds + 1):
        random.shuffle(order)
        for name in order:
            command = commands[name]
            cpu, _ = cost(command(turn) if callable(command) else command)
            if turn:
                found[name].append(cpu)
    return {name: min(costs) for name, costs in found.items()}
