"""Plain lines for the verbs that keep a memory in order: consolidate, lint, doctor, watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memcli.text.printable import printable

if TYPE_CHECKING:
    from memcli.ops.consolidate import Consolidated, FactAt
    from memcli.ops.doctor import Diagnosis
    from memcli.ops.lint import Linted
    from memcli.ops.watch import Batch


def consolidated(result: Consolidated) -> Iterator[str]:
    for merge in result.merged:
        yield printable(f"joined: {merge.kept.text}")
        for one in merge.dropped:
            yield printable(f"        {_place(one)} {one.text}")
    for near in result.near:
        yield printable(
            f"alike ({near.likeness:.2f}), left as they are: {_place(near.one)} {near.one.text}"
        )
        yield printable(f"        {_place(near.other)} {near.other.text}")
    for pair in result.contradictions:
        yield printable(f"contradiction ({pair.what}): {_place(pair.one)} {pair.one.text}")
        yield printable(f"        {_place(pair.other)} {pair.other.text}")
    for log in result.folded:
        yield printable(f"moved: {log.path} to {log.to}")
    for fact in result.proposed:
        yield printable(f"+ {fact.text}  ({fact.source})")
    if result.diff:
        yield printable(result.diff.rstrip("\n"))
    yield from _summary(result)


def linted(result: Linted) -> Iterator[str]:
    for one in result.fixed:
        yield printable(f"fixed: {one.path}:{one.line}: {one.code}: {one.message}")
    for one in result.findings:
        yield printable(f"{one.path}:{one.line}: {one.code}: {one.message}")
    if result.revision is not None:
        yield f"fixed {len(result.fixed)} (revision {result.revision}). Take back: mem undo"
    if not result.findings:
        yield f"ok: {result.facts} facts, {result.files} files"


def diagnosis(result: Diagnosis) -> Iterator[str]:
    for problem in result.problems:
        mark = "fixed" if problem.is_fixed else "problem"
        yield f"{mark}: {problem.code}: {printable(problem.message)}"
        yield f"    {printable(problem.fix)}"
    if not result.problems:
        yield f"all is well: {', '.join(result.checked)}"


def _summary(result: Consolidated) -> Iterator[str]:
    digest = result.digest
    done = []
    if result.merged:
        count = sum(len(merge.dropped) for merge in result.merged)
        done.append(f"{count} {'copy' if count == 1 else 'copies'} joined")
    if digest.is_changed:
        done.append(
            f"{digest.days} daily logs of {digest.since} to {digest.until} digested"
            f" into {digest.lines} lines of DREAMS.md"
        )
    if result.folded:
        done.append(f"{len(result.folded)} logs moved to archive/")
    if result.proposed:
        done.append(f"{len(result.proposed)} lasting facts added")
    what = ", ".join(done)
    if not what:
        yield "nothing to do"
    elif result.is_preview:
        yield f"a preview: {what}; nothing was written"
    else:
        yield f"{what} (revision {result.revision}). Take back: mem undo"


def _place(fact: FactAt) -> str:
    source = f" ({fact.source})" if fact.source else ""
    return f"MEMORY.md:{fact.line}{source}:"


def batch(result: Batch) -> Iterator[str]:
    moment = datetime.fromtimestamp(result.at)
    parts = [
        f"{len(paths)} {word}: {', '.join(paths[:3])}{' …' if len(paths) > 3 else ''}"
        for word, paths in (
            ("added", result.added),
            ("changed", result.changed),
            ("removed", result.removed),
        )
        if paths
    ]
    if result.embedded:
        parts.append(f"{result.embedded} vectors made, {result.pending} pending")
    parts += result.notes
    yield printable(f"{moment:%H:%M:%S}  {'; '.join(parts) or 'in step'}")


TABLE: dict[str, Callable[[Any], Iterator[str]]] = {
    "Batch": batch,
    "Consolidated": consolidated,
    "Diagnosis": diagnosis,
    "Linted": linted,
}
