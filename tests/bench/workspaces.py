"""The workspaces that are measured: made once in a cache folder, indexed, filled with vectors."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter

MEM = os.path.join(os.path.dirname(sys.executable), "mem")
DIMENSION = 384
BATCH = 2_000


def prepared(cache: str, generator: str, size: str) -> str:
    """The root of the workspace of that size (S, M or L), indexed, every chunk with a vector.

    `generator` is a script that takes ``DEST --size S``. The vectors are random, since the model
    would take hours, but as many and as large as the model's.
    """
    root = os.path.join(cache, size)
    memory = _memory(root)
    if not os.path.exists(root + ".made"):
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(os.path.dirname(memory))
        _run([sys.executable, generator, memory, "--size", size])
        with open(root + ".made", "w"):
            pass
    _run([MEM, "index", "--no-embed", "--root", root])
    # In a process of its own: a child that is measured begins with the peak memory of its parent.
    _run([sys.executable, "-m", "tests.bench.workspaces", root])
    return root


def copied(root: str, name: str) -> str:
    """A workspace with the same files, indexed without vectors."""
    other = os.path.join(os.path.dirname(root), name)
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(_memory(root), _memory(other))
    _run([MEM, "index", "--no-embed", "--root", other])
    return other


def words_by_files(root: str) -> list[str]:
    """The longer words of the notes, those that are in most files first."""
    found: Counter[str] = Counter()
    for folder, _, names in os.walk(_memory(root)):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found.update(set(re.findall(r"\b[a-z]{5,}\b", file.read())))
    return sorted(found, key=lambda word: (-found[word], word))


def _memory(root: str) -> str:
    return os.path.join(root, ".decsr", "memory")


def _fill(root: str) -> None:
    """Give every chunk that has none a random vector, and pack them all."""
    import numpy  # not in the process that measures

    from memcli.workspace import open_workspace

    workspace = open_workspace(root, os.environ, root=root)
    embedder = workspace.embedder
    assert embedder is not None
    backend = workspace.backend
    random = numpy.random.default_rng(7)
    with workspace.lock("bench"):
        if backend.model() != embedder.name:
            backend.use_model(embedder.name)
        while waiting := backend.pending(BATCH):
            rows = random.standard_normal((len(waiting), DIMENSION), dtype="f4")
            rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
            made = [(one.key, row.tobytes()) for one, row in zip(waiting, rows, strict=True)]
            backend.put_vectors(embedder.name, made, DIMENSION)
        backend.tidy()
    workspace.close()


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    _fill(sys.argv[1])
