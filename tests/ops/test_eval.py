"""What the measures of ``mem eval`` say of known answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.ops.eval import Question, evaluate
from memcli.ops.index import index
from tests.conftest import NOW, opened, write


@pytest.mark.parametrize(
    ("expect", "recall", "ndcg"),
    [
        (("tasks/a.md",), 1.0, 1.0),
        (("tasks/a.md#L1", "tasks/a.md#L3"), 1.0, 1.0),  # one passage holds both
        (("tasks/a.md#L1", "tasks/b.md"), 1.0, 1.0),
        (("tasks/a.md", "tasks/c.md"), 0.5, 0.6131),
        (("tasks/c.md",), 0.0, 0.0),
    ],
)
def test_measures(empty: Path, expect: tuple[str, ...], recall: float, ndcg: float) -> None:
    write(empty, "tasks/a.md", "# Buffer\n\nthe buffer of the gateway, the buffer")
    write(empty, "tasks/b.md", "# Other\n\na word about a buffer, and many more words beside it")
    write(empty, "tasks/c.md", "# Nothing\n\nof the kind")
    workspace = opened(empty)
    index(workspace, now=NOW.timestamp())
    asked = [Question("buffer", expect)]
    (score,) = evaluate(workspace, asked, modes=["keyword"], now=NOW).scores
    assert score.recall_10 == recall
    assert score.ndcg_10 == pytest.approx(ndcg, abs=1e-4)
    workspace.close()
