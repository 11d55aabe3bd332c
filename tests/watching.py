"""A watch that runs in a process of its own, and whether its index is in step."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tests.conftest import Program, Ran, opened

PATIENCE = 20.0  # seconds: a machine that is busy with other things still gets there


class Watching:
    """``mem watch`` in a workspace; `before` is a command that leads to it."""

    def __init__(
        self,
        mem: Program,
        *words: str,
        env: Mapping[str, str] | None = None,
        before: tuple[str, ...] = (),
    ) -> None:
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "memcli", "watch", "--json", *words],
            cwd=mem.cwd,
            env={**mem.environ(), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def next(self, seconds: float = PATIENCE) -> dict[str, Any]:
        """The next batch."""
        try:
            return dict(json.loads(self._lines.get(timeout=seconds)))
        except Empty:
            raise AssertionError(f"no batch within {seconds} s") from None

    def until(
        self, is_wanted: Callable[[dict[str, Any]], bool], seconds: float = PATIENCE
    ) -> dict[str, Any]:
        """The first batch of that kind."""
        limit = time.monotonic() + seconds
        while not is_wanted(batch := self.next(limit - time.monotonic())):
            pass
        return batch

    def rest(self) -> list[dict[str, Any]]:
        """The batches that are there already."""
        found = []
        while not self._lines.empty():
            found.append(self.next())
        return found

    def end(self, number: int = signal.SIGINT) -> Ran:
        """Send it a signal and wait; the answer is what was not read yet."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> Ran:
        code = self.process.wait(PATIENCE)
        self._reader.join()
        out = ""
        while not self._lines.empty():
            out += self._lines.get()
        assert self.process.stderr is not None
        return Ran(code, out, self.process.stderr.read())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def watching(mem: Program, *words: str, **how: Any) -> Iterator[Watching]:
    """A watch for the block, which begins when it has caught up."""
    found = Watching(mem, *words, **how)
    try:
        yield found
    finally:
        found.close()


def files(root: Path) -> dict[str, bytes]:
    """The memory files that count, each with the digest that the index keeps of it."""
    memory = os.path.join(root, ".decsr", "memory")
    found = {}
    for folder, folders, names in os.walk(memory):
        folders[:] = [name for name in folders if name[0] != "."]
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".md") and name[0] != "." and not os.path.islink(path):
                with open(path, "rb") as file:
                    digest = hashlib.blake2b(file.read(), digest_size=16).digest()
                found[os.path.relpath(path, memory)] = digest
    return found


def indexed(root: Path) -> dict[str, bytes]:
    """The files that the index has, each with the digest of what was indexed."""
    workspace = opened(root)
    try:
        return {path: stamp.hash for path, stamp in workspace.backend.stamps().items()}
    finally:
        workspace.close()


def wait_until(is_so: Callable[[], bool], seconds: float = PATIENCE) -> float:
    """Wait for it; how many seconds it took."""
    started = time.monotonic()
    while not is_so():
        assert time.monotonic() - started < seconds, f"not so after {seconds} s"
        time.sleep(0.02)
    return time.monotonic() - started


def wait_in_step(root: Path, seconds: float = PATIENCE) -> float:
    """Wait until the index has exactly what the files say; how many seconds it took."""
    try:
        return wait_until(lambda: indexed(root) == files(root), seconds)
    except AssertionError:
        assert indexed(root) == files(root)
        raise
