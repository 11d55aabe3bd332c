"""For a person at a terminal, where a colour or a column helps; everything else as text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from memcli.formats import text
from memcli.text.printable import one_line, printable
from memcli.text.snippet import lit, shorten

if TYPE_CHECKING:
    from memcli.model import Hits
    from memcli.ops.consolidate import Consolidated
    from memcli.ops.eval import Evaluated
    from memcli.ops.list import Listing
    from memcli.ops.status import Status


def render(result: Any, **how: Any) -> Iterator[str]:
    """What a terminal shows, as strings with their escapes."""
    draw = _TABLE.get(type(result).__name__)
    if draw is None:
        yield from text.render(result, **how)
        return
    console = Console(file=sys.stdout, highlight=False, emoji=False, markup=False)
    with console.capture() as capture:
        for part in draw(result, console.width, **how):
            console.print(part)
    yield capture.get()


def hits(result: Hits, width: int, *, is_explaining: bool = False) -> Iterator[RenderableType]:
    for hit in result.hits:
        title = Text(printable(hit.scoped_path), style="bold cyan")
        title.append(f":{hit.start_line}-{hit.end_line}", style="cyan")
        if hit.date and hit.date not in hit.path:
            title.append(f"  {hit.date}", style="dim")
        heading = one_line(hit.heading).rsplit(" > ", 1)[-1] if hit.heading else ""
        if heading:
            title.append(f"  {shorten(heading, max(width - len(title) - 12, 20))}", style="green")
        title.append(f"  {hit.score:.2f}", style="dim")
        yield title
        for number, line in text.snippet(hit, result):
            shown = printable(shorten(line, max(width - 8, 20), result.terms))
            body = Text(shown)
            for start, end in lit(shown, result.terms):
                body.stylize("bold yellow", start, end)
            yield Text.assemble((f"{number:>6}  ", "dim"), body)
        if is_explaining:
            yield Padding(Text(text.explanation(hit), style="dim"), (0, 0, 0, 8))
    if not result.hits:
        yield Text(f"nothing found for: {one_line(result.query)[:width]}", style="yellow")


def listing(result: Listing, width: int) -> Iterator[RenderableType]:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("file", "date", "bytes", "chunks", "used", ""):
        is_number = name in ("bytes", "chunks", "used")
        overflow: Any = "fold" if name == "file" else "ellipsis"  # a name is for mem get
        table.add_column(name, justify="right" if is_number else "left", overflow=overflow)
    for file in result.files:
        state = [] if file.is_indexed else ["not indexed"]
        table.add_row(
            Text(one_line(file.path), style="cyan"),
            file.date or f"{file.modified_at:%Y-%m-%d}",
            f"{file.size:,}",
            str(file.chunks),
            f"{file.used_at:%Y-%m-%d} {file.retrievals}x" if file.used_at else "",
            Text(printable("; ".join([*state, *filter(None, [file.note])])), style="yellow"),
        )
    yield table


def status(result: Status, width: int) -> Iterator[RenderableType]:
    colour = {"fresh": "green", "partial": "yellow", "stale": "red"}[result.index.state]
    for line in text.status(result):
        label, body = line[:11], line[11:]
        yield Text.assemble((label, "dim"), (body, colour if label.startswith("index") else ""))
    yield from _growth(result, width)


def _growth(result: Status, width: int) -> Iterator[RenderableType]:
    """What each week added, as a row of bars, and what takes the space."""
    is_wide = (sys.stdout.encoding or "ascii").lower().startswith("utf")
    steps, block = (" ▁▂▃▄▅▆▇█", "█") if is_wide else (" .:-=+*%#", "#")
    weeks = result.weeks[-max(width - 56, 8) :]
    most = max((one.bytes for one in weeks), default=0)
    if most:
        bars = "".join(steps[-(-8 * one.bytes // most)] for one in weeks)
        span = f"  {weeks[0].week} to {weeks[-1].week}, at most {most:,} bytes"
        yield Text.assemble(("growth     ", "dim"), (bars, "green"), (span, "dim"))
    total = max(result.bytes, 1)
    for number, (kind, size) in enumerate(result.bytes_by_kind.items()):
        label = "space      " if number == 0 else " " * 11
        bar = block * max(1, 20 * size // total)
        yield Text.assemble((label, "dim"), f"{kind:<8}", (f"{bar:<20}", "cyan"), f" {size:,}")


def consolidated(result: Consolidated, width: int) -> Iterator[RenderableType]:
    """As text, with the colours of a diff."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    changed = set(printable(result.diff).split("\n"))
    for part in text.render(result):
        line = part.rstrip("\n")
        for one in line.split("\n"):
            yield Text(one, style=colours.get(one[:1], "") if one in changed else "")


def evaluated(result: Evaluated, width: int) -> Iterator[RenderableType]:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("mode", "recall@1", "recall@5", "recall@10", "MRR@10", "nDCG@10"):
        table.add_column(name, justify="left" if name == "mode" else "right")
    for one in result.scores:
        values = (one.recall_1, one.recall_5, one.recall_10, one.mrr_10, one.ndcg_10)
        table.add_row(Text(one.mode, style="cyan"), *[f"{value:.3f}" for value in values])
    yield table
    lines = list(text.evaluated(result))
    for line in lines[2 + len(result.scores) :]:
        yield Text(line, style="dim")


_TABLE: dict[str, Callable[..., Iterator[RenderableType]]] = {
    "Consolidated": consolidated,
    "Evaluated": evaluated,
    "Hits": hits,
    "Listing": listing,
    "Status": status,
}
