"""A fake Iggy server in the classic TCP framing: iggy.md, section 2.1."""

from collections.abc import Mapping
from struct import Struct
from threading import Lock
from typing import Final, Self

from attrs import frozen

from wireproof_peers.loopback_server import LoopbackServer

_CODE: Final = Struct("<I")
_REPLY: Final = Struct("<II")


@frozen
class Sent:
    """A request of a client: its command code and its body."""

    code: int
    body: bytes


class FakeIggyTcp:
    """A server on a free port of 127.0.0.1 that answers every command with status 0.

        request   u32 length | u32 code | body[length - 4]
        reply     u32 status | u32 length | body[length]

    All integers are little-endian. `replies` holds the bodies of the replies by command code.
    """

    def __init__(self, replies: Mapping[int, bytes]) -> None:
        """Listen; raises `OSError` if no port is free."""
        self._lock = Lock()
        self._replies = dict(replies)
        self._sent: list[Sent] = []
        self._server = self._listening()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.port}"

    def serve(self, code: int, body: bytes) -> None:
        """Answer the command `code` with `body` from now on, and forget the requests so far."""
        with self._lock:
            self._replies[code] = body
            self._sent.clear()

    def sent(self, code: int) -> list[bytes]:
        """Return the bodies of the requests `code` since the last `serve`."""
        with self._lock:
            return [sent.body for sent in self._sent if sent.code == code]

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listening(self) -> LoopbackServer:
        return LoopbackServer(self._answer, Struct("<I"), _CODE.size)

    def _answer(self, request: bytes) -> bytes:
        body = self._keep(Sent(_CODE.unpack_from(request)[0], request[_CODE.size :]))
        return _REPLY.pack(0, len(body)) + body

    def _keep(self, sent: Sent) -> bytes:
        """Keep a request; return the body of its reply."""
        with self._lock:
            self._sent.append(sent)
            return self._replies.get(sent.code, b"")
