"""Bring the index in step with the files, then make the vectors that are missing."""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from memcli import layout
from memcli.errors import ConflictError, StoreError, WorkspaceError
from memcli.model import Chunk, Progress
from memcli.ops.differ import LARGEST, Difference, differ
from memcli.store.stamps import RACY, Stamp, signature
from memcli.workspace import Workspace

WAIT = 2.0  # seconds that what was just written waits for a foreign program to be indexed
BATCH_FILES = 512  # so many files, or ...
BATCH_BYTES = 8 << 20  # ... so many bytes are committed together: an interrupted run goes on there

# A write within the clock's grain after the reading leaves the same times. Kernels stamp by their
# tick (4 ms at the usual 250 Hz); file systems without fractions of a second stamp by 2 s at worst.
GRAIN = 0.02  # seconds
COARSE_GRAIN = 2.0


@dataclass(frozen=True, slots=True)
class Indexed:
    """The answer of ``mem index``."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    pending: int = 0
    notes: tuple[str, ...] = field(default=())


def index(
    workspace: Workspace,
    *,
    now: float,
    paths: Collection[str] = (),
    is_full: bool = False,
    is_embedding: bool = True,
    progress: Progress | None = None,
) -> Indexed:
    """Index what changed, of `paths` only when any are given, and make pending vectors.

    `is_full` starts again from the markdown alone, but for vectors already made. Raises
    WorkspaceError when the files cannot be listed and ConflictError when another writer is at work.
    """
    with workspace.lock("index"):
        if is_full:
            workspace.open_backend(anew=True)
        if not workspace.backend.is_lasting:
            raise WorkspaceError(f"{workspace.layout.home} may not be written")
        difference = differ(workspace, paths)
        done = apply(workspace, difference, now=now, progress=progress)
    embedded = 0
    notes = list(done.notes)
    if is_embedding:
        from memcli.ops.embed import embed_pending  # only where vectors are wanted

        embedded, note = embed_pending(workspace, progress=progress)
        notes += note
    with workspace.lock("index"):
        workspace.backend.tidy()
    _, chunks, pending = workspace.backend.counts()
    return replace(
        done,
        chunks=chunks,
        embedded=embedded,
        pending=pending if workspace.settings.embedding_provider != "none" else 0,
        notes=tuple(notes),
    )


def index_written(workspace: Workspace, paths: Collection[str], *, now: float) -> list[str]:
    """Take files that were just written into the index, if there is one; what there is to say.

    A failure is a note and no error: the text is safe, and the next search looks again.
    """
    if not os.path.exists(workspace.layout.database):
        return []
    changed, removed = [], []
    try:
        for path in dict.fromkeys(paths):
            try:
                found = os.stat(workspace.layout.memory_path(path), follow_symlinks=False)
                changed.append((path, found))
            except FileNotFoundError:
                removed.append(path)
        difference = Difference(tuple(changed), tuple(removed), 0, (), is_partial=True)
        with workspace.lock("index"), workspace.backend.waiting(WAIT):
            return list(apply(workspace, difference, now=now).notes)
    except (StoreError, ConflictError, OSError) as error:
        return [f"written, but not indexed yet: {error}"]


def apply(
    workspace: Workspace,
    difference: Difference,
    *,
    now: float,
    progress: Progress | None = None,
) -> Indexed:
    """Take a difference into the index, in batches that each hold. Needs the writers' lock.

    `now` may be earlier than the reading, never later: a file written since is read once more.
    """
    with _nothing_collected():
        return _apply(workspace, difference, now=now, progress=progress)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Chunks form no circles: to look for some among them is a twentieth of a first load."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _apply(
    workspace: Workspace, difference: Difference, *, now: float, progress: Progress | None
) -> Indexed:
    from memcli.text.decode import decode  # spared, as the chunker, where nothing changed

    backend = workspace.backend
    notes = [f"{_shown(path)} is passed over: {_why(path)}" for path in difference.skipped]
    if difference.removed:
        backend.drop(difference.removed)
    known = backend.stamps([path for path, _ in difference.changed])
    added: list[str] = []
    changed: list[str] = []
    unchanged = difference.unchanged
    batch: list[tuple[Stamp, list[Chunk]]] = []
    restamped: list[Stamp] = []
    size = done = 0
    # From the last of the listing to the first, so that what a person looks at first has the
    # highest ids and gets its vectors first.
    order = layout.in_listing_order([path for path, _ in difference.changed])
    for path in reversed(order):
        done += 1
        try:
            stamp, data = _read(workspace.layout.memory, path, now)
        except FileNotFoundError:
            backend.drop([path])
            continue
        except OSError as error:
            notes.append(f"{path} cannot be read: {error.strerror}")
            backend.drop([path])
            continue
        before = known.get(path)
        if before is not None and before.hash == stamp.hash:
            restamped.append(stamp._replace(note=before.note))
            unchanged += 1
            continue
        text, note = decode(data)
        if note:
            stamp = stamp._replace(note=note)
            notes.append(f"{path}: {note}")
        (added if before is None else changed).append(path)
        batch.append((stamp, _chunks(workspace, path, text)))
        size += len(data)
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            backend.put(batch)
            batch, size = [], 0
            if progress:
                progress("indexing", done, len(difference.changed))
    if batch:
        backend.put(batch)
    if restamped:
        backend.restamp(restamped)
    return Indexed(
        added=tuple(layout.in_listing_order(added)),
        changed=tuple(layout.in_listing_order(changed)),
        removed=tuple(layout.in_listing_order(list(difference.removed))),
        unchanged=unchanged,
        notes=tuple(notes),
    )


def confirmed(workspace: Workspace, difference: Difference) -> Difference:
    """The difference without files whose stamps only say that they may have changed since.

    Where the bytes are those that were indexed, nothing is behind.
    """
    known = workspace.backend.stamps([path for path, _ in difference.changed])

    def is_changed(path: str) -> bool:
        if path not in known:
            return True
        try:
            return _read(workspace.layout.memory, path, 0.0)[0].hash != known[path].hash
        except OSError:
            return True

    changed = tuple(pair for pair in difference.changed if is_changed(pair[0]))
    return difference._replace(changed=changed)


def _chunks(workspace: Workspace, path: str, text: str) -> list[Chunk]:
    from memcli.text.chunk import chunk  # as above

    settings = workspace.settings
    return chunk(path, text, size=settings.chunk_tokens, overlap=settings.chunk_overlap)


def _read(memory: str, path: str, now: float) -> tuple[Stamp, bytes]:
    """A file's bytes and the stamp they go with. Raises OSError; never follows a link."""
    full = os.path.join(memory, path)
    descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        # Stamped before it is read: what is written meanwhile shows as a change next time.
        found = os.fstat(descriptor)
        data = os.read(descriptor, found.st_size + 1)
        # Exactly its size means that it ended there: one call the less for nearly every file.
        while len(data) != found.st_size and (more := os.read(descriptor, 1 << 20)):
            data += more
    finally:
        os.close(descriptor)
    newest = max(found.st_mtime_ns, found.st_ctime_ns)
    grain = GRAIN if found.st_mtime_ns % 1_000_000_000 else COARSE_GRAIN
    is_racy = newest >= (now - grain) * 1e9  # an edit so shortly after would have the same times
    stamp = Stamp(
        path,
        signature(found) + (RACY if is_racy else b""),
        hashlib.blake2b(data, digest_size=16).digest(),
    )
    return stamp, data


def _why(path: str) -> str:
    """Why a path among those passed over is one of them."""
    if not path.isprintable():
        return "its name cannot be stored"
    return f"it is a link, no regular file, or over {LARGEST >> 20} MB"


def _shown(path: str) -> str:
    return path if path.isprintable() else ascii(path)
