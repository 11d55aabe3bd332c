"""mem list."""

from typing import Annotated

from memcli.cli.options import Context, Option
from memcli.cli.show import say, show
from memcli.layout import LISTING
from memcli.ops.list import list_files


def run(
    context: Context,
    kind: Annotated[str | None, Option(("--kind",), "Only such files.", one_of=LISTING)] = None,
) -> int:
    """List the memory files with dates, sizes, and whether the index has them."""
    workspace = context.open()
    result = list_files(workspace, kind=kind)
    show(context, result)
    say(context, result.notes)
    return 0 if result.files else 1
