"""mem init."""

import os
from dataclasses import replace
from typing import Annotated

from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.config import personal_folder
from memcli.errors import UsageError, WorkspaceError
from memcli.ops.init import Initialised, init


def run(
    context: Context,
    folder: Annotated[
        str | None, Argument("[DIR]", "Where; the current folder if left out.")
    ] = None,
    hooks: Annotated[
        bool, Option(("--hooks",), "Also install the git hooks; see mem hooks --help.")
    ] = False,
) -> int:
    """Make a memory in this folder; again, change nothing."""
    if context.is_personal:
        if folder or hooks:
            raise UsageError("a personal memory has one place and no hooks")
        folder = _personal()
    result = init(folder or context.root or os.getcwd())
    try:
        if hooks:
            result = _with_hooks(result)
    finally:
        show(context, result)
    workspace = context.at(result.root)
    workspace.open_backend()
    workspace.close()
    say(context, [*result.notes, *workspace.notes])
    return 0


def _personal() -> str:
    """The folder of the personal memory, made for this user alone."""
    folder = personal_folder(os.environ)
    if folder is None:
        raise WorkspaceError("a personal memory needs a home folder", hint="set HOME")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"cannot make {folder}: {error.strerror}") from error
    return folder


def _with_hooks(result: Initialised) -> Initialised:
    from memcli.cli.hooks import program  # only when they are asked for: git is run as a process
    from memcli.ops.hooks import install

    changed = install(result.root, environ=os.environ, program=program())
    return replace(result, hooks=changed.hooks, notes=(*result.notes, *changed.notes))
