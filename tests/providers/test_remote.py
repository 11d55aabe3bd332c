"""Every provider that goes over a network, against a server that does all that servers do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path

import pytest

from memcli.config import Settings
from memcli.errors import ProviderError, UsageError
from memcli.providers import LLMS, TABLE
from memcli.providers.base import LLM, Embedder
from memcli.providers.remote import ATTEMPTS, QUESTION_ATTEMPTS, retried
from memcli.providers.replies import prefixes
from memcli.tables import load
from tests.conftest import opened
from tests.servers import KEY, Server, serving

TIMEOUT = 0.4  # seconds
PATIENT = 2.0  # for replies that take their time
SCHEMA = {"type": "object", "properties": {"goal": {"type": "string"}}, "required": ["goal"]}

EMBEDDERS = [
    name
    for name in TABLE
    if (found := load("", TABLE, name).open_embedder(Settings())) is not None and found.is_remote
]
WRITERS = [name for name in LLMS if load("", LLMS, name).open_llm(Settings()) is not None]


def embedder(name: str, url: str, timeout: float = PATIENT) -> Embedder:
    settings = Settings(
        embedding_url=url, embedding_model="m", embedding_key=KEY, embedding_timeout=timeout
    )
    found: Embedder = load("", TABLE, name).open_embedder(settings)
    return found


def llm(name: str, url: str, timeout: float = PATIENT) -> LLM:
    settings = Settings(llm_url=url, llm_model="m", llm_key=KEY, llm_timeout=timeout)
    found: LLM = load("", LLMS, name).open_llm(settings)
    return found


def asks(kind: str, name: str, url: str, timeout: float = PATIENT) -> Callable[[], object]:
    if kind == "chat":
        return lambda: llm(name, url, timeout).complete("The prompt")
    if kind == "question":
        return lambda: embedder(name, url, timeout).embed_query("one text")
    return lambda: embedder(name, url, timeout).embed_passages(["one text", "another"])


CASES = [(kind, name) for kind in ("passages", "question") for name in EMBEDDERS]
CASES += [("chat", name) for name in WRITERS]


@pytest.fixture(scope="module")
def one_server() -> Iterator[Server]:
    with serving() as found:
        for name in EMBEDDERS:  # the first of them waits for its client's import
            embedder(name, found.url, timeout=30).embed_query("x")
        yield found


@pytest.fixture
def server(one_server: Server) -> Server:
    """The server, well again and with nothing asked."""
    vars(one_server).update(vars(Server(one_server.url)))
    return one_server


# --- good replies ---


def test_every_remote_provider_is_held_to_this() -> None:
    assert set(EMBEDDERS) == set(TABLE) - {"builtin", "none"}
    assert set(WRITERS) == set(LLMS) - {"none"}


@pytest.mark.parametrize("name", EMBEDDERS)
def test_vectors_come_in_order_and_of_unit_length(server: Server, name: str) -> None:
    found = embedder(name, server.url)
    assert found.name == f"{name}:m" and found.is_remote and found.dimension == 0
    texts = [f"word{at} and more" for at in range(150)]
    vectors = found.embed_passages(texts)
    assert server.texts == texts
    assert len(server.requests) > 1  # in batches
    assert found.dimension == 64
    assert vectors[7] == found.embed_passages(["word7 and more"])[0] != vectors[8]
    assert found.embed_query("word7 and more") == vectors[7]
    assert {key.removeprefix("Bearer ") for key in server.keys if key} == {KEY}


@pytest.mark.parametrize("name", WRITERS)
def test_an_answer_at_temperature_zero(server: Server, name: str) -> None:
    server.says = " An answer.\n"
    found = llm(name, server.url)
    assert found.name == f"{name}:m"
    assert found.complete("The prompt", system="The rule", max_tokens=77) == " An answer.\n"
    (request,) = server.requests
    assert request.prompt == "The prompt"
    body = json.dumps(request.body)
    assert "The rule" in body and '"temperature": 0' in body
    assert request.key is not None and request.key.removeprefix("Bearer ") == KEY
    assert KEY not in request.path and KEY not in body


@pytest.mark.parametrize("name", WRITERS)
def test_a_schema_and_a_limit_reach_the_server(server: Server, name: str) -> None:
    server.says = '{"goal": "x"}'
    assert json.loads(llm(name, server.url).complete("p", schema=SCHEMA, max_tokens=77)) == {
        "goal": "x"
    }
    body = server.asked[0]
    limits = {
        "ollama": lambda: body["options"]["num_predict"] == 77 and body["format"] == SCHEMA,
        "openai": lambda: (
            body["max_tokens"] == 77 and body["response_format"]["json_schema"]["schema"] == SCHEMA
        ),
        "gemini": lambda: (
            body["generationConfig"]["maxOutputTokens"] > 77  # its thoughts count as well
            and body["generationConfig"]["responseJsonSchema"] == SCHEMA
            and body["generationConfig"]["responseMimeType"] == "application/json"
        ),
    }
    assert limits[name]()


def test_gemini_is_told_what_a_text_is_for(server: Server) -> None:
    found = embedder("gemini", server.url)
    found.embed_query("a question")
    found.embed_passages(["a passage"])
    (question,), (passage,) = (body["requests"] for body in server.asked)
    assert question["taskType"] == "RETRIEVAL_QUERY"
    assert passage["taskType"] == "RETRIEVAL_DOCUMENT"
    assert question["model"] == "models/m"
    later = Settings(embedding_url=server.url, embedding_model="models/gemini-embedding-2")
    load("", TABLE, "gemini").open_embedder(later).embed_query("a question")
    (last,) = server.asked[-1]["requests"]
    assert last["model"] == "models/gemini-embedding-2"  # however it was written
    assert "taskType" not in last
    assert last["content"]["parts"][0]["text"] == prefixes("gemini-embedding-2")[0] + "a question"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "SAFETY"),
        ({"candidates": [{"finishReason": "RECITATION"}]}, "RECITATION"),
        ({"candidates": [{"finishReason": "MAX_TOKENS", "content": {}}]}, "cut off"),
        ({"candidates": []}, "nothing"),
        ({"candidates": [{"content": {"parts": [{"text": None}]}}]}, "nothing"),
    ],
)
def test_what_gemini_withholds_is_said(server: Server, raw: object, said: str) -> None:
    server.raw = json.dumps(raw).encode()
    with pytest.raises(ProviderError, match=said) as error:
        llm("gemini", server.url).complete("p")
    assert error.value.reason == "reply"


# --- bad ones ---

# What goes wrong: its reason, whether it is tried again, a part of the sentence or hint.
FAULTS: dict[str, tuple[str, bool, str]] = {
    "401": ("key", False, "401"),
    "403": ("key", False, "_KEY"),
    "404": ("model", False, "model m"),
    "429": ("busy", True, "429"),
    "quota": ("quota", False, "insufficient_quota"),
    "402": ("quota", False, "402"),
    "too-long": ("request", False, "too long"),
    "301": ("request", False, "elsewhere"),
    "408": ("busy", True, "408"),
    "500": ("down", True, "500"),
    "502": ("down", True, "502"),
    "503": ("busy", True, "503"),
    "504": ("down", True, "504"),
    "501": ("request", False, "501"),
    "cut": ("down", True, "does not answer"),
    "reset": ("down", True, "does not answer"),
    "hang": ("down", False, "does not answer"),  # all of the time is spent
    "drip": ("down", False, "does not answer"),
    "html": ("reply", False, ""),
    "prose": ("reply", False, ""),
    "empty": ("reply", False, ""),
    "nothing": ("reply", False, ""),
    "null": ("reply", False, ""),
    "list": ("reply", False, ""),
    "deep": ("reply", False, ""),
    "long": ("reply", False, "more than 8 MB"),
    "null-fields": ("reply", False, ""),
    "blank": ("reply", False, ""),
}
OF_VECTORS = ("fewer", "nan", "zeros", "odd", "words", "nulls", "ragged")


@pytest.mark.parametrize(("kind", "name"), CASES)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_its_outcome(server: Server, kind: str, name: str, fault: str) -> None:
    reason, is_tried_again, said = FAULTS[fault]
    if (kind, name) == ("chat", "ollama") and fault == "nothing":
        reason, is_tried_again = "down", True  # a stream without its end
    server.fault = fault
    server.location = f"{server.url}/elsewhere"
    timeout = TIMEOUT if fault in ("hang", "drip") else PATIENT
    began = time.monotonic()
    with pytest.raises(ProviderError) as raised:
        asks(kind, name, server.url, timeout)()
    assert time.monotonic() - began < timeout + 1.5
    error = raised.value
    assert error.exit_code == 4
    assert error.reason == reason, error
    assert said in error.with_hint
    assert KEY not in error.with_hint and "<html>" not in str(error)
    assert "\n" not in error.with_hint and len(error.with_hint) < 400
    tries = QUESTION_ATTEMPTS if kind == "question" else ATTEMPTS
    assert len(server.requests) == (tries if is_tried_again else 1)


@pytest.mark.parametrize("name", EMBEDDERS)
@pytest.mark.parametrize("fault", OF_VECTORS)
def test_vectors_that_are_none_do_not_count(server: Server, name: str, fault: str) -> None:
    server.fault = fault
    with pytest.raises(ProviderError) as raised:
        embedder(name, server.url).embed_passages(["one text", "another text"])
    assert raised.value.reason == "reply"
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", EMBEDDERS)
def test_a_dimension_may_change_between_calls_and_never_within_one(
    server: Server, name: str
) -> None:
    found = embedder(name, server.url)
    found.embed_passages(["a text"])
    server.dimension = 128
    found.embed_passages(["a text"])
    assert found.dimension == 128
    server.dimensions = [64, 128]
    with pytest.raises(ProviderError, match="dimension") as raised:
        found.embed_passages([f"text {at}" for at in range(100)])
    assert raised.value.reason == "reply"


@pytest.mark.parametrize("name", WRITERS)
def test_an_answer_that_was_cut_off_does_not_count(server: Server, name: str) -> None:
    server.says, server.finish = '{"goal": "x', "length"
    with pytest.raises(ProviderError, match="cut off") as raised:
        llm(name, server.url).complete("p")
    assert raised.value.reason == "reply"
    assert len(server.requests) == 1


def test_a_stream_without_its_end_does_not_count(server: Server) -> None:
    server.fault = "endless"
    with pytest.raises(ProviderError, match="broke off"):
        llm("ollama", server.url).complete("p")
    assert len(server.requests) == ATTEMPTS


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_nobody_at_the_address(kind: str, name: str) -> None:
    for url in ("http://127.0.0.1:9", "http://[::1", "ftp://127.0.0.1/x", "http://127.0.0.1:1/a b"):
        with pytest.raises(ProviderError) as raised:
            asks(kind, name, url, TIMEOUT)()
        assert raised.value.reason == "down"
        assert raised.value.hint


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_the_key_does_not_follow_to_another_host(server: Server, kind: str, name: str) -> None:
    with serving() as other:
        for status in ("301", "302", "303", "307", "308"):
            server.fault, server.location = status, f"{other.url}/elsewhere"
            with pytest.raises(ProviderError, match=status):
                asks(kind, name, server.url)()
        assert other.requests == []


@pytest.mark.parametrize("name", EMBEDDERS)
def test_an_address_is_shown_without_its_password(name: str) -> None:
    with pytest.raises(ProviderError) as raised:
        embedder(name, "http://me:hunter2@127.0.0.1:9", TIMEOUT).embed_query("x")
    assert "hunter2" not in raised.value.with_hint


# --- trying again ---


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_what_passes_is_waited_for(server: Server, kind: str, name: str) -> None:
    for fault in ("429", "500", "503", "cut", "reset"):
        server.fault, server.faults = fault, 1
        assert asks(kind, name, server.url)()
        assert len(server.requests) == 2
        server.requests.clear()


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_wish_for_a_pause_is_kept(server: Server, kind: str, name: str) -> None:
    if name == "ollama":
        return  # its client does not tell; the server does not say
    server.fault, server.faults, server.retry_after = "429", 1, "0.5"
    began = time.monotonic()
    assert asks(kind, name, server.url)()
    assert time.monotonic() - began >= 0.5
    for wish in ("30", formatdate(time.time() + 30, usegmt=True)):
        server.requests.clear()
        server.faults, server.retry_after = None, wish
        with pytest.raises(ProviderError) as raised:
            asks(kind, name, server.url)()
        assert len(server.requests) == 1  # there is no time for that
        assert 25 <= raised.value.after <= 30


def test_limits_of_gemini_by_the_minute_pass_and_by_the_day_do_not(server: Server) -> None:
    for fault, reason, after in (("minutely", "busy", 34.5), ("daily", "quota", 0)):
        server.fault = fault
        server.requests.clear()
        with pytest.raises(ProviderError) as raised:
            llm("gemini", server.url).complete("p")
        assert (raised.value.reason, raised.value.after) == (reason, after)
        assert len(server.requests) == 1
    server.fault = "bad-key"
    with pytest.raises(ProviderError) as raised:
        llm("gemini", server.url).complete("p")
    assert raised.value.reason == "key"


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_all_tries_together_stay_within_the_time(attempts: int) -> None:
    given: list[float] = []

    def ask(seconds: float) -> None:
        given.append(seconds)
        time.sleep(0.02)
        raise ProviderError("no")

    began = time.monotonic()
    with suppress(ProviderError):
        retried(0.3, ask, attempts=attempts)
    assert time.monotonic() - began < 0.5
    assert len(given) == attempts
    assert given == sorted(given, reverse=True) and 0 < given[-1] <= given[0] <= 0.3


# --- what Ollama says of its models ---


@pytest.mark.parametrize(
    ("status", "says", "reason", "hint"),
    [
        (404, 'model "m" not found, try pulling it first', "model", "ollama pull m"),
        (400, '"m" does not support chat', "model", "llm.model"),
        (501, "this model does not support embeddings", "model", "llm.model"),
        (503, "server busy, please try again.  maximum pending requests exceeded", "busy", ""),
        (500, "model requires more system memory (9 GiB) than is available", "down", ""),
    ],
)
def test_the_states_of_a_local_model(
    server: Server, status: int, says: str, reason: str, hint: str
) -> None:
    server.fault, server.refusal = str(status), says
    with pytest.raises(ProviderError) as raised:
        llm("ollama", server.url).complete("p")
    assert raised.value.reason == reason
    assert hint in raised.value.hint
    if not hint:
        assert " ".join(says.split())[:30] in str(raised.value)


def test_a_model_that_takes_long_to_load_is_told_so(server: Server) -> None:
    server.fault = "hang"
    with pytest.raises(ProviderError, match="in time") as raised:
        llm("ollama", server.url, TIMEOUT).complete("p")
    assert "load m" in raised.value.hint and "llm.timeout" in raised.value.hint


# --- the settings ---


@pytest.mark.parametrize("name", LLMS)
def test_an_llm_opens_without_asking_anybody(name: str, empty: Path) -> None:
    workspace = opened(empty, llm_provider=name, llm_url="http://127.0.0.1:9")
    assert (workspace.llm is None) == (name == "none")
    assert workspace.llm is workspace.llm


@pytest.mark.parametrize("name", TABLE)
def test_an_embedder_opens_without_asking_anybody(name: str, empty: Path) -> None:
    workspace = opened(empty, embedding_provider=name, embedding_url="http://127.0.0.1:9")
    assert (workspace.embedder is None) == (name == "none")
    assert workspace.embedder is workspace.embedder


def test_an_unknown_provider_is_a_usage_error(empty: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown llm\.provider"):
        opened(empty, llm_provider="oracle")


def test_the_default_writer_is_none(empty: Path) -> None:
    assert opened(empty).llm is None
