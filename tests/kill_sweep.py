"""Run a command again and again, failing at its first, second, third … writing system call.

For proofs that hold at every step: `sweep` lists the calls of one untouched run under strace. Then,
for each of them, it builds a fresh folder, runs the command with the fault at that call, and lets
the caller check what is left.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

WRITES = (
    "write,pwrite64,writev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,"
    "link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fchmod,fchown,chmod,fchmodat,chown,fchownat"
)
OPENS = "openat"  # of which only those count that open for writing
KILL = "signal=KILL"
EIO = "error=EIO"
ENOSPC = "error=ENOSPC"
EINTR = "error=EINTR"

_FOR_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT")

HAS_STRACE = shutil.which("strace") is not None
NO_STRACE = "strace is not installed"


@dataclass(frozen=True)
class Struck:
    """What a run with a fault left behind."""

    at: int  # the number of the call that failed, from 1
    root: str
    code: int
    output: str


def sweep(
    command: Callable[[str], Sequence[str]],
    build: Callable[[str], None],
    check: Callable[[Struck], None],
    *,
    fault: str = KILL,
    calls: str = WRITES,
    step: int = 1,
    lasting: bool = False,
) -> int:
    """Deal the fault at every `step`-th call, one a run, and return how many there were.

    `command(root)` is what to run, `build(root)` fills an empty folder, `check` raises an
    AssertionError when an invariant is broken. The command must make the same calls each time, but
    may make them in several processes, whose calls of one name then fail together. With `lasting`
    every later call of that name fails too, as on a disk that stays full or broken.
    """
    with _fresh(build, "no fault") as root:
        places = _places(command(root), calls)
    assert places, f"no call of {calls} at all"
    for at, (name, number) in enumerate(places[::step]):
        when = f"{number}+" if lasting else f"{number}"
        with _fresh(build, f"call {at * step + 1}, {name} {when}, with {fault}") as root:
            inject = f"inject={name}:{fault}:when={when}"
            run = _run(command(root), "-e", f"trace={name}", "-e", inject)
            if fault == KILL:
                assert run.returncode == -signal.SIGKILL, f"not killed: {run.stdout}"
            check(Struck(at * step + 1, root, run.returncode, run.stdout))
    return len(places[::step])


def trace(command: Sequence[str], calls: str) -> list[str]:
    """The names of these calls in the order in which a command makes them; it must succeed."""
    return [name for name, _ in _places(command, calls)]


def _places(command: Sequence[str], calls: str) -> list[tuple[str, int]]:
    """Each call with its number, from 1, among those of its name."""
    with tempfile.NamedTemporaryFile("r", errors="replace") as log:
        run = _run(command, "-e", f"trace={calls}", log=log.name)
        assert run.returncode == 0, run.stdout
        lines = [line.split(None, 1)[1] for line in log]
    counts: Counter[str] = Counter()
    places = []
    for line in lines:
        name = line.partition("(")[0]
        if not name[0].isalpha():
            continue
        counts[name] += 1
        if name != OPENS or _FOR_WRITING.search(line):
            places.append((name, counts[name]))
    return places


def kill_at_random(
    command: Callable[[str], Sequence[str]],
    build: Callable[[str], None],
    check: Callable[[Struck], None],
    *,
    runs: int,
    seconds: float,
    seed: int,
) -> int:
    """Kill the command after a random time up to `seconds`, `runs` times; how many were in time."""
    random = Random(seed)
    killed = 0
    for number in range(runs):
        wait = random.uniform(0, seconds)
        with _fresh(build, f"run {number} of seed {seed}, killed after {wait:.4f} s") as root:
            process = subprocess.Popen(
                command(root),
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            try:
                output, _ = process.communicate(timeout=wait)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
                killed += 1
            check(Struck(number, root, process.returncode, output))
    return killed


def _run(
    command: Sequence[str], *options: str, log: str = "/dev/null"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["strace", "-f", "-qq", "-o", log, *options, *command],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def _fresh(build: Callable[[str], None], where: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="sweep-") as folder:
        root = os.path.join(os.path.realpath(folder), "root")
        os.mkdir(root)
        build(root)
        try:
            yield root
        except AssertionError as error:
            raise AssertionError(f"at {where}: {error}") from error


def _environment() -> dict[str, str]:
    # Cache files of Python would be counted too.
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
