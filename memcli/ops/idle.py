"""Make the vectors that are missing while there is nothing else to do."""

from __future__ import annotations

import threading
import time
from queue import SimpleQueue

from memcli.errors import MemError
from memcli.ops.embed import embed_newest, follow_model
from memcli.workspace import Workspace

TELL = 10.0  # seconds between two words about it
BACK_OFF, LONGEST_OFF = 1.0, 300.0  # seconds until a provider is tried again, twice as long a time
PATIENCE = 2.0  # seconds that the end waits for what is under way


class Vectors(threading.Thread):
    """Makes the vectors that are missing beside all else: a model that hangs holds up no event."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(daemon=True)
        self._workspace = Workspace(workspace.layout, workspace.loaded, scope=workspace.scope)
        self._workspace.take_notes()
        self._made: SimpleQueue[tuple[int, int, tuple[str, ...]]] = SimpleQueue()
        self._awake = threading.Event()
        self._ended = threading.Event()
        self._has_followed = False
        self._count = 0
        self.left = 0  # chunks without vectors, as of what was made last
        self._told = 0.0
        if workspace.settings.embedding_provider != "none":
            self.start()

    def wake(self) -> None:
        """There may be chunks without vectors."""
        self._awake.set()

    def made(self) -> tuple[int, tuple[str, ...]]:
        """How many were made since this last told, and what there is to say.

        Tells when all are made, and else every TELL seconds.
        """
        notes: tuple[str, ...] = ()
        while not self._made.empty():
            count, self.left, said = self._made.get()
            self._count += count
            notes += said
        if self.left and not notes and time.monotonic() - self._told < TELL:
            return 0, ()
        count, self._count = self._count, 0
        self._told = time.monotonic()
        return count, notes

    def end(self) -> None:
        """Stop after what is under way, but for a model that does not answer."""
        self._ended.set()
        self._awake.set()
        if self.is_alive():
            self.join(PATIENCE)

    def run(self) -> None:
        pause, last = BACK_OFF, ""
        while self._awake.wait() and not self._ended.is_set():
            self._awake.clear()
            try:
                while not self._ended.is_set() and self._step():
                    pause, last = BACK_OFF, ""
            except MemError as error:
                note = f"no vectors were made: {error}"
                self._made.put((0, self.left, (note,) if note != last else ()))
                last = note
                self._ended.wait(pause)
                pause = min(pause * 2, LONGEST_OFF)
                self._awake.set()

    def _step(self) -> bool:
        """Embed a few; whether there are more."""
        workspace = self._workspace
        try:
            # Anew each time: somebody may have put another database in its place.
            backend = workspace.open_backend()
            if not self._has_followed:
                follow_model(workspace)
                self._has_followed = True  # from now on somebody else may change the model
            if not backend.counts()[2]:
                return False
            made = embed_newest(workspace)
            left = workspace.backend.counts()[2]
            if not left:
                with workspace.lock("watch"):
                    workspace.backend.tidy()
            self._made.put((made, left, workspace.take_notes()))
            return bool(left)
        finally:
            workspace.close()
