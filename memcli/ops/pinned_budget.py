"""Say when MEMORY.md passes the size that agents see in full."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.layout import MEMORY_FILE
from memcli.text.facts import PinnedFact
from memcli.text.limits import WHAT_TO_DO, over_budget
from memcli.workspace import Workspace


def budget_notes(workspace: Workspace, facts: Sequence[PinnedFact]) -> list[str]:
    """By how much the facts in force pass their budget, and what to do; nothing within it."""
    settings = workspace.settings
    over = over_budget(
        facts, max_chars=settings.memory_max_chars, max_facts=settings.memory_max_facts
    )
    return [f"{MEMORY_FILE}: {one} ({WHAT_TO_DO})" for one in over]
