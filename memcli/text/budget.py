"""Share a budget of tokens among sections, fairly and without surprises.

Every line gets the budget at which its section's share alone would pay for it and all before it in
that section (the finish time of weighted fair queueing; Demers, Keshav and Shenker 1989). Lines are
taken in that order until the budget is spent, so that
- no section lacks more of its share than its next line costs,
- what a section leaves unused goes to the others by their shares,
- a larger budget takes all that a smaller one took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memcli.text.tokens import weigh


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be taken, whole or its first lines: more than `fixed`, or none."""

    lines: tuple[str, ...]
    fixed: int = 1

    @property
    def weight(self) -> int:
        """Four times its tokens, line ends included."""
        return sum(weigh(line) + 1 for line in self.lines)


@dataclass(frozen=True, slots=True)
class Section:
    """Items in the order of their worth. One of share 0 gets what all others leave."""

    name: str
    share: float
    items: Sequence[Item]
    head: tuple[str, ...] = ()  # lines before the first item
    is_whole: bool = False  # all of it or an error: what must never be cut


@dataclass(slots=True)
class Taken:
    """How much of a section was taken: so many whole items, and lines of the next one."""

    items: int = 0
    lines: int = 0
    weight: int = 0  # its head included


@dataclass(frozen=True, slots=True)
class Shared:
    """Who got what. ``weight`` is the sum over the sections."""

    taken: Mapping[str, Taken] = field(default_factory=dict)
    weight: int = 0


def share_out(sections: Sequence[Section], weight: int) -> Shared:
    """Take from the `sections` as much as `weight` (four times the tokens) pays for.

    Sections that are whole come first. Raises ValueError with the weight that they need when that
    is more than there is.
    """
    taken = {section.name: Taken() for section in sections}
    left = weight
    for section in sections:
        if section.is_whole and section.items:
            cost = _head(section) + sum(item.weight for item in section.items)
            taken[section.name] = Taken(len(section.items), 0, cost)
            left -= cost
    if left < 0:
        raise ValueError(weight - left)
    for _, section, place, lines, cost in sorted(_queue(sections), key=lambda one: one[0]):
        if cost > left:
            break
        got = taken[section.name]
        is_last = lines == len(section.items[place].lines)
        got.items, got.lines = (place + 1, 0) if is_last else (place, lines)
        got.weight += cost
        left -= cost
    return Shared(taken, sum(one.weight for one in taken.values()))


def _queue(
    sections: Sequence[Section],
) -> list[tuple[tuple[float, int, int, int], Section, int, int, int]]:
    """Every line that may be left out, in any order, with its place in the order of taking.

    That is followed by the section, the number of the item, how many lines of it are then taken,
    and what these last ones cost.
    """
    queue = []
    for number, section in enumerate(sections):
        if section.is_whole:
            continue
        total, cost = 0, _head(section)
        for place, item in enumerate(section.items):
            for at, line in enumerate(item.lines, 1):
                cost += weigh(line) + 1
                if at < len(item.lines) and (at <= item.fixed or not item.lines[at]):
                    continue  # goes with the next line, or has an empty one going with it
                total += cost
                due = total / section.share if section.share else float("inf")
                queue.append(((due, number, place, at), section, place, at, cost))
                cost = 0
    return queue


def _head(section: Section) -> int:
    return sum(weigh(line) + 1 for line in section.head)
