"""Members of an open set, found by name in its visible table."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from memcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType


def load(what: str, table: Mapping[str, str], name: str) -> ModuleType:
    """Import the module that `table` names, or raise a UsageError that lists the known names."""
    try:
        module = table[name]
    except KeyError:
        known = ", ".join(sorted(table))
        raise UsageError(f"unknown {what} '{name}'", hint=f"one of: {known}") from None
    return import_module(module)
