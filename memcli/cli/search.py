"""mem search."""

from datetime import datetime
from typing import Annotated

from memcli.cli.options import Argument, Context, Option
from memcli.cli.show import say, show
from memcli.layout import LISTING
from memcli.ops.scopes import record_all, search_all
from memcli.ops.search import options_of


def run(
    context: Context,
    query: Annotated[list[str], Argument("QUERY...", "What to look for; any words, any language.")],
    k: Annotated[int | None, Option(("-k",), "How many passages.  [default: 8]", "N")] = None,
    mode: Annotated[
        str | None,
        Option(("--mode",), "By word and meaning, or one.", one_of=("hybrid", "keyword", "vector")),
    ] = None,
    alpha: Annotated[
        float | None, Option(("--alpha",), "Weight of words: 1 words alone, 0 meaning alone.", "A")
    ] = None,
    fusion: Annotated[
        str | None, Option(("--fusion",), "How the two are joined.", one_of=("blend", "rrf"))
    ] = None,
    within: Annotated[
        str | None, Option(("--in",), "Only files like this, as in 'tasks/*'.", "GLOB")
    ] = None,
    kind: Annotated[str | None, Option(("--kind",), "Only such files.", one_of=LISTING)] = None,
    since: Annotated[
        str | None, Option(("--since",), "Only dated files from this day on; 14d is ago.", "DAY")
    ] = None,
    until: Annotated[
        str | None, Option(("--until",), "Only dated files up to then.", "DAY")
    ] = None,
    max_chars: Annotated[
        int | None, Option(("--max-chars",), "At most so much text in all.", "N")
    ] = None,
    min_score: Annotated[
        float | None, Option(("--min-score",), "Leave out what scores lower.", "S")
    ] = None,
    scope: Annotated[
        str | None,
        Option(
            ("--scope",), "Whose memory.  [default: project]", one_of=("project", "personal", "all")
        ),
    ] = None,
    explain: Annotated[bool, Option(("--explain",), "Show how each score came about.")] = False,
    no_refresh: Annotated[
        bool, Option(("--no-refresh",), "Trust the index; do not look at the files.")
    ] = False,
) -> int:
    """Find passages by word and by meaning."""
    flags = {"search.k": k, "search.mode": mode, "search.fusion": fusion}
    places = context.open_scope(scope, flags)
    options = options_of(places[0])
    now = datetime.now()
    result = search_all(
        places,
        " ".join(query),
        options._replace(
            alpha=options.alpha if alpha is None else alpha,
            within=within,
            kind=kind,
            since=since,
            until=until,
            max_chars=max_chars,
            min_score=min_score,
            refresh=not no_refresh,
        ),
        now=now,
    )
    show(context, result, is_explaining=explain)
    say(context, result.notes)
    record_all(places, result.hits, now=now.timestamp())
    for workspace in places:
        workspace.close()
    return 0 if result.hits else 1
