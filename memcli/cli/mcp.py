"""mem mcp."""

from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

from memcli.cli.options import Context, Option
from memcli.errors import UsageError
from memcli.workspace import Workspace

# The door for agents stands beside this one. It is reached by name, so that neither imports the
# other, and so that only those who serve need its SDK.
SERVER = "memcli.mcp.server"


def run(
    context: Context,
    read_only: Annotated[
        bool, Option(("--read-only",), "Leave out the tools that write to the memory.")
    ] = False,
) -> int:
    """Serve the memory to agents over the Model Context Protocol, on standard input and output."""
    if find_spec("mcp") is None or find_spec("mcp.server.mcpserver") is None:
        raise UsageError(
            "mem mcp needs the Model Context Protocol SDK, version 2",
            hint="pip install 'memcli[mcp]'",
        )
    import_module(SERVER).serve(partial(_open, context), is_read_only=read_only)
    return 0


def _open(context: Context, scope: str | None) -> list[Workspace]:
    """The workspaces of a scope; of a server for the personal memory there is but one."""
    return [context.open()] if context.is_personal else context.open_scope(scope)
