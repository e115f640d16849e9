"""The mock server: requests in the classic framing, streams, topics, and their partitions."""

import socketserver
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from struct import Struct
from threading import Thread
from typing import Any, Final

from attrs import define, field

from tests.live.mock_iggy.faults import FAULTS, AnswersTwice, Die, Silence
from tests.live.mock_iggy.log import Log, Refused
from wireproof import formats
from wireproof.iggy.family.live_server import commands
from wireproof.iggy.family.live_server.destination import PARTITION_ID, STRING, Part, parts_of

HEAD: Final = Struct("<I")
REPLY: Final = Struct("<II")
STREAM: Final = Struct("<IQIQQB")
FACTS: Final = Struct("<IIBQQBB")

INVALID_CREDENTIALS: Final = 42
UNAUTHENTICATED: Final = 40
UNKNOWN_STREAM: Final = 1009
UNKNOWN_TOPIC: Final = 2010
UNKNOWN_PARTITION: Final = 3007

Topic = dict[int, Log]
"""The partitions of a topic, from 1 on."""


@define
class Stream:
    """A stream: its name, and its topics by number and by name."""

    name: str
    topics: dict[int | bytes, Topic] = field(factory=dict)


class MockServer(socketserver.ThreadingTCPServer):
    """A server on a free port of 127.0.0.1, with user and password `iggy`.

    Attributes:
        version: that it answers.
        streams: by number.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, fault: str, version: str) -> None:
        """Listen; raise `KeyError` for an unknown fault."""
        self.kind = FAULTS[fault] if fault else Log
        self.version = version
        self.streams: dict[int, Stream] = {}
        self._open: set[Any] = set()
        super().__init__(("127.0.0.1", 0), _Connection)

    @property
    def address(self) -> str:
        """Return HOST:PORT."""
        return f"127.0.0.1:{self.socket.getsockname()[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def end(self) -> None:
        """Stop listening and close every connection."""
        self.shutdown()
        self.server_close()
        for request in tuple(self._open):
            self.shutdown_request(request)

    def answer(self, code: int, body: bytes) -> bytes:
        """Return the body of the answer; raise `Refused`."""
        answers = {
            commands.PING: lambda _: b"",
            commands.GET_STATS: self._stats,
            commands.GET_STREAMS: self._list,
            commands.CREATE_STREAM: self._create_stream,
            commands.DELETE_STREAM: self._delete_stream,
            commands.CREATE_TOPIC: self._create_topic,
            commands.SEND_MESSAGES: self._send,
            commands.POLL_MESSAGES: self._poll,
        }
        return answers[code](body)

    def _stats(self, _: bytes) -> bytes:
        texts = ("host", "os", "1", "1", self.version)
        return bytes(108) + b"".join(HEAD.pack(len(text)) + text.encode() for text in texts)

    def _list(self, _: bytes) -> bytes:
        return b"".join(
            STREAM.pack(number, 0, len(stream.topics), 0, 0, len(stream.name)) + stream.name.encode()
            for number, stream in self.streams.items()
        )

    def _create_stream(self, body: bytes) -> bytes:
        number = max(self.streams, default=0) + 1
        self.streams[number] = Stream(body[5:].decode())
        return HEAD.pack(number)

    def _delete_stream(self, body: bytes) -> bytes:
        del self.streams[int.from_bytes(body[2:6], "little")]
        return b""

    def _create_topic(self, body: bytes) -> bytes:
        stream = self.streams[int.from_bytes(body[2:6], "little")]
        number, partitions, *_ = FACTS.unpack_from(body, 6)
        topic = {index: self.kind() for index in range(1, partitions + 1)}
        stream.topics[body[6 + FACTS.size :]] = stream.topics[number or len(stream.topics) + 1] = topic
        return b""

    def _send(self, body: bytes) -> bytes:
        parts = parts_of(body)
        log = self._log(*parts) if len(parts) == 3 else self.kind()
        log.append(log.read(body))
        return b""

    def _log(self, stream: Part, topic: Part, partitioning: Part) -> Log:
        partition = partitioning.number if partitioning.kind == PARTITION_ID else 1
        found = self._topic(stream, topic).get(partition)
        if found is None:
            raise Refused(UNKNOWN_PARTITION)
        return found

    def _topic(self, stream: Part, topic: Part) -> Topic:
        streams = {found.name.encode(): found for found in self.streams.values()}
        owner = streams.get(stream.value) if stream.kind == STRING else self.streams.get(stream.number)
        if owner is None:
            raise Refused(UNKNOWN_STREAM)
        found = owner.topics.get(topic.value if topic.kind == STRING else topic.number)
        if found is None:
            raise Refused(UNKNOWN_TOPIC)
        return found

    def _poll(self, body: bytes) -> bytes:
        asked = formats.decode(commands.POLL_REQUEST, body).value
        topic = asked.topic.value if asked.topic.kind == "string" else asked.topic.as_uint32()
        log = self.streams[asked.stream.as_uint32()].topics[topic][asked.partition_id]
        return log.polled(asked.partition_id, asked.strategy.value, asked.count)


class _Connection(socketserver.StreamRequestHandler):
    """One connection: it answers nothing but a login and pings until the login."""

    server: MockServer
    timeout = 60.0

    def handle(self) -> None:
        with suppress(ConnectionError):
            self._converse()

    def _converse(self) -> None:
        known = False
        while len(head := self.rfile.read(8)) == 8:
            length, code = REPLY.unpack(head)
            body = self.rfile.read(length - 4)
            if code == commands.LOGIN:
                known = body.startswith(b"\x04iggy\x04iggy")
                self._write(0 if known else INVALID_CREDENTIALS)
            elif not known and code != commands.PING:
                self._write(UNAUTHENTICATED)
            else:
                self._answer(code, body)

    def _answer(self, code: int, body: bytes) -> None:
        try:
            self._write(0, self.server.answer(code, body))
        except AnswersTwice as error:
            self._write(error.status)
            self._write(error.status)
        except Refused as error:
            self._write(error.status)
        except Silence:
            return
        except Die:
            self.server.end()

    def _write(self, status: int, body: bytes = b"") -> None:
        self.wfile.write(REPLY.pack(status, len(body)) + body)


@contextmanager
def running(fault: str = "", version: str = "0.5.0") -> Iterator[MockServer]:
    """Run a server with this fault; an empty text is none."""
    with MockServer(fault, version) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
