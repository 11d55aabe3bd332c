"""A summary without a model: the sentences that matter, word for word, sorted under headings.

Nothing is worded anew, so nothing can be invented. Which sentences these are is told by `findings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from memcli.text import findings
from memcli.text.budget import Item, Section, share_out
from memcli.text.similar import key
from memcli.text.statements import clipped, statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memcli.text.turns import Message

# The order in which they stand; the first five are also what a model is asked for.
TITLES = {
    "goal": "Goal",
    "done": "Done",
    "decisions": "Decisions",
    "open_ends": "Open ends",
    "files": "Files",
    "outcomes": "Errors and outcomes",
    "outline": "Outline",
    "told": "Also said",
    "ends": "First and last",
}
# What matters most is taken first, from this part of the budget; the rest goes to all others.
_FIRST = ("decisions", "open_ends")
_FIRST_SHARE = 0.85
_SHARES = {
    "goal": 0.2,
    "done": 0.2,
    "files": 0.1,
    "outcomes": 0.15,
    "outline": 0.05,
    "told": 0.2,
    "ends": 0.1,
}


_SHORT = 6  # characters of a sentence that tells nothing alone: "Done."


@dataclass(frozen=True, slots=True)
class Extract:
    """The chosen sentences by section, each list in the order of the source."""

    sections: dict[str, tuple[str, ...]]
    left_out: int = 0  # decisions and open ends that the budget had no room for

    def __bool__(self) -> bool:
        return any(self.sections.values())


def extract(messages: Sequence[Message], tokens: int) -> Extract:
    """Choose what matters within a budget of `tokens`, headings included."""
    return _fitted(_chosen(messages), tokens)


def render(sections: dict[str, tuple[str, ...]]) -> str:
    """The sections as markdown, empty ones left out."""
    return "\n\n".join(
        f"## {TITLES[name]}\n\n" + "\n".join(f"- {text}" for text in sections[name])
        for name in TITLES
        if sections.get(name)
    )


def digest(messages: Sequence[Message], limit: int) -> str:
    """The most telling sentences in at most `limit` characters, a line each."""
    chosen = _chosen(messages)
    rest = [it for name in ("done", "told", "outcomes", "ends", "outline") for it in chosen[name]]
    both = zip_longest(chosen["decisions"], chosen["open_ends"])
    wanted = [*chosen["goal"][:1], *(one for pair in both for one in pair if one), *rest]
    lines: list[str] = []
    left = limit
    for text in (one for one in wanted if len(one) > _SHORT or not one.isascii()):
        line = f"- {clipped(text, max(limit // 2, 20))}"
        if len(line) + 1 <= left:
            lines.append(line)
            left -= len(line) + 1
    return "\n".join(lines)


def _fitted(chosen: dict[str, tuple[str, ...]], tokens: int) -> Extract:
    weight = 4 * tokens
    shares = {**_SHARES, **dict.fromkeys(_FIRST, 0.5)}
    sections = {
        name: Section(
            name,
            shares[name],
            [Item((f"- {text}",)) for text in texts],
            head=("", f"## {TITLES[name]}", ""),
        )
        for name, texts in chosen.items()
    }
    first = share_out([sections[name] for name in _FIRST], int(weight * _FIRST_SHARE))
    others = [section for name, section in sections.items() if name not in _FIRST]
    second = share_out(others, weight - first.weight)
    taken = {**first.taken, **second.taken}
    kept = {name: texts[: taken[name].items] for name, texts in chosen.items()}
    left = sum(len(chosen[name]) - len(kept[name]) for name in _FIRST)
    return Extract(kept, left)


def _chosen(messages: Sequence[Message]) -> dict[str, tuple[str, ...]]:
    """All sentences worth telling by section, each told once."""
    said = statements(messages)
    seen: set[str] = set()
    goal = _fresh(findings.goal(said), seen)
    chosen = {
        "goal": goal,
        "decisions": _fresh(findings.decisions(messages, said), seen),
        "open_ends": _fresh(findings.open_ends(messages, said), seen),
        "done": _fresh(findings.done(said), seen),
        "outcomes": findings.outcomes(said),
        "outline": _fresh(findings.outline(said), seen),
        "ends": tuple(
            it for it in _fresh(findings.ends(said), seen) if not any(g in it for g in goal)
        ),
        "told": _fresh(findings.told(said), seen),
        "files": tuple(findings.files(messages)),
    }
    return {name: chosen[name] for name in TITLES}


def _fresh(texts: Iterable[str], seen: set[str]) -> tuple[str, ...]:
    found = []
    for text in texts:
        mark = key(text)
        if mark and mark not in seen:
            seen.add(mark)
            found.append(text)
    return tuple(found)
