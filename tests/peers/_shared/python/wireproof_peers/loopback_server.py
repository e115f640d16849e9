"""A TCP server on 127.0.0.1 that the fake brokers and servers are built on.

A fake server answers with the bytes of a case and keeps the requests of the client. It runs in a thread of
the adapter's worker process and listens on a free port; closing it ends every thread that it started.
"""

import socketserver
from struct import Struct
from threading import Thread
from typing import Any, Final, Protocol

IDLE_SECONDS: Final = 30.0
"""A connection that stays silent for so long is closed."""

MAX_REQUEST: Final = 32 * 1024 * 1024
"""Bytes of one request; a longer one ends its connection.

The longest of a case holds a payload of 12 MiB in base64, which is 16 MiB, and what stands around it.
"""


class Answer(Protocol):
    """A function that a server calls with each request."""

    def __call__(self, request: bytes) -> bytes:
        """Return the bytes of the reply, empty for none.

        `request` is the part of the request that its length counts.
        """
        ...


class LoopbackServer:
    """A server for requests that begin with their length, or with the length of what follows.

    Args:
        answer: called from the thread of a connection, for one request after the other.
        length: the form of the length field, with the bytes before it.
        least: the smallest valid length; a smaller one ends the connection.
        whole: whether the length counts the length field and the bytes before it; `answer` gets them then.
    """

    def __init__(self, answer: Answer, length: Struct, least: int, *, whole: bool = False) -> None:
        """Listen; raises `OSError` if no port is free."""
        self._server = _Server(answer, length, least, whole=whole)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        port: int = self._server.socket.getsockname()[1]
        return port

    def close(self) -> None:
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join(IDLE_SECONDS)


class _Server(socketserver.ThreadingTCPServer):
    """A TCP server with one thread for each connection."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, answer: Answer, length: Struct, least: int, *, whole: bool) -> None:
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
        """Close the connections, so that a client that waits reads the end of its stream."""
        for request in tuple(self._open):
            self.shutdown_request(request)


class _Connection(socketserver.StreamRequestHandler):
    """One connection: answers requests until the client closes it or is silent for too long."""

    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        try:
            while (request := self._request()) is not None:
                if reply := self.server.answer(request):
                    self.wfile.write(reply)
        except OSError:
            return  # the client closed the connection, or the server was closed

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
