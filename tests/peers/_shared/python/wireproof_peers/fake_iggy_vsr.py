"""An Iggy server on the loopback in the framing from 0.11.0 on (VSR): iggy.md, section 2.1.

Frames are read and written by this project's own codec of `iggy.frame/0.11`. What is kept and what is
answered is named by the command codes of the classic framing, whatever operation carries them.
"""

from collections.abc import Mapping
from struct import Struct
from typing import Final

from wireproof.iggy import frame
from wireproof.iggy.frame import Frame110, Reply, Request
from wireproof.wire.options import DEFAULT
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.writer import Writer
from wireproof_peers.fake_iggy_tcp import IggyServer, Loopback, Sent

NON_REPLICATED: Final = 2
CODES: Final[Mapping[int, int]] = {1: 38, 3: 39, 160: 101}
"""Register, Logout and SendMessages: by operation, the command; that of operation 2 stands in the header."""

SESSION: Final = 9
"""Of every login; 0 is none."""

GET_CLUSTER_METADATA: Final = 12
"""The client asks for its leader when it logs in, and before a poll that commits."""

REGISTERED: Final = bytes(4) + Struct("<IQI").pack(1, SESSION, 11 << 10) + b"\x050.9.0"
"""The answer to a login: no result that failed, then user, session, the protocol's version, the server's."""

_COUNT: Final = Struct("<I")
_SIZE: Final = Struct("<48xI")
_EDITION: Final = frame.EDITIONS["0.11"]


class VsrServer(IggyServer):
    """An Iggy server that answers every request with status 0.

    A reply names the request, the client and the operation that it is of; the client drops any other.
    """

    def __init__(self, replies: Mapping[int, bytes]) -> None:
        """Listen; raises `OSError` where the loopback has no free port."""
        super().__init__(replies)
        self._replies[GET_CLUSTER_METADATA] = _cluster(self._server.port)

    def _listening(self) -> Loopback:
        return Loopback(self._answer, _SIZE, frame.HEADER, whole=True)

    def _answer(self, request: bytes) -> bytes:
        asked, body = _request(request)
        code = asked.code if asked.operation == NON_REPLICATED else CODES.get(asked.operation, 0)
        return _reply(asked, self._kept(Sent(code, body)))


def _cluster(port: int) -> bytes:
    """A cluster of one node on `port`: its leader (role 0), and healthy (status 0)."""
    node = _text(b"one") + _text(b"127.0.0.1") + Struct("<4H2B").pack(port, 0, 0, 0, 0, 0)
    return _text(b"loopback") + _COUNT.pack(1) + node


def _text(text: bytes) -> bytes:
    return _COUNT.pack(len(text)) + text


def _request(data: bytes) -> tuple[Request, bytes]:
    """The header and the body; raises `ConnectionError`, which ends the connection, if it is no request."""
    try:
        asked = frame.decode(_EDITION, Reader(data), DEFAULT)
    except Rejected as rejected:
        raise ConnectionAbortedError(rejected.text) from rejected
    if not isinstance(asked.header, Request):
        raise ConnectionAbortedError("no request")
    return asked.header, asked.body


def _reply(asked: Request, body: bytes) -> bytes:
    header = Reply(
        request_checksum=asked.request_checksum,
        context=0,
        client=asked.client,
        op=SESSION,
        commit=SESSION,
        timestamp=0,
        request=asked.request,
        operation=asked.operation,
        status=0,
    )
    writer = Writer()
    frame.encode(_EDITION, writer, Frame110(header=header, body=body), DEFAULT)
    return bytes(writer.data)
