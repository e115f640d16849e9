"""A connection to an Iggy server in the classic framing: iggy.md, section 2.1.

The sockets are those of Python: the clients of Iggy write every body themselves, and send no bytes of others.
"""

import socket
from struct import Struct
from typing import Final, Self

from attrs import frozen

from wireproof.adapters.server_address import ServerAddress

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

    def request(self, code: int, body: bytes, seconds: float = SECONDS) -> Reply:
        """Send a request whole, and return its answer."""
        self._socket.settimeout(seconds)
        self._socket.sendall(_REQUEST.pack(4 + len(body), code) + body)
        status, length = _REPLY.unpack(self._read(_REPLY.size))
        if length > LARGEST:
            raise ConnectionEndedError(f"a reply of {length} bytes is announced")
        return Reply(status, self._read(length))

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._socket.recv(min(size - len(data), 1 << 20))
            if not piece:
                raise ConnectionEndedError("the server closes the connection")
            data += piece
        return bytes(data)

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()
