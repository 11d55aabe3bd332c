"""A server that failed is left alone for a while, by the commands that come after as well.

What is known is kept in ``memory.db``; where that cannot be written, nothing is kept, and a lost
one makes every server asked again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from memcli.errors import ConflictError, ProviderError, StoreError, WorkspaceError
from memcli.store import circuits, db
from memcli.store.circuits import Circuit

if TYPE_CHECKING:
    from memcli.layout import Layout
    from memcli.providers.base import LLM, Embedder

T = TypeVar("T")

FIRST, LONGEST = 60.0, 900.0  # seconds without asking: twice as long after each failure
LASTING = ("key", "model", "quota", "busy", "down")  # what the next request would meet as well
ASK_NOW = "mem doctor asks at once"


class Owner(Protocol):
    """What a guard asks of the workspace that it belongs to."""

    layout: Layout
    clock: Callable[[], float]  # unix seconds
    is_asking_anyway: bool

    @property
    def is_writable(self) -> bool: ...

    def make_index(self) -> None: ...

    def lock(self, verb: str, wait: float | None = None) -> AbstractContextManager[None]: ...


class Guard:
    """The circuit of one server, by the name that stands for all that is set about it."""

    def __init__(self, owner: Owner, name: str) -> None:
        self._owner = owner
        self._name = name

    def ask(self, request: Callable[[], T]) -> T:
        """What `request` returns. Raises ProviderError at once while the server is left alone."""
        known = self._found()
        if known is not None and not self._owner.is_asking_anyway:
            left = known.until - self._owner.clock()
            if 0 < left <= LONGEST:  # more would be a clock that was set back
                hint = f"{known.hint}; {ASK_NOW}" if known.hint else ASK_NOW
                raise ProviderError(
                    f"not asked again for {left:.0f} s: {known.message}", hint, known.reason
                )
        try:
            answer = request()
        except ProviderError as error:
            if error.reason in LASTING:
                self._opened(known.failures if known else 0, error)
            raise
        if known is not None:
            self._closed()
        return answer

    def _found(self) -> Circuit | None:
        path = self._owner.layout.database
        if not os.path.exists(path):
            return None
        with suppress(StoreError, ConflictError), _database(path) as database:
            return circuits.find(database, self._name)
        return None

    def _opened(self, before: int, error: ProviderError) -> None:
        # Not before the server itself wishes it, within reason.
        pause = min(max(FIRST * 2 ** min(before, 10), error.after), LONGEST)
        circuit = Circuit(
            before + 1, self._owner.clock() + pause, error.reason, str(error), error.hint
        )
        self._keep(lambda database: circuits.open_(database, self._name, circuit))

    def _closed(self) -> None:
        self._keep(lambda database: circuits.close(database, self._name))

    def _keep(self, write: Callable[[db.Database], None]) -> None:
        """Write, or leave it to the next command where another program is writing just now."""
        if not self._owner.is_writable:
            return
        path = self._owner.layout.database
        with suppress(ConflictError, WorkspaceError):
            if not os.path.exists(path):
                self._owner.make_index()
            with self._owner.lock("provider", wait=0), _database(path) as database:
                write(database)


@contextmanager
def _database(path: str) -> Iterator[db.Database]:
    database = db.connect(path, wait=0.5)
    try:
        yield database
    finally:
        database.close()


class GuardedEmbedder:
    """A remote embedder that is not asked while its circuit is open."""

    is_remote = True

    def __init__(self, embedder: Embedder, guard: Guard) -> None:
        self._embedder = embedder
        self._guard = guard

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed_query(self, text: str) -> bytes:
        return self._guard.ask(lambda: self._embedder.embed_query(text))

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        return self._guard.ask(lambda: self._embedder.embed_passages(texts))


class GuardedLLM:
    """An LLM that is not asked while its circuit is open."""

    def __init__(self, llm: LLM, guard: Guard) -> None:
        self._llm = llm
        self._guard = guard

    @property
    def name(self) -> str:
        return self._llm.name

    def complete(
        self,
        prompt: str,
        *,
        system: str = "",
        schema: dict[str, Any] | None = None,
        max_tokens: int = 1_000,
    ) -> str:
        return self._guard.ask(
            lambda: self._llm.complete(prompt, system=system, schema=schema, max_tokens=max_tokens)
        )


def name_of(section: str, *settings: object) -> str:
    """The name of a circuit: another one as soon as any of the settings changes.

    It holds a hash of them, since a key is among them.
    """
    import hashlib  # spared a search with the built-in model: it loads OpenSSL

    digest = hashlib.sha256("\0".join(map(str, settings)).encode("utf-8", "surrogatepass"))
    return f"{section}:{digest.hexdigest()[:16]}"
