"""A server that failed is left alone for a while, by the commands that come after as well."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from memcli.errors import ProviderError
from memcli.ops.doctor import doctor
from memcli.ops.index import index
from memcli.providers import LLMS
from memcli.providers.guard import FIRST, LONGEST
from memcli.workspace import Workspace
from tests.conftest import PlainUser, Program, opened, write
from tests.servers import KEY, Server

START = 1_800_000_000.0
WRITERS = [name for name in LLMS if name != "none"]


def asking(root: Path, server: Server, at: float = START, **more: str) -> Workspace:
    """A command's own view of the workspace, at a time."""
    given = {
        "embedding_provider": "openai",
        "embedding_url": server.url,
        "embedding_key": KEY,
        "llm_provider": "openai",
        "llm_url": server.url,
        "llm_timeout": "5",
    }
    workspace = opened(root, **{**given, **more})
    workspace.clock = lambda: at
    return workspace


def embed(root: Path, server: Server, at: float = START, **more: str) -> str:
    """What came of a question: empty when it has its vector."""
    workspace = asking(root, server, at, **more)
    assert workspace.embedder is not None
    try:
        workspace.embedder.embed_query("a question")
    except ProviderError as error:
        return error.with_hint
    finally:
        workspace.close()
    return ""


@pytest.fixture
def made(empty: Path) -> Path:
    """A workspace with an index."""
    write(empty, "tasks/a.md", "# Deploys\n\nWe ship the service every Tuesday morning.\n")
    workspace = opened(empty)
    index(workspace, now=START)
    workspace.close()
    return empty


@pytest.mark.parametrize("fault", ["500", "401", "404", "quota", "429"])
def test_the_next_command_does_not_ask(made: Path, server: Server, fault: str) -> None:
    server.fault = fault
    first = embed(made, server)
    assert "not asked" not in first
    asked = len(server.requests)
    said = embed(made, server, START + 20)
    assert said.startswith("not asked again for 40 s: ")
    assert first.partition(" (")[0] in said and "mem doctor" in said
    assert KEY not in said
    assert len(server.requests) == asked
    server.fault = ""
    assert embed(made, server, START + 59)
    assert embed(made, server, START + 61) == ""
    assert embed(made, server, START + 62) == ""


@pytest.mark.parametrize("fault", ["html", "too-long", "fewer"])
def test_what_the_next_request_need_not_meet_is_asked_again(
    made: Path, server: Server, fault: str
) -> None:
    server.fault = fault
    for _ in range(2):
        assert "not asked" not in embed(made, server)
    assert len(server.requests) == 2


def test_each_failure_doubles_the_pause_and_a_success_ends_it(made: Path, server: Server) -> None:
    server.fault = "500"
    at, pauses = START, [FIRST, 120.0, 240.0, 480.0, LONGEST, LONGEST]
    for pause in pauses:
        assert "not asked" not in embed(made, server, at)
        assert "not asked" in embed(made, server, at + pause - 1)
        at += pause + 1
    server.fault = ""
    assert embed(made, server, at) == ""
    server.fault = "500"
    embed(made, server, at)
    assert "for 60 s" in embed(made, server, at)


def test_a_servers_own_wish_is_kept_up_to_a_cap(made: Path, server: Server) -> None:
    server.fault, server.retry_after = "429", "300"
    embed(made, server)
    assert "for 300 s" in embed(made, server)
    server.retry_after = "86400"
    embed(made, server, START + 301)
    assert "for 900 s" in embed(made, server, START + 301)


@pytest.mark.parametrize(
    "more",
    [
        {"embedding_key": "another"},
        {"embedding_model": "another"},
        {"embedding_timeout": "3"},
        {"embedding_provider": "ollama"},
    ],
)
def test_another_setting_is_asked_at_once(made: Path, server: Server, more: dict[str, str]) -> None:
    server.fault = "401"
    embed(made, server)
    server.fault = ""
    assert "not asked" in embed(made, server)
    assert embed(made, server, **more) == ""
    assert "not asked" in embed(made, server)  # the old ones are as they were
    for path in (made / ".decsr").rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


def test_index_and_doctor_ask_anyway_and_end_it(made: Path, server: Server) -> None:
    server.fault = "500"
    for mend in (index, doctor):
        embed(made, server)
        assert "not asked" in embed(made, server)
        server.fault = ""
        workspace = asking(made, server)
        mend(workspace, now=START)
        workspace.close()
        assert embed(made, server) == ""
        server.fault = "500"
        write(made, "tasks/b.md", "# More\n\nAnother passage.\n")


def test_doctor_says_what_servers_do_not_do(made: Path, server: Server) -> None:
    workspace = asking(made, server, llm_provider="ollama", llm_model="small")
    assert not [one for one in doctor(workspace, now=START).problems if "server" in one.code]
    server.fault = "404"
    problems = [one for one in doctor(workspace, now=START).problems if "server" in one.code]
    assert [one.code for one in problems] == ["embedding-server", "llm-server"]
    assert problems[1].fix == "ollama pull small"
    workspace.close()


@pytest.mark.parametrize("name", WRITERS)
def test_writers_are_left_alone_as_well(empty: Path, server: Server, name: str) -> None:
    server.fault = "500"
    for at, said in ((START, "500"), (START + 1, "not asked again for 59 s")):
        workspace = asking(empty, server, at, llm_provider=name)
        assert workspace.llm is not None
        with pytest.raises(ProviderError, match=said):
            workspace.llm.complete("p")
        workspace.close()
    assert embed(empty, server, START + 1)
    assert len(server.requests) > 3  # the embedder has a circuit of its own


def test_a_lost_database_closes_all_circuits(made: Path, server: Server) -> None:
    server.fault = "500"
    embed(made, server)
    for path in (made / ".decsr").glob("memory.db*"):
        path.unlink()
    assert "not asked" not in embed(made, server)
    (made / ".decsr/memory.db").write_bytes(b"no database at all" * 400)
    assert "not asked" not in embed(made, server)


def test_a_clock_that_was_set_back_closes_them_too(made: Path, server: Server) -> None:
    server.fault = "500"
    embed(made, server)
    assert "not asked" not in embed(made, server, START - 86_400)


def test_only_the_newest_are_kept(made: Path, server: Server) -> None:
    server.fault = "401"
    for at in range(25):
        embed(made, server, START + at, embedding_key=f"key {at}")
    with sqlite3.connect(made / ".decsr/memory.db") as database:
        assert database.execute("SELECT count(*) FROM circuits").fetchone() == (20,)
    database.close()


def test_where_nothing_can_be_written_nothing_is_kept(
    mem: Program, server: Server, plain_user: PlainUser
) -> None:
    server.fault = "500"
    mem("index", code=0)
    root = plain_user.take(mem.cwd)
    shutil.copytree(mem.home, plain_user.home / "h", dirs_exist_ok=True)
    (root / ".decsr/memory.db").chmod(0o444)
    (root / ".decsr").chmod(0o555)
    env = {**plain_user.env, "MEM_EMBEDDING_PROVIDER": "openai", "MEM_EMBEDDING_URL": server.url}
    for _ in range(2):
        ran = mem("search", "commit", cwd=root, env=env, before=plain_user.words, code=0)
        assert "500" in ran.err and "not asked" not in ran.err


# --- commands ---


@pytest.mark.parametrize(
    ("provider", "fault"), [("ollama", "hang"), ("openai", "hang"), ("gemini", "500")]
)
def test_a_dead_server_costs_one_time_out(
    mem: Program, server: Server, provider: str, fault: str
) -> None:
    env = {
        "MEM_EMBEDDING_PROVIDER": provider,
        "MEM_EMBEDDING_URL": server.url,
        "MEM_EMBEDDING_KEY": KEY,
        "MEM_EMBEDDING_TIMEOUT": "2",
    }
    server.fault = fault
    first = mem("search", "acknowledge after commit", env=env, code=0)
    asked = len(server.requests)
    assert asked == (1 if fault == "hang" else 2)
    second = mem("search", "commit", env=env, code=0)
    for ran in (first, second):
        assert "daily/" in ran.out or "MEMORY.md" in ran.out
        (note,) = [line for line in ran.err.splitlines() if "by keyword only, no" in line]
        assert KEY not in ran.err
    assert "not asked again for" in note and "mem doctor" in note
    ran = mem("search", "--mode", "vector", "commit", env=env, code=4)
    assert "not asked again" in ran.err and ran.out == ""
    assert len(server.requests) == asked
    server.fault = ""
    mem("index", env={**env, "MEM_EMBEDDING_TIMEOUT": "60"}, code=0)
    assert mem("doctor", env=env).err.count(KEY) == 0
    ran = mem("search", "--mode", "vector", "commit", env=env, code=0)
    assert "not asked" not in ran.err


def test_a_dead_writer_costs_one_time_out(mem: Program, server: Server) -> None:
    server.fault = "500"
    env = {"MEM_LLM_PROVIDER": "gemini", "MEM_LLM_URL": server.url, "MEM_LLM_TIMEOUT": "2"}
    text = b"# Notes\n\nWe decided to keep three copies.\n" * 3
    for said in ("500", "not asked again for"):
        ran = mem("summarize", "--task", "T-1", "-", env=env, stdin=text, code=0)
        assert f"made without a model: {'' if said == '500' else said}" in ran.err
        assert said in ran.err
    assert len(server.requests) == 3
