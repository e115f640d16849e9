"""A fake Iggy server in the framing from 0.11.0 on (VSR): iggy.md, section 2.1.

It reads and writes frames with this project's own codec of `iggy.frame/0.11`. Requests and replies are kept
by the command codes of the classic framing, whatever the operation in the frame.
"""

from collections.abc import Mapping
from struct import Struct
from typing import Any, Final

from wireproof.iggy.frame import HEADER_SIZE, REPLY_HEADER, VSR_FRAME
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer
from wireproof_peers.fake_iggy_tcp import FakeIggyTcp, Sent
from wireproof_peers.loopback_server import LoopbackServer

NON_REPLICATED: Final = 2
CODES: Final[Mapping[int, int]] = {1: 38, 3: 39, 160: 101}
"""The command code of the operations Register, Logout and SendMessages; operation 2 has it in its header."""

SESSION: Final = 9
"""The session of every login; 0 means no session."""

GET_CLUSTER_METADATA: Final = 12
"""The command by which a client asks for the leader: at a login, and before a poll that commits."""

REGISTERED: Final = bytes(4) + Struct("<IQI").pack(1, SESSION, 11 << 10) + b"\x050.9.0"
"""The reply to a login: no failed result, then user, session, version of the protocol and of the server."""

_COUNT: Final = Struct("<I")
_SIZE: Final = Struct("<48xI")
_FRAME: Final = VSR_FRAME.at("0.11")


class FakeIggyVsr(FakeIggyTcp):
    """An Iggy server that answers every request with status 0.

    A reply names its request, client and operation; a client drops a reply that names others.
    """

    def __init__(self, replies: Mapping[int, bytes]) -> None:
        """Listen; raises `OSError` if no port is free."""
        super().__init__(replies)
        self._replies[GET_CLUSTER_METADATA] = _cluster(self._server.port)

    def _listening(self) -> LoopbackServer:
        return LoopbackServer(self._answer, _SIZE, HEADER_SIZE, whole=True)

    def _answer(self, request: bytes) -> bytes:
        asked, body = _request(request)
        code = asked.code if asked.operation == NON_REPLICATED else CODES.get(asked.operation, 0)
        return _reply(asked, self._keep(Sent(code, body)))


def _cluster(port: int) -> bytes:
    """Return a cluster of one node on `port`, which is the leader (role 0) and healthy (status 0)."""
    node = _text(b"one") + _text(b"127.0.0.1") + Struct("<4H2B").pack(port, 0, 0, 0, 0, 0)
    return _text(b"loopback") + _COUNT.pack(1) + node


def _text(text: bytes) -> bytes:
    return _COUNT.pack(len(text)) + text


def _request(data: bytes) -> tuple[Any, bytes]:
    """Return header and body; raises `ConnectionError`, which ends the connection, if this is no request."""
    try:
        asked = _FRAME.codec.read(Reader(data))
    except Rejected as rejected:
        raise ConnectionAbortedError(rejected.text) from rejected
    if not hasattr(asked.header, "session"):
        raise ConnectionAbortedError("no request")
    return asked.header, asked.body


def _reply(asked: Any, body: bytes) -> bytes:  # noqa: ANN401 - the header of a request
    header = REPLY_HEADER.at("0.11").type(
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
    _FRAME.codec.write(writer, _FRAME.type(header=header, body=body))
    return bytes(writer.data)
