"""A connection to an Iggy server in the classic framing: iggy.md, section 2.1.

The sockets are those of Python: the clients of Iggy write every body themselves, and send no bytes of others.
"""

import http.client
import json
import socket
import time
from struct import Struct
from typing import Any, Final, Self

from attrs import frozen

from wireproof.adapters.live_servers import ServerAddress
from wireproof.live.frames import FrameStream

SECONDS: Final = 10.0
"""Time limit of a connection and of an answer to a request that is no case."""

LARGEST: Final = 256 * 1024**2
"""Bytes of the largest answer that is read."""

_REQUEST: Final = Struct("<II")
_REPLY: Final = Struct("<II")


class ConnectionEndedError(OSError):
    """The server closes the connection, or answers with something that is no reply."""


@frozen
class Reply:
    """An answer: status 0 is success, other numbers are error codes."""

    status: int
    body: bytes


class Connection:
    """One TCP connection. Every method raises `OSError`; an answer that does not come is a `TimeoutError`."""

    def __init__(self, address: ServerAddress) -> None:
        """Connect."""
        self._socket = socket.create_connection((address.host, address.port), timeout=SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = FrameStream(
            self._socket, prefix=_REPLY.size, size=lambda head: _REPLY.unpack(head)[1], most=LARGEST
        )

    def request(self, code: int, body: bytes, seconds: float = SECONDS) -> Reply:
        """Send a request whole, and return its answer."""
        self._socket.settimeout(seconds)
        self._socket.sendall(_REQUEST.pack(4 + len(body), code) + body)
        head, content = self._replies.take(time.monotonic() + seconds)
        return Reply(_REPLY.unpack(head)[0], content)

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()


# --- http connection ---
#
# A connection to an Iggy server over HTTP: iggy.md, section 8. The client is that of Python's library.


JSON: Final = "application/json"


@frozen
class HttpReply:
    """An answer: the HTTP status, the body, and the type of the body."""

    status: int
    body: bytes
    kind: str = ""

    @property
    def success(self) -> bool:
        """Return True for a status from 200 to 299."""
        return 200 <= self.status < 300

    @property
    def is_json(self) -> bool:
        """Return True if the body is announced as JSON."""
        return self.kind.startswith(JSON)

    def value(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the JSON value of the body; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class HttpConnection:
    """One connection, kept for several requests. Every method raises `OSError`."""

    def __init__(self, address: ServerAddress, token: str = "") -> None:
        """Connect; `token` is that of a login."""
        self._client = http.client.HTTPConnection(address.host, address.port, timeout=SECONDS)
        self._client.auto_open = 0  # a connection that ended stays ended
        self._client.connect()
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def request(
        self, method: str, path: str, body: bytes | None = None, seconds: float = SECONDS
    ) -> HttpReply:
        """Send a request whole, and return its answer; a body is sent as JSON."""
        headers = self._headers | ({} if body is None else {"Content-Type": JSON})
        try:
            if self._client.sock is None:
                raise ConnectionEndedError("the server closes the connection")
            self._client.sock.settimeout(seconds)
            self._client.request(method, path, body, headers)
            reply = self._client.getresponse()
            data = reply.read(LARGEST + 1)
        except http.client.HTTPException as error:
            raise ConnectionEndedError(f"no answer of HTTP: {type(error).__name__} {error}") from None
        if len(data) > LARGEST:
            raise ConnectionEndedError(f"a reply of more than {LARGEST} bytes")
        return HttpReply(reply.status, data, reply.headers.get("Content-Type", ""))

    def close(self) -> None:
        """Close it."""
        self._client.close()

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()
