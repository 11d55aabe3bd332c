"""mem eval."""

from datetime import datetime
from typing import Annotated

from memcli import disk
from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.errors import UsageError, WorkspaceError
from memcli.ops.eval import evaluate, read_questions
from memcli.text.decode import decode

MODES = ("keyword", "hybrid", "vector")


def run(
    context: Context,
    queries: Annotated[
        str, Argument("QUERIES.jsonl", 'Lines of {"query": "…", "expect": ["tasks/x.md#L3-L9"]}.')
    ],
    mode: Annotated[
        list[str] | None, Option(("--mode",), "Only this one; may be given again.", one_of=MODES)
    ] = None,
    fail_under: Annotated[
        float | None,
        Option(
            ("--fail-under",),
            "Exit 1 when nDCG@10 of the last --mode, or of search.mode, is below this.",
            "N",
        ),
    ] = None,
) -> int:
    """Measure how well the memory answers your own questions."""
    if fail_under is not None and not 0 <= fail_under <= 1:
        raise UsageError(f"--fail-under takes a number from 0 to 1, not {fail_under:g}")
    workspace = context.open()
    try:
        data = disk.read(queries)
    except OSError as error:
        raise WorkspaceError(f"cannot read {queries}: {error.strerror}") from error
    if data is None:
        raise UsageError(f"no file {queries}")
    questions = read_questions(decode(data)[0], queries)
    modes = mode or [one for one in MODES if one == "keyword" or workspace.embedder is not None]
    with context.progress() as progress:
        result = evaluate(workspace, questions, modes=modes, now=datetime.now(), progress=progress)
    show(context, result)
    say(context, result.notes)
    # Of the last mode that was asked for, or else of the one that people search by.
    used = mode[-1] if mode else workspace.settings.search_mode
    score = next((one for one in result.scores if one.mode == used), result.scores[-1])
    if fail_under is not None and score.ndcg_10 < fail_under:
        say(context, [f"nDCG@10 {score.ndcg_10:.3f} by {score.mode} is below {fail_under:g}"])
        return 1
    return 0
