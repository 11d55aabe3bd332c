"""Facts of MEMORY.md that say the same made one: the fuller wording, with every source.

The fact that stays answers to the hashes of those that went (``was-hash=``), so that none of them
is promoted again. Its sources stand in its comment one after the other, ``src=a.md#X, b.md#Y``,
which decsr reads as one source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memcli.text.decode import split_lines
from memcli.text.duplicates import groups
from memcli.text.facts import (
    BOM,
    MARKER,
    WAS,
    clean_source,
    one_line,
    parse,
    read_note,
    render_note,
)
from memcli.text.similar import signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memcli.text.facts import PinnedFact

_STOPS = " .,;:!。"
# A comma within a heading is no separator: what follows one must look like a file.
_NEXT_SOURCE = re.compile(r", (?=[^\s,#][^,#]*\.\w+(?::\d+)?(?:#|, |$))")


@dataclass(frozen=True, slots=True)
class Join:
    """One fact that stays, and those that went into it."""

    kept: PinnedFact
    dropped: tuple[PinnedFact, ...]
    sources: tuple[str, ...]


def sources_of(source: str) -> tuple[str, ...]:
    """Split what a fact's comment says of its source into the single ones."""
    return tuple(one for one in _NEXT_SOURCE.split(source) if one)


def find(text: str) -> list[Join]:
    """Return the facts to join, in their order in the file.

    Only facts in force, of one kind, that stand on lines of their own; the fullest wording stays,
    of equals the first. One that a merge of two branches brought back beside the line by which it
    was superseded goes into that line.
    """
    lines = split_lines(text.removeprefix(BOM))
    pinned = parse(text).facts
    able = [it for it in pinned if it.fact.enabled and _is_plain(it, lines)]
    joins = _brought_back(pinned, able)
    able = [it for it in able if all(it not in one.dropped for one in joins)]
    for kind in dict.fromkeys(it.fact.kind for it in able):
        facts = [it for it in able if it.fact.kind == kind]
        for places in groups([it.fact.text for it in facts]):
            alike = [facts[place] for place in places]
            kept = max(alike, key=lambda it: (len(it.fact.text.rstrip(_STOPS)), -it.start_line))
            rest = [it for it in alike if it is not kept]
            named = [source for it in (kept, *rest) for source in sources_of(it.fact.source)]
            joins.append(Join(kept, tuple(rest), tuple(dict.fromkeys(named))))
    return sorted(joins, key=lambda join: join.kept.start_line)


def join(text: str, joins: Iterable[Join]) -> str:
    """Return MEMORY.md with these facts joined; all other bytes stay as they are."""
    bom = BOM * text.startswith(BOM)
    lines = split_lines(text.removeprefix(BOM))
    gone: set[int] = set()
    for one in joins:
        lines[one.kept.note_line - 1] = _noted(lines[one.kept.note_line - 1], one)
        for it in one.dropped:
            gone.update(range(it.start_line, it.end_line + 1))
    return bom + "".join(_without(lines, gone))


def _brought_back(facts: Sequence[PinnedFact], able: Sequence[PinnedFact]) -> list[Join]:
    in_force = {h for it in facts if it.fact.enabled for h in it.hashes}
    joins = []
    for old in facts:
        if old.fact.enabled or old.superseded_by not in in_force:
            continue
        copies = tuple(it for it in able if it.fact.hash == old.fact.hash)
        if copies:
            named = [one for it in (old, *copies) for one in sources_of(it.fact.source)]
            joins.append(Join(old, copies, tuple(dict.fromkeys(named))))
    return joins


def _is_plain(it: PinnedFact, lines: Sequence[str]) -> bool:
    """Say whether the lines of a fact hold nothing else, such as code or items below it."""
    raw = "".join(lines[it.start_line - 1 : it.end_line])
    note = read_note(lines[it.note_line - 1])
    if raw.count("<!--") > (note is not None) or it.note_line != it.end_line:
        return False
    if note is not None:
        raw = raw[: raw.rindex("<!--")]
    marker = MARKER.match(raw)
    return marker is not None and signature(one_line(raw[marker.end() :])) == signature(
        it.fact.text
    )


def _noted(line: str, one: Join) -> str:
    bare = line.rstrip("\r\n")
    note = read_note(bare)
    kept = one.kept
    hashes = dict.fromkeys(h for it in one.dropped for h in it.hashes)
    was = [f"{WAS}{h}" for h in hashes if h not in kept.hashes]
    source = ", ".join(clean_source(source) for source in one.sources)
    if not was and source == kept.fact.source:
        return line
    recorded = kept.recorded or kept.fact.hash
    head = f"src={source} hash={recorded}" if source else note.head if note else ""
    comment = render_note(head, [*kept.words, *was])
    before = bare[: note.start] if note else f"{bare.rstrip()}  "
    after = bare[note.end :] if note else ""
    return before + comment + after + line[len(bare) :]


def _without(lines: Sequence[str], gone: set[int]) -> list[str]:
    """Take lines out, and of two empty ones that then meet the second."""
    kept: list[str] = []
    is_cut = False
    for number, line in enumerate(lines, 1):
        if number in gone:
            is_cut = True
            continue
        if is_cut and not line.strip() and (not kept or not kept[-1].strip()):
            is_cut = False
            continue
        is_cut = False
        kept.append(line)
    return kept
