"""FTS5 without FTS5 gives the same scores; that it finds the same is shown in test_query."""

import sqlite3

import pytest

from memcli.text.matching import bm25, count
from memcli.text.query import build
from memcli.text.words import TOKENIZER, tokens


def test_bm25_is_that_of_fts5() -> None:
    bodies = [
        "the write queue was dropped",
        "queue queue queue and a long tail of other words that make this one longer",
        "nothing here",
        "write it down, write it up",
        "lunch",
        "more lunch for the team",
    ]
    query = build("write queue dropped")
    with sqlite3.connect(":memory:") as db:
        db.execute(f'CREATE VIRTUAL TABLE fts USING fts5(body, tokenize="{TOKENIZER}")')
        db.executemany("INSERT INTO fts VALUES (?)", [(body,) for body in bodies])
        rows = db.execute(
            "SELECT rowid - 1, -bm25(fts) FROM fts WHERE fts MATCH ?", (query.match,)
        ).fetchall()
    db.close()
    stored = [tokens(body) for body in bodies]
    own = bm25(
        [[count(part, body) for part in query.parts] for body in stored], [len(s) for s in stored]
    )
    assert {at: pytest.approx(score) for at, score in rows} == {
        at: score for at, score in enumerate(own) if score
    }
