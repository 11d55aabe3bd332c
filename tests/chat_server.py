"""A loopback server that speaks the chat replies of Ollama and of OpenAI, with what it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatServer:
    """It answers `says`, whatever it is asked, with `status` and `finish` as the end's reason."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.says = ""
        self.status = 200
        self.finish = "stop"
        self.raw: bytes | None = None  # the whole body instead of a reply
        self.is_hanging = False
        self.asked: list[dict[str, Any]] = []  # bodies of requests
        self.keys: list[str | None] = []

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.asked]

    def reply(self, path: str) -> bytes:
        if self.raw is not None:
            return self.raw
        message = {"role": "assistant", "content": self.says}
        if path.endswith("/api/chat"):
            reply = {"model": "m", "message": message, "done": True, "done_reason": self.finish}
        else:
            reply = {"choices": [{"index": 0, "message": message, "finish_reason": self.finish}]}
        return json.dumps(reply).encode()


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A server on a free port, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            server.keys.append(self.headers.get("Authorization"))
            if server.is_hanging:
                stopped.wait(20)
                return
            answer = server.reply(self.path)
            self.send_response(server.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Quiet."""

    stopped = threading.Event()
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = ChatServer(http.server_port)
    thread = threading.Thread(target=http.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        stopped.set()
        http.shutdown()
        thread.join()
        http.server_close()
