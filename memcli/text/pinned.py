"""New text of MEMORY.md with facts added, changed or removed.

All bytes that are not a fact's own stay as they are; new lines end as the file's first line does.
The text must hold the file without loss: UTF-8 with ``surrogateescape``, the byte order mark kept.
A `PinnedFact` must come from `parse` of the same text. To change several, go from the last to the
first, so that the lines of those to come stay true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.errors import RefusedError, UsageError
from memcli.text.blocks import scan
from memcli.text.decode import split_lines
from memcli.text.facts import (
    BOM,
    MARKER,
    OFF,
    SUPERSEDED,
    WAS,
    clean_source,
    clean_text,
    fact_hash,
    one_line,
    parse,
    read_note,
    render,
    render_note,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.text.facts import Fact, PinnedFact

TITLE = "# Project Memory"
INTRO = "Facts and decisions that hold until this file says otherwise."


def add(text: str, facts: Sequence[Fact], day: str, task_id: str = "") -> str:
    """Append `facts` under the heading of `day` (an ISO date) and task; none, no change.

    `text` stays as a prefix, so the rest is what to append. When the file ends with the section of
    that day and task, the facts join it. Which facts are new is for `facts.sift` to say.
    """
    if not facts:
        return text
    lines = split_lines(text.removeprefix(BOM))
    heading = f"## {day} — promoted" + (f" from task {one_line(task_id)}" if task_id else "")
    rows = "".join(f"{render(fact)}\n" for fact in facts)
    before = "\n" if lines and not lines[-1].endswith(("\n", "\r")) else ""
    if not "".join(lines).strip():
        before += f"{TITLE}\n\n{INTRO}\n"
    if not _ends_with_section(lines, heading):
        rows = f"\n{heading}\n\n{rows}"
    hashes = [fact_hash(clean_text(fact.text)) for fact in facts]
    # A fence or comment that was left open swallows what follows, so it is closed first.
    for closing in ("", *_closings(lines)):
        added = text + (before + closing + rows).replace("\n", _newline(lines))
        if [it.recorded for it in parse(added).facts[-len(facts) :]] == hashes:
            return added
    raise RefusedError(
        "MEMORY.md ends inside HTML that was left open",
        hint="close it in an editor, then try again",
    )


def remove(text: str, pinned: PinnedFact) -> str:
    """Put a tombstone in the place of a fact."""
    hashes = " ".join(f"hash={h}" for h in pinned.hashes)
    return _with_lines(text, pinned.start_line, pinned.end_line, f"<!-- removed {hashes} -->")


def edit(text: str, pinned: PinnedFact, new_text: str) -> str:
    """Give a fact another wording, on one line; its comment remembers the hash of the old one.

    Raises a UsageError when the new wording is blank.
    """
    cleaned = clean_text(new_text)
    if not cleaned:
        raise UsageError("the new text of a fact must not be blank", hint="mem fact remove")
    marker = MARKER.match(_lines(text)[pinned.start_line - 1])
    changed = fact_hash(cleaned)
    head = f"src={clean_source(pinned.fact.source)} hash={changed}"
    kept = [word for word in pinned.words if not word.startswith(WAS)]
    was = [f"{WAS}{h}" for h in pinned.hashes if h != changed]
    row = f"{marker[0] if marker else '- '}{cleaned}  {render_note(head, [*kept, *was])}"
    return _with_lines(text, pinned.start_line, pinned.end_line, row)


def disable(text: str, pinned: PinnedFact) -> str:
    """Switch a fact off; it stays as it is but for a word in its comment."""
    return _with_words(text, pinned, [*(word for word in pinned.words if word != OFF), OFF])


def enable(text: str, pinned: PinnedFact) -> str:
    """Switch a fact on again, also one that was superseded."""
    return _with_words(text, pinned, _in_force(pinned))


def supersede(text: str, pinned: PinnedFact, by: str) -> str:
    """Switch a fact off and note the hash of the one that takes its place."""
    return _with_words(text, pinned, [*_in_force(pinned), OFF, f"{SUPERSEDED}{by}"])


def _in_force(pinned: PinnedFact) -> list[str]:
    return [word for word in pinned.words if word != OFF and not word.startswith(SUPERSEDED)]


def _with_words(text: str, pinned: PinnedFact, words: Sequence[str]) -> str:
    if tuple(words) == pinned.words:
        return text
    bare = _lines(text)[pinned.note_line - 1].rstrip("\r\n")
    note = read_note(bare)
    comment = render_note(note.head if note else "", words)
    if note is None:
        bare += f"  {comment}"
    elif note.head or words:
        bare = bare[: note.start] + comment + bare[note.end :]
    else:
        bare = bare[: note.start].removesuffix("  ") + bare[note.end :]
    return _with_lines(text, pinned.note_line, pinned.note_line, bare)


def _with_lines(text: str, start_line: int, end_line: int, row: str) -> str:
    """Put `row` in the place of these lines; the last one's line end stays."""
    bom = BOM * text.startswith(BOM)
    lines = _lines(text)
    last = lines[end_line - 1]
    end = last[len(last.rstrip("\r\n")) :]
    return "".join([bom, *lines[: start_line - 1], row, end, *lines[end_line:]])


def _lines(text: str) -> list[str]:
    return split_lines(text.removeprefix(BOM))


def _newline(lines: Sequence[str]) -> str:
    return lines[0][len(lines[0].rstrip("\r\n")) :] or "\n" if lines else "\n"


def _ends_with_section(lines: Sequence[str], heading: str) -> bool:
    blocks = scan(lines)
    headings = [number for number, block in enumerate(blocks) if block.kind == "heading"]
    if not headings or lines[blocks[headings[-1]].start_line - 1].rstrip("\r\n") != heading:
        return False
    kinds = {block.kind for block in blocks[headings[-1] + 1 :]}
    return "list" in kinds and kinds <= {"list", "comment"}


def _closings(lines: Sequence[str]) -> list[str]:
    blocks = scan(lines)
    if blocks and blocks[-1].kind == "fence":
        return [f"{blocks[-1].marker}\n"]
    return ["-->\n"] if blocks and blocks[-1].kind == "comment" else []
