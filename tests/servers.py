"""A loopback server that speaks the embedding replies of Ollama and of OpenAI, also wrongly."""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32


def vector(text: str, dimension: int) -> list[float]:
    """A bag of words: texts that share words are near."""
    values = [0.001] * dimension
    for word in re.findall(r"\w+", text.lower()):
        values[crc32(word.encode()) % dimension] += 1
    return values


class EmbeddingServer:
    """What it answers is set by attributes, so that one server can fall ill and recover."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.fault = ""
        self.dimension = 64
        self.asked: list[dict[str, Any]] = []  # bodies of requests
        self.keys: list[str | None] = []

    @property
    def texts(self) -> list[str]:
        found: list[str] = []
        for body in self.asked:
            found += [body["input"]] if isinstance(body["input"], str) else body["input"]
        return found

    def reply(self, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
        fault = self.fault
        if fault.isdecimal():
            return int(fault), json.dumps({"error": {"message": "sk-secret refused"}}).encode()
        if fault == "html":
            return 200, b"<html><body>Bad gateway</body></html>"
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        rows = [vector(text, self.dimension) for text in texts]
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
            rows = [["a"] * self.dimension for _ in rows]  # type: ignore[list-item]  # nonsense
        elif fault == "empty":
            return 200, b"{}"
        if path.endswith("/api/embed"):
            return 200, json.dumps({"model": body["model"], "embeddings": rows}).encode()
        data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
        return 200, json.dumps({"data": data[::-1]}).encode()


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A server on a free port, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(data)
            server.asked.append(body)
            server.keys.append(self.headers.get("Authorization"))
            if server.fault == "hang":
                stopped.wait(20)
                return
            status, answer = server.reply(self.path, body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            if server.fault == "cut":
                answer = answer[: len(answer) // 2]
            if server.fault == "drip":
                for at in range(len(answer)):
                    if stopped.is_set():
                        return
                    self.wfile.write(answer[at : at + 1])
                    time.sleep(0.2)
            self.wfile.write(answer)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Quiet."""

    stopped = threading.Event()
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = EmbeddingServer(http.server_port)
    thread = threading.Thread(target=http.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        stopped.set()
        http.shutdown()
        thread.join()
        http.server_close()
