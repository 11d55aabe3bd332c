"""Measure how well search answers on retrieval sets, and how often it is rightly silent.

    python -m tests.bench.quality EVAL_DIR [--sets A,B] [--modes keyword,hybrid,vector]
        [--cache DIR] [--json]
    python -m tests.bench.quality --silence QUESTIONS.jsonl --root WORKSPACE [--modes hybrid]

Run from the repository. Each folder of EVAL_DIR is a set: ``corpus.jsonl`` {id, text, title?,
group?}, ``queries.jsonl`` {id, text, group?, kind?} and ``qrels.tsv`` (query, document, grade). A
document becomes a file, a group a folder that its queries are searched in; hits are mapped back to
documents, the best passage of each counting. The workspaces stay in DIR, so that vectors are made
once. For ``--silence``, each line has a ``query`` that WORKSPACE cannot answer.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import log2
from typing import Any

from memcli.model import SearchOptions
from memcli.ops.index import index
from memcli.ops.init import init
from memcli.ops.search import search
from memcli.workspace import Workspace, open_workspace

DEPTH = 10  # documents that count
PASSAGES = 50  # asked for, since several may be of one document
BY_KIND = ("devdocs",)  # sets whose kinds are so different that each has its own row
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Query:
    """A question with the documents that answer it, each with its grade."""

    text: str
    group: str
    kind: str
    grades: Mapping[str, int]


@dataclass(slots=True)
class Score:
    """Sums of the measures of a set, or of a part of it, in one mode."""

    queries: int = 0
    ndcg: float = 0.0
    recall: dict[int, float] = field(default_factory=lambda: {1: 0.0, 5: 0.0, 10: 0.0})
    mrr: float = 0.0

    def add(self, found: Sequence[str], grades: Mapping[str, int]) -> None:
        """Count one answer: documents, best first, each once."""
        self.queries += 1
        self.ndcg += _gain([grades.get(one, 0) for one in found]) / _gain(
            sorted(grades.values(), reverse=True)
        )
        for k in self.recall:
            self.recall[k] += sum(one in grades for one in found[:k]) / len(grades)
        first = next((at for at, one in enumerate(found[:DEPTH], 1) if one in grades), None)
        self.mrr += 1 / first if first else 0.0

    def row(self) -> dict[str, float]:
        """The means, in percent."""
        means = {"ndcg@10": self.ndcg, "mrr@10": self.mrr}
        means |= {f"recall@{k}": total for k, total in self.recall.items()}
        return {name: round(100 * total / self.queries, 2) for name, total in means.items()}


def _gain(grades: Sequence[int]) -> float:
    """Discounted cumulative gain at 10 (Järvelin and Kekäläinen 2002)."""
    return sum(grade / log2(at + 1) for at, grade in enumerate(grades[:DEPTH], 1))


def measure(folder: str, cache: str, modes: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of one set: for each mode and kind the means of all measures."""
    name = os.path.basename(folder)
    root, ids = prepared(folder, os.path.join(cache, name), is_embedded=set(modes) != {"keyword"})
    queries = list(read_queries(folder))
    rows = []
    for mode in modes:
        scores: dict[str, Score] = {}
        began = time.process_time()
        with_index = opened(root)
        for query in queries:
            kind = query.kind if name in BY_KIND else ""
            found = documents(with_index, query, mode, ids)
            scores.setdefault(kind, Score()).add(found, query.grades)
        with_index.close()
        seconds = time.process_time() - began
        for kind, score in scores.items():
            head = {"set": f"{name} {kind}".strip(), "mode": mode, "queries": score.queries}
            rows.append(head | score.row() | {"ms": round(1000 * seconds / len(queries), 1)})
    return rows


def prepared(folder: str, root: str, *, is_embedded: bool) -> tuple[str, dict[str, str]]:
    """A workspace with the documents of a set, indexed; and the document of each path."""
    memory = os.path.join(root, ".decsr", "memory")
    ids = {}
    os.makedirs(root, exist_ok=True)
    init(root)
    for number, row in enumerate(_lines(os.path.join(folder, "corpus.jsonl"))):
        path = os.path.join("tasks", _folder(row.get("group", "")), f"{number:06}.md")
        ids[path.replace(os.sep, "/")] = row["id"]
        file = os.path.join(memory, path)
        if not os.path.exists(file):
            os.makedirs(os.path.dirname(file), exist_ok=True)
            title = " ".join(row.get("title", "").split())
            with open(file, "w", encoding="utf-8", newline="") as out:
                out.write(f"# {title}\n\n{row['text']}\n" if title else f"{row['text']}\n")
    workspace = opened(root)
    done = index(workspace, now=time.time(), is_embedding=is_embedded, progress=_show)
    workspace.close()
    print(f"\r{root}: {done.chunks} chunks, {done.pending} without vectors", file=sys.stderr)
    return root, ids


def opened(root: str) -> Workspace:
    """A workspace with the default settings, whatever the user's own are."""
    return open_workspace(root, {}, root=root)


def _show(what: str, done: int, total: int) -> None:
    print(f"\r{what} {done}/{total}   ", end="", file=sys.stderr)


def _folder(group: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else "-" for char in group)


def read_queries(folder: str) -> Iterator[Query]:
    """The queries of a set that have an answer."""
    grades: dict[str, dict[str, int]] = {}
    with open(os.path.join(folder, "qrels.tsv"), encoding="utf-8") as file:
        for line in file:
            query, document, grade = line.rstrip("\n").split("\t")
            if grade.isdecimal() and int(grade):
                grades.setdefault(query, {})[document] = int(grade)
    for row in _lines(os.path.join(folder, "queries.jsonl")):
        if row["id"] in grades:
            yield Query(row["text"], row.get("group", ""), row.get("kind", ""), grades[row["id"]])


def _lines(path: str) -> Iterator[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def documents(workspace: Workspace, query: Query, mode: str, ids: Mapping[str, str]) -> list[str]:
    """The documents that the product finds for a query, best first, each once."""
    within = f"tasks/{_folder(query.group)}/*" if query.group else None
    options = SearchOptions(k=PASSAGES, mode=mode, within=within, refresh=False)
    hits = search(workspace, query.text, options, now=NOW).hits
    return list(dict.fromkeys(ids[hit.path] for hit in hits))[:DEPTH]


def silence(questions: str, root: str, modes: Sequence[str]) -> list[dict[str, Any]]:
    """How many questions about nothing get no answer, and those that get one."""
    rows: list[dict[str, Any]] = []
    workspace = opened(root)
    index(workspace, now=time.time(), is_embedding=True, progress=_show)
    asked = [row["query"] for row in _lines(questions)]
    for mode in modes:
        options = SearchOptions(mode=mode, refresh=False)
        answers = {text: search(workspace, text, options, now=NOW).hits for text in asked}
        loud = [text for text, hits in answers.items() if hits]
        rows.append(
            {"mode": mode, "silent": len(asked) - len(loud), "of": len(asked), "loud": loud}
        )
    workspace.close()
    return rows


def _print(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(list(rows), ensure_ascii=False, indent=1))
        return
    names = [name for name in rows[0] if name != "loud"]
    table = [names, *([str(row[name]) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
    for row in rows:
        print(*(f"answered: {text}" for text in row.get("loud", [])), sep="\n", end="")


def main() -> None:
    """Parse the command line and print a table, set by set as they are done."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("eval_dir", nargs="?")
    parser.add_argument("--sets", help="names of folders, with commas; all of them if left out")
    parser.add_argument("--modes", default="keyword,hybrid")
    parser.add_argument("--cache", help="where the workspaces stay; a temporary folder if left out")
    parser.add_argument("--silence", metavar="QUESTIONS.jsonl")
    parser.add_argument("--root", help="the workspace that --silence asks")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    modes = given.modes.split(",")
    if given.silence:
        _print(silence(given.silence, given.root, modes), as_json=given.json)
    if not given.eval_dir:
        return
    names = given.sets.split(",") if given.sets else sorted(os.listdir(given.eval_dir))
    folders = [os.path.join(given.eval_dir, name) for name in names]
    folders = [folder for folder in folders if os.path.isdir(folder)]
    with tempfile.TemporaryDirectory() as temporary:
        cache = os.path.abspath(given.cache or temporary)
        rows = []
        for folder in folders:
            rows += measure(folder, cache, modes)
            print(f"{os.path.basename(folder)} done", file=sys.stderr)
    _print(rows, as_json=given.json)


if __name__ == "__main__":
    main()
