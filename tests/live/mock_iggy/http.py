"""A mock server of Iggy over HTTP on 127.0.0.1, and servers with one fault each.

The codecs of the package decide which bodies are refused, and write the polls.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from wireproof import formats
from wireproof.live.iggy_server.requests import BY_VERSION
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.rejection import Rejected

INVALID: Final = {"id": 3, "code": "invalid_command", "reason": "Invalid command", "field": None}
SERVER_ID: Final = "99"
MESSAGES: Final = re.compile(r"/streams/\d+/topics/topic/messages")

Message = dict[str, Any]
Fault = Callable[[list[Message], list[Message]], list[Message]]
"""Returns the messages of a partition, from those before a send and those of the send."""

FAULTS: Final[Mapping[str, tuple[str, Fault]]] = {
    "drops-headers": ("headers/one", lambda old, new: [*old, *({**one, "headers": []} for one in new)]),
    "loses-earlier": ("send/id-absent", lambda _, new: new),
    "reorders-messages": ("text/payloads", lambda old, new: [*old, *new[::-1]]),
    "stores-nothing": ("send/balanced", lambda old, new: old or new),
    "stores-other-payload": (
        "send/captured",
        lambda old, new: [*old, *({**one, "payload": one["payload"] + "21"} for one in new)],
    ),
}
"""By the name of a fault: the end of the id of the case that kills the server, and what is stored."""


class HttpMock(ThreadingHTTPServer):
    """A server on a free port.

    Attributes:
        version: that it answers.
        send, poll: the formats of its bodies.
        partitions: the messages by the name of their stream's path.
        delay: seconds before each answer.
    """

    daemon_threads = True
    block_on_close = False
    delay = 0.0

    def __init__(self, fault: str, version: str, port: int = 0) -> None:
        """Listen; raise `KeyError` for an unknown fault or version."""
        protocol = BY_VERSION[version[:3]]
        self.version = version
        self.send = formats.get("iggy.json.send", protocol.json_send)
        self.poll = formats.get("iggy.json.poll", protocol.json_poll)
        self.append = FAULTS[fault][1] if fault else lambda old, new: [*old, *new]
        self.streams: dict[int, str] = {}
        self.partitions: dict[str, list[Message]] = {}
        super().__init__(("127.0.0.1", port), _Handler)
        self.address = f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HttpMock

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/ping":
            self._write(200, b"pong")
        elif path == "/stats":
            self._json(200, {"iggy_server_version": self.server.version})
        elif path == "/streams":
            self._json(200, [{"id": number, "name": name} for number, name in self.server.streams.items()])
        else:
            self._poll(path)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/users/login":
            self._json(200, {"user_id": 1, "access_token": {"token": "t"}})
        elif self.path == "/streams":
            number = max(self.server.streams, default=0) + 1
            self.server.streams[number] = json.loads(body)["name"]
            self._json(200, {"id": number})
        elif MESSAGES.fullmatch(self.path):
            self._send(body)
        else:
            self._json(200, {"id": 1})

    def do_DELETE(self) -> None:
        number = int(self.path.rpartition("/")[2])
        del self.server.streams[number]
        self.server.partitions.pop(f"/streams/{number}/topics/topic/messages", None)
        self._write(204, b"")

    def _send(self, body: bytes) -> None:
        try:
            found = to_json(formats.decode(self.server.send, body).value)
        except Rejected:
            self._json(400, INVALID)
            return
        assert isinstance(found, dict)
        now = str(time.time_ns() // 1000)
        new = [
            {**one, "timestamp": now, "origin_timestamp": now}  # type: ignore[dict-item]
            for one in found["messages"]  # type: ignore[union-attr]
        ]
        old = self.server.partitions.get(self.path, [])
        self.server.partitions[self.path] = self.server.append(old, new)
        self._write(201, b"")

    def _poll(self, path: str) -> None:
        partition = re.search(r"partition_id=(\d+)", self.path)
        assert partition
        stored = self.server.partitions.get(path, [])
        rows: list[Json] = [
            {
                **one,
                "id": SERVER_ID if one["id"] == "0" else one["id"],
                "checksum": "0",
                "offset": str(offset),
            }
            for offset, one in enumerate(stored)
        ]
        value: Json = {
            "partition_id": partition[1],
            "current_offset": str(max(0, len(rows) - 1)),
            "messages": rows,
        }
        self._write(200, formats.encode(self.server.poll, value))

    def _json(self, status: int, value: Any) -> None:
        self._write(status, json.dumps(value).encode())

    def _write(self, status: int, body: bytes) -> None:
        time.sleep(self.server.delay)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running(fault: str = "", version: str = "0.5.0", port: int = 0) -> Iterator[HttpMock]:
    """Run a server with this fault; an empty text is none."""
    with HttpMock(fault, version, port) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()
