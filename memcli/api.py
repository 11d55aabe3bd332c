"""The memory for scripts: five functions; what they raise is a ``memcli.errors.MemError``.

    from memcli.api import append_daily, open_workspace, recall, search

    memory = open_workspace("~/src/quayside")
    for hit in search(memory, "retry policy", k=3).hits:
        print(hit.path, hit.start_line, hit.body)
    prompt = recall(memory, "the importer retries", budget=1_500).text
    append_daily(memory, "Moved the importer to HTTP/2.", stage="build")

A workspace keeps its index open until its ``close()`` and belongs to the thread that opened it. Its
settings are those of the command line: the user's file, the project's, and ``MEM_*`` variables.
"""

import os
from collections.abc import Sequence
from datetime import datetime

import memcli.ops.append_daily
import memcli.ops.promote
import memcli.ops.recall
import memcli.workspace
from memcli.errors import UsageError
from memcli.model import Hits
from memcli.ops.append_daily import Appended
from memcli.ops.documents import read_document
from memcli.ops.packs import own_pack
from memcli.ops.promote import Promoted
from memcli.ops.recall import BUDGET, PINNED_CHARS, Recalled
from memcli.ops.scopes import record_all, search_all
from memcli.ops.search import options_of
from memcli.ops.sections import Given
from memcli.workspace import Workspace

__all__ = ["append_daily", "open_workspace", "promote", "recall", "search"]


def open_workspace(
    path: str | os.PathLike[str] | None = None, *, personal: bool = False
) -> Workspace:
    """The workspace in the folder `path`, or without one the nearest here or above.

    `personal` opens the user's own memory instead. Raises WorkspaceError when there is none, and
    UsageError for settings that cannot be read.
    """
    if personal:
        if path is not None:
            raise UsageError("a personal memory has one place")
        return memcli.workspace.open_personal(os.environ)
    root = None if path is None else os.path.expanduser(os.fspath(path))
    return memcli.workspace.open_workspace(os.getcwd(), os.environ, root=root)


def search(
    workspace: Workspace,
    query: str,
    *,
    k: int | None = None,
    mode: str | None = None,
    within: str | None = None,
    kind: str | None = None,
    since: str | None = None,
    until: str | None = None,
    max_chars: int | None = None,
    min_score: float | None = None,
    personal: Workspace | None = None,
) -> Hits:
    """The best `k` passages, as ``mem search`` finds them; `personal` is searched too.

    What is left out is as the settings have it. `mode` is hybrid, keyword or vector, `within` a
    glob on paths, `kind` pinned, dreams, daily, task, archive or note, `since` and `until` dates
    ("2026-05-19") or ages ("14d"). The answer says how current the index was.
    """
    settings = workspace.settings
    now = datetime.now()
    places = _places(workspace, personal)
    options = options_of(workspace)._replace(
        k=settings.search_k if k is None else k,
        mode=mode or settings.search_mode,
        within=within,
        kind=kind,
        since=since,
        until=until,
        max_chars=max_chars,
        min_score=min_score,
    )
    found = search_all(places, query, options, now=now)
    record_all(places, found.hits, now=now.timestamp())
    return found


def recall(
    workspace: Workspace,
    query: str = "",
    *,
    budget: int = BUDGET,
    pinned_chars: int = PINNED_CHARS,
    packs: Sequence[str] = (),
    history: str = "",
    personal: Workspace | None = None,
) -> Recalled:
    """A fragment for a prompt within `budget` tokens, with a receipt, as ``mem recall`` makes it.

    `packs` are names in ``packs/`` of a memory, `history` is the conversation so far as markdown;
    `personal` counts too, and gives way to the project. ``text`` of the answer is empty when there
    is nothing to recall. Raises RefusedError when the rules alone do not fit the budget.
    """
    places = _places(workspace, personal)
    given = []
    for name in packs:
        pack = own_pack(places, name)
        if pack is None:
            raise UsageError(f"no pack {name}", hint="packs are files in memory/packs/")
        given.append(pack)
    return memcli.ops.recall.recall(
        places,
        query,
        budget=budget,
        pinned_chars=pinned_chars,
        packs=given,
        history=Given("history", history) if history else None,
        now=datetime.now(),
    )


def append_daily(
    workspace: Workspace, body: str, *, stage: str = "", at: datetime | None = None
) -> Appended:
    """Add one entry to the log of the day `at`, or of today; a blank body writes nothing.

    When this returns the entry is on disk, and ``mem undo`` can take it back. Raises ConflictError
    when another writer did not end in time.
    """
    now = (at or datetime.now()).astimezone()
    return memcli.ops.append_daily.append_daily(workspace, body, stage=stage, now=now)


def promote(
    workspace: Workspace,
    files: Sequence[str | os.PathLike[str]],
    *,
    markers: Sequence[str] = (),
    task_id: str = "",
    is_again: bool = False,
    is_dry: bool = False,
) -> Promoted:
    """Make the decisions in documents facts of MEMORY.md, each once, as ``mem promote`` does.

    `markers` replace the words that make a heading one of decisions; `is_again` takes back in what
    was removed before; a dry run answers with the diff and writes nothing.
    """
    root = workspace.layout.root
    return memcli.ops.promote.promote(
        workspace,
        [read_document(root, os.fspath(path)) for path in files],
        markers=markers or workspace.settings.promote_markers,
        task_id=task_id,
        is_again=is_again,
        is_dry=is_dry,
        now=datetime.now().astimezone(),
    )


def _places(workspace: Workspace, personal: Workspace | None) -> list[Workspace]:
    return [workspace, *([personal] if personal else [])]
