"""Real models behind the wire of Ollama and of OpenAI: shape, time-outs, cuts and nonsense.

Give the address of a server that runs by MEM_OLLAMA_URL, or by MEM_MODEL_SERVER a command that
starts one on the port that it is given as the last word. For the second, MEM_OPENAI_URL is an
address with /v1. MEM_CHAT_MODEL and MEM_EMBEDDING_MODEL name the models. How good an answer is
cannot be judged by a model that is small enough to run here.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest

from memcli.config import Settings
from memcli.errors import ProviderError
from memcli.ops.summarize import summarize
from memcli.providers import LLMS, TABLE
from memcli.providers.base import LLM
from memcli.tables import load
from tests.conftest import Program, opened, write

pytestmark = pytest.mark.slow

# Read here, since the tests themselves run without variables of ours.
GIVEN = {name: os.environ.get(name, "") for name in (
    "MEM_OLLAMA_URL", "MEM_MODEL_SERVER", "MEM_OPENAI_URL", "MEM_CHAT_MODEL", "MEM_EMBEDDING_MODEL"
)}  # fmt: skip
CHAT = GIVEN["MEM_CHAT_MODEL"] or "smollm2:135m"
EMBEDDING = GIVEN["MEM_EMBEDDING_MODEL"] or "all-minilm"
SECONDS = 300.0  # on a slow machine
PATIENCE = "60"  # for what becomes an extract after that

SCHEMA = {
    "type": "object",
    "properties": {"goal": {"type": "string", "maxLength": 60}},
    "required": ["goal"],
    "additionalProperties": False,
}
TALK = json.dumps(
    [
        {"role": "user", "content": "Please move the billing job from cron to the queue."},
        {"role": "assistant", "content": "Done in jobs/billing.py. We decided to keep 3 retries."},
        {"role": "user", "content": "Good. The dashboard for it is still open."},
    ]
    * 4
).encode()


@pytest.fixture(scope="module")
def ollama_url() -> Iterator[str]:
    if GIVEN["MEM_OLLAMA_URL"]:
        yield GIVEN["MEM_OLLAMA_URL"]
        return
    if not GIVEN["MEM_MODEL_SERVER"]:
        pytest.skip("no real model: set MEM_OLLAMA_URL or MEM_MODEL_SERVER")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*shlex.split(GIVEN["MEM_MODEL_SERVER"]), str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            with suppress(OSError):
                urllib.request.urlopen(f"{url}/api/version", timeout=5).close()
                break
            assert server.poll() is None, "the model server ended"
            time.sleep(0.5)
        yield url
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="module", params=["ollama", "openai"])
def writer(request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of a chat model."""
    if request.param == "ollama":
        url = request.getfixturevalue("ollama_url")
    else:
        url = GIVEN["MEM_OPENAI_URL"] or pytest.skip("no real model: set MEM_OPENAI_URL")
    return {"llm_provider": request.param, "llm_url": url, "llm_model": CHAT}


def llm(writer: dict[str, str], seconds: float = SECONDS, **more: str) -> LLM:
    settings = {**writer, **more, "llm_timeout": seconds}
    found: LLM = load("", LLMS, writer["llm_provider"]).open_llm(Settings(**settings))  # type: ignore[arg-type]  # one is no text
    return found


def variables(settings: dict[str, str]) -> dict[str, str]:
    return {f"MEM_{name.upper()}": value for name, value in settings.items()}


def test_an_answer_is_prose(writer: dict[str, str]) -> None:
    answer = llm(writer).complete("Say good morning in one short sentence.", max_tokens=200)
    assert answer.strip()


def test_a_schema_gives_an_object(writer: dict[str, str]) -> None:
    answer = llm(writer).complete(
        "We move billing to the queue. What is the goal?", schema=SCHEMA, max_tokens=200
    )
    assert list(json.loads(answer)) == ["goal"]


def test_the_same_prompt_has_the_same_answer(writer: dict[str, str]) -> None:
    first, second = (
        llm(writer).complete("Name a colour.", schema=SCHEMA, max_tokens=100) for _ in range(2)
    )
    assert first == second  # at temperature 0


def test_an_answer_at_its_limit_is_told_as_cut(writer: dict[str, str]) -> None:
    with pytest.raises(ProviderError, match="cut off") as raised:
        llm(writer).complete("Tell the story of the sea, in great detail.", max_tokens=8)
    assert raised.value.reason == "reply"


def test_a_model_that_takes_too_long_costs_its_time(writer: dict[str, str]) -> None:
    began = time.monotonic()
    with pytest.raises(ProviderError, match="does not answer") as raised:
        llm(writer, 0.5).complete("Count to a thousand. " * 200, max_tokens=2_000)
    assert time.monotonic() - began < 3
    assert raised.value.reason == "down"


def test_a_missing_model_names_the_command(ollama_url: str) -> None:
    settings = {"llm_provider": "ollama", "llm_url": ollama_url}
    with pytest.raises(ProviderError) as raised:
        llm(settings, llm_model="no-such-model:1b").complete("x")
    assert (raised.value.reason, raised.value.hint) == ("model", "ollama pull no-such-model:1b")


def test_vectors_of_a_real_model(ollama_url: str) -> None:
    settings = Settings(embedding_url=ollama_url, embedding_model=EMBEDDING, embedding_timeout=60)
    found = load("", TABLE, "ollama").open_embedder(settings)
    texts = ["the queue was drained", "we ship on Tuesday", "soup on cold days"] * 8
    vectors = found.embed_passages(texts)
    assert len(vectors) == 24 and vectors[0] == vectors[3] != vectors[1]
    assert found.dimension % 8 == 0 and len(vectors[0]) == 4 * found.dimension


@pytest.mark.parametrize("limit", ["1000", "40"])
def test_a_task_summary_is_a_whole_file(empty: Path, writer: dict[str, str], limit: str) -> None:
    workspace = opened(empty, **writer, llm_timeout=PATIENCE, summarize_max_tokens=limit)
    done = summarize(workspace, TALK, task_id="BIL-1", now=datetime(2026, 11, 20, 12, 0))
    text = (empty / ".decsr/memory/tasks/BIL-1.md").read_text()
    assert text.startswith("# ") and "\n## " in text and text.endswith("\n")
    assert done.by in (f"{writer['llm_provider']}:{CHAT}", "extract")
    if done.by == "extract":
        assert any("made without a model" in note for note in done.notes)


@pytest.mark.parametrize("form", ["--session", "--flush"])
def test_a_conversation_is_cut_and_flushed(
    mem: Program, tmp_path: Path, writer: dict[str, str], form: str
) -> None:
    source, out = tmp_path / "talk.json", tmp_path / "out.json"
    source.write_bytes(json.dumps(json.loads(TALK) * 8).encode())
    limits = {"MEM_SESSION_MAX_TOKENS": "400", "MEM_FLUSH_MAX_TOKENS": "400"}
    env = {**variables(writer), **limits, "MEM_LLM_TIMEOUT": PATIENCE}
    ran = mem("summarize", form, str(source), "--out", str(out), "--json", env=env, code=0)
    assert len(json.loads(out.read_text())) < len(json.loads(source.read_text()))
    by = ran.json["by"]
    assert by == f"{writer['llm_provider']}:{CHAT}" or "made without a model" in ran.err


def test_index_and_search_with_a_real_model(mem: Program, empty: Path, ollama_url: str) -> None:
    write(empty, "tasks/a.md", "# Deploys\n\nWe ship the service every Tuesday morning.\n")
    write(empty, "tasks/b.md", "# Lunch\n\nThe canteen has soup on cold days.\n")
    env = {
        "MEM_EMBEDDING_PROVIDER": "ollama",
        "MEM_EMBEDDING_URL": ollama_url,
        "MEM_EMBEDDING_MODEL": EMBEDDING,
    }
    mem.cwd = empty
    assert mem("index", "--json", env=env, code=0).json["pending"] == 0
    ran = mem("search", "weekly release schedule", "--json", env=env, code=0)
    assert [hit["path"] for hit in ran.json["hits"]] == ["tasks/a.md"]
    assert ran.err == ""
