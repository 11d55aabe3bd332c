"""Packs: texts that are kept under ``packs/`` of a memory, to be recalled by their name."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.edit import read
from memcli.ops.sections import Given
from memcli.text.decode import decode
from memcli.workspace import Workspace


def own_pack(places: Sequence[Workspace], name: str) -> Given | None:
    """The pack `name` of the first memory that has one; None for no such name."""
    if not name or name[0] == "." or any(char in "/\\" or ord(char) < 32 for char in name):
        return None
    path = f"packs/{name}" if name.endswith(".md") else f"packs/{name}.md"
    for place in places:
        data = read(place.layout, path)
        if data is not None:
            return Given(path, decode(data)[0], place.scope)
    return None
