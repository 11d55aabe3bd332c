"""What an agent can call: verbs with typed arguments, answered in bounded text.

The name, the signature and the first words of a method are what the agent sees of a tool.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Literal

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from memcli.errors import MemError, RefusedError, UsageError
from memcli.formats import markdown, text
from memcli.model import IndexState
from memcli.ops import promote
from memcli.ops.append_daily import append_daily
from memcli.ops.documents import read_document
from memcli.ops.fact import add_fact
from memcli.ops.get import get
from memcli.ops.packs import own_pack
from memcli.ops.promote import Document
from memcli.ops.recall import BUDGET, recall
from memcli.ops.scopes import record_all, search_all
from memcli.ops.search import options_of
from memcli.ops.status import status
from memcli.text.printable import printable
from memcli.workspace import Workspace

Open = Callable[[str | None], list[Workspace]]  # the workspaces of a scope, open

MAX_CHARS = 16_000  # of an answer, about 4,000 tokens

Chars = Annotated[int, Field(ge=200, le=100_000, description="Characters of the answer at most.")]
Whose = Annotated[
    Literal["project", "personal"],
    Field(description="The project's memory, or the user's own across projects."),
]
Scope = Annotated[
    Literal["project", "personal", "all"],
    Field(description="The project's memory, the user's own, or both."),
]


class Tools:
    """The tools of one server."""

    def __init__(self, open_scope: Open) -> None:
        self._open_scope = open_scope

    def reading(self) -> list[Callable[..., str]]:
        return [self.memory_search, self.memory_get, self.memory_recall, self.memory_status]

    def writing(self) -> list[Callable[..., str]]:
        return [self.memory_append_daily, self.memory_fact_add, self.memory_promote]

    def memory_search(
        self,
        query: Annotated[str, Field(description="What to look for; any words, any language.")],
        k: Annotated[int, Field(ge=1, le=50, description="Passages at most.")] = 8,
        mode: Annotated[
            Literal["hybrid", "keyword", "vector"] | None,
            Field(description="By word and meaning, or one; as set if left out."),
        ] = None,
        within: Annotated[
            str | None, Field(description="Only files like this: 'tasks/*', 'daily/2026-05-*'.")
        ] = None,
        kind: Literal["pinned", "dreams", "daily", "task", "archive", "note"] | None = None,
        since: Annotated[
            str | None, Field(description="Only dated files from then on: 2026-05-19, 14d.")
        ] = None,
        until: Annotated[str | None, Field(description="Only dated files up to then.")] = None,
        scope: Scope = "project",
        max_chars: Chars = MAX_CHARS,
    ) -> str:
        """Find passages of the memory by word and by meaning, the best first, with their places."""
        now = datetime.now()
        with self._open(scope) as places:
            settings = places[0].settings
            options = options_of(places[0])._replace(
                k=k,
                mode=mode or settings.search_mode,
                within=within,
                kind=kind,
                since=since,
                until=until,
                max_chars=max_chars,
            )
            found = search_all(places, query, options, now=now)
            record_all(places, found.hits, now=now.timestamp())
            return _answer(markdown.render(found), found.notes, max_chars, index=found.index)

    def memory_get(
        self,
        place: Annotated[
            str, Field(description="A memory file, or lines of it: daily/2026-05-19.md#L3-L9.")
        ],
        scope: Whose = "project",
        max_chars: Chars = MAX_CHARS,
    ) -> str:
        """Read a memory file, or the lines of it that a hit points to."""
        if place.startswith("personal:"):  # as hits of that scope are shown
            scope, place = "personal", place.removeprefix("personal:")
        with self._open(scope) as (workspace,):
            found = get(workspace, place)
            lines = printable(found.body).rstrip("\n").split("\n")
            kept = _whole_lines(lines, max_chars)
            notes = list(workspace.take_notes())
            if kept < len(lines):
                rest = f"{found.path}#L{found.start_line + kept}-L{found.end_line}"
                notes.append(f"cut after {kept} of {len(lines)} lines; the rest: {rest}")
            return _answer(["\n".join(lines[:kept])], notes, max_chars)

    def memory_recall(
        self,
        query: Annotated[
            str, Field(description="What the task is about; empty for what is pinned and recent.")
        ] = "",
        budget: Annotated[
            int, Field(ge=100, le=20_000, description="Tokens of the answer at most.")
        ] = BUDGET,
        packs: Annotated[
            list[str] | None, Field(description="Packs of the memory to take along, by name.")
        ] = None,
        scope: Scope = "all",
        receipt: Annotated[
            bool, Field(description="Answer what would be taken, left out, and why.")
        ] = False,
    ) -> str:
        """Get what a task needs to know within a budget: rules, facts, passages, last days."""
        with self._open(scope) as places:
            given = []
            for name in packs or ():
                pack = own_pack(places, name)
                if pack is None:
                    raise UsageError(f"no pack {name}", hint="packs are files in memory/packs/")
                given.append(pack)
            found = recall(places, query, budget=budget, packs=given, now=datetime.now())
            parts = text.render(found, is_receipt=receipt)
            return _answer(parts, found.notes, None, index=found.index)

    def memory_status(self, scope: Whose = "project") -> str:
        """Tell what is remembered, how fresh the index is, and by which model it searches."""
        with self._open(scope) as (workspace,):
            found = status(workspace)
            return _answer(text.render(found), found.notes, MAX_CHARS)

    def memory_append_daily(
        self,
        body: Annotated[
            str, Field(description="What happened or was decided, as markdown; a few lines.")
        ],
        stage: Annotated[
            str, Field(description="What it belongs to: plan, build, review …")
        ] = "agent",
        scope: Whose = "project",
    ) -> str:
        """Add one entry to today's log."""
        with self._open(scope) as (workspace,):
            done = append_daily(workspace, body, stage=stage, now=_now())
            parts = text.render(done) if done.path else ["nothing was written\n"]
            return _answer(parts, [*done.notes, *_whose(workspace)], MAX_CHARS)

    def memory_fact_add(
        self,
        fact: Annotated[str, Field(description="One sentence that holds until further notice.")],
        kind: Annotated[
            Literal["fact", "preference", "instruction", "summary"],
            Field(description="Instructions and preferences are part of every recall."),
        ] = "fact",
        source: Annotated[
            str, Field(description="Where it comes from, as in notes.md#Heading.")
        ] = "",
        force: Annotated[
            bool, Field(description="Add it though much the same is there, or was removed.")
        ] = False,
        scope: Whose = "project",
    ) -> str:
        """Pin a fact, unless it is there already."""
        with self._open(scope) as (workspace,):
            done = add_fact(workspace, fact, kind=kind, source=source, is_forced=force, now=_now())
            return _answer(text.render(done), [*done.notes, *_whose(workspace)], MAX_CHARS)

    def memory_promote(
        self,
        files: Annotated[
            list[str],
            Field(min_length=1, max_length=100, description="Documents within the project."),
        ],
        task: Annotated[str, Field(description="The task that they come from.")] = "",
        check: Annotated[
            bool, Field(description="Write nothing; tell which decisions are missing or stale.")
        ] = False,
        dry_run: Annotated[
            bool, Field(description="Write nothing; show the exact change.")
        ] = False,
    ) -> str:
        """Make the decisions in documents pinned facts, each once."""
        with self._open("project") as (workspace,):
            documents = [_document(workspace.layout.root, path) for path in files]
            markers = workspace.settings.promote_markers
            if check:
                checked = promote.check(workspace, documents, markers=markers)
                return _answer(text.render(checked), checked.notes, MAX_CHARS)
            done = promote.promote(
                workspace, documents, markers=markers, task_id=task, is_dry=dry_run, now=_now()
            )
            return _answer(text.render(done), done.notes, MAX_CHARS)

    @contextmanager
    def _open(self, scope: str) -> Iterator[list[Workspace]]:
        """The workspaces of a scope for one call; what goes wrong is told as at the terminal."""
        places: list[Workspace] = []
        try:
            places += self._open_scope(scope)
            yield places
        except MemError as error:
            hint = f"\nhint: {error.hint}" if error.hint else ""
            raise ToolError(printable(f"{error}{hint}")) from error
        finally:
            for workspace in places:
                workspace.close()


def _whose(workspace: Workspace) -> list[str]:
    if workspace.scope == "project":
        return []
    return ["this was written to the user's own memory, where mem undo needs --personal"]


def _now() -> datetime:
    return datetime.now().astimezone()


def _document(root: str, path: str) -> Document:
    """A document of the project. Raises RefusedError for one outside of it."""
    full = os.path.realpath(os.path.join(root, path))
    if not full.startswith(os.path.join(root, "")):
        raise RefusedError(f"{path} is not within the project")
    return read_document(root, full)


def _answer(
    parts: Iterable[str],
    notes: Iterable[str],
    max_chars: int | None,
    *,
    index: IndexState | None = None,
) -> str:
    """The text of an answer, cut to `max_chars` at a line, and what there is to say about it."""
    body = "".join(parts).rstrip("\n")
    said = [f"note: {printable(note)}" for note in dict.fromkeys(notes)]
    if index is not None:
        behind = f", {index.behind} files behind" if index.behind else ""
        said.insert(0, f"index: {index.state}{behind}")
    if max_chars is not None and len(body) > max_chars:
        lines = body.split("\n")
        kept = "\n".join(lines[: _whole_lines(lines, max_chars)])[:max_chars]
        said.append(f"note: cut to {len(kept)} of {len(body)} characters; ask for less")
        body = kept
    return "\n".join([body, *(["", *said] if said else [])])


def _whole_lines(lines: list[str], max_chars: int) -> int:
    """How many lines have at most so many characters; at least one."""
    for number, line in enumerate(lines):
        max_chars -= len(line) + 1
        if max_chars < -1:
            return max(number, 1)
    return len(lines)
