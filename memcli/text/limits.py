"""The size that MEMORY.md may have before agents no longer see all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memcli.text.facts import PinnedFact

WHAT_TO_DO = "mem consolidate joins copies; mem fact disable or remove takes out the rest"


def characters(facts: Iterable[PinnedFact]) -> int:
    """The characters of the facts in force, each on a line of its own with its bullet."""
    return sum(len(it.fact.text) + 3 for it in facts if it.fact.enabled)


def over_budget(facts: Iterable[PinnedFact], *, max_chars: int, max_facts: int) -> list[str]:
    """Say by how much the facts in force pass their budget; nothing when they do not.

    A limit of 0 is none.
    """
    own = [it for it in facts if it.fact.enabled]
    size = characters(own)
    found = []
    if 0 < max_chars < size:
        found.append(f"the facts in force have {size:,} characters, over the {max_chars:,} allowed")
    if 0 < max_facts < len(own):
        found.append(f"{len(own)} facts are in force, over the {max_facts} allowed")
    return found
