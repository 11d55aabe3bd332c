"""Measure `mem` against the bare programs that do the least of the same work, as CPU ratios.

    python -m tests.bench.speed --generator make_corpus.py [--reference bench_index.py]
        [--sizes S,M,L] [--only NAME]... [--json]

Run from the repository. GENERATOR makes a memory folder (``DEST --size S|M|L``), REFERENCE builds
a bare full-text index of one (``DEST --phase NAME --db FILE``); without it that row is left out.
Whole processes are compared, start-up and all, so both sides of a ratio have one.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from tests.bench.processes import cost, least
from tests.bench.workspaces import MEM, copied, prepared, words_by_files

PYTHON = sys.executable
START = [PYTHON, "-c", "import typer, sqlite3"]
BARE = [PYTHON, "-c", "import sqlite3"]
NOTHING = [PYTHON, "-c", "pass"]
PHASE = "full blake2b NORMAL"

WALK = """
import os, sys
folders = [sys.argv[1]]
found = []
while folders:
    with os.scandir(folders.pop()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                stat = entry.stat(follow_symlinks=False)
                found.append((entry.path, stat.st_size, stat.st_mtime_ns))
"""
EMBED = """
import sys
import numpy
from memcli.providers.minilm.model import Model
Model().embed_query(sys.argv[1])
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; a limit in itself has nothing it is held against."""

    name: str
    ours: float
    against: float | None
    goal: float
    unit: str = "ms"
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.against if self.against else self.ours

    @property
    def is_met(self) -> bool:
        return self.ratio <= self.goal


@dataclass(frozen=True, slots=True)
class Given:
    """What the rows are measured on."""

    roots: dict[str, str]
    rounds: int
    reference: str | None
    words: Sequence[str]  # of M, frequent ones first

    @property
    def rare(self) -> str:
        """A word of a handful of files."""
        return self.words[len(self.words) * 3 // 4]

    @property
    def frequent(self) -> Sequence[str]:
        """Three words of over half of all files that no list of stop words has."""
        return [word for word in self.words if word in ("query", "index", "search")]


def starting(given: Given) -> Iterator[Row]:
    """Calls that hardly do anything."""
    path = "MEMORY.md#L1-L3"
    got = least(
        {
            "pass": NOTHING,
            "version": [MEM, "--version"],
            "help": [MEM, "--help"],
            "get": [MEM, "get", path, "--root", given.roots["S"]],
        },
        given.rounds,
    )
    for name, goal in (("version", 10.0), ("help", 10.0), ("get", 10.0)):
        yield Row(f"{name} / pass", got[name], got["pass"], goal)


def keyword(given: Given) -> Iterator[Row]:
    """Cold search by word."""
    root = given.roots["M"]
    search = [MEM, "search", "--mode", "keyword", "--root"]
    memory = os.path.join(root, ".decsr", "memory")
    rg = shutil.which("rg")
    commands = {
        "start": START,
        "bare": BARE,
        "pass": NOTHING,
        "selective": [*search, root, given.rare],
        "trusting": [*search, root, given.rare, "--no-refresh"],
        "small": [*search, given.roots["S"], given.rare, "memory"],
        "broad": [*search, root, *given.frequent],
    }
    if rg:
        patterns = [part for word in given.frequent for part in ("-e", word)]
        commands["rg"] = [rg, "-c", *patterns, memory]
    got = least(commands, given.rounds)
    yield Row("keyword, rare word, M / import typer, sqlite3", got["selective"], got["start"], 1.6)
    yield Row("keyword, rare word, M / import sqlite3", got["selective"], got["bare"], 1.3)
    yield Row("the same, --no-refresh / import sqlite3", got["trusting"], got["bare"], 1.3)
    yield Row("keyword, S / import sqlite3", got["small"], got["bare"], 1.3)
    if rg:
        against = got["rg"] + got["start"]
        yield Row("keyword, three frequent words, M / rg -c + start", got["broad"], against, 1.0)
    else:
        yield Row("keyword, three frequent words, M", got["broad"], None, 0, note="rg is not here")


def hybrid(given: Given) -> Iterator[Row]:
    """Cold search by word and meaning, over as many vectors as there are chunks."""
    root = given.roots["M"]
    seldom = given.words[len(given.words) // 2 :]

    def question(turn: int) -> str:
        # Each time another, by its blanks if not by its word, for the database keeps the vectors of
        # questions; and one that is answered: the vectors here are random, so by its words.
        return (" " * random.randint(1, 999)).join([random.choice(seldom)] * 6)

    got = least(
        {
            "model": lambda turn: [PYTHON, "-c", EMBED, question(turn)],
            "asked first": lambda turn: [MEM, "search", "--root", root, question(turn)],
            "asked again": [MEM, "search", "--root", root, given.rare],
            "keyword": [MEM, "search", "--mode", "keyword", "--root", root, given.rare],
        },
        given.rounds,
    )
    yield Row("hybrid, new question, M / bare model", got["asked first"], got["model"], 1.4)
    yield Row("hybrid, question cached, M / keyword", got["asked again"], got["keyword"], 1.8)


def indexing(given: Given) -> Iterator[Row]:
    """Indexing nothing, one entry, everything."""
    if "L" in given.roots:
        root = given.roots["L"]
        walk = [PYTHON, "-c", WALK, os.path.join(root, ".decsr", "memory")]
        got = least({"walk": walk, "index": [MEM, "index", "--root", root]}, given.rounds)
        yield Row("index, nothing changed, L / scandir + stat", got["index"], got["walk"], 2.0)
    plain = copied(given.roots["M"], "M-plain")
    said = subprocess.run(
        [PYTHON, "-m", "tests.bench.entry", plain], check=True, capture_output=True, text=True
    )
    entry = json.loads(said.stdout)
    note = f"{entry['kept']} of {entry['of']} chunks kept their row and vector"
    if not entry["untouched"]:
        note = f"NOT UNTOUCHED: {note}"
    yield Row("index, one entry appended, M, warm", entry["cpu"], None, 5.0, note=note)
    if given.reference is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        memory = os.path.join(plain, ".decsr", "memory")
        database = os.path.join(folder, "bare.db")
        got = least(
            {
                "bare": [PYTHON, given.reference, memory, "--phase", PHASE, "--db", database],
                "index": [MEM, "index", "--full", "--no-embed", "--root", plain],
            },
            max(3, given.rounds // 3),
        )
    yield Row("index --full, M / bare full-text index", got["index"], got["bare"], 1.6)


def large(given: Given) -> Iterator[Row]:
    """Search among 50,000 files: time, and peak memory."""
    if "L" not in given.roots:
        return
    root = given.roots["L"]
    search = [MEM, "search", "--root", root]
    commands = {
        "keyword": [*search, "--mode", "keyword", given.rare],
        "broad": [*search, "--mode", "keyword", *given.frequent],
        "hybrid": [*search, given.rare],
        "trusting": [*search, "--no-refresh", given.rare],
    }
    got = least({"pass": NOTHING, **commands}, max(3, given.rounds // 2))
    for name, command in commands.items():
        yield Row(f"{name}, L / pass", got[name], got["pass"], float("inf"))
        yield Row(f"{name}, L, peak memory", cost(command)[1], None, 300, unit="MB")


def embedding(given: Given) -> Iterator[Row]:
    """Nothing here: embedding has a bench of its own, which is run when it is there."""
    if importlib.util.find_spec("tests.bench.embedding"):
        subprocess.run([PYTHON, "-m", "tests.bench.embedding"], check=False)
    yield from ()


ROWS: dict[str, Callable[[Given], Iterator[Row]]] = {
    "start": starting,
    "keyword": keyword,
    "hybrid": hybrid,
    "index": indexing,
    "large": large,
    "embedding": embedding,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.speed", description=__doc__)
    parser.add_argument("--generator", default=os.environ.get("MEM_BENCH_GENERATOR"))
    parser.add_argument("--reference", default=os.environ.get("MEM_BENCH_REFERENCE"))
    parser.add_argument("--sizes", default="S,M,L", help="S and M are always made")
    parser.add_argument("--only", action="append", choices=ROWS)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "mem-bench"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.generator:
        parser.error("--generator or MEM_BENCH_GENERATOR: the script that makes the workspaces")
    os.makedirs(options.cache, exist_ok=True)
    sizes = [size for size in "SML" if size in options.sizes.split(",") or size != "L"]
    roots = {size: prepared(options.cache, options.generator, size) for size in sizes}
    given = Given(roots, options.rounds, options.reference, words_by_files(roots["M"]))
    rows = [row for name in options.only or ROWS for row in ROWS[name](given)]
    if options.json:
        print(json.dumps([asdict(row) | {"ratio": row.ratio, "ok": row.is_met} for row in rows]))
    else:
        print("\n".join(table(rows)))
    return 0 if all(row.is_met for row in rows) else 1


def table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{'what':<50}{'ours':>10}{'against':>10}{'ratio':>8}{'goal':>7}  ok"
    for row in rows:
        against = "-" if row.against is None else f"{row.against:.1f}"
        ratio = "-" if row.against is None else f"{row.ratio:.2f}"
        goal = "-" if row.goal == float("inf") else f"{row.goal:g}"
        met = "-" if goal == "-" else "yes" if row.is_met else "NO"
        ours = f"{row.ours:.1f} {row.unit}"
        figures = f"{ours:>10}{against:>10}{ratio:>8}{goal:>7}"
        yield f"{row.name:<50}{figures}  {met:<4}{row.note}".rstrip()


if __name__ == "__main__":
    raise SystemExit(main())
