"""A fake Iggy server over HTTP: iggy.md, section 8.

It answers a poll with the bytes of the case and a login with a token. It keeps the bodies of sends.
"""

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Lock, Thread
from typing import Final

from wireproof_peers.loopback_server import IDLE_SECONDS, MAX_REQUEST

TOKEN: Final = b'{"user_id":1,"access_token":{"token":"t","expiry":9999999999}}'
"""The answer to a login."""


class FakeIggyHttp:
    """A server on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        """Listen; raises `OSError` if no port is free."""
        self._lock = Lock()
        self._body = b""
        self._sent: list[bytes] = []
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def serve(self, body: bytes) -> None:
        """Answer a poll with `body` from now on, and forget the sends so far."""
        with self._lock:
            self._body = body
            self._sent.clear()

    def sent(self) -> list[bytes]:
        """Return the bodies of the sends since the last `serve`."""
        with self._lock:
            return list(self._sent)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(IDLE_SECONDS)

    def answer(self, path: str, method: str, body: bytes) -> bytes:
        if path.endswith("/login"):
            return TOKEN
        if not path.endswith("/messages"):
            return b""
        with self._lock:
            if method == "GET":
                return self._body
            self._sent.append(body)
            return b""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, web: FakeIggyHttp) -> None:
        self.web = web
        super().__init__(("127.0.0.1", 0), _Connection)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer.server_bind asks the resolver for the name of the address
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many requests
    disable_nagle_algorithm = True
    wbufsize = -1  # sends head and body in one write
    timeout = IDLE_SECONDS
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base has it
        """Log nothing: stderr belongs to the adapter."""

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        if length > MAX_REQUEST:
            self.close_connection = True
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(length)
        reply = self.server.web.answer(self.path.partition("?")[0], self.command, body)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    do_GET = do_POST = do_PUT = _answer  # noqa: N815 - as its base has it
