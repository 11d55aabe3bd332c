"""Which servers failed of late, so that the next command need not find out again."""

from __future__ import annotations

from typing import NamedTuple

from memcli.store.db import Database

KEPT = 20  # servers; the settings name two at a time


class Circuit(NamedTuple):
    """A server that is left alone."""

    failures: int  # in a row
    until: float  # unix seconds
    reason: str  # as in ProviderError, and so are the next two
    message: str
    hint: str


def find(database: Database, name: str) -> Circuit | None:
    """The circuit of this name, also one whose time is over; None after a success."""
    rows = database.rows(
        "SELECT failures, until, reason, message, hint FROM circuits WHERE name = ?", [name]
    )
    return Circuit(*rows[0]) if rows else None


def open_(database: Database, name: str, circuit: Circuit) -> None:
    """Leave a server alone; the oldest circuits beyond KEPT go."""
    with database.transaction():
        database.run("INSERT OR REPLACE INTO circuits VALUES (?, ?, ?, ?, ?, ?)", [name, *circuit])
        database.run(
            """
            DELETE FROM circuits WHERE name NOT IN (
                SELECT name FROM circuits ORDER BY until DESC LIMIT ?
            )
            """,
            [KEPT],
        )


def close(database: Database, name: str) -> None:
    """Ask a server again from now on."""
    database.run("DELETE FROM circuits WHERE name = ?", [name])
