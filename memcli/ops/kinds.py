"""What a kind of job is: how it is done, and what can come of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from memcli.store.jobs import Job
from memcli.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: in words, the revision that holds what it wrote, how often it asked."""

    note: str = ""
    revision: int | None = None
    calls: int = 0


class Handler(Protocol):
    """Does one job, whose marks stand in the note of all that it writes.

    Raises ProviderError when the model did not do its part, RefusedError for what can never be.
    """

    def __call__(self, workspace: Workspace, job: Job, *, now: datetime) -> Outcome: ...


class Kind(NamedTuple):
    """How a kind of job is done, and what it asks of a model."""

    run: Handler
    is_model: bool  # it asks one where one is set up
    is_asking_each: bool = False  # once for each mark
    has_rules: bool = False  # where no model is set up, rules serve

    def calls(self, job: Job) -> int:
        """How often a job asks a model at most."""
        return self.is_model * (len(job.marks) if self.is_asking_each else 1)
