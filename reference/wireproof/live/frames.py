"""The frames that come on a connection to a live server: each is a prefix with a size, and a body.

What is wrong with a frame has a name, whatever the protocol is: `BadFrameError`, `EndedError` and
`TimeoutError` have a text of one line, without the request.
"""

import socket
import ssl
import time
from collections.abc import Callable
from typing import Final

PIECE: Final = 256 * 1024
OTHERS: Final = {
    b"HTTP": "HTTP",
    **dict.fromkeys((b"\x15\x03\x01", b"\x15\x03\x03", b"\x16\x03\x01", b"\x16\x03\x03"), "TLS"),
}
"""Other protocols by the first bytes of their answers."""


class BadFrameError(OSError):
    """What came is no frame."""


class EndedError(OSError):
    """The connection ended before the frame did."""


class FrameStream:
    """What comes on a connected socket.

    Attributes:
        buffer: what has come and was not taken.
    """

    def __init__(
        self, connected: socket.socket, *, prefix: int, size: Callable[[bytes], int], most: int
    ) -> None:
        """Read frames whose prefix has so many bytes.

        Args:
            connected: the socket, which the caller closes.
            prefix: bytes of the prefix.
            size: returns the bytes of the body that a prefix states.
            most: the bytes of the largest body that is read.
        """
        self.socket = connected
        self.buffer = bytearray()
        self._prefix, self._size, self._most = prefix, size, most

    def take(self, deadline: float) -> tuple[bytes, bytes]:
        """Return prefix and body of the next frame.

        Raises:
            BadFrameError, EndedError: see above.
            TimeoutError: it is not whole at the deadline, by the monotonic clock.
            OSError: the connection has an error of another kind, such as an alert of TLS.
        """
        self._need(self._prefix, None, deadline)
        prefix = bytes(self.buffer[: self._prefix])
        for begin, name in OTHERS.items():
            if prefix.startswith(begin):
                raise BadFrameError(f"an answer of {name}: {prefix[:4].hex()}")
        size = self._size(prefix)
        if not 0 <= size <= self._most:
            raise BadFrameError(f"an answer of length {size}")
        self._need(self._prefix + size, size, deadline)
        body = bytes(self.buffer[self._prefix : self._prefix + size])
        del self.buffer[: self._prefix + size]
        return prefix, body

    def _need(self, count: int, size: int | None, deadline: float) -> None:
        """Read until so many bytes are there; `size` is that of the body, once it is known."""
        ended = self.more(deadline, count)
        if len(self.buffer) >= count:
            return
        whole = "an unknown number of" if size is None else size
        came = max(len(self.buffer) - self._prefix, 0)
        progress = f"{came} of {whole} bytes of the answer came" if self.buffer else ""
        if ended:
            raise EndedError(progress or "closed without an answer")
        raise TimeoutError(f"{progress}, then nothing" if progress else "no answer in time")

    def more(self, deadline: float, count: int) -> bool:
        """Read until so many bytes are there, or the deadline; return True if the connection has ended."""
        while len(self.buffer) < count:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self.socket.settimeout(left)
            try:
                piece = self.socket.recv(PIECE)
            except TimeoutError:
                return False
            if not piece:
                return True
            self.buffer += piece
        return False

    def arrived(self) -> bool:
        """Take what is there without waiting; return True if that is anything, the end too."""
        self.socket.settimeout(0)
        try:
            piece = self.socket.recv(PIECE)
        except (BlockingIOError, ssl.SSLWantReadError):
            return bool(self.buffer)
        except OSError:  # the end, as below
            return True
        self.buffer += piece
        return True
