"""List the memory files and whether the index has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memcli import layout
from memcli.store.stamps import signature
from memcli.text.dates import date_of
from memcli.workspace import Workspace


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file of the memory as ``mem list`` shows it."""

    path: str
    kind: str
    date: str | None
    size: int  # bytes
    modified_at: datetime
    chunks: int
    is_indexed: bool  # the index has it as it is now
    note: str = ""
    retrievals: int = 0
    used_at: datetime | None = None  # when it was last found by a search or a recall


@dataclass(frozen=True, slots=True)
class Listing:
    """The answer of ``mem list``."""

    files: tuple[MemoryFile, ...]
    notes: tuple[str, ...] = ()


def list_files(workspace: Workspace, *, kind: str | None = None) -> Listing:
    """Every memory file in listing order, of one `kind` if given. Changes nothing."""
    stamps = workspace.backend.stamps()
    inventory = workspace.backend.inventory()
    used = workspace.backend.last_uses()
    found = {path: stat for path, stat in layout.scan(workspace.layout) if stat is not None}
    files = []
    for path in layout.in_listing_order(list(found)):
        if kind is not None and layout.kind_of(path) != kind:
            continue
        stat = found[path]
        stamp = stamps.get(path)
        is_indexed = stamp is not None and stamp.signature.startswith(signature(stat))
        chunks, retrievals = inventory.get(path, (0, 0))
        files.append(
            MemoryFile(
                path=path,
                kind=layout.kind_of(path),
                date=date_of(path),
                size=stat.st_size,
                modified_at=datetime.fromtimestamp(stat.st_mtime).astimezone(),
                chunks=chunks,
                is_indexed=is_indexed,
                note=stamp.note if stamp else "",
                retrievals=retrievals,
                used_at=datetime.fromtimestamp(used[path]).astimezone() if path in used else None,
            )
        )
    return Listing(tuple(files), tuple(workspace.notes))
