"""No embedder or no LLM, by choice: search is by word alone, summaries are extracts."""

from __future__ import annotations


def open_embedder(settings: object) -> None:
    """Nothing to open."""


def open_llm(settings: object) -> None:
    """Nothing to open."""
