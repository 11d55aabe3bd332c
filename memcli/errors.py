"""What can go wrong, each kind with its exit code; only ``cli.app.main`` prints one.

A message is a lower-case sentence that names the thing; a hint is what to type next.
"""

from __future__ import annotations


class MemError(Exception):
    """An expected failure. ``str()`` of it is the sentence shown after ``mem: ``."""

    exit_code = 70

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def with_hint(self) -> str:
        """Both on one line, for a note."""
        return f"{self} ({self.hint})" if self.hint else str(self)


class RefusedError(MemError):
    """Asked for, understood, and not done: a guard said no."""

    exit_code = 1


class UsageError(MemError):
    """Wrong words on the command line or in a settings file."""

    exit_code = 2


class WorkspaceError(MemError):
    """There is no workspace, or a part of it cannot be read or written."""

    exit_code = 3


class OutputError(MemError):
    """The answer could not be written where it should go."""

    exit_code = 3


def unwritten(error: OSError) -> OutputError:
    """What to raise or show for an answer that stdout did not take."""
    return OutputError(f"cannot write the answer: {error.strerror}")


class StoreError(WorkspaceError):
    """``memory.db`` cannot be used as it is."""


class ProviderError(MemError):
    """An embedder or LLM did not do its part.

    ``reason`` sorts it: ``key`` and ``model`` (wrong, fix the settings), ``quota`` (terminal: stop
    and say so), ``busy`` and ``down`` (worth another try later), ``request`` (this one is not
    taken, whenever it is sent), ``reply`` (it answered nonsense). ``after`` is in how many seconds
    the server wants to be asked again, 0 where it does not say.
    """

    exit_code = 4

    def __init__(
        self, message: str, hint: str = "", reason: str = "down", *, after: float = 0.0
    ) -> None:
        super().__init__(message, hint)
        self.reason = reason
        self.after = after


class ConflictError(MemError):
    """The file was edited since, or the lock was not had in time."""

    exit_code = 5
