"""What it costs a process that is already at work to take in one more entry of a daily log.

Printed as JSON: the least CPU milliseconds, and what became of the file's other chunks.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time

from memcli.ops.index import index
from memcli.workspace import open_workspace

TIMES = 30


def main(root: str) -> None:
    workspace = open_workspace(root, os.environ, root=root)
    path = "daily/2016-01-01.md"
    database = sqlite3.connect(workspace.layout.database)
    before = _chunks(database, path)
    costs = []
    for turn in range(TIMES):
        with open(workspace.layout.memory_path(path), "a", encoding="utf-8") as file:
            file.write(
                f"\n## {turn // 60 % 24:02}:{turn % 60:02} — review\n\nEntry number {turn}.\n"
            )
        started = time.process_time()
        index(workspace, now=time.time(), paths=[path], is_embedding=False)
        costs.append((time.process_time() - started) * 1000)
    after = _chunks(database, path)
    last = max(before, key=lambda row: row[1])
    kept = len(before & after)
    # The chunk that was the file's last one may have grown.
    untouched = before - {last} <= after
    print(json.dumps({"cpu": min(costs), "kept": kept, "of": len(before), "untouched": untouched}))


def _chunks(database: sqlite3.Connection, path: str) -> set[tuple[int, int, bytes, int]]:
    """Row id, place, vectors' key and their state of every chunk of a file."""
    return set(
        database.execute(
            """
            SELECT chunks.id, ord, key, state FROM chunks JOIN vectors ON chunk = chunks.id
            JOIN files ON files.id = file WHERE path = ?
            """,
            [path],
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
