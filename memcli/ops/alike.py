"""Which facts MEMORY.md says already in other words: by what they say, and by their vectors."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from memcli.errors import ProviderError
from memcli.text.facts import Fact
from memcli.text.restated import may_restate
from memcli.text.similar import likeness
from memcli.workspace import Workspace

# `may_restate` decides; a cosine below this says that it saw too little of what the two are about.
SAME = 0.8
ENOUGH = 0.6  # of the words, where there are no vectors


def restated(workspace: Workspace, facts: Sequence[Fact], there: Sequence[str]) -> dict[str, str]:
    """The text of each fact that adds nothing to one of `there`, with the text of that one.

    Without an embedder, and where it fails, which is a note, most of the words must be the same.
    """
    found: dict[str, str] = {}
    for fact in facts:
        alike = [text for text in there if may_restate(fact.text, text)]
        near = _nearest(workspace, fact.text, alike) if alike else None
        if near is not None:
            found[fact.text] = near
    return found


def _nearest(workspace: Workspace, text: str, others: Sequence[str]) -> str | None:
    embedder = workspace.embedder
    if embedder is not None:
        try:
            made = embedder.embed_passages([text, *others])
        except ProviderError as error:
            workspace.notes.append(f"facts were compared by their words alone: {error.with_hint}")
        else:
            # A passage has several vectors when it is long; of a fact the first is all.
            form = struct.Struct(f"<{embedder.dimension}f")
            own, *vectors = (form.unpack_from(one) for one in made)
            cosines = [_cosine(own, vector) for vector in vectors]
            best = max(cosines)
            return others[cosines.index(best)] if best >= SAME else None
    best = max(likeness(text, other) for other in others)
    near = next(other for other in others if likeness(text, other) == best)
    return near if best >= ENOUGH else None


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two unit vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))
