"""The lines of a passage that a person wants to see first, and where the searched words are."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memcli.text.words import normalise, pieces, tokens


def best_lines(body: str, terms: Sequence[str], count: int) -> list[tuple[int, str]]:
    """Up to `count` lines in their order, each with its place from 0: those with most of `terms`.

    Without any such line it is the first ones with text. Headings, rules and fences count as text
    only when nothing else is there.
    """
    wanted = _stems(terms)
    scored = []
    for place, line in enumerate(body.split("\n")):
        text = line.strip()
        if not text:
            continue
        found = sum(1 for stem in wanted if _has(stem, line))
        is_bare = not any(char.isalnum() for char in text) or text[0] == "#"
        scored.append((-found, is_bare, place, line))
    best = sorted(sorted(scored)[:count], key=lambda one: one[2])
    return [(place, line) for _, _, place, line in best]


def lit(line: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """The stretches of `line` (start, end) that are words searched for, in order."""
    wanted = _stems(terms)
    spans = []
    at = 0
    for word in pieces(line):
        start = line.find(word, at)
        if start < 0:
            continue
        at = start + len(word)
        if not wanted.isdisjoint(tokens(normalise(word))) or not wanted.isdisjoint(tokens(word)):
            spans.append((start, at))
            continue
        spans += _inside(word, start, terms)
    return spans


def shorten(line: str, width: int, terms: Sequence[str] = ()) -> str:
    """At most `width` characters of a line, around the first word searched for."""
    line = line.strip()
    if len(line) <= width:
        return line
    spans = lit(line[: 50 * width], terms)
    start = 0
    if spans and spans[0][1] > width - 1:
        start = max(0, min(spans[0][0] - width // 3, len(line) - width + 1))
    head = "…" if start else ""
    room = width - len(head)
    text = line[start : start + room]
    return head + (text if start + room >= len(line) else text[:-1] + "…")


def _stems(terms: Collection[str]) -> set[str]:
    return {stem for term in terms for stem in tokens(normalise(term))}


def _has(stem: str, line: str) -> bool:
    return stem in tokens(normalise(line)) or (not stem.isascii() and stem in normalise(line))


def _inside(word: str, start: int, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Where terms of scripts without spaces stand within a run of text."""
    if word.isascii():
        return []
    found = []
    for term in terms:
        place = -1 if term.isascii() else word.find(term)
        if place >= 0:
            found.append((start + place, start + place + len(term)))
    return sorted(found)[:1]
