"""Plain lines for pipes, logs and editors: one small function a result type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from memcli import tables
from memcli.text.printable import one_line, printable
from memcli.text.snippet import best_lines, shorten

if TYPE_CHECKING:
    from memcli.model import Hit, Hits
    from memcli.ops.append_daily import Appended
    from memcli.ops.config import SettingValues
    from memcli.ops.eval import Evaluated
    from memcli.ops.get import Passage
    from memcli.ops.hooks import HookChange, HooksChanged, HookStates
    from memcli.ops.index import Indexed
    from memcli.ops.init import Initialised
    from memcli.ops.list import Listing
    from memcli.ops.promote import Checked, Promoted, Source
    from memcli.ops.recall import Recalled
    from memcli.ops.status import Status
    from memcli.ops.undo import RevisionDiff, RevisionList, Undone

LINES = 2  # of a hit
_TO_DO = ("pending", "running", "failed")  # states of a job that somebody may do something about
_COMMENT = re.compile(r"\s*<!--.*?-->")  # as every promoted fact has one
WIDTH = 200  # characters of a line: a pipe has no edge, a log of one-line files has


def render(result: Any, **how: Any) -> Iterator[str]:
    """The lines of any result. Raises KeyError for a type that nobody taught this format."""
    name = type(result).__name__
    draw = _TABLE.get(name) or tables.load("result", _ELSEWHERE, name).TABLE[name]
    for line in draw(result, **how):
        yield line + "\n"


def hits(result: Hits, *, is_explaining: bool = False) -> Iterator[str]:
    for hit in result.hits:
        lines = [shorten(line, WIDTH, result.terms) for _, line in snippet(hit, result)]
        place = f"{hit.scoped_path}:{hit.start_line}-{hit.end_line}"
        yield printable(f"{place}: {' … '.join(lines)}")
        if is_explaining:
            yield f"    {explanation(hit)}"
    if not result.hits:
        yield f"nothing found for: {one_line(result.query)[:WIDTH]}"


def snippet(hit: Hit, result: Hits) -> list[tuple[int, str]]:
    """The best lines of a hit, without comments, with their line numbers in the file."""
    found = best_lines(hit.body, result.terms, LINES)
    return [(hit.start_line + place, _COMMENT.sub("", line) or line) for place, line in found]


def explanation(hit: Hit) -> str:
    """How a hit came to its score, in one line."""
    fused = max(hit.fused, 0.0)  # below it is only the order that counts
    parts = [f"score {hit.score:.4f} = {fused:.4f} x decay {hit.decay:.3f} + {hit.bonus:.4f}"]
    for name, value, place in (
        ("bm25", hit.bm25, hit.bm25_rank),
        ("cosine", hit.cosine, hit.cosine_rank),
    ):
        parts.append(f"{name} -" if value is None else f"{name} {value:.3f} (#{place})")
    return "; ".join(parts)


def indexed(result: Indexed) -> Iterator[str]:
    yield (
        f"indexed: {len(result.added)} added, {len(result.changed)} changed,"
        f" {len(result.removed)} removed, {result.unchanged} unchanged; {result.chunks} chunks"
    )
    if result.embedded or result.pending:
        yield f"vectors: {result.embedded} made, {result.pending} pending"


def initialised(result: Initialised) -> Iterator[str]:
    if not result.created:
        yield f"already there: {printable(result.root)}/.decsr"
    for path in result.created:
        yield f"made {path}"
    yield from _hook_changes(result.hooks)


def passage(result: Passage) -> Iterator[str]:
    yield printable(result.body.rstrip("\n"))


def listing(result: Listing) -> Iterator[str]:
    if not result.files:
        yield "no memory files"
    for file in result.files:
        state = "" if file.is_indexed else "  not indexed"
        note = f"  ({file.note})" if file.note else ""
        used = f"  found {file.retrievals}x, used {file.used_at:%Y-%m-%d}" if file.used_at else ""
        yield (
            f"{file.modified_at:%Y-%m-%d}  {file.size:>9,}  {file.chunks:>4} chunks"
            f"  {one_line(file.path)}{state}{used}{one_line(note)}"
        )


def status(result: Status) -> Iterator[str]:
    index = result.index
    kinds = ", ".join(f"{count} {kind}" for kind, count in result.by_kind.items())
    yield f"workspace  {printable(result.root)}"
    yield f"memory     {index.files} files ({kinds or 'nothing yet'}), {result.bytes:,} bytes"
    yield f"facts      {result.facts} in force, {result.fact_chars:,} characters"
    behind = f", {index.behind} files behind" if index.behind else ""
    yield f"index      {index.state}{behind}: {index.chunks} chunks in {result.backend}"
    if result.embedder:
        packed = "packed" if result.is_packed else "not packed"
        yield f"meaning    {result.embedder}: {result.embedded} of {index.chunks} chunks, {packed}"
        if result.vectors_of and result.vectors_of != result.embedder:
            yield f"           re-embed needed: the vectors are of {result.vectors_of}"
    else:
        yield "meaning    off: searched by keyword only"
    if result.unused_vectors or result.questions:
        yield (
            f"cache      {result.unused_vectors:,} vectors of passages that are gone,"
            f" {result.questions:,} of questions"
        )
    yield f"database   {result.database_bytes:,} bytes, SQLite {result.sqlite}, {result.journal}"
    if result.used:
        paths = ", ".join(f"{one.path} ({one.used_at:%Y-%m-%d %H:%M})" for one in result.used)
        yield printable(f"used       {result.used_files} files, last {paths}")
    jobs = [f"{count} {state}" for state, count in result.jobs.items() if state in _TO_DO]
    if jobs:
        yield f"jobs       {', '.join(jobs)}"


def setting_values(result: SettingValues) -> Iterator[str]:
    for one in result.settings:
        value = ", ".join(one.value) if isinstance(one.value, tuple) else one.value
        yield f"{one.key} = {printable(str(value))}  ({printable(one.origin)})"


def evaluated(result: Evaluated) -> Iterator[str]:
    yield f"{result.queries} questions"
    yield "mode        recall@1  recall@5  recall@10   MRR@10  nDCG@10"
    for one in result.scores:
        yield (
            f"{one.mode:<10}{one.recall_1:>10.3f}{one.recall_5:>10.3f}{one.recall_10:>11.3f}"
            f"{one.mrr_10:>9.3f}{one.ndcg_10:>9.3f}"
        )
    for miss in result.missed:
        yield f"missed by {miss.mode}: {one_line(miss.query)}"
        yield f"    expected {', '.join(map(printable, miss.expected))}"


def appended(result: Appended) -> Iterator[str]:
    yield f"added to {result.path} (revision {result.revision}). Take back: mem undo"


def promoted(result: Promoted) -> Iterator[str]:
    for fact in result.added:
        yield printable(f"+ {fact.text}  ({fact.source})")
    for change in result.superseded:
        yield printable(f"superseded: {change.old}")
        yield printable(f"        by: {change.new}  ({change.source})")
    for fact in result.passed_over:
        yield printable(f"removed before, left out (--again takes it): {fact.text}")
    yield from _sources(result.sources)
    if result.diff:
        yield printable(result.diff.rstrip("\n"))
    number = len(result.added)
    facts = "1 fact" if number == 1 else f"{number} facts"
    if result.revision is not None:
        yield f"promoted {facts} to MEMORY.md (revision {result.revision}). Take back: mem undo"
    elif result.diff:
        yield f"would promote {facts}; nothing was written"
    else:
        yield f"nothing new: {result.known} known already"


def checked(result: Checked) -> Iterator[str]:
    for one in result.findings:
        yield printable(f"{one.path}:{one.line}: {one.code}: {one.message}")
    yield from _sources(result.sources)
    if not result.findings:
        found = sum(source.found for source in result.sources)
        yield f"ok: {found} decisions in {len(result.sources)} documents, all in MEMORY.md"


def _sources(sources: tuple[Source, ...]) -> Iterator[str]:
    """What a gate must not take for success: documents in which nothing was found, and why."""
    for source in sources:
        if not source.found:
            reason = f" ({'; '.join(source.notes)})" if source.notes else ""
            yield printable(f"0 decisions found in {source.path}{reason}")
        else:
            for note in source.notes:
                yield printable(f"{source.path}: {note}")


def recalled(result: Recalled, *, is_receipt: bool = False) -> Iterator[str]:
    if not is_receipt:
        left_out = any(section.left_out for section in result.sections)
        nothing = f"nothing fits into {result.budget} tokens" if left_out else "nothing to recall"
        yield result.text.rstrip("\n") if result.text else nothing
        return
    yield f"{result.tokens} of {result.budget} tokens; index {result.index.state}"
    for section in result.sections:
        yield f"{section.name}: {section.tokens} tokens"
        for item in section.taken:
            part = (
                ""
                if item.lines == item.of_lines
                else f", cut to {item.lines} of {item.of_lines} lines"
            )
            yield printable(f"  + {item.place}  {item.tokens} tokens, {item.why}{part}")
        for item in section.left_out:
            yield printable(f"  - {item.place}  {item.why}")


def revision_list(result: RevisionList) -> Iterator[str]:
    for one in result.revisions:
        note = f"  {one_line(one.note)[:60]}" if one.note else ""
        state = f"  (taken back by {one.undone_by})" if one.undone_by else ""
        files = ", ".join(one.files)
        yield printable(
            f"{one.id:>5}  {one.created_at:%Y-%m-%d %H:%M}  {one.op}{note}  {files}{state}"
        )
    if not result.revisions:
        yield "no revisions"


def revision_diff(result: RevisionDiff) -> Iterator[str]:
    yield printable(result.diff.rstrip("\n"))


def undone(result: Undone) -> Iterator[str]:
    what = f"{result.op} (revision {result.undoes})"
    files = ", ".join(result.files) or "no file"
    if result.revision is None:
        yield printable(result.diff.rstrip("\n"))
        yield f"would take back {what}; nothing was written"
    else:
        yield printable(f"took back {what}: {files} (revision {result.revision})")


def hooks_changed(result: HooksChanged) -> Iterator[str]:
    yield from _hook_changes(result.hooks)


def _hook_changes(hooks: tuple[HookChange, ...]) -> Iterator[str]:
    for one in hooks:
        yield printable(f"{one.what} {one.hook}: {'; '.join(one.did) or one.path}")


def hook_states(result: HookStates) -> Iterator[str]:
    for one in result.hooks:
        yield printable(f"{one.hook}: {one.state}, {one.path}")
        if one.state == "not installed":
            continue
        program = one.program or "memcli or mem on the PATH"
        gone = " (gone; the PATH is tried)" if one.program and not one.is_program_there else ""
        yield printable(f"    runs {program}{gone}")
        if one.beside:
            yield printable(f"    then {one.beside}")


# By name, since every answer stands with its verb: to print one, the others are not imported.
_TABLE: dict[str, Callable[..., Iterator[str]]] = {
    "Appended": appended,
    "Checked": checked,
    "Evaluated": evaluated,
    "Hits": hits,
    "HookStates": hook_states,
    "HooksChanged": hooks_changed,
    "Indexed": indexed,
    "Initialised": initialised,
    "Listing": listing,
    "Passage": passage,
    "Promoted": promoted,
    "Recalled": recalled,
    "RevisionDiff": revision_diff,
    "RevisionList": revision_list,
    "SettingValues": setting_values,
    "Status": status,
    "Undone": undone,
}
_ELSEWHERE = {
    "Batch": "memcli.formats.upkeep",
    "Consolidated": "memcli.formats.upkeep",
    "Diagnosis": "memcli.formats.upkeep",
    "Extracted": "memcli.formats.written",
    "FactChanged": "memcli.formats.written",
    "FactList": "memcli.formats.written",
    "Flushed": "memcli.formats.written",
    "JobList": "memcli.formats.queued",
    "JobsChanged": "memcli.formats.queued",
    "Linted": "memcli.formats.upkeep",
    "Ran": "memcli.formats.queued",
    "Revised": "memcli.formats.written",
    "SessionCut": "memcli.formats.written",
    "Summarized": "memcli.formats.written",
}
