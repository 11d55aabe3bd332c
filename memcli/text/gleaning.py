"""Choose what is worth keeping of past daily logs, by counting alone.

The same logs, in whatever language, give the same choice. Days go by one after the other; what is
held of each week is its best remarks, so that a year takes little more room than a month.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date
from math import ceil, log2
from typing import TYPE_CHECKING, NamedTuple

from memcli.text.duplicates import near_pairs, same
from memcli.text.remarks import Remark
from memcli.text.words import pieces, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# What a remark is worth: the whole of the ranking.
WEIGHTS = {
    "decision": 3.0,  # it says what was decided
    "error": 2.0,  # … what went wrong
    "fix": 2.0,  # … how it was mended, or why it was
    "change": 1.5,  # … what is no longer as it was
    "figure": 0.5,  # … a number with its unit
    "incident": 1.5,  # its entry is about an incident
    "lead": 1.0,  # its entry begins with it
    "ticket": 1.0,  # it names a ticket or an error by its number
    "vague": -3.0,  # it leans on something else, or asks
    "commit": -2.0,  # it is the subject of a commit: its entry mostly says it better
    "recurrence": 1.0,  # times log2 of the days that say it, or speak of its subject
    "shown": 0.5,  # times log2 of 1 + how often searches showed its day, rounded down
    "recency": 1.0,  # from 0 for the first day to 1 for the last
    "novelty": 3.0,  # times the share of its words that no line before it has
}
# What a remark must reach to be proposed as a fact.
GATES = {
    "score": 3.0,  # by its weights alone
    "times": 3,  # said, and shown by searches (log2 of 1 + how often), together
    "days": 2,  # on which it is said
}
AGAIN = 0.7  # likeness from which a decision counts as said once more
PER_WEEK = 8  # lines at most
ONE_IN = 3  # remarks a line is taken for …
AT_LEAST = 3  # … and from a quiet week
THREADS = 8
_SPARE = 3  # times as many remarks of a week are held as can be taken
_THREAD_DAYS = 3
_CITED = 3  # days that a line names

# What a thread is about: names that one greps for, not words.
_TERM = re.compile(
    r"`(?P<code>[\w./:-]{3,48})`|\b(?P<ticket>[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+)\b"
    r"|\b(?P<name>[a-z]\w*_\w+)\b"
)

Week = tuple[int, int]  # ISO year and week


@dataclass(slots=True)
class Line:
    """A remark with what it is worth, and who else says it."""

    remark: Remark
    words: tuple[str, ...]
    base: float
    others: list[Remark] = field(default_factory=list)
    days: int = 1  # on which it is said
    score: float = 0.0


class Thread(NamedTuple):
    """Something that came up again and again, with its first and its last remark."""

    name: str
    days: int
    first: Remark
    last: Remark


class Gleaning:
    """The best remarks of each week, while the days go by in order; no text is held but theirs."""

    def __init__(self, shown: Mapping[str, int] | None = None) -> None:
        self.days = 0
        self.since = self.until = ""
        self._shown = shown or {}
        self._weeks: dict[Week, list[tuple[float, int, Line]]] = defaultdict(list)
        self._sizes: Counter[Week] = Counter()
        self._said: dict[tuple[str, ...], Line] = {}
        self._seen: dict[str, tuple[int, int]] = {}  # word -> days, the last of them
        self._threads: dict[str, Thread] = {}
        self._count = 0

    def add(self, day: str, remarks: Sequence[Remark]) -> None:
        """Take the remarks of one more day; days come in order."""
        self.days += 1
        self.since = self.since or day
        self.until = day
        week = date.fromisoformat(day).isocalendar()[:2]
        self._sizes[week] += sum(not remark.is_vague for remark in remarks)
        held = self._weeks[week]
        for remark in remarks:
            words = tuple(tokens(remark.text))
            self._count_words(words)
            self._follow(remark)
            line = Line(remark, words, _base(remark))
            if line.base > 0 and self._is_said(line):
                continue
            self._count += 1
            heapq.heappush(held, (line.base, -self._count, line))
            if len(held) > _SPARE * PER_WEEK:
                heapq.heappop(held)

    def _is_said(self, line: Line) -> bool:
        """Note that a remark was made before in the same words, also where that one was let go.

        Only those that carry something are remembered, or a year of chatter would be.
        """
        before = self._said.setdefault(line.words, line)
        if before is line or not same(before.remark.text, line.remark.text):
            return False
        if line.remark.day != (before.others or [before.remark])[-1].day:
            before.days += 1
            before.others.append(line.remark)
            del before.others[_CITED - 1 : -1]
        return True

    def _count_words(self, words: Iterable[str]) -> None:
        for word in words:
            days, last = self._seen.get(word, (0, 0))
            if last != self.days:
                self._seen[word] = (days + 1, self.days)

    def _follow(self, remark: Remark) -> None:
        for term in _terms(remark.text):
            old = self._threads.get(term)
            if old is None:
                self._threads[term] = Thread(term, 1, remark, remark)
            elif old.last.day != remark.day:
                self._threads[term] = old._replace(days=old.days + 1, last=remark)
            elif _base(remark) > _base(old.last):
                first = remark if old.first is old.last else old.first
                self._threads[term] = old._replace(first=first, last=remark)

    def chosen(self, limit: int) -> dict[Week, list[Line]]:
        """The lines of each week, in the order in which they were written."""
        said: set[str] = set()
        ranked: list[tuple[bool, float, str, int, Week, Line]] = []
        for week in sorted(self._weeks):
            pool = [line for _, _, line in self._weeks[week]]
            wanted = min(PER_WEEK, max(AT_LEAST, ceil(self._sizes[week] / ONE_IN)))
            for place in range(min(wanted, len(pool))):
                best = max(pool, key=lambda line: (self._worth(line, said), _place(line)))
                if place and best.score <= 0:
                    break
                pool.remove(best)
                said.update(best.words)
                remark = best.remark
                ranked.append((place > 0, -best.score, remark.path, remark.start_line, week, best))
        chosen: dict[Week, list[Line]] = defaultdict(list)
        left = limit
        for *_, week, line in sorted(ranked, key=lambda one: one[:4]):
            left -= len(line.remark.text) + 60 + 40 * (week not in chosen)
            if left < 0:
                break
            chosen[week].append(line)
        return {week: _by_topic(chosen[week]) for week in sorted(chosen)}

    def _worth(self, line: Line, said: set[str]) -> float:
        remark = line.remark
        subject = max((self._threads[term].days for term in _terms(remark.text)), default=1)
        often = max(2, self.days / 5)
        telling = [word for word in line.words if len(word) > 2 and self._days(word) <= often]
        new = sum(word not in said for word in telling) / len(telling) if telling else 0.0
        span = max(1, (date.fromisoformat(self.until) - date.fromisoformat(self.since)).days)
        age = (date.fromisoformat(self.until) - date.fromisoformat(remark.day)).days
        line.score = (
            line.base
            + WEIGHTS["recurrence"] * log2(max(line.days, min(subject, self.days / 4), 1))
            + WEIGHTS["shown"] * int(log2(1 + self._shown.get(remark.path, 0)))
            + WEIGHTS["recency"] * (1 - age / span)
            + WEIGHTS["novelty"] * new
        )
        return line.score

    def _days(self, word: str) -> int:
        """On how many days a word occurs."""
        return self._seen.get(word, (0, 0))[0]

    def threads(self) -> list[Thread]:
        """What came up on the most days in at least two weeks, but not in a third of all."""
        often = [
            thread
            for thread in self._threads.values()
            if _THREAD_DAYS <= thread.days <= max(_THREAD_DAYS, self.days / 3)
            and _week(thread.first.day) != _week(thread.last.day)
        ]
        best = sorted(often, key=lambda thread: (-thread.days, thread.first.day, thread.name))
        return best[:THREADS]

    def lasting(self) -> list[Line]:
        """Decisions that pass all `GATES`, the strongest first: what may hold beyond its week.

        One that was repeated in nearly the same words counts as said on all those days.
        """
        lines = sorted(
            (
                line
                for held in self._weeks.values()
                for *_, line in held
                if "decision" in line.remark.signs and line.base >= GATES["score"]
            ),
            key=lambda line: (line.remark.day, line.remark.start_line),
        )
        days = [{it.day for it in (line.remark, *line.others)} for line in lines]
        again = set()
        for pair in near_pairs([line.remark.text for line in lines], AGAIN):
            days[pair.first] |= days[pair.second]
            again.add(pair.second)
        found = []
        for place, line in enumerate(lines):
            shown = int(log2(1 + self._shown.get(line.remark.path, 0)))
            count = max(line.days, len(days[place]))
            if place not in again and count >= GATES["days"] and count + shown >= GATES["times"]:
                found.append((-line.base, -count, line.remark.day, place))
        return [lines[place] for *_, place in sorted(found)]

    def topic(self, week: Week, lines: Sequence[Line]) -> str:
        """Up to three words for a heading: tickets first, then what the week keeps naming."""
        tickets = [term for line in lines for term in _terms(line.remark.text) if _is_ticket(term)]
        weight = Counter(word for *_, line in self._weeks[week] for word in {*line.words})
        shown: dict[str, str] = {}
        for line in lines:
            for written in pieces(line.remark.text):
                word = (tokens(written) or [""])[0]
                is_word = len(written) > 3 and written.isalpha() and not written.isupper()
                if is_word and weight[word] > 1 and self._days(word) <= max(2, self.days / 12):
                    shown.setdefault(word, written.lower())
        best = sorted(shown, key=lambda word: (-weight[word] / self._seen[word][0], word))
        return ", ".join([*dict.fromkeys(tickets), *(shown[word] for word in best)][:3])


def _base(remark: Remark) -> float:
    return (
        sum(WEIGHTS[sign] for sign in remark.signs)
        + WEIGHTS["incident"] * (remark.stage == "incident")
        + WEIGHTS["lead"] * remark.is_lead
        + WEIGHTS["ticket"] * any(_is_ticket(term) for term in _terms(remark.text))
        + WEIGHTS["vague"] * remark.is_vague
        + WEIGHTS["commit"] * remark.is_commit
    )


def _terms(text: str) -> Iterator[str]:
    return iter(dict.fromkeys(found[found.lastgroup or 0] for found in _TERM.finditer(text)))


def _is_ticket(term: str) -> bool:
    return term[0].isupper() and term[-1].isdigit() and "-" in term


def _place(line: Line) -> tuple[str, int]:
    return line.remark.path, -line.remark.start_line


def _by_topic(lines: Iterable[Line]) -> list[Line]:
    """Order lines as they were written, those of one day and stage together."""
    ordered = sorted(lines, key=lambda line: (line.remark.day, line.remark.start_line))
    groups: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in ordered:
        groups[line.remark.day, line.remark.stage].append(line)
    return [line for group in groups.values() for line in group]


def _week(day: str) -> Week:
    return date.fromisoformat(day).isocalendar()[:2]
