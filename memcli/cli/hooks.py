"""Git hooks that log every commit, beside the hooks that are already there."""

import os
import shutil
import sys
from typing import Annotated

from memcli.cli.options import Command, Context, Option
from memcli.cli.show import say, show
from memcli.errors import UsageError
from memcli.ops import hooks

_FORCE = Option(("--force",), "Also lines of mem that somebody edited.")


def install(
    context: Context,
    post_merge: Annotated[
        bool, Option(("--post-merge",), "Log the commits that git merge makes as well.")
    ] = False,
    global_: Annotated[
        bool,
        Option(("--global",), "Also where core.hooksPath is a folder of several repositories."),
    ] = False,
    force: Annotated[bool, _FORCE] = False,
) -> int:
    """Log every commit from now on; again, bring the hooks up to date."""
    result = hooks.install(
        _start(context),
        environ=os.environ,
        program=program(),
        events=("post-commit", "post-merge") if post_merge else ("post-commit",),
        is_global=global_,
        force=force,
    )
    show(context, result)
    say(context, result.notes)
    return 0


def remove(context: Context, force: Annotated[bool, _FORCE] = False) -> int:
    """Leave every hook to the byte as it was before."""
    result = hooks.remove(_start(context), environ=os.environ, force=force)
    show(context, result)
    say(context, result.notes)
    return 0


def status(context: Context) -> int:
    """Say how the hooks stand; exit 1 when none is installed."""
    result = hooks.status(_start(context), environ=os.environ)
    show(context, result)
    return 0 if any(one.state != "not installed" for one in result.hooks) else 1


def program() -> str:
    """The absolute path of the script that runs mem, "" when only git's PATH can find it."""
    beside = os.path.dirname(os.path.abspath(sys.executable))
    for path in (sys.argv[0], os.path.join(beside, "mem"), shutil.which("memcli")):
        if path and os.path.basename(path) in ("mem", "memcli") and os.access(path, os.X_OK):
            # Not resolved: the link stays when what it leads to moves with an upgrade.
            return os.path.abspath(path)
    return ""


def _start(context: Context) -> str:
    if context.is_personal:
        raise UsageError("a personal memory has no git hooks")
    return os.path.abspath(context.root or os.getcwd())


SUBCOMMANDS: dict[str, Command] = {"install": install, "remove": remove, "status": status}
