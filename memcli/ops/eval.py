"""Measure how well the memory answers a team's own questions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log2

from memcli.errors import UsageError
from memcli.model import Hit, Progress
from memcli.ops.get import parse_place
from memcli.ops.refresh import refresh
from memcli.ops.search import options_of, search
from memcli.workspace import Workspace

DEPTH = 10


@dataclass(frozen=True, slots=True)
class ModeScore:
    """How well one way of searching answered a set of questions; all measures from 0 to 1."""

    mode: str
    recall_1: float
    recall_5: float
    recall_10: float
    mrr_10: float
    ndcg_10: float


@dataclass(frozen=True, slots=True)
class Missed:
    """A question none of whose expected passages was among the first ten."""

    mode: str
    query: str
    expected: tuple[str, ...]
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The answer of ``mem eval``."""

    queries: int
    scores: tuple[ModeScore, ...]
    missed: tuple[Missed, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the places that answer it: paths, or paths with lines."""

    query: str
    expect: tuple[str, ...]


def read_questions(text: str, name: str) -> list[Question]:
    """The questions of a JSON Lines text. Raises UsageError naming the line that is none."""
    questions = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            query, expect = row["query"], row["expect"]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{name}:{number}: not a question", hint='{"query": "…", "expect": ["tasks/x.md"]}'
            ) from error
        if not isinstance(query, str) or not query.strip():
            raise UsageError(f"{name}:{number}: a question without words")
        if (
            not isinstance(expect, list)
            or not expect
            or not all(isinstance(x, str) for x in expect)
        ):
            raise UsageError(f"{name}:{number}: expect takes a list of one place or more")
        questions.append(Question(query, tuple(expect)))
    if not questions:
        raise UsageError(f"no questions in {name}")
    return questions


def evaluate(
    workspace: Workspace,
    questions: Sequence[Question],
    *,
    modes: Iterable[str],
    now: datetime,
    progress: Progress | None = None,
) -> Evaluated:
    """Recall at 1, 5 and 10, MRR at 10 and nDCG at 10 of each mode.

    A place is found by the first hit that touches its lines, and counts once however many hits do;
    gains are 1, discounts are 1/log2(rank + 1) (Järvelin and Kekäläinen 2002).
    """
    refresh(workspace, now=now.timestamp())
    options = options_of(workspace)._replace(k=DEPTH, refresh=False)
    scores, missed = [], []
    notes: list[str] = []
    for mode in modes:
        rows = []
        for done, question in enumerate(questions):
            result = search(workspace, question.query, options._replace(mode=mode), now=now)
            notes += result.notes
            ranks = _ranks(result.hits, question.expect)
            if not ranks:
                found = tuple(
                    f"{hit.path}#L{hit.start_line}-L{hit.end_line}" for hit in result.hits
                )
                missed.append(Missed(mode, question.query, question.expect, found[:3]))
            rows.append(_measures(ranks, len(question.expect)))
            if progress:
                progress(f"asking by {mode}", done + 1, len(questions))
        scores.append(ModeScore(mode, *[sum(one) / len(rows) for one in zip(*rows, strict=True)]))
    return Evaluated(len(questions), tuple(scores), tuple(missed), tuple(dict.fromkeys(notes)))


def _ranks(hits: Sequence[Hit], expect: Sequence[str]) -> list[int]:
    """The rank, from 1, of the first hit that touches each expected place, where there is one."""
    ranks = []
    for path, first, last in map(parse_place, expect):
        for rank, hit in enumerate(hits, 1):
            is_there = hit.path == path and hit.start_line <= (last or first or hit.end_line)
            if is_there and hit.end_line >= (first or 1):
                ranks.append(rank)
                break
    return sorted(ranks)


def _measures(ranks: Sequence[int], expected: int) -> tuple[float, float, float, float, float]:
    def recall(depth: int) -> float:
        return sum(rank <= depth for rank in ranks) / expected

    answers = {*ranks}  # a hit may touch several places and gains once
    most = min(len(answers) + expected - len(ranks), DEPTH)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, most + 1))
    gain = sum(1 / log2(rank + 1) for rank in answers)
    return recall(1), recall(5), recall(10), 1 / ranks[0] if ranks else 0.0, gain / ideal
