"""No embedder, by choice: search is by word alone."""

from __future__ import annotations


def open_embedder(settings: object) -> None:
    """Nothing to open."""
