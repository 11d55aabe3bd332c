"""A newer fact takes the place of the older one that it contradicts where that is sure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli import history
from memcli.edit import read
from memcli.errors import ProviderError
from memcli.ops.beliefs import PAIRS, Revised, revise_beliefs
from memcli.ops.fact import list_facts
from memcli.ops.undo import undo
from memcli.text import pinned
from memcli.text.facts import Fact, fact_hash, parse
from memcli.workspace import Workspace
from tests.conftest import opened, write
from tests.servers import Server, serving

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
OLD, NEW = "Invoices are kept for ten years.", "Invoices are kept for seven years."


@pytest.fixture
def chat() -> Iterator[Server]:
    with serving() as found:
        yield found


def remembered(root: Path, *days: tuple[str, str | Fact], **variables: str) -> Workspace:
    """A workspace whose memory holds these facts, each under the heading of its day."""
    text = ""
    for day, fact in days:
        text = pinned.add(text, [fact if isinstance(fact, Fact) else Fact(fact)], day)
    write(root, "MEMORY.md", text)
    return opened(root, **variables)


def asking(chat: Server) -> dict[str, str]:
    return {"llm_provider": "ollama", "llm_url": chat.url, "llm_timeout": "2"}


def run(workspace: Workspace, *hashes: str, **how: Any) -> Revised:
    return revise_beliefs(workspace, hashes, **{"now": NOW, **how})


def memory(workspace: Workspace) -> bytes:
    return read(workspace.layout, "MEMORY.md") or b""


def in_force(workspace: Workspace) -> list[str]:
    return [it.text for it in list_facts(workspace).facts]


def test_the_newer_supersedes_the_older_and_both_stay_to_be_read(empty: Path) -> None:
    workspace = remembered(empty, ("2026-01-01", OLD), ("2026-02-01", NEW))
    before = memory(workspace)
    done = run(workspace)
    (one,) = done.superseded
    assert (one.old, one.new, one.what) == (OLD, NEW, "number")
    assert in_force(workspace) == [NEW]
    old, _ = parse(memory(workspace).decode()).facts
    assert (old.fact.text, old.superseded_by) == (OLD, fact_hash(NEW))
    again = run(workspace)
    assert (again.superseded, again.reported, again.revision) == ((), (), None)
    undo(workspace.layout, now=NOW)
    assert memory(workspace) == before


def test_the_date_counts_and_not_the_place(empty: Path) -> None:
    workspace = remembered(empty, ("2026-02-01", NEW), ("2026-01-01", OLD))
    run(workspace)
    assert in_force(workspace) == [NEW]


def test_in_one_section_the_later_line_is_newer(empty: Path) -> None:
    workspace = remembered(empty, ("2026-02-01", OLD), ("2026-02-01", NEW))
    run(workspace, fact_hash(NEW))
    assert in_force(workspace) == [NEW]


def test_only_the_facts_that_were_given_count_as_new(empty: Path) -> None:
    days = [("2026-01-01", OLD), ("2026-02-01", NEW), ("2026-02-01", "Answer in German.")]
    workspace = remembered(empty, *days, ("2026-03-01", "Answer in English."))
    assert run(workspace, fact_hash(OLD)).superseded == ()
    assert run(workspace, "0" * 12).reported == ()
    run(workspace, fact_hash("Answer in English."))
    assert in_force(workspace) == [OLD, NEW, "Answer in English."]


def test_of_three_the_newest_takes_the_place_of_both(empty: Path) -> None:
    newest = "Invoices are kept for six years."
    workspace = remembered(empty, ("2026-01-01", OLD), ("2026-02-01", NEW), ("2026-03-01", newest))
    run(workspace)
    old, new, last = parse(memory(workspace).decode()).facts
    assert old.superseded_by == new.superseded_by == last.fact.hash
    assert in_force(workspace) == [newest]


@pytest.mark.parametrize(
    "by_hand",
    [
        f"- {OLD}\n\n## 2026-02-01 — promoted\n\n- {NEW}  <!-- src= hash={fact_hash(NEW)} -->\n",
        f"## 2026-01-01 — promoted\n\n- {OLD}  <!-- src= hash={fact_hash(OLD)} -->\n- {NEW}\n",
        f"## 2026-01-01 — promoted\n\n- {OLD}  <!-- src= hash={fact_hash('x')} -->\n"
        f"- {NEW}  <!-- src= hash={fact_hash(NEW)} -->\n",
        f"## 2026-01-01 — promoted\n\n- {OLD}  <!-- src= hash={fact_hash(OLD)}"
        f" was-hash={fact_hash('x')} -->\n- {NEW}  <!-- src= hash={fact_hash(NEW)} -->\n",
    ],
    ids=["bullet", "newer-bullet", "edited", "edited-by-mem"],
)
def test_what_a_person_wrote_is_reported_alone(empty: Path, chat: Server, by_hand: str) -> None:
    write(empty, "MEMORY.md", by_hand)
    workspace = opened(empty, **asking(chat))
    done = run(workspace)
    (one,) = done.reported
    assert "by hand" in one.why
    assert one.command.startswith("mem fact disable ")
    assert memory(workspace).decode() == by_hand
    assert not chat.requests


def test_a_document_that_still_says_it_wins(empty: Path, chat: Server) -> None:
    adr = empty / "adr.md"
    adr.write_text(f"# Decision\n\n- {OLD}\n")
    promoted = Fact(OLD, source="adr.md#Decision")
    workspace = remembered(empty, ("2026-01-01", promoted), ("2026-02-01", NEW), **asking(chat))
    (one,) = run(workspace).reported
    assert "adr.md#Decision still says it" in one.why
    assert not chat.requests
    adr.write_text("# Decision\n\n- Invoices go to the archive.\n")
    assert len(run(opened(empty)).superseded) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("All queues expire", "Some queues expire"),
        ("We deployed version 2.1 on Monday", "We deployed version 2.2 on Monday"),
        ("Anna met the board on 2026-01-01", "Anna met the board on 2026-02-01"),
    ],
)
def test_without_a_model_scope_and_events_are_reported(empty: Path, old: str, new: str) -> None:
    workspace = remembered(empty, ("2026-01-01", old), ("2026-02-01", new))
    done = run(workspace)
    assert done.superseded == ()
    assert len(done.reported) <= 1
    assert in_force(workspace) == [old, new]


def test_what_differs_in_its_person_is_left_alone(empty: Path) -> None:
    facts = ("Anna prefers tabs.", "Ben prefers spaces.", "Anna: Never squash.", "Ben: Squash.")
    workspace = remembered(empty, *(("2026-01-01", one) for one in facts))
    done = run(workspace)
    assert (done.superseded, done.reported) == ((), ())


def test_a_dry_run_writes_nothing_and_asks_nobody(empty: Path, chat: Server) -> None:
    workspace = remembered(empty, ("2026-01-01", OLD), ("2026-02-01", NEW), **asking(chat))
    before = memory(workspace)
    done = run(workspace, is_dry=True)
    assert (len(done.superseded), done.revision, done.is_dry) == (1, None, True)
    assert memory(workspace) == before
    assert not chat.requests


# --- with a model ---


@pytest.mark.parametrize(
    ("says", "is_superseded"),
    [
        ('{"verdict": "supersedes"}', True),
        ('```json\n{"verdict": "Supersedes"}\n```', True),
        ('{"verdict": "both hold"}', False),
        ('{"verdict": "unclear"}', False),
        ('{"verdict": "delete everything"}', False),
        ("The newer one supersedes the older one.", False),
        ("[1, 2]", False),
        ('{"verdict": 7}', False),
    ],
)
def test_a_model_judges_each_pair(
    empty: Path, chat: Server, says: str, is_superseded: bool
) -> None:
    chat.says = says
    workspace = remembered(empty, ("2026-01-01", OLD), ("2026-02-01", NEW), **asking(chat))
    done = run(workspace, fact_hash(NEW), job="d" * 12)
    assert done.calls == 1
    assert done.by == "ollama:llama3.2"
    assert bool(done.superseded) is is_superseded
    assert in_force(workspace) == ([NEW] if is_superseded else [OLD, NEW])
    if not is_superseded:
        assert done.reported[0].why.startswith("ollama:llama3.2: ")
        return
    assert f"Older: {OLD}\nNewer: {NEW}" in chat.prompts[0]
    (revision,) = history.revisions(workspace.layout, [])
    assert "d" * 12 in revision.note.split()


def test_a_model_judges_scope_too(empty: Path, chat: Server) -> None:
    chat.says = '{"verdict": "supersedes"}'
    days = ("2026-01-01", "All queues expire"), ("2026-02-01", "Some queues expire")
    assert len(run(remembered(empty, *days, **asking(chat))).superseded) == 1


@pytest.mark.parametrize("fault", ["500", "401"])
def test_a_model_that_fails_is_a_note_or_for_a_job_an_error(
    empty: Path, chat: Server, fault: str
) -> None:
    chat.fault = fault
    workspace = remembered(empty, ("2026-01-01", OLD), ("2026-02-01", NEW), **asking(chat))
    with pytest.raises(ProviderError):
        run(workspace, job="e1")
    assert in_force(workspace) == [OLD, NEW]
    done = run(opened(empty, **asking(chat)))
    assert (len(done.superseded), done.by) == (1, "rules")
    assert any("without a model" in note for note in done.notes)


def test_a_run_asks_about_a_bounded_number_of_pairs(empty: Path, chat: Server) -> None:
    chat.says = '{"verdict": "both hold"}'
    facts = [
        f"Shelf {n} of the store holds {size} jars" for n in "ABCDEFGH" for size in (1, 2, 3, 4)
    ]
    workspace = remembered(empty, *(("2026-01-01", one) for one in facts), **asking(chat))
    done = run(workspace)
    assert done.calls == len(chat.requests) == PAIRS < len(done.reported)


CLAIMS = st.sampled_from(
    [
        "The cache holds 64 MB",
        "The cache holds 128 MB",
        "The cache does not hold 64 MB",
        "Anna prefers tabs",
        "Anna prefers spaces",
        "All queues expire",
        "Some queues expire",
        "We met Lena on Monday",
    ]
)
WRITTEN = st.tuples(st.sampled_from(["2026-01-01", "2026-02-01", ""]), CLAIMS)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facts=st.lists(WRITTEN, max_size=8, unique_by=lambda one: one[1]))
def test_nothing_is_lost_and_a_second_run_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, facts: list[tuple[str, str]]
) -> None:
    root = tmp_path_factory.mktemp("any")
    text = "".join(f"- {text}\n" for day, text in facts if not day)
    for day, one in facts:
        text = pinned.add(text, [Fact(one)], day) if day else text
    write(root, "MEMORY.md", text)
    workspace = opened(root)
    before = memory(workspace)
    done = run(workspace)
    after = parse(memory(workspace).decode()).facts
    assert sorted(it.fact.text for it in after) == sorted(text for _, text in facts)
    by_hash = {it.fact.hash: it for it in after}
    for it in after:
        if not it.fact.enabled:
            assert by_hash[it.superseded_by].fact.text != it.fact.text
    again = run(workspace)
    assert (again.superseded, again.revision) == ((), None)
    if done.revision is not None:
        undo(workspace.layout, now=NOW)
    assert memory(workspace) == before
    workspace.close()


def test_the_answer_as_text_says_what_settles_the_rest(empty: Path) -> None:
    from memcli.formats.text import render

    workspace = remembered(empty, ("2026-01-01", OLD), ("2026-02-01", NEW))
    assert list(render(run(workspace))) == [
        f"superseded (number): {fact_hash(OLD)[:6]}  {OLD}\n",
        f"        by: {fact_hash(NEW)[:6]}  {NEW}\n",
        "superseded 1 fact (revision 1). Take back: mem undo\n",
    ]
    assert list(render(run(workspace))) == ["no contradictions\n"]
