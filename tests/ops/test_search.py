"""The answer of a search: always the same, always something, and honest about how it came about."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.errors import ProviderError, UsageError, WorkspaceError
from memcli.model import SearchOptions
from memcli.ops.index import index
from memcli.ops.search import Hits, record, search
from memcli.workspace import Workspace, open_workspace
from tests.conftest import NOW, Program, copied, opened, write
from tests.servers import Server

MODES = ("keyword", "hybrid", "vector")


def served(server: Server, provider: str = "openai", **more: str) -> dict[str, str]:
    return {
        "embedding_provider": provider,
        "embedding_url": server.url,
        "embedding_model": "bag-of-words",
        "embedding_timeout": "2",
        **more,
    }


@contextmanager
def indexed(root: Path, **given_: str) -> Iterator[Workspace]:
    workspace = opened(root, **given_)
    try:
        index(workspace, now=time.time())
        yield workspace
    finally:
        workspace.close()


def ask(workspace: Workspace, text: str, **options: object) -> Hits:
    return search(workspace, text, SearchOptions(**options), now=NOW)  # type: ignore[arg-type]  # as named


def places(hits: Hits) -> list[tuple[str, int]]:
    return [(hit.path, hit.start_line) for hit in hits.hits]


# --- what always holds ---


@pytest.fixture(scope="module")
def semantic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The believable workspace, by word and by meaning."""
    from tests.servers import serving

    root = copied("workspace", tmp_path_factory.mktemp("semantic") / "project")
    with serving() as server, indexed(root, **served(server)) as workspace:
        yield workspace


QUESTION = st.lists(
    st.sampled_from(
        ["acknowledge", "commit", "buffer", "why", "partition", "Postgres", "alarm", "当直", "the"]
    ),
    min_size=1,
    max_size=4,
).map(" ".join)


@settings(max_examples=30)
@given(
    text=QUESTION | st.text(min_size=1, max_size=8).filter(str.strip),
    mode=st.sampled_from(MODES),
    fusion=st.sampled_from(["blend", "rrf"]),
    k=st.integers(1, 130),
    more=st.integers(1, 40),
)
def test_fewer_results_are_the_first_of_more(
    semantic: Workspace, text: str, mode: str, fusion: str, k: int, more: int
) -> None:
    options = {"mode": mode, "fusion": fusion, "refresh": False}
    few = ask(semantic, text, k=k, **options)
    many = ask(semantic, text, k=k + more, **options)
    assert few.hits == many.hits[:k]
    assert len(few.hits) <= k
    scores = [hit.score for hit in many.hits]
    if k + more <= 100:
        assert scores == sorted(scores, reverse=True)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(max_size=300)
    | st.binary(max_size=40).map(lambda b: b.decode(errors="surrogateescape"))
)
def test_any_string_is_a_query(semantic: Workspace, text: str) -> None:
    for mode in MODES:
        if text.strip():
            ask(semantic, text, mode=mode, refresh=False)
        else:
            with pytest.raises(UsageError):
                ask(semantic, text, mode=mode)


def test_the_same_question_gives_the_same_order(semantic: Workspace) -> None:
    answers = {ask(semantic, "commit buffer", k=30, refresh=False).hits for _ in range(3)}
    assert len(answers) == 1


RARE = "quixotic7zebra"


@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_notes_own_word_finds_it_among_few(
    empty: Path, server: Server, count: int, mode: str
) -> None:
    for at in range(count):
        write(empty, f"tasks/{at}.md", f"# Note {at}\n\nwords that all notes share, number{at}\n")
    write(empty, "tasks/0.md", f"# Note 0\n\nwords that all notes share, {RARE}\n")
    with indexed(empty, **served(server)) as workspace:
        assert ask(workspace, RARE, mode=mode).hits[0].path == "tasks/0.md"
        assert ask(workspace, f"all {RARE} words", mode=mode).hits[0].path == "tasks/0.md"
        assert len(ask(workspace, "words share", mode=mode, k=20).hits) == count


def test_every_notes_own_word_finds_it_among_many(project: Path, server: Server) -> None:
    memory = project / ".decsr/memory"
    names = sorted(str(path.relative_to(memory)) for path in memory.rglob("*.md"))
    for at, name in enumerate(names):
        with (memory / name).open("a") as file:
            file.write(f"\nmarker{at:03}zebra\n")
    with indexed(project, **served(server)) as workspace:
        for at, name in enumerate(names):
            text = f"marker{at:03}zebra"
            assert ask(workspace, text, mode="keyword").hits[0].path == name
            assert name in [hit.path for hit in ask(workspace, text, mode="hybrid").hits]


def test_part_of_a_word_is_found_when_nothing_else_is(empty: Path) -> None:
    write(empty, "tasks/a.md", "see the acknowledgement_channel there")
    with indexed(empty) as workspace:
        assert places(ask(workspace, "nowledgem")) == [("tasks/a.md", 1)]
        assert ask(workspace, "nothing-like-it").hits == ()
        assert ask(workspace, "nowledgem", within="daily/*").hits == ()


# --- filters ---


@pytest.mark.parametrize("mode", MODES)
def test_filters(semantic: Workspace, mode: str) -> None:
    def found(**options: object) -> set[str]:
        hits = ask(semantic, "commit alarm buffer", mode=mode, k=200, refresh=False, **options)
        return {hit.path for hit in hits.hits}

    everything = found()
    assert found(within="tasks/*") == {path for path in everything if path.startswith("tasks/")}
    assert found(within="daily") == {path for path in everything if path.startswith("daily/")}
    assert found(kind="pinned") == everything & {"MEMORY.md"}
    days = {path for path in everything if "/2026-0" in path and not path.startswith("tasks/")}
    some = found(since="2026-02-01", until="2026-05-31")
    assert some and some <= days
    assert all("2026-02" <= path.partition("/")[2][:7] <= "2026-05" for path in some)
    assert found(since="2026-02-01", kind="archive") <= {p for p in everything if "archive" in p}
    assert found(within="nowhere/*") == set()
    assert found(since="2w") == {
        path for path in days | everything if path.startswith("daily/2026-11-1") or "11-2" in path
    } & found(since="14d")


def test_a_day_that_is_none(semantic: Workspace) -> None:
    for day in ("2026-13-01", "soon", "-1d", "9999999999999d", "1d2w", ""):
        if day:
            with pytest.raises(UsageError, match="not a date"):
                ask(semantic, "x", since=day, refresh=False)


@settings(max_examples=40)
@given(most=st.integers(1, 4000), k=st.integers(1, 20))
def test_a_limit_of_characters_never_empties(semantic: Workspace, most: int, k: int) -> None:
    whole = ask(semantic, "commit buffer", k=k, refresh=False)
    cut = ask(semantic, "commit buffer", k=k, max_chars=most, refresh=False)
    assert len(cut.hits) >= 1
    assert sum(len(hit.body) for hit in cut.hits) <= most or len(cut.hits) == 1
    for short, long in zip(cut.hits, whole.hits, strict=False):
        assert long.body.startswith(short.body)
        assert short.is_cut == (short.body != long.body)
        assert short.start_line <= short.end_line <= long.end_line
        lines = short.body.count("\n") + 1
        assert short.end_line - short.start_line + 1 <= lines


def test_a_least_score(semantic: Workspace) -> None:
    whole = ask(semantic, "commit buffer", k=50, refresh=False).hits
    limit = whole[len(whole) // 2].score
    assert ask(semantic, "commit buffer", k=50, min_score=limit, refresh=False).hits == tuple(
        hit for hit in whole if hit.score >= limit
    )


def test_what_was_shown_gains_a_little(project: Path) -> None:
    with indexed(project) as workspace:
        hits = ask(workspace, "commit", k=3)
        record(workspace, hits, now=time.time())
        again = ask(workspace, "commit", k=4)
        assert [hit.bonus > 0 for hit in again.hits[:3]] == [True] * 3
        assert again.hits[3].bonus == 0


def test_old_days_fade(project: Path) -> None:
    with indexed(project) as workspace:
        then = search(workspace, "commit", SearchOptions(k=100), now=datetime(2025, 11, 1))
        assert {hit.decay for hit in then.hits} == {1.0}
        later = search(workspace, "commit", SearchOptions(k=100), now=NOW + timedelta(900))
        for hit in later.hits:
            dated = hit.kind in ("daily", "archive")
            assert hit.decay == (pytest.approx(0.4) if dated else 1.0), hit.path


# --- how current the answer is ---


def test_an_edit_is_seen_and_nothing_is_said(project: Path) -> None:
    with indexed(project) as workspace:
        write(project, "tasks/new.md", f"# New\n\n{RARE}\n")
        hits = ask(workspace, RARE)
        assert places(hits) == [("tasks/new.md", 1)]
        assert (hits.index.state, hits.index.behind, hits.notes) == ("fresh", 0, ())


def test_without_refresh_the_index_is_said_to_be_partial(project: Path) -> None:
    with indexed(project) as workspace:
        write(project, "tasks/new.md", f"# New\n\n{RARE}\n")
        hits = ask(workspace, RARE, refresh=False)
        assert hits.hits == ()
        assert hits.index.state == "partial"


def test_while_another_writes_the_answer_is_stale(project: Path, mem: Program) -> None:
    with indexed(project) as workspace, workspace.lock("promote"):
        write(project, "tasks/new.md", f"# New\n\n{RARE}\n")
        ran = mem("search", "--json", "commit", code=0)
        assert ran.json["index"]["state"] == "stale"
        assert ran.json["index"]["behind"] == 1
        assert "behind by 1 file" in ran.err and "mem promote (process" in ran.err


def test_pending_vectors_are_said_and_made_by_and_by(project: Path, server: Server) -> None:
    workspace = opened(project, **served(server))
    index(workspace, now=time.time(), is_embedding=False)
    hits = ask(workspace, "commit")
    assert hits.index.pending == hits.index.chunks > 0
    assert any("no vectors yet" in note and "mem index" in note for note in hits.notes)
    assert len(server.texts) == 1  # a search never waits for a remote server to embed passages
    workspace.close()


def test_too_many_vectors_without_their_packed_file_are_said(
    semantic: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcli.store.meaning.MOST_ROWS", 5)  # a limit, not a function
    assert not any("memory.vec" in note for note in ask(semantic, "commit").notes)
    sidecar = Path(semantic.layout.sidecar)
    kept = sidecar.read_bytes()
    sidecar.unlink()
    assert any("memory.vec is not there" in note for note in ask(semantic, "commit").notes)
    sidecar.write_bytes(kept)


@pytest.mark.parametrize("query", ["AppendDaily", "appendDaily", "ErrClockSkew"])
def test_an_identifier_in_another_spelling_is_an_answer(empty: Path, query: str) -> None:
    write(empty, "tasks/t.md", "# T\n\nSee append_daily and ERR_CLOCK_SKEW here.")
    workspace = opened(empty, embedding_provider="builtin")
    index(workspace, now=time.time())
    assert places(ask(workspace, query)) == [("tasks/t.md", 1)]
    workspace.close()


def test_a_huge_k_is_all_there_is(project: Path) -> None:
    with indexed(project) as workspace:
        assert ask(workspace, "commit", k=10**30).hits == ask(workspace, "commit", k=10**6).hits


def test_a_search_embeds_what_it_found_first(project: Path) -> None:
    workspace = opened(project, embedding_provider="builtin", embedding_slice_ms="1500")
    index(workspace, now=time.time(), is_embedding=False)
    hits = ask(workspace, "当直 警報")
    assert 0 < hits.index.chunks - hits.index.pending < hits.index.chunks
    assert hits.hits[0].cosine is not None
    workspace.close()


# --- meaning ---


def test_meaning_finds_what_words_do_not(empty: Path) -> None:
    write(empty, "tasks/a.md", "# Deploys\n\nWe ship the service every Tuesday morning.\n")
    write(empty, "tasks/b.md", "# Lunch\n\nThe canteen has soup on cold days.\n")
    with indexed(empty, embedding_provider="builtin") as workspace:
        hits = ask(workspace, "weekly release schedule")
        assert [hit.path for hit in hits.hits] == ["tasks/a.md"]
        assert hits.hits[0].bm25 is None and hits.hits[0].cosine_rank == 1
        assert ask(workspace, "quantum chromodynamics").hits == ()


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_server_for_vectors(project: Path, server: Server, provider: str) -> None:
    with indexed(project, **served(server, provider)) as workspace:
        assert workspace.backend.counts()[2] == 0
        hits = ask(workspace, "commit buffer", mode="vector")
        assert hits.hits and hits.hits[0].cosine is not None
        assert hits.notes == ()
        asked = len(server.asked)
        assert ask(workspace, "commit buffer", mode="vector").hits == hits.hits
        assert len(server.asked) == asked  # the question's vector was kept


FAULTS = {
    "401": "401",
    "403": "403",
    "404": "model",
    "429": "429",
    "500": "500",
    "503": "503",
    "html": "",
    "empty": "",
    "cut": "",
    "fewer": "0 vectors for 1 text",
    "nan": "",
    "zeros": "zeros",
    "odd": "63 values",
    "words": "",
    "hang": "does not answer",
    "drip": "",
}


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_sick_server_costs_a_note(
    project: Path, server: Server, provider: str, fault: str
) -> None:
    seconds = "0.5" if fault in ("hang", "drip") else "5"
    given_ = served(server, provider, embedding_key="sk-secret", embedding_timeout=seconds)
    workspace = opened(project, **given_)
    index(workspace, now=time.time(), is_embedding=False)
    server.fault = fault
    began = time.monotonic()
    hits = ask(workspace, "commit buffer")
    assert time.monotonic() - began < 8
    assert hits.hits and hits.hits[0].bm25 is not None
    (note,) = [note for note in hits.notes if "by keyword only" in note]
    assert FAULTS[fault] in note
    assert "Traceback" not in note and "<html>" not in note
    assert provider == "ollama" or "secret" not in note  # ollama has no key to repeat
    with pytest.raises(ProviderError):
        ask(workspace, "commit buffer", mode="vector")
    notes = index(workspace, now=time.time()).notes
    assert any("have no vectors yet" in note for note in notes)
    assert workspace.backend.counts()[2] == workspace.backend.counts()[1]
    workspace.close()
    server.fault = ""
    workspace = opened(project, **{**given_, "embedding_timeout": "20"})
    assert index(workspace, now=time.time()).pending == 0
    assert ask(workspace, "commit buffer", mode="vector").hits
    workspace.close()


def test_nobody_at_the_address(project: Path, mem: Program) -> None:
    for provider in ("openai", "ollama"):
        env = {
            "MEM_EMBEDDING_PROVIDER": provider,
            "MEM_EMBEDDING_URL": "http://127.0.0.1:9",
            "MEM_EMBEDDING_MODEL": "m",
        }
        ran = mem("search", "commit", env=env, code=0)
        assert "MEMORY.md" in ran.out or "daily/" in ran.out
        assert "does not answer" in ran.err
        ran = mem("search", "--mode", "vector", "commit", env=env, code=4)
        assert ran.out == "" and "hint: " in ran.err
        mem("index", env=env, code=0)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/a b", "http://[::1", "ftp://127.0.0.1/x"])
@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_an_address_that_is_none(project: Path, provider: str, url: str) -> None:
    workspace = opened(
        project, embedding_provider=provider, embedding_url=url, embedding_timeout="0.5"
    )
    hits = ask(workspace, "commit")
    assert hits.hits
    assert any("by keyword only" in note for note in hits.notes)
    workspace.close()


def test_the_key_goes_into_the_header_alone(project: Path, server: Server) -> None:
    with indexed(project, **served(server, embedding_key="sk-mine")) as workspace:
        assert set(server.keys) == {"Bearer sk-mine"}
        workspace.close()
    for path in (project / ".decsr").rglob("*"):
        assert path.is_dir() or b"sk-mine" not in path.read_bytes()


def test_a_change_of_model_is_said_and_index_follows(project: Path, server: Server) -> None:
    with indexed(project, **served(server)):
        pass
    other = opened(project, **{**served(server), "embedding_model": "another"})
    hits = ask(other, "commit")
    assert hits.hits and hits.hits[0].cosine is None
    assert any("re-embed needed" in note and "mem index" in note for note in hits.notes)
    result = index(other, now=time.time())
    assert (result.embedded, result.pending) == (result.chunks, 0)
    hits = ask(other, "commit", mode="vector")
    assert hits.hits and hits.notes == ()
    other.close()


def test_a_model_that_changes_its_dimension(project: Path, server: Server) -> None:
    with indexed(project, **served(server)) as workspace:
        server.dimension = 128
        hits = ask(workspace, "commit buffer and more")
        assert hits.hits  # by word at least; nothing of two dimensions was compared
        assert all(hit.cosine is None for hit in hits.hits)
        (note,) = hits.notes
        assert note.startswith("re-embed needed: ") and "64 values" in note and "makes 128" in note
        assert ask(workspace, "commit buffer and more").notes == hits.notes
        asked = len(server.texts)
        server.faults, server.fault = 3, "500"  # all tries of the second batch
        server.faults_after = 1
        result = index(workspace, now=time.time())
        assert 0 < result.embedded < result.chunks == result.embedded + result.pending
        server.faults = 0
        result = index(workspace, now=time.time())  # goes on where that ended
        assert 0 < result.embedded < result.chunks and result.pending == 0
        assert len(set(server.texts[asked:])) == result.chunks
        hits = ask(workspace, "quite another question", mode="vector")
        assert hits.hits and hits.notes == ()


def test_a_model_that_changes_its_dimension_while_chunks_wait(
    project: Path, server: Server
) -> None:
    with indexed(project, **served(server)) as workspace:
        server.dimension = 128
        write(project, "tasks/new.md", f"# New\n\n{RARE}\n")
        result = index(workspace, now=time.time())
        assert result.pending == 0
        assert result.embedded == result.chunks  # the new one, then all others
        assert ask(workspace, "quite another question", mode="vector").hits


def test_vectors_without_an_embedder(project: Path) -> None:
    with indexed(project) as workspace, pytest.raises(UsageError, match="needs an embedding"):
        ask(workspace, "commit", mode="vector")


# --- damage while searching ---


def test_an_index_that_breaks_under_a_search_is_made_again(project: Path) -> None:
    with indexed(project) as workspace:
        wanted = places(ask(workspace, "commit"))
        connection = sqlite3.connect(workspace.layout.database)
        connection.execute("DROP TABLE retrievals")
        connection.commit()
        connection.close()
        assert places(ask(workspace, "commit")) == wanted
        assert workspace.backend.faults() == []


# --- where the workspace is ---


def at(folder: Path, **environ: str) -> str:
    workspace = open_workspace(str(folder), {"MEM_EMBEDDING_PROVIDER": "none", **environ})
    workspace.close()
    return workspace.layout.root


def test_found_from_below(project: Path) -> None:
    deep = project / "src/deep"
    deep.mkdir(parents=True)
    assert at(deep) == str(project)
    assert at(project / ".decsr/memory/tasks") == str(project)


def test_none_at_all(tmp_path: Path, mem: Program) -> None:
    ran = mem("search", "x", cwd=tmp_path, code=3)
    assert ran.err == "mem: no .decsr here or above\nhint: mem init\n"
    ran = mem("search", "x", "--root", str(tmp_path / "none"), code=3)
    assert "no .decsr in" in ran.err and "hint: mem init" in ran.err


def test_the_nearest_counts(project: Path) -> None:
    inner = copied("decsr", project / "vendor/inner")
    assert at(inner) == str(inner)
    assert at(inner / ".decsr") == str(inner)
    assert at(project / "vendor") == str(project)


def test_named_by_a_variable_or_a_flag(project: Path, tmp_path: Path, mem: Program) -> None:
    other = copied("decsr", tmp_path / "other")
    assert at(project, MEM_ROOT=str(other)) == str(other)
    assert at(project, MEM_ROOT=str(other / ".decsr")) == str(other)
    assert at(project, MEM_ROOT="") == str(project)
    for words in (
        ["--root", str(other), "status", "--json"],
        ["status", "--json", "--root", str(other)],
        [f"--root={other}", "--json", "status"],
    ):
        ran = mem(*words, env={"MEM_ROOT": str(project)}, code=0)
        assert ran.json["root"] == str(other)


def test_git_variables_do_not_count(project: Path, tmp_path: Path) -> None:
    other = copied("decsr", tmp_path / "other")
    assert at(project, GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other)) == str(project)


def git(folder: Path, *words: str) -> None:
    names = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *names, *words], cwd=folder, env=env, check=True, capture_output=True)


def test_a_linked_worktree_uses_the_main_ones(project: Path, tmp_path: Path) -> None:
    (project / ".gitignore").write_text(".decsr/\n")
    git(project, "init", ".")
    git(project, "add", ".gitignore")
    git(project, "commit", "-m", "x")
    linked = tmp_path / "linked"
    git(project, "worktree", "add", str(linked))
    (linked / "src").mkdir()
    assert at(linked / "src") == str(project)
    own = copied("decsr", tmp_path / "copy")
    (own / ".decsr").rename(linked / ".decsr")
    assert at(linked / "src") == str(linked)


def test_links_are_refused(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".decsr").symlink_to(project / ".decsr")
    with pytest.raises(WorkspaceError, match="link"):
        at(elsewhere)
    (elsewhere / ".decsr").unlink()
    (elsewhere / ".decsr").mkdir()
    (elsewhere / ".decsr/memory").symlink_to(project / ".decsr/memory")
    with pytest.raises(WorkspaceError, match="link"):
        at(elsewhere)
    (tmp_path / "alias").symlink_to(project)
    assert at(tmp_path / "alias") == str(project)


# --- settings of a cloned project ---


def test_a_project_may_not_send_text_anywhere(project: Path, server: Server, mem: Program) -> None:
    (project / ".decsr/config.toml").write_text(
        f'[embedding]\nprovider = "openai"\nurl = "{server.url}"\n[search]\nk = 2\n'
    )
    env = {"MEM_EMBEDDING_PROVIDER": None}
    ran = mem("search", "--mode", "keyword", "commit", env=env, code=0)
    assert len(ran.out.splitlines()) == 2
    assert "embedding.url in" in ran.err and "a project may not set it" in ran.err
    mem("index", "--no-embed", env=env, code=0)
    assert server.asked == []


def test_an_unknown_setting_names_the_nearest(project: Path, mem: Program) -> None:
    (project / ".decsr/config.toml").write_text("[search]\nalhpa = 0.5\n")
    ran = mem("search", "commit", code=2)
    assert "unknown setting 'search.alhpa'" in ran.err and "search.alpha" in ran.err


@pytest.mark.parametrize(
    "text", ["[chunk]\ntokens = 0\n", "[chunk]\ntokens = 1\noverlap = 500\n", "[search]\nk = 0\n"]
)
def test_a_hostile_size_neither_hangs_nor_crashes(project: Path, mem: Program, text: str) -> None:
    (project / ".decsr/config.toml").write_text(text)
    ran = mem("search", "commit")
    assert ran.code in (0, 2)
    assert ran.code == 0 or "hint" in ran.err or "takes" in ran.err
