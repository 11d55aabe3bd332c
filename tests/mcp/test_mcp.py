"""The server as its clients meet it: the SDK's own client over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from memcli.text.recalled import BEGIN, END
from memcli.text.tokens import estimate
from tests.conftest import Program, write

READING = ["memory_search", "memory_get", "memory_recall", "memory_status"]
WRITING = ["memory_append_daily", "memory_fact_add", "memory_promote"]


class Told(Exception):
    """What a tool answered as an error."""


class Caller:
    """A client that calls tools and hands back their text."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: object) -> str:
        result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert content.type == "text"
        if result.is_error:
            raise Told(content.text)
        return content.text

    async def error(self, tool: str, **arguments: object) -> str:
        with pytest.raises(Told) as told:
            await self(tool, **arguments)
        return str(told.value)


@asynccontextmanager
async def connected(mem: Program, *words: str, cwd: Path | None = None) -> AsyncIterator[Caller]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memcli", "mcp", *words],
        cwd=cwd or mem.cwd,
        env=mem.environ(),
    )
    async with Client(server) as client:
        yield Caller(client)


def within_a_minute(talk: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        with anyio.fail_after(60):
            await talk()

    anyio.run(limited)


def test_every_tool_that_reads(mem: Program) -> None:
    write(mem.cwd, "packs/review.md", "Look at the tests first.\n")

    async def talk() -> None:
        async with connected(mem) as call:
            tools = {one.name: one for one in (await call.client.list_tools()).tools}
            assert list(tools) == [*READING, *WRITING]
            for name, tool in tools.items():
                assert tool.description
                assert tool.annotations is not None
                assert tool.annotations.read_only_hint == (name in READING)
                assert all(
                    one["type" if "type" in one else "anyOf"]
                    for one in tool.input_schema["properties"].values()
                )
            found = await call("memory_search", query="defrost alarm", k=2)
            assert found.startswith("**`tasks/QY-73-defrost-aware-alarms.md` lines 1-4**")
            assert found.count("**`") == 2
            assert found.endswith("\nindex: fresh")
            narrow = await call(
                "memory_search", query="alarm", kind="daily", since="2026-10-01", mode="keyword"
            )
            assert narrow.count("**`daily/2026-1") == narrow.count("**`") > 0
            got = await call("memory_get", place="tasks/QY-73-defrost-aware-alarms.md#L1-L2")
            assert got == "# Temperature alarms that know about defrosting"
            recalled = await call("memory_recall", query="defrost", budget=600, packs=["review"])
            block = recalled[: recalled.index(END) + len(END)]
            assert block.startswith(BEGIN)
            assert estimate(block) <= 600
            assert "> Look at the tests first." in block
            receipt = await call("memory_recall", query="defrost", receipt=True)
            assert "of 2000 tokens; index fresh" in receipt
            assert f"workspace  {mem.cwd}" in await call("memory_status")

    within_a_minute(talk)


def test_every_tool_that_writes(mem: Program) -> None:
    async def talk() -> None:
        async with connected(mem) as call:
            done = await call("memory_append_daily", body="The wryneck came.", stage="review")
            assert done.startswith("added to daily/")
            assert "wryneck came" in await call("memory_search", query="wryneck")
            blank = await call("memory_append_daily", body=" \n")
            assert blank == "nothing was written"
            added = await call("memory_fact_add", fact="Wrynecks sleep at noon", kind="instruction")
            assert added.startswith("added: ")
            assert "- Wrynecks sleep at noon (MEMORY.md:" in await call("memory_recall")
            again = await call("memory_fact_add", fact="Wrynecks sleep at noon")
            assert again.startswith("already there: ")
            near = await call.error("memory_fact_add", fact="The wrynecks sleep at noon.")
            assert "much the same is there already" in near
            assert "\nhint: mem fact edit " in near
            document = mem.cwd / "docs/new.md"
            document.write_text("# New\n\n## Decisions\n\n- Gulls nest on crane 4.\n")
            seen = await call("memory_promote", files=["docs/new.md"], check=True)
            assert "docs/new.md:5: not-promoted" in seen
            dry = await call("memory_promote", files=["docs/new.md"], dry_run=True)
            assert "+- Gulls nest on crane 4." in dry
            assert "would promote 1 fact" in dry
            done = await call("memory_promote", files=["docs/new.md"], task="QY-200")
            assert "promoted 1 fact to MEMORY.md" in done

    within_a_minute(talk)
    assert "Gulls nest on crane 4." in mem("fact", "list", code=0).out
    verbs = [one["op"] for one in mem("undo", "--list", "--json", code=0).json["revisions"]]
    assert sorted(verbs) == ["append-daily", "fact", "promote"]


def test_wrong_arguments_are_told_and_nothing_ends(mem: Program) -> None:
    outside = mem.cwd.parent / "secret.md"
    outside.write_text("# S\n\n## Decisions\n\n- Take it.\n")
    (mem.cwd / "link.md").symlink_to(outside)

    async def talk() -> None:
        async with connected(mem) as call:
            told = await call.error("memory_search", query=" ")
            assert 'nothing to search for\nhint: mem search "what you want' in told
            for tool, arguments, words in (
                ("memory_search", {}, "query"),
                ("memory_search", {"query": "x", "k": 0}, "k"),
                ("memory_search", {"query": "x", "mode": "magic"}, "hybrid"),
                ("memory_search", {"query": "x", "since": "soon"}, "not a date: 'soon'"),
                ("memory_get", {"place": "../config.toml"}, "not a path within the memory"),
                ("memory_get", {"place": "/etc/passwd"}, "not a path within the memory"),
                ("memory_get", {"place": "tasks/none.md"}, "hint: mem list"),
                (
                    "memory_get",
                    {"place": "MEMORY.md", "scope": "personal"},
                    "hint: mem init --pers",
                ),
                ("memory_recall", {"budget": 1}, "budget"),
                ("memory_recall", {"budget": 100}, "the budget is 100"),
                ("memory_recall", {"packs": ["../x"]}, "no pack ../x"),
                ("memory_fact_add", {"fact": ""}, "a fact without words"),
                ("memory_fact_add", {"fact": "x", "kind": "law"}, "instruction"),
                ("memory_promote", {"files": []}, "files"),
                ("memory_promote", {"files": ["none.md"]}, "none.md"),
                ("memory_promote", {"files": ["../secret.md"]}, "is not within the project"),
                ("memory_promote", {"files": ["link.md"]}, "is not within the project"),
                ("memory_forget", {}, "memory_forget"),
            ):
                assert words in await call.error(tool, **arguments)
            assert "workspace  " in await call("memory_status")

    within_a_minute(talk)


def test_answers_are_bounded_and_say_so(mem: Program) -> None:
    write(mem.cwd, "notes/long.md", "".join(f"line {n} of the wryneck\n" for n in range(1, 999)))
    write(mem.cwd, "notes/wide.md", "x" * 50_000)

    async def talk() -> None:
        async with connected(mem) as call:
            got = await call("memory_get", place="notes/long.md", max_chars=500)
            body, _, note = got.partition("\n\nnote: ")
            assert len(body) <= 500
            last = int(body.split("\n")[-1].split()[1])
            assert (
                note == f"cut after {last} of 998 lines; the rest: notes/long.md#L{last + 1}-L998"
            )
            rest = await call("memory_get", place=note.rsplit(" ", 1)[1], max_chars=500)
            assert rest.startswith(f"line {last + 1} of")
            wide = await call("memory_get", place="notes/wide.md", max_chars=300)
            assert wide.startswith("x" * 300 + "\n\nnote: cut to 300 of 50000 characters")
            found = await call("memory_search", query="wryneck", k=50, max_chars=1_000)
            assert len(found) < 1_300

    within_a_minute(talk)


def test_one_that_only_reads(mem: Program) -> None:
    async def talk() -> None:
        async with connected(mem, "--read-only") as call:
            tools = [one.name for one in (await call.client.list_tools()).tools]
            assert tools == READING
            assert "memory_append_daily" in await call.error("memory_append_daily", body="x")

    within_a_minute(talk)
    assert mem("undo", "--list").out == "no revisions\n"


def test_without_a_workspace_each_call_says_so_until_there_is_one(
    mem: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()

    async def talk() -> None:
        async with connected(mem, "--root", str(folder)) as call:
            for tool, arguments in (
                ("memory_status", {}),
                ("memory_recall", {}),
                ("memory_search", {"query": "x"}),
                ("memory_append_daily", {"body": "x"}),
            ):
                told = await call.error(tool, **arguments)
                assert f"no .decsr in {folder}\nhint: mem init --root {folder}" in told
            mem("init", str(folder), code=0)
            assert (await call("memory_append_daily", body="x")).startswith("added to daily/")

    within_a_minute(talk)


def test_a_personal_memory_beside_the_projects(mem: Program) -> None:
    mem("--personal", "init", code=0)

    async def talk() -> None:
        async with connected(mem) as call:
            fact = {"fact": "I like lists", "kind": "preference"}
            done = await call("memory_fact_add", **fact, scope="personal")
            assert done.endswith("where mem undo needs --personal")
            assert "I like lists (personal:MEMORY.md:" in await call("memory_recall")
            assert "I like lists" not in await call("memory_recall", scope="project")
            assert "I like lists" in await call("memory_get", place="personal:MEMORY.md")
        async with connected(mem, "--personal") as call:
            assert "I like lists" in await call("memory_get", place="MEMORY.md")

    within_a_minute(talk)


def test_two_clients_at_once(mem: Program) -> None:
    async def write_and_read(number: int) -> None:
        async with connected(mem) as call, anyio.create_task_group() as group:
            for turn in range(10):
                body = f"gull {number} lands {turn}"
                group.start_soon(lambda body=body: call("memory_append_daily", body=body))
                group.start_soon(lambda: call("memory_search", query="defrost"))

    async def talk() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(write_and_read, 1)
            group.start_soon(write_and_read, 2)

    within_a_minute(talk)
    logs = "".join(path.read_text() for path in (mem.cwd / ".decsr/memory/daily").iterdir())
    for number in (1, 2):
        assert all(logs.count(f"\ngull {number} lands {turn}\n") == 1 for turn in range(10))
    assert mem("doctor", code=0)


def test_nothing_but_the_protocol_is_on_standard_output(mem: Program) -> None:
    def message(number: int, method: str, **params: object) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    started = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    lines = [
        message(1, "initialize", **hello),
        started,
        message(2, "tools/call", name="memory_status", arguments={}),
        "this is no message",
        message(3, "tools/call", name="memory_search", arguments={"query": "alarm"}),
    ]
    child = subprocess.Popen(
        [sys.executable, "-m", "memcli", "mcp"],
        cwd=mem.cwd,
        env=mem.environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdin
        assert child.stdout
        answers = []
        for line in lines:
            child.stdin.write(line + "\n")
            child.stdin.flush()
            if '"id"' in line:
                while True:
                    answer = json.loads(child.stdout.readline())
                    answers.append(answer)
                    if answer.get("id") == json.loads(line)["id"]:
                        break
        child.stdin.close()
        rest = child.stdout.read()
        assert child.wait(30) == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert all(one["jsonrpc"] == "2.0" for one in answers)
    assert [one["id"] for one in answers if "result" in one] == [1, 2, 3]


def test_without_the_sdk_there_is_one_line_and_what_to_install(mem: Program) -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from memcli.cli.app import main; sys.exit(main(['mcp']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=mem.cwd,
        env=mem.environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "mem: mem mcp needs the Model Context Protocol SDK, version 2\n"
        "hint: pip install 'memcli[mcp]'\n"
    )
