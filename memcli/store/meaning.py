"""The search by meaning: from ``memory.vec`` where it is current, from rows for what is not there.

Loaded by the first search that asks for it; a search by words is spared all of this.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from memcli.store import chunks, embeddings, sidecar, vectors
from memcli.store.db import Database

# The sidecar is written again when so many chunks are beside it; until then they are read as rows.
REPACK_ROWS = 256
REPACK_SHARE = 0.02
MOST_ROWS = 4096  # read without a sidecar; beyond that only the keyword leg's best are compared


def nearest(
    database: Database,
    path: str,
    model: str,
    vector: bytes,
    n: int,
    *,
    within: Collection[str] | None,
    notes: list[str],
) -> list[tuple[int, float]]:
    """The `n` chunks nearest to a float32 `vector` of `model`, best first, with their cosine.

    Adds a note where there were too many to compare them all.
    """
    query = vectors.unpack(vector)
    if embeddings.dimension(database, model) != len(query):
        return []
    allowed = None if within is None else chunks.ids_within(database, within)
    packed = sidecar.open_sidecar(path, database, model)
    if packed is not None:
        best = packed.nearest(query, allowed)
        beside = embeddings.of_state(database, model, embeddings.CACHED)
    else:
        best = {}
        beside = embeddings.of_state(database, model, None, MOST_ROWS)
        if len(beside) == MOST_ROWS:
            notes.append(
                f"{os.path.basename(path)} is not there or not of this index: only the newest"
                f" {MOST_ROWS:,} passages were compared by meaning; run: mem index"
            )
    near = [(chunk, rows) for chunk, rows in beside if allowed is None or chunk in allowed]
    best.update(_best(query, near))
    ranked = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    # The sidecar may name chunks that are gone; ids are never used twice, so asking is enough.
    found: list[tuple[int, float]] = []
    for at in range(0, len(ranked), n):
        asked = ranked[at : at + n]
        alive = chunks.existing(database, [chunk for chunk, _ in asked])
        found += [pair for pair in asked if pair[0] in alive]
        if len(found) >= n:
            break
    return found[:n]


def cosines(
    database: Database, path: str, model: str, vector: bytes, ids: Collection[int]
) -> dict[int, float]:
    """The cosine of these chunks; one without a vector is left out."""
    query = vectors.unpack(vector)
    if embeddings.dimension(database, model) != len(query):
        return {}
    packed = sidecar.open_sidecar(path, database, model)
    found = {} if packed is None else packed.cosines(query, ids)
    beside = [chunk for chunk in ids if chunk not in found]
    if beside:
        found |= _best(query, embeddings.of_chunks(database, model, beside).items())
    return found


def is_packed_well(database: Database, path: str, model: str) -> bool:
    """Whether what ``memory.vec`` has of each chunk is what the rows say; so too without one."""
    packed = sidecar.open_sidecar(path, database, model)
    if packed is None:
        return True
    rows = embeddings.of_state(database, model, embeddings.PACKED)
    return all(packed.holds(chunk, blob) for chunk, blob in rows)


def _best(query: Sequence[float], rows: Collection[tuple[int, bytes]]) -> dict[int, float]:
    """The cosine of each chunk with these rows."""
    blobs = [blob for _, blob in rows]
    cosines = sidecar.fastest_way().best_cosines(query, blobs)
    return {chunk: cosine for (chunk, _), cosine in zip(rows, cosines, strict=True)}


def tidy(database: Database, path: str, model: str) -> None:
    """Pack the vectors again when enough are beside ``memory.vec``, and evict unused ones."""
    embeddings.evict(database)
    dimension = embeddings.dimension(database, model)
    if not dimension:
        return
    packed = sidecar.open_sidecar(path, database, model)
    beside = embeddings.count_state(database, embeddings.CACHED)
    gone = 0
    if packed is not None:
        gone = packed.chunks - embeddings.count_packed(database)
    if packed is None or max(beside, gone) > max(REPACK_ROWS, REPACK_SHARE * packed.chunks):
        sidecar.pack(path, database, model, dimension)
