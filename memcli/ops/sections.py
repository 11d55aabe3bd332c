"""What each section of a recall could hold, the best first, from one memory or from two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memcli import layout
from memcli.edit import read
from memcli.model import Hit, scoped
from memcli.store.stamps import modified_at
from memcli.text.blocks import scan
from memcli.text.budget import Item
from memcli.text.contradict import clashes
from memcli.text.daily import parse as parse_log
from memcli.text.dates import date_of
from memcli.text.decode import decode, split_lines
from memcli.text.facts import Pinned, PinnedFact, clean_text, fact_hash, parse, sift
from memcli.text.pinned import INTRO
from memcli.text.printable import one_line, printable
from memcli.text.query import build
from memcli.text.recalled import harmless, named, quoted
from memcli.workspace import Workspace

DAYS = 7  # daily logs that count as recent
SUMMARIES = 50  # task summaries that are thought of, the last written first

# Blocks of MEMORY.md that hold neither facts nor nothing.
_PROSE = ("paragraph", "table", "fence", "indented_code", "quote")


@dataclass(frozen=True, slots=True)
class Given:
    """A text that the caller brings along: a pack, or the conversation so far."""

    name: str
    text: str
    scope: str = "project"


@dataclass(frozen=True, slots=True)
class Piece:
    """An item with where it comes from and why it is here, or why it is not."""

    item: Item
    place: str  # "MEMORY.md:12", "daily/2026-02-11.md:13-23"
    why: str
    scope: str = "project"
    path: str = ""  # of the memory file that it is of
    chunk_id: str = ""


@dataclass(slots=True)
class Pieces:
    """The pieces of one section, and those that are out whatever the budget is."""

    offered: list[Piece] = field(default_factory=list)
    refused: list[Piece] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Held:
    """A fact in force and whose it is."""

    it: PinnedFact
    scope: str

    @property
    def place(self) -> str:
        return scoped(self.scope, f"{layout.MEMORY_FILE}:{self.it.start_line}")


def pinned(places: Sequence[Workspace], query: str, *, chars: int) -> dict[str, Pieces]:
    """What MEMORY.md says, by kind of fact: what shares words with the query, then the newest.

    Facts beyond `chars` characters are refused, and so is what a memory says that an earlier one
    says too, or contradicts. Contradictions within one memory are offered, flagged and together.
    """
    texts = [decode(read(it.layout, layout.MEMORY_FILE) or b"")[0] for it in places]
    kinds: dict[str, Pieces] = {
        kind: Pieces() for kind in ("instruction", "preference", "fact", "summary")
    }
    held, twice = _in_force([(it.scope, text) for it, text in zip(places, texts, strict=True)])
    for one in twice:
        kinds[one.it.fact.kind].refused.append(_fact(one, "said by the project too"))
    groups, lost = _groups(held)
    for one, winner in lost:
        kinds[one.it.fact.kind].refused.append(_fact(one, f"contradicted by {winner}"))
    terms = {term.casefold() for term in build(query).terms} if query.strip() else set()
    order = sorted(range(len(groups)), key=lambda at: _rank(groups[at], terms))
    for group in (groups[at] for at in order):
        kinds[group[0][0].it.fact.kind].offered.append(_joined(group))
    for it, text in zip(places, texts, strict=True):
        kinds["fact"].offered += _prose(text, it.scope)
    kinds["fact"] = _capped(kinds["fact"], chars)
    return kinds


def _in_force(texts: Sequence[tuple[str, str]]) -> tuple[list[_Held], list[_Held]]:
    """The facts that hold, by scope and text of each memory, and those that an earlier one says."""
    held: list[_Held] = []
    twice: list[_Held] = []
    for scope, text in texts:
        mine = [it for it in parse(text).facts if it.fact.enabled and not it.superseded_by]
        earlier = Pinned(tuple(one.it for one in held))
        sifted = sift(earlier, [it.fact for it in mine] if held else (), again=True)
        known = {fact.hash for fact, _ in sifted.known}
        for it in mine:
            is_known = fact_hash(clean_text(it.fact.text)) in known
            (twice if is_known else held).append(_Held(it, scope))
    return held, twice


def _groups(
    held: Sequence[_Held],
) -> tuple[list[list[tuple[_Held, str]]], list[tuple[_Held, str]]]:
    """Facts that go together, each with what contradicts it, and those that lose, with to whom."""
    flags = [""] * len(held)
    lost: dict[int, str] = {}
    leader = list(range(len(held)))
    for clash in clashes([one.it.fact.text for one in held]):
        one, other = held[clash.first], held[clash.second]
        flags[clash.first], flags[clash.second] = other.place, one.place
        if one.scope != other.scope:
            lost[clash.second] = one.place
        elif one.it.fact.kind == other.it.fact.kind:
            first, second = leader[clash.first], leader[clash.second]
            leader = [first if it == second else it for it in leader]
    groups: dict[int, list[tuple[_Held, str]]] = {}
    for at, one in enumerate(held):
        if at not in lost:
            groups.setdefault(leader[at], []).append((one, flags[at]))
    return list(groups.values()), [(held[at], winner) for at, winner in lost.items()]


def _rank(group: Sequence[tuple[_Held, str]], terms: set[str]) -> tuple[int, bool, int]:
    texts = [one.it.fact.text.casefold() for one, _ in group]
    common = max(sum(term in text for term in terms) for text in texts)
    one, _ = group[-1]
    return -common, one.scope != "project", -one.it.start_line


def _joined(group: Sequence[tuple[_Held, str]]) -> Piece:
    """One piece of facts that are shown together or not at all."""
    lines = tuple(_line(one, flag) for one, flag in group)
    why = group[0][0].it.fact.kind + (", contradicted" if group[0][1] else "")
    place = ", ".join(one.place for one, _ in group)
    return Piece(
        Item(lines, fixed=len(lines) - 1), place, why, group[0][0].scope, layout.MEMORY_FILE
    )


def _fact(one: _Held, why: str) -> Piece:
    return Piece(Item((_line(one, ""),)), one.place, why, one.scope, layout.MEMORY_FILE)


def _line(one: _Held, contradicted_by: str) -> str:
    flag = f"; contradicted by {contradicted_by}" if contradicted_by else ""
    return f"> - {harmless(printable(one_line(one.it.fact.text)))} ({one.place}{flag})"


def _prose(text: str, scope: str) -> list[Piece]:
    """What else somebody wrote into MEMORY.md to be remembered."""
    pieces = []
    lines = split_lines(text)
    for block in scan(lines):
        if block.kind in _PROSE:
            body = [line.rstrip("\r\n") for line in lines[block.start_line - 1 : block.end_line]]
            if body == [INTRO]:
                continue  # which this program wrote
            place = scoped(scope, f"{layout.MEMORY_FILE}:{block.start_line}-{block.end_line}")
            item = Item(("", *quoted(body)))
            pieces.append(Piece(item, place, "pinned text", scope, layout.MEMORY_FILE))
    return pieces


def _capped(pieces: Pieces, chars: int) -> Pieces:
    for number, piece in enumerate(pieces.offered):
        chars -= sum(map(len, piece.item.lines))
        if chars < 0:
            rest = pieces.offered[number:]
            why = "beyond the characters for pinned facts"
            over = [replace(one, why=f"{one.why}, {why}") for one in rest]
            return Pieces(pieces.offered[:number], [*over, *pieces.refused])
    return pieces


def passages(hits: Sequence[Hit], shown: dict[tuple[str, str], set[int]]) -> list[Piece]:
    """The hits without the lines in `shown`, where those that they show are added."""
    pieces = []
    for hit in hits:
        if hit.path == layout.MEMORY_FILE:
            continue  # pinned already
        seen = shown.setdefault((hit.scope, hit.path), set())
        numbered = enumerate(hit.body.rstrip("\n").split("\n"), hit.start_line)
        fresh = [(number, line) for number, line in numbered if number not in seen]
        if not any(line.strip() for _, line in fresh):
            continue
        seen.update(range(hit.start_line, hit.end_line + 1))
        pieces.append(_passage(hit, fresh))
    return pieces


def _passage(hit: Hit, numbered: Sequence[tuple[int, str]]) -> Piece:
    start, end = numbered[0][0], max(numbered[-1][0], hit.end_line)
    head = f"**{named(hit.scoped_path)}** lines {start}-{end}, {hit.score:.2f}"
    return Piece(
        # With its first line alone, often a heading, nobody would be served.
        Item((head, *quoted(line for _, line in numbered), ""), fixed=2),
        scoped(hit.scope, f"{hit.path}:{start}-{end}"),
        f"found ({hit.score:.2f})",
        hit.scope,
        hit.path,
        hit.chunk_id,
    )


def days(workspace: Workspace, shown: dict[tuple[str, str], set[int]]) -> list[Piece]:
    """The entries of the last days, newest first, without those in `shown`."""
    scope = workspace.scope
    paths = [p for p in workspace.backend.signatures() if layout.kind_of(p) == "daily"]
    pieces = []
    for path in layout.in_listing_order([p for p in paths if date_of(p)])[:DAYS]:
        text = decode(read(workspace.layout, path) or b"")[0]
        day = datetime.fromisoformat(date_of(path) or "")
        for logged in reversed(parse_log(text, day)):
            lines = range(logged.start_line, logged.end_line + 1)
            if shown.get((scope, path), set()).issuperset(lines):
                continue
            entry = logged.entry
            span = f"{logged.start_line}-{logged.end_line}"
            head = f"**{named(scoped(scope, path))}** lines {span}"
            title = f"**{entry.timestamp:%H:%M} {entry.stage}**"
            body = quoted([title, "", *entry.body.split("\n")])
            place = scoped(scope, f"{path}:{span}")
            item = Item((head, *body, ""), fixed=3)
            pieces.append(Piece(item, place, "recent day", scope, path))
    return pieces


def summaries(workspace: Workspace, shown: dict[tuple[str, str], set[int]]) -> list[Piece]:
    """The digest and the task summaries, the last written first, but for files in `shown`."""
    scope = workspace.scope
    signatures = workspace.backend.signatures()
    paths = [
        path
        for path in signatures
        if layout.kind_of(path) in ("dreams", "task") and (scope, path) not in shown
    ]
    pieces = []
    for path in sorted(paths, key=lambda path: (-modified_at(signatures[path]), path))[:SUMMARIES]:
        text = decode(read(workspace.layout, path) or b"")[0]
        body = [line.rstrip("\r\n") for line in split_lines(text)]
        if any(line.strip() for line in body):
            place = scoped(scope, path)
            lines = (f"**{named(place)}**", *quoted(body), "")
            pieces.append(Piece(Item(lines, fixed=2), place, "summary", scope, path))
    return pieces


def paragraphs(given: Given, why: str) -> list[Piece]:
    """The paragraphs of a text in its order."""
    pieces = []
    lines = [line.rstrip("\r\n") for line in split_lines(given.text)]
    start = 0
    for at in range(len(lines) + 1):
        if at < len(lines) and lines[at].strip():
            continue
        if at > start:
            body = (*quoted(lines[start:at]), "")
            place = scoped(given.scope, f"{given.name}:{start + 1}-{at}")
            pieces.append(Piece(Item(body, fixed=0), place, why, given.scope, given.name))
        start = at + 1
    return pieces


def turns(given: Given) -> tuple[list[Piece], str]:
    """What was said in a conversation, turn by turn in its order, and what to note about it.

    A transcript of any shape that `summarize` reads is read; of a text in which nobody speaks, the
    paragraphs are the turns.
    """
    # Imported here: only a conversation needs the readers of transcripts.
    from memcli.text.messages import read as read_messages
    from memcli.text.turns import CALL, label

    found = read_messages(given.text.encode("utf-8", "surrogateescape"))
    if found.shape == "document":
        return paragraphs(given, "conversation"), found.note
    pieces = []
    for number, one in enumerate(found.messages, 1):
        if one.role != CALL and one.text.strip():
            said = f"**{label(one)}:** {one.text}" if one.role else one.text
            lines = (*quoted(said.split("\n")), "")
            place = f"{given.name}: turn {number}"
            pieces.append(Piece(Item(lines, fixed=0), place, "conversation"))
    return pieces, found.note
