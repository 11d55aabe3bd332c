"""Measure how much of what answers a question is within a recall, beside a plain search.

    python -m tests.bench.recall EVAL_DIR [--sets locomo-turn] [--mode keyword] [--budget 2000]
        [--cache DIR]

Run from the repository. The sets are as ``tests.bench.quality`` reads them. Each group of documents
becomes a memory of its own, each document a note, and each query is recalled and searched there. A
row says for how many queries all documents that answer it are among what was given, and for how
many at least one is; also how many tokens that took on average. The workspaces stay in DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memcli.model import SearchOptions
from memcli.ops.index import index
from memcli.ops.init import init
from memcli.ops.recall import recall
from memcli.ops.scopes import search_all
from memcli.text.tokens import estimate
from memcli.workspace import Workspace, open_workspace
from tests.bench.quality import NOW, Query, read_queries

K = 8  # passages of the plain search


@dataclass(slots=True)
class Score:
    """Counts of one way to answer."""

    queries: int = 0
    whole: int = 0
    some: int = 0
    tokens: int = 0

    def add(self, query: Query, given: set[str], tokens: int) -> None:
        self.queries += 1
        self.whole += given.issuperset(query.grades)
        self.some += not given.isdisjoint(query.grades)
        self.tokens += tokens


def measure(folder: str, cache: str, mode: str, budget: int) -> dict[str, Score]:
    """The scores of one set, by the way of answering."""
    queries: dict[str, list[Query]] = {}
    for query in read_queries(folder):
        queries.setdefault(query.group, []).append(query)
    scores = {f"recall, {budget} tokens": Score(), f"search, top {K}": Score()}
    for group, paths in documents(folder):
        workspace = prepared(os.path.join(cache, group or "all"), paths, mode)
        names = {f"notes/{number:06}.md": name for number, (name, _) in enumerate(paths)}
        for query in queries.get(group, ()):
            for score, (given, tokens) in zip(
                scores.values(), answers(workspace, query.text, mode, budget), strict=True
            ):
                score.add(query, {names[path] for path in given}, tokens)
        workspace.close()
    return scores


def answers(
    workspace: Workspace, text: str, mode: str, budget: int
) -> Iterator[tuple[set[str], int]]:
    """The notes that a recall holds whole, then those of a search, each with the tokens."""
    recalled = recall([workspace], text, budget=budget, now=NOW)
    taken = [
        it.place.partition(":")[0]
        for section in recalled.sections
        for it in section.taken
        if it.lines == it.of_lines
    ]
    yield set(taken), recalled.tokens
    options = SearchOptions(k=K, mode=mode, refresh=False)
    hits = search_all([workspace], text, options, now=NOW).hits
    yield {hit.path for hit in hits}, sum(estimate(hit.body) for hit in hits)


def documents(folder: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each group with the names and texts of its documents."""
    groups: dict[str, list[tuple[str, str]]] = {}
    with open(os.path.join(folder, "corpus.jsonl"), encoding="utf-8") as file:
        for row in map(json.loads, file):
            title = " ".join(row.get("title", "").split())
            text = f"# {title}\n\n{row['text']}\n" if title else f"{row['text']}\n"
            groups.setdefault(row.get("group", ""), []).append((row["id"], text))
    yield from groups.items()


def prepared(root: str, notes: Sequence[tuple[str, str]], mode: str) -> Workspace:
    """The memory of one group, indexed, with vectors unless words alone are asked for."""
    folder = os.path.join(root, ".decsr", "memory", "notes")
    os.makedirs(folder, exist_ok=True)
    init(root)
    for number, (_, text) in enumerate(notes):
        path = os.path.join(folder, f"{number:06}.md")
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
    workspace = open_workspace(root, {"MEM_SEARCH_MODE": mode}, root=root)
    index(workspace, now=time.time(), is_embedding=mode != "keyword")
    return workspace


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("eval_dir")
    parser.add_argument("--sets", default="locomo-turn")
    parser.add_argument("--mode", default="keyword", choices=("keyword", "hybrid", "vector"))
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "mem-bench-recall"))
    given = parser.parse_args()
    print("set, mode                  queries  all there  any there  tokens")
    for name in given.sets.split(","):
        folder, cache = os.path.join(given.eval_dir, name), os.path.join(given.cache, name)
        for way, it in measure(folder, cache, given.mode, given.budget).items():
            print(f"{name}, {given.mode}: {way}")
            print(
                f"{'':<27}{it.queries:>7}{it.whole / it.queries:>11.1%}"
                f"{it.some / it.queries:>11.1%}{it.tokens / it.queries:>8.0f}"
            )


if __name__ == "__main__":
    main()
