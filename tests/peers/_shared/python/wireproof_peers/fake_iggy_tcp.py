"""Servers on the loopback for clients that show no codec: design, section 4, "clients behind a socket".

A server answers with the bytes of the case and keeps what the client sent. It runs in a thread of the
worker's process and listens on a free port of 127.0.0.1; closing it ends every thread it started.
"""

import socketserver
from collections.abc import Mapping
from struct import Struct
from threading import Lock, Thread
from typing import Any, Final, Protocol, Self

from attrs import frozen

IDLE_SECONDS: Final = 30.0
"""A connection that stays silent for so long is closed."""

MAX_REQUEST: Final = 16 * 1024 * 1024
"""Bytes of one request; a longer one ends its connection."""

_CODE: Final = Struct("<I")
_REPLY: Final = Struct("<II")


class Answering(Protocol):
    """What a server does with a request: the bytes of its reply, empty for none."""

    def __call__(self, request: bytes) -> bytes:
        """`request` is what its length counts; what is given is sent as it is."""
        ...


class Loopback:
    """A server of requests that begin with the length of the rest, or of the whole.

    Args:
        answer: called from the thread of a connection, for one request after the other.
        length: how the length is written.
        least: the bytes of the shortest request; a shorter one ends its connection.
        whole: whether the length counts what is read for its sake, which is handed over then.
    """

    def __init__(self, answer: Answering, length: Struct, least: int, *, whole: bool = False) -> None:
        """Listen; raises `OSError` where the loopback has no free port."""
        self._server = _Server(answer, length, least, whole=whole)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Of 127.0.0.1."""
        port: int = self._server.socket.getsockname()[1]
        return port

    def close(self) -> None:
        """Stop listening and close every connection."""
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join(IDLE_SECONDS)


@frozen
class Sent:
    """A request of a client: its command code and its body."""

    code: int
    body: bytes


class IggyServer:
    """An Iggy server in the classic framing: iggy.md, section 2.1.

        request   u32 length | u32 code | body[length - 4]
        reply     u32 status | u32 length | body[length]

    all little-endian. Every command is answered with status 0; `replies` holds the bodies, by code.
    """

    def __init__(self, replies: Mapping[int, bytes]) -> None:
        """Listen; raises `OSError` where the loopback has no free port."""
        self._lock = Lock()
        self._replies = dict(replies)
        self._sent: list[Sent] = []
        self._server = self._listening()

    @property
    def address(self) -> str:
        """Host and port, as `127.0.0.1:4711`."""
        return f"127.0.0.1:{self._server.port}"

    def serve(self, code: int, body: bytes) -> None:
        """Answer the command `code` with `body` from now on, and forget what was sent."""
        with self._lock:
            self._replies[code] = body
            self._sent.clear()

    def sent(self, code: int) -> list[bytes]:
        """The bodies of the requests `code` since the last `serve`."""
        with self._lock:
            return [sent.body for sent in self._sent if sent.code == code]

    def close(self) -> None:
        """Stop listening and close every connection."""
        self._server.close()

    def __enter__(self) -> Self:
        """The server itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _listening(self) -> Loopback:
        return Loopback(self._answer, Struct("<I"), _CODE.size)

    def _answer(self, request: bytes) -> bytes:
        body = self._kept(Sent(_CODE.unpack_from(request)[0], request[_CODE.size :]))
        return _REPLY.pack(0, len(body)) + body

    def _kept(self, sent: Sent) -> bytes:
        """Keep `sent`; its reply."""
        with self._lock:
            self._sent.append(sent)
            return self._replies.get(sent.code, b"")


class _Server(socketserver.ThreadingTCPServer):
    """One thread a connection; `answer` makes a reply of a request."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, answer: Answering, length: Struct, least: int, *, whole: bool) -> None:
        self.answer, self.length, self.least, self.whole = answer, length, least, whole
        self._open: set[Any] = set()
        super().__init__(("127.0.0.1", 0), _Connection)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as its base has it
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as its base has it
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Close the connections; a client that waits sees the end of its stream."""
        for request in tuple(self._open):
            self.shutdown_request(request)


class _Connection(socketserver.StreamRequestHandler):
    """Answers requests until the client goes, or is silent for too long."""

    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        try:
            while (request := self._request()) is not None:
                if reply := self.server.answer(request):
                    self.wfile.write(reply)
        except OSError:
            return  # the client went, or the server was closed

    def _request(self) -> bytes | None:
        head = self.rfile.read(self.server.length.size)
        if len(head) < self.server.length.size:
            return None
        length: int = self.server.length.unpack(head)[0]
        if not self.server.least <= length <= MAX_REQUEST:
            return None
        before = head if self.server.whole else b""
        data = before + self.rfile.read(length - len(before))
        return data if len(data) == length else None
