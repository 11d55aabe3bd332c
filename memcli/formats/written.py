"""Plain lines for the verbs that write what was said: facts and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from memcli.text.printable import printable

if TYPE_CHECKING:
    from memcli.ops.beliefs import Revised
    from memcli.ops.extraction import Extracted
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


def extracted(result: Extracted) -> Iterator[str]:
    for fact in result.added:
        kind = f"  [{fact.kind}]" if fact.kind != "fact" else ""
        yield printable(f"+ {fact.hash[:6]}  {fact.text}{kind}  ({fact.source})")
    for one in result.against:
        yield printable(f"  contradicts {one.hash[:6]} ({one.what}): {one.old}")
        yield f"  to settle it: {one.command}"
    for there in result.known:
        state = f", {there.state}" if there.state else ""
        said = f" as: {there.there}" if there.there != there.text else ""
        yield printable(f"known ({there.hash[:6]}{state}): {there.text}{said}")
    for fact in result.passed_over:
        yield printable(f"removed before, left out: {fact.text}")
    for fact in result.left_out:
        yield printable(f"no room, left out: {fact.text}")
    facts = _counted(len(result.added))
    if result.revision is not None:
        yield f"added {facts} to MEMORY.md (revision {result.revision}). Take back: mem undo"
    elif result.is_dry and result.added:
        yield f"would add {facts}; nothing was written"
    else:
        yield f"nothing new: {len(result.known)} known already"


def revised(result: Revised) -> Iterator[str]:
    for one in result.superseded:
        yield printable(f"superseded ({one.what}): {one.old_hash[:6]}  {one.old}")
        yield printable(f"        by: {one.new_hash[:6]}  {one.new}")
    for one in result.reported:
        yield printable(f"contradiction ({one.what}): {one.new_hash[:6]}  {one.new}")
        yield printable(f"        {one.old_hash[:6]}  {one.old}")
        yield printable(f"        left as it is: {one.why}. To settle it: {one.command}")
    facts = _counted(len(result.superseded))
    if result.revision is not None:
        yield f"superseded {facts} (revision {result.revision}). Take back: mem undo"
    elif result.is_dry and result.superseded:
        yield f"would supersede {facts}; nothing was written"
    elif not result.reported:
        yield "no contradictions"


def _counted(number: int) -> str:
    return "1 fact" if number == 1 else f"{number} facts"


TABLE: dict[str, Callable[[Any], Iterator[str]]] = {
    "Extracted": extracted,
    "FactChanged": fact_changed,
    "FactList": fact_list,
    "Flushed": flushed,
    "Revised": revised,
    "SessionCut": session_cut,
    "Summarized": summarized,
}
