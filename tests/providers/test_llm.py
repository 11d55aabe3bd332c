"""An LLM answers prose or JSON, or says why not; the same for every provider that goes remote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.errors import ProviderError, UsageError
from memcli.providers import LLMS
from memcli.providers.base import LLM
from memcli.tables import load
from tests.chat_server import ChatServer, chat_server
from tests.conftest import opened

REMOTE = ("ollama", "openai")
SCHEMA = {"type": "object", "properties": {"goal": {"type": "string"}}, "required": ["goal"]}


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with chat_server() as found:
        yield found


@pytest.fixture(params=REMOTE)
def llm(request: pytest.FixtureRequest, empty: Path, chat: ChatServer) -> LLM:
    url = chat.url if request.param == "ollama" else f"{chat.url}/v1"
    workspace = opened(
        empty, llm_provider=request.param, llm_url=url, llm_model="small", llm_key="k-1"
    )
    found = workspace.llm
    assert found is not None
    assert workspace.llm is found
    return found


@pytest.mark.parametrize("name", LLMS)
def test_a_member_opens_without_asking_anybody(name: str, empty: Path) -> None:
    workspace = opened(empty, llm_provider=name, llm_url="http://127.0.0.1:9")
    assert (workspace.llm is None) == (name == "none")
    assert hasattr(load("LLM provider", LLMS, name), "open_llm")


def test_an_unknown_provider_is_a_usage_error(empty: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown llm\.provider"):
        opened(empty, llm_provider="oracle")


def test_the_default_is_none(empty: Path) -> None:
    assert opened(empty).llm is None


def test_it_asks_once_at_temperature_zero(llm: LLM, chat: ChatServer) -> None:
    chat.says = " An answer.\n"
    assert llm.complete("The prompt", system="The rule", max_tokens=77) == " An answer.\n"
    (body,) = chat.asked
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == "The prompt"
    options = body.get("options", body)
    assert options["temperature"] == 0
    assert 77 in (options.get("max_tokens"), options.get("num_predict"))
    assert llm.name.endswith(":small")


def test_a_schema_reaches_the_server(llm: LLM, chat: ChatServer) -> None:
    chat.says = '{"goal": "x"}'
    assert json.loads(llm.complete("p", schema=SCHEMA)) == {"goal": "x"}
    (body,) = chat.asked
    assert "goal" in json.dumps(body.get("format") or body["response_format"])
    assert [one["role"] for one in body["messages"]] == ["user"]


@pytest.mark.parametrize(
    ("status", "reason"), [(401, "key"), (403, "key"), (404, "model"), (429, "busy"), (500, "down")]
)
def test_refusals_are_sorted(llm: LLM, chat: ChatServer, status: int, reason: str) -> None:
    chat.status = status
    with pytest.raises(ProviderError) as error:
        llm.complete("p")
    assert error.value.reason == reason
    assert "k-1" not in f"{error.value}{error.value.hint}"


@pytest.mark.parametrize("says", ["", " \n"])
def test_a_blank_answer_is_none(llm: LLM, chat: ChatServer, says: str) -> None:
    chat.says = says
    with pytest.raises(ProviderError, match="nothing"):
        llm.complete("p")


def test_an_answer_that_was_cut_off_does_not_count(llm: LLM, chat: ChatServer) -> None:
    chat.says, chat.finish = '{"goal": "x', "length"
    with pytest.raises(ProviderError, match="cut off") as error:
        llm.complete("p")
    assert error.value.reason == "reply"


@pytest.mark.parametrize("raw", [b"<html>", b"[]", b"{}", b'{"choices": [], "message": 3}', b""])
def test_nonsense_is_told_as_such(llm: LLM, chat: ChatServer, raw: bytes) -> None:
    chat.raw = raw
    with pytest.raises(ProviderError) as error:
        llm.complete("p")
    assert error.value.reason == "reply"


@pytest.mark.parametrize("name", REMOTE)
def test_a_server_that_is_slow_or_gone_costs_the_time_out(
    name: str, empty: Path, chat: ChatServer
) -> None:
    chat.is_hanging = True
    for url in (chat.url, "http://127.0.0.1:9"):
        found = opened(empty, llm_provider=name, llm_url=url, llm_timeout="0.3").llm
        assert found is not None
        with pytest.raises(ProviderError, match="does not answer") as error:
            found.complete("p")
        assert error.value.reason == "down"
        assert error.value.hint
