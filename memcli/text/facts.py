"""The pinned facts of MEMORY.md: what a fact's line looks like, and reading them all.

New text of the file, with facts added or changed, is the business of `pinned`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.blocks import scan
from memcli.text.decode import split_lines
from memcli.text.duplicates import meaning, same
from memcli.text.items import item_text
from memcli.text.lines import plain_title
from memcli.text.similar import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memcli.text.blocks import Block

KINDS = ("fact", "preference", "instruction", "summary")
BOM = "\ufeff"

# The words that may follow the hash in a fact's comment.
OFF = "off"
KIND = "kind="
SUPERSEDED = "superseded-by="
WAS = "was-hash="  # spelt so that decsr, which looks for "hash=", knows the old wording too

MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_NOTE = re.compile(r"[ \t]*(<!--((?:(?!-->).)*)-->)\s*$")
_HASHED = re.compile(r"(?P<head>(?:src=(?P<source>.*?)\s+)?hash=(?P<hash>[0-9a-f]{12}))(?=\s|$)")
_KNOWN_WORD = re.compile(rf"{OFF}|{KIND}\w+|(?:{SUPERSEDED}|{WAS})[0-9a-f]{{12}}")
_TOMBSTONE = re.compile(r"<!-- removed((?: hash=[0-9a-f]{12})+) -->")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
# What Go's TrimSpace takes off: decsr's hash is defined by it.
_GO_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One pinned line of MEMORY.md."""

    text: str
    source: str = ""  # "file.md#Heading", empty for a fact written by hand
    kind: str = "fact"  # fact, preference, instruction or summary
    hash: str = ""  # first 12 hex digits of sha256(lower(trim(text)))
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class PinnedFact:
    """A fact and its place in MEMORY.md; its lines include those wrapped and nested items."""

    fact: Fact  # its hash is that of the text as it stands now
    start_line: int
    end_line: int
    section: str  # title of the heading above it
    note_line: int  # the line that its comment stands on, or would
    recorded: str = ""  # the hash in its comment, which differs once the text was edited
    words: tuple[str, ...] = ()  # what else the comment says: "off", "kind=summary", …

    @property
    def superseded_by(self) -> str:
        """The hash of the fact that took its place, or nothing."""
        return next(
            (w.removeprefix(SUPERSEDED) for w in self.words if w.startswith(SUPERSEDED)), ""
        )

    @property
    def hashes(self) -> tuple[str, ...]:
        """All hashes that it answers to: of its text, as recorded, and of earlier wordings."""
        was = (word.removeprefix(WAS) for word in self.words if word.startswith(WAS))
        return tuple(dict.fromkeys(h for h in (self.fact.hash, self.recorded, *was) if h))


@dataclass(frozen=True, slots=True)
class Pinned:
    """All that MEMORY.md pins down, in its order."""

    facts: tuple[PinnedFact, ...] = ()
    removed: frozenset[str] = frozenset()  # hashes on tombstones

    def find(self, prefix: str) -> list[PinnedFact]:
        """Return the facts that answer to a hash beginning with `prefix`."""
        wanted = prefix.lower()
        return [it for it in self.facts if any(h.startswith(wanted) for h in it.hashes)]


@dataclass(frozen=True, slots=True)
class Sifted:
    """Candidates sorted by what MEMORY.md says already."""

    new: tuple[Fact, ...]  # cleaned, hashed, each once
    known: tuple[tuple[Fact, PinnedFact], ...]  # each with the fact that says the same
    removed: tuple[Fact, ...]  # taken out by hand once


class Note(NamedTuple):
    """The comment that ends a fact's line: ``line[start:end]`` of that line."""

    head: str  # "src=… hash=…" as it stands, or nothing
    source: str
    recorded: str
    words: tuple[str, ...]
    start: int
    end: int


def fact_hash(text: str) -> str:
    """Return the first 12 hex digits of sha256(lower(trim(text))), as decsr computes it.

    Go lowers rune by rune: a final sigma is no exception, and a dotted capital I becomes i.
    """
    trimmed = text.strip(_GO_SPACES)
    lowered = "".join(char.lower()[0] for char in trimmed)
    return sha256(lowered.encode("utf-8", errors="surrogatepass")).hexdigest()[:12]


def one_line(text: str) -> str:
    """Join the lines of `text`, single-spaced and without control characters."""
    return " ".join(_CONTROL.sub(" ", text).split())


def clean_text(text: str) -> str:
    """Make `text` one line that can stand in a fact and open no comment of its own."""
    return one_line(text).replace("<!--", "&lt;!--")


def clean_source(source: str) -> str:
    """Make `source` one line that can stand in the comment and neither end it nor forge a hash."""
    return one_line(source).replace("hash=", "hash%3D").replace("--", "-%2D")


def render_note(head: str, words: Iterable[str]) -> str:
    """Return the comment of a fact."""
    return " ".join(["<!--", *[head] * bool(head), *words, "-->"])


def render(fact: Fact) -> str:
    """Return the line of a new fact, without a line end."""
    text = clean_text(fact.text)
    head = f"src={clean_source(fact.source)} hash={fact_hash(text)}"
    words = [f"{KIND}{fact.kind}"] * (fact.kind != KINDS[0]) + [OFF] * (not fact.enabled)
    return f"- {text}  {render_note(head, words)}"


def parse(text: str) -> Pinned:
    """Read MEMORY.md. Every list item outside code, comments and quotes is a fact.

    What is nested in an item belongs to it. Items without text are skipped.
    """
    lines = split_lines(text.removeprefix(BOM))
    facts: list[PinnedFact] = []
    removed: set[str] = set()
    section = ""
    for block in scan(lines):
        if block.kind == "heading":
            section = plain_title(block.text)
        elif block.kind == "comment":
            for found in _TOMBSTONE.finditer("".join(lines[block.start_line - 1 : block.end_line])):
                removed.update(word.removeprefix("hash=") for word in found[1].split())
        elif block.kind == "list":
            read = (_read_item(item, lines, section) for item in block.children)
            facts += [it for it in read if it is not None]
    return Pinned(tuple(facts), frozenset(removed))


def sift(pinned: Pinned, facts: Iterable[Fact], *, again: bool = False) -> Sifted:
    """Sort `facts` into new, known (also as near copies) and removed; `again` revives the last."""
    owners: dict[object, list[PinnedFact]] = {}
    for it in pinned.facts:
        for mark in (*it.hashes, *_marks(it.fact.text)):
            owners.setdefault(mark, []).append(it)
    new: dict[object, list[Fact]] = {}
    known: list[tuple[Fact, PinnedFact]] = []
    removed: dict[str, Fact] = {}
    for candidate in facts:
        text = clean_text(candidate.text)
        source = clean_source(candidate.source)
        fact = replace(candidate, text=text, source=source, hash=fact_hash(text))
        marks = (fact.hash, *_marks(text))
        taken = (_is_copy(mark, text, it.text) for mark in marks for it in new.get(mark, ()))
        if not text or any(taken):
            continue
        owner = _owner(text, marks, owners)
        if owner is not None:
            known.append((fact, owner))
        elif fact.hash in pinned.removed and not again:
            removed.setdefault(fact.hash, fact)
        else:
            for mark in marks:
                new.setdefault(mark, []).append(fact)
    found = dict.fromkeys(fact for those in new.values() for fact in those)
    return Sifted(tuple(found), tuple(known), tuple(removed.values()))


def _owner(
    text: str, marks: Sequence[object], owners: dict[object, list[PinnedFact]]
) -> PinnedFact | None:
    """Find the pinned fact that says the same as `text`."""
    for mark in marks:
        for it in owners.get(mark, ()):
            if _is_copy(mark, text, it.fact.text):
                return it
    return None


def _marks(text: str) -> list[object]:
    """What facts that may be copies of each other share: exact but for spelling, or by meaning."""
    return [mark for mark in (key(text), meaning(text)) if mark]


def _is_copy(mark: object, one: str, other: str) -> bool:
    """Say whether sharing `mark` makes two facts one; a shared meaning is looked at once more."""
    return not isinstance(mark, tuple) or same(one, other)


def read_note(line: str) -> Note | None:
    """Read the comment at the end of a fact's line; other comments are not of this kind."""
    found = _NOTE.search(line)
    if found is None:
        return None
    body = found[2].strip()
    hashed = _HASHED.match(body)
    head = hashed["head"] if hashed else ""
    words = tuple(body[len(head) :].split())
    if not hashed and not (words and all(_KNOWN_WORD.fullmatch(word) for word in words)):
        return None
    source = (hashed["source"] or "") if hashed else ""
    recorded = hashed["hash"] if hashed else ""
    return Note(head, source.strip(), recorded, words, *found.span(1))


def _read_item(item: Block, lines: Sequence[str], section: str) -> PinnedFact | None:
    note_line = _note_line(item)
    note = read_note(lines[note_line - 1])
    text = item_text(item.children)
    marker = MARKER.match(lines[item.start_line - 1])
    if note and note.recorded and marker:
        # As decsr wrote it, to the letter: its text may begin with a box, a hash or a dash.
        own = "".join(lines[item.start_line - 1 : note_line - 1])
        text = one_line((own + lines[note_line - 1][: note.start])[marker.end() :])
        nested = item_text([child for child in item.children if child.start_line > note_line])
        text = f"{text}; {nested}" if nested else text
    if not text:
        return None
    words = note.words if note else ()
    kind = next((word.removeprefix(KIND) for word in words if word.startswith(KIND)), KINDS[0])
    fact = Fact(
        text,
        source=clean_source(note.source) if note else "",
        kind=kind if kind in KINDS else KINDS[0],
        hash=fact_hash(text),
        enabled=OFF not in words,
    )
    recorded = note.recorded if note else ""
    return PinnedFact(fact, item.start_line, item.end_line, section, note_line, recorded, words)


def _note_line(item: Block) -> int:
    for child in item.children:
        if child.kind == "paragraph":
            return child.end_line
        if child.kind == "heading":
            return child.start_line
        if child.kind == "list":
            return _note_line(child.children[0])
    return item.start_line
