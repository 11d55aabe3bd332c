"""Two memories searched and recalled as one: whose it is, who wins, and how they are ranked."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.model import SearchOptions
from memcli.ops.list import list_files
from memcli.ops.recall import recall
from memcli.ops.scopes import record_all, search_all
from memcli.ops.search import search
from memcli.ops.sections import Given
from memcli.workspace import Workspace
from tests.conftest import NOW, opened, write

WORDS = ("rook", "wharf", "reefer", "crane", "tide", "pilot")
KEYWORD = SearchOptions(mode="keyword")


@pytest.fixture
def personal(tmp_path: Path) -> Workspace:
    """An empty memory of somebody's own."""
    root = tmp_path / "mine"
    (root / ".decsr/memory").mkdir(parents=True)
    found = opened(root)
    found.scope = "personal"
    return found


def root_of(workspace: Workspace) -> Path:
    return Path(workspace.layout.root)


def test_hits_say_whose_they_are(workspace: Workspace, personal: Workspace) -> None:
    write(root_of(personal), "notes/alarm.md", "My own alarm rules on the phone.\n")
    found = search_all([workspace, personal], "alarm", KEYWORD, now=NOW)
    scopes = {hit.scope for hit in found.hits}
    assert scopes == {"project", "personal"}
    assert all((hit.path == "notes/alarm.md") == (hit.scope == "personal") for hit in found.hits)
    alone = search_all([personal], "alarm", KEYWORD, now=NOW)
    assert [hit.scoped_path for hit in alone.hits] == ["personal:notes/alarm.md"]
    assert found.index.files == list_count(workspace) + 1


def list_count(workspace: Workspace) -> int:
    return len(list_files(workspace).files)


def test_what_both_hold_is_shown_once_as_the_projects(
    workspace: Workspace, personal: Workspace
) -> None:
    for it in (workspace, personal):
        write(root_of(it), "notes/twice.md", "The wryneck sleeps at noon.\n")
    found = search_all([workspace, personal], "wryneck", KEYWORD, now=NOW)
    assert [hit.scope for hit in found.hits] == ["project"]


def test_the_best_of_a_small_memory_is_not_taken_for_good(
    workspace: Workspace, personal: Workspace
) -> None:
    write(root_of(personal), "notes/a.md", f"An {'idle word ' * 60} alarm and more.\n")
    found = search_all([workspace, personal], "defrost alarm rule sleeps", KEYWORD, now=NOW)
    alone = search(workspace, "defrost alarm rule sleeps", KEYWORD, now=NOW)
    assert found.hits[0].path == alone.hits[0].path
    mine = [hit for hit in found.hits if hit.scope == "personal"]
    assert not mine or mine[0].score < found.hits[0].score


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    notes=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), max_size=12),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    k=st.integers(1, 6),
)
def test_fewer_hits_are_the_first_of_more(
    tmp_path_factory: pytest.TempPathFactory, notes: list[list[str]], query: str, k: int
) -> None:
    roots = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    for root in roots:
        (root / ".decsr/memory").mkdir(parents=True)
    for number, words in enumerate(notes):
        write(roots[number % 2], f"notes/{number}.md", " ".join(words) + f" {number}\n")
    places = [opened(root) for root in roots]
    places[1].scope = "personal"
    few, many = (search_all(places, query, KEYWORD._replace(k=n), now=NOW) for n in (k, k + 4))
    assert few.hits == many.hits[:k]
    scores = [hit.score for hit in many.hits]
    assert scores == sorted(scores, reverse=True)
    for place in places:
        place.close()


def test_a_limit_of_characters_and_of_score_hold_for_all(
    workspace: Workspace, personal: Workspace
) -> None:
    write(root_of(personal), "notes/alarm.md", "alarm " * 50 + "\n")
    places = [workspace, personal]
    short = search_all(places, "alarm", KEYWORD._replace(max_chars=400), now=NOW)
    assert sum(len(hit.body) for hit in short.hits) <= 400
    good = search_all(places, "alarm", KEYWORD._replace(min_score=0.5), now=NOW)
    assert good.hits
    assert all(hit.score >= 0.5 for hit in good.hits)


def test_what_stands_within_a_word_is_found_in_either(
    workspace: Workspace, personal: Workspace
) -> None:
    write(root_of(personal), "notes/a.md", "unforeseeableness\n")
    found = search_all([workspace, personal], "oreseeabl", KEYWORD, now=NOW)
    assert [hit.scoped_path for hit in found.hits] == ["personal:notes/a.md"]


def test_a_use_is_counted_where_it_belongs(workspace: Workspace, personal: Workspace) -> None:
    write(root_of(personal), "notes/alarm.md", "alarm\n")
    found = search_all([workspace, personal], "alarm", KEYWORD, now=NOW)
    record_all([workspace, personal], found.hits, now=NOW.timestamp())
    mine = {file.path: file.retrievals for file in list_files(personal).files}
    assert mine == {"notes/alarm.md": 1}
    assert sum(file.retrievals for file in list_files(workspace).files) == len(found.hits) - 1


def test_notes_of_the_personal_memory_say_so(workspace: Workspace, personal: Workspace) -> None:
    write(root_of(personal), "notes/a.md", b"alarm caf\xe9\n")
    found = search_all([workspace, personal], "alarm", KEYWORD, now=NOW)
    assert any(note.startswith("personal memory: ") and "a.md" in note for note in found.notes)


FACTS = """# Facts

- Readings are kept for 90 days.
- Prefer tabs.  <!-- hash=000000000001 kind=preference -->
- I read answers best in short lists.  <!-- hash=000000000002 kind=preference -->
"""
OWN = """# Project Memory

- Readings are kept for 400 days.
- Prefer tabs  <!-- hash=000000000003 kind=preference -->
- Deploys happen on Tuesday.
"""


def test_the_projects_facts_win(empty: Path, personal: Workspace) -> None:
    write(empty, "MEMORY.md", OWN)
    write(root_of(personal), "MEMORY.md", FACTS)
    result = recall([opened(empty), personal], "", now=NOW)
    assert "> - Prefer tabs (MEMORY.md:4)" in result.text
    assert result.text.count("Prefer tabs") == 1
    flag = "contradicted by personal:MEMORY.md:3"
    assert f"> - Readings are kept for 400 days. (MEMORY.md:3; {flag})" in result.text
    assert "90 days" not in result.text
    assert "> - I read answers best in short lists. (personal:MEMORY.md:5)" in result.text
    out = {it.place: it.why for section in result.sections for it in section.left_out}
    assert out == {
        "personal:MEMORY.md:3": "contradicted by MEMORY.md:3",
        "personal:MEMORY.md:4": "said by the project too",
    }
    scopes = {it.place: it.scope for section in result.sections for it in section.taken}
    assert scopes["personal:MEMORY.md:5"] == "personal"
    assert scopes["MEMORY.md:4"] == "project"


def test_passages_days_and_packs_of_both(workspace: Workspace, personal: Workspace) -> None:
    root = root_of(personal)
    write(root, "notes/defrost.md", "Defrost takes me an hour at home.\n")
    write(root, "daily/2026-11-19.md", "# Daily log 2026-11-19\n\n## 09:00 — note\n\nSlept well.\n")
    pack = Given("packs/p.md", "Be brief.\n", "personal")
    result = recall([workspace, personal], "defrost", packs=[pack], budget=20_000, now=NOW)
    assert "**personal:notes/defrost.md** lines 1-1" in result.text
    assert "**personal:daily/2026-11-19.md** lines 3-5" in result.text
    places = [it.place for section in result.sections for it in section.taken]
    assert "personal:packs/p.md:1-1" in places
