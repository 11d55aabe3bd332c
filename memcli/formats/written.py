"""Plain lines for the verbs that write what was said: facts and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from memcli.text.printable import printable

if TYPE_CHECKING:
    from memcli.ops.fact import FactChanged, FactList
    from memcli.ops.flush import Flushed
    from memcli.ops.session import SessionCut
    from memcli.ops.summarize import Summarized


def fact_list(result: FactList) -> Iterator[str]:
    for one in result.facts:
        marks = [one.kind] if one.kind != "fact" else []
        if one.superseded_by:
            marks.append(f"superseded by {one.superseded_by[:6]}")
        elif not one.is_enabled:
            marks.append("off")
        tail = f"  [{', '.join(marks)}]" if marks else ""
        source = f"  ({one.source})" if one.source else ""
        yield printable(f"{one.hash[:6]}  {one.text}{tail}{source}")
    if not result.facts:
        yield "no facts"


def fact_changed(result: FactChanged) -> Iterator[str]:
    if result.what == "known":
        yield printable(f"already there: {result.hash[:6]}  {result.text}")
        return
    yield printable(f"{result.what}: {result.hash[:6]}  {result.text}")
    if result.revision is not None:
        yield f"(revision {result.revision}). Take back: mem undo"


def summarized(result: Summarized) -> Iterator[str]:
    if not result.path:
        yield printable(result.body.rstrip("\n"))
        return
    how = {"extract": "its own sentences", "as it is": "as it is"}.get(result.by, result.by)
    state = f"revision {result.revision}" if result.revision is not None else "unchanged"
    yield printable(f"wrote {result.path} ({how}; {state}). Take back: mem undo")


def session_cut(result: SessionCut) -> Iterator[str]:
    size = f"{result.messages} messages, {result.tokens} tokens"
    if not result.is_cut:
        yield f"within the limit, nothing cut: {size}"
        return
    gone = result.messages - result.kept
    yield f"{'would cut' if result.is_dry else 'cut'} {gone} of {size}"
    yield f"kept the newest {result.kept}: {result.tokens_after} tokens"
    if result.archive:
        done = f" (revision {result.revision})" if result.revision is not None else ""
        yield printable(f"in full: {result.archive}{done}")
    yield f"carried along: {result.carried} characters, of which these are new:"
    yield printable(f"    {result.summary.replace(chr(10), chr(10) + '    ')}")
    if not result.is_dry:
        yield printable(f"wrote {result.out}")


def flushed(result: Flushed) -> Iterator[str]:
    size = f"{result.messages} messages, {result.tokens} tokens"
    if not result.is_due:
        yield f"nothing to flush yet: {size}"
    elif not result.facts:
        yield f"nothing new worth keeping in {size}"
    for fact in result.facts:
        yield printable(f"+ {fact}")
    if result.path:
        yield (
            f"saved {len(result.facts)} facts to {result.path} (revision {result.revision})."
            " Take back: mem undo"
        )
    elif result.is_dry and result.is_due:
        yield f"would save {len(result.facts)} facts; nothing was written"
    if result.out and not result.is_dry:
        yield printable(f"wrote {result.out}, with {result.kept} messages")


TABLE: dict[str, Callable[[Any], Iterator[str]]] = {
    "FactChanged": fact_changed,
    "FactList": fact_list,
    "Flushed": flushed,
    "SessionCut": session_cut,
    "Summarized": summarized,
}
