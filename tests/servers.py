"""A loopback server that speaks the replies of Ollama, OpenAI and Gemini, also wrongly.

What it answers is set by attributes, so that one server can fall ill and recover.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32

KEY = "sk-secret"  # what a refusal repeats, as some servers do
DRIP = 0.05  # seconds between two bytes
LONG = 10 << 20  # bytes of a reply that never should be

SPENT = {"message": f"{KEY}: insufficient_quota", "type": "insufficient_quota"}
DAILY = {
    "message": "You exceeded your current quota, please check your plan and billing details.",
    "status": "RESOURCE_EXHAUSTED",
    "details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}],
}
MINUTELY = {
    "message": "You exceeded your current quota, please check your plan and billing details.",
    "status": "RESOURCE_EXHAUSTED",
    "details": [
        {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]},
        {"retryDelay": "34.5s"},
    ],
}
REFUSALS: dict[str, tuple[int, Any]] = {
    "too-long": (400, {"message": "the context is too long"}),
    "quota": (429, SPENT),
    "daily": (429, DAILY),
    "minutely": (429, MINUTELY),
    "bad-key": (400, {"message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}),
}


def vector(text: str, dimension: int) -> list[float]:
    """A bag of words: texts that share words are near."""
    values = [0.001] * dimension
    for word in re.findall(r"\w+", text.lower()):
        values[crc32(word.encode()) % dimension] += 1
    return values


class Request:
    """What a request asks for, whichever of the three interfaces it speaks."""

    def __init__(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        self.path = path
        self.body = body
        self.headers = headers

    @property
    def provider(self) -> str:
        if self.path.startswith("/api/"):
            return "ollama"
        return "gemini" if ":" in self.path else "openai"

    @property
    def is_chat(self) -> bool:
        return "chat" in self.path or "generateContent" in self.path

    @property
    def key(self) -> str | None:
        return self.headers.get("authorization") or self.headers.get("x-goog-api-key")

    @property
    def texts(self) -> list[str]:
        """What is to be embedded."""
        if self.provider == "gemini":
            return [one["content"]["parts"][0]["text"] for one in self.body["requests"]]
        given = self.body["input"]
        return [given] if isinstance(given, str) else given

    @property
    def prompt(self) -> str:
        """What the last message of a chat says."""
        if self.provider == "gemini":
            return self.body["contents"][-1]["parts"][0]["text"]
        return self.body["messages"][-1]["content"]


class Server:
    """Embeds bags of words and says `says`, unless a fault is set."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.fault = ""  # for how many requests `faults` says; for ever if that is None
        self.faults: int | None = None
        self.faults_after = 0  # good replies that come first
        self.retry_after = ""
        self.location = ""  # where a redirect goes
        self.refusal = f"{KEY} refused"  # what comes with a status
        self.dimension = 64
        self.dimensions: list[int] = []  # of the next requests
        self.says = "An answer."
        self.finish = "stop"  # or "length"
        self.raw: bytes | None = None  # the whole body instead of a reply
        self.requests: list[Request] = []

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [one.body for one in self.requests]

    @property
    def keys(self) -> list[str | None]:
        return [one.key for one in self.requests]

    @property
    def texts(self) -> list[str]:
        return [text for one in self.requests for text in one.texts]

    @property
    def prompts(self) -> list[str]:
        return [one.prompt for one in self.requests]

    def take_fault(self) -> str:
        """The fault of this request."""
        if self.faults_after:
            self.faults_after -= 1
            return ""
        if self.faults is None:
            return self.fault
        self.faults -= 1
        return self.fault if self.faults >= 0 else ""

    def reply(self, request: Request, fault: str) -> tuple[int, bytes]:
        """Status and body."""
        if fault in REFUSALS or fault.isdecimal():
            status, error = REFUSALS.get(fault) or (int(fault), {"message": self.refusal})
            told = error["message"] if request.provider == "ollama" else error
            return status, json.dumps({"error": told}).encode()
        if fault in BODIES:
            return 200, BODIES[fault]()
        if self.raw is not None:
            return 200, self.raw
        if not request.is_chat:
            found = [_embeddings(request, self._rows(request, fault))]
        else:
            found = _chat(request, self.says if fault != "blank" else " \n", self.finish)
            if fault == "endless":
                found.pop()
        return 200, b"\n".join(json.dumps(one).encode() for one in found)

    def _rows(self, request: Request, fault: str) -> list[Any]:
        dimension = self.dimensions.pop(0) if self.dimensions else self.dimension
        rows: list[Any] = [vector(text, dimension) for text in request.texts]
        if fault == "fewer":
            rows = rows[:-1]
        elif fault == "nan":
            rows[0][0] = math.nan
        elif fault == "zeros":
            rows[0] = [0.0] * self.dimension
        elif fault == "ragged":
            rows[0] = rows[0][:-8]
        elif fault == "odd":
            rows = [row[:-1] for row in rows]
        elif fault == "words":
            rows = [["a"] * self.dimension for _ in rows]
        elif fault == "nulls":
            rows = [None for _ in rows]
        elif fault == "blank":
            rows = [[] for _ in rows]
        return rows


BODIES: dict[str, Callable[[], bytes]] = {
    "html": lambda: b"<html><body>Bad gateway</body></html>",
    "prose": lambda: b"Sure! Here are your vectors: 0.1, 0.2",
    "empty": lambda: b"{}",
    "nothing": lambda: b"",
    "null": lambda: b"null",
    "list": lambda: b"[]",
    "long": lambda: b'{"data": "' + b"x" * LONG + b'"}',
    "deep": lambda: b"[" * 100_000,
    "null-fields": lambda: json.dumps(
        {"data": None, "choices": None, "candidates": None, "embeddings": None, "message": None}
    ).encode(),
}


def _embeddings(request: Request, rows: list[Any]) -> dict[str, Any]:
    if request.provider == "ollama":
        return {"model": request.body["model"], "embeddings": rows}
    if request.provider == "gemini":
        return {"embeddings": [{"values": row} for row in rows]}
    return {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)][::-1]}


def _chat(request: Request, says: str, finish: str) -> list[dict[str, Any]]:
    """The objects of a reply: Ollama streams them, a line each."""
    if request.provider == "ollama":
        half = len(says) // 2
        parts = [
            {"model": "m", "message": {"role": "assistant", "content": part}, "done": False}
            for part in (says[:half], says[half:])
        ]
        end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True}
        return [*parts, {**end, "done_reason": finish}]
    message = {"role": "assistant", "content": says}
    if request.provider == "gemini":
        reason = {"stop": "STOP", "length": "MAX_TOKENS"}.get(finish, finish)
        parts = [{"text": "Let me think.", "thought": True}, {"text": says}]
        return [{"candidates": [{"content": {"parts": parts}, "finishReason": reason}]}]
    return [{"choices": [{"index": 0, "message": message, "finish_reason": finish}]}]


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a free port, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append(Request(self.path, {}, self._headers()))
            self._send(200, b"{}")

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            request = Request(self.path, json.loads(data), self._headers())
            server.requests.append(request)
            fault = server.take_fault()
            if fault == "hang":
                stopped.wait(20)
                return
            if fault == "reset":
                self.connection.close()
                return
            self._send(*server.reply(request, fault), fault=fault)

        def _headers(self) -> dict[str, str]:
            return {name.lower(): value for name, value in self.headers.items()}

        def _send(self, status: int, answer: bytes, fault: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            if server.retry_after and status >= 400:
                self.send_header("Retry-After", server.retry_after)
            if 300 <= status < 400:
                self.send_header("Location", server.location)
            self.end_headers()
            if fault == "cut":
                answer = answer[: len(answer) // 2]
            try:
                if fault == "drip":
                    self._drip(answer)
                else:
                    self.wfile.write(answer)
            except OSError:
                return  # whoever asked is gone

        def _drip(self, answer: bytes) -> None:
            for at in range(len(answer)):
                self.wfile.write(answer[at : at + 1])
                if stopped.wait(DRIP):
                    return

        def log_message(self, format: str, *arguments: Any) -> None:
            """Quiet."""

    stopped = threading.Event()
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = Server(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        stopped.set()
        http.shutdown()
        thread.join()
        http.server_close()
