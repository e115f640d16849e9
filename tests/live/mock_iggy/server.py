"""The mock server: requests in the classic framing, streams, topics, and their partitions."""

import socketserver
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from struct import Struct
from threading import Thread
from typing import Any, Final

from attrs import define, field

from tests.live.mock_iggy.faults import FAULTS, AnswersTwice, Die, Silence
from tests.live.mock_iggy.log import INVALID_MESSAGES_COUNT, Log, Poll, Refused, Who
from wireproof import formats
from wireproof.live.iggy_server import requests
from wireproof.live.iggy_server.requests import BY_VERSION, PARTITION_ID, STRING, Part, parts_of
from wireproof.wire.rejection import Rejected

HEAD: Final = Struct("<I")
REPLY: Final = Struct("<II")
STREAM: Final = Struct("<IQIQQB")
FACTS: Final = Struct("<IBQQBB")

INVALID_CREDENTIALS: Final = 42
UNAUTHENTICATED: Final = 40
UNKNOWN_STREAM: Final = 1009
UNKNOWN_TOPIC: Final = 2010
UNKNOWN_PARTITION: Final = 3007
UNKNOWN_GROUP: Final = 5003

Topic = dict[int, Log]
"""The partitions of a topic, by number."""


@define
class Stream:
    """A stream: its name, and its topics by number and by name."""

    name: str
    topics: dict[int | bytes, Topic] = field(factory=dict)
    groups: set[bytes] = field(factory=set)


def number_of(identifier: Any) -> int:
    """Return the number that an identifier is."""
    return int.from_bytes(identifier.value, "little")


class MockServer(socketserver.ThreadingTCPServer):
    """A server on a free port of 127.0.0.1, with user and password `iggy`.

    Attributes:
        version: that it answers.
        streams: by number.
        delay: seconds before each answer.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    delay = 0.0

    def __init__(self, fault: str, version: str, port: int = 0) -> None:
        """Listen; raise `KeyError` for an unknown fault."""
        self.kind = FAULTS[fault][2] if fault else Log
        self.version = version
        self.protocol = BY_VERSION.get(version[:3], BY_VERSION["0.5"])
        self.streams: dict[int, Stream] = {}
        self._open: set[Any] = set()
        super().__init__(("127.0.0.1", port), _Connection)

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
            requests.PING: lambda _: b"",
            requests.GET_STATS: self._stats,
            requests.GET_STREAMS: self._list,
            requests.CREATE_STREAM: self._create_stream,
            requests.DELETE_STREAM: self._delete_stream,
            requests.CREATE_TOPIC: self._create_topic,
            requests.SEND_MESSAGES: self._send,
            requests.POLL_MESSAGES: self._poll,
            requests.GET_CONSUMER_OFFSET: self._get_offset,
            requests.STORE_CONSUMER_OFFSET: self._store_offset,
            requests.DELETE_CONSUMER_OFFSET: self._delete_offset,
            requests.CREATE_CONSUMER_GROUP: self._create_group,
            requests.JOIN_CONSUMER_GROUP: lambda _: b"",
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
        number = max(self.streams, default=self.protocol.first - 1) + 1
        self.streams[number] = Stream(body[5 if self.protocol.chosen else 1 :].decode())
        return HEAD.pack(number)

    def _delete_stream(self, body: bytes) -> bytes:
        del self.streams[int.from_bytes(body[2:6], "little")]
        return b""

    def _create_topic(self, body: bytes) -> bytes:
        stream = self.streams[int.from_bytes(body[2:6], "little")]
        at, first = 10 if self.protocol.chosen else 6, self.protocol.first
        number = int.from_bytes(body[6:at], "little") or len(stream.topics) // 2 + first
        (partitions, *_) = FACTS.unpack_from(body, at)
        topic = {index: self.kind(self.protocol) for index in range(first, first + partitions)}
        stream.topics[body[at + FACTS.size :]] = stream.topics[number] = topic
        return HEAD.pack(number)

    def _send(self, body: bytes) -> bytes:
        parts = parts_of(body)
        log = self._log(*parts) if len(parts) == 3 else self.kind(self.protocol)
        log.append(log.read(body))
        return b""

    def _log(self, stream: Part, topic: Part, partitioning: Part) -> Log:
        partition = partitioning.number if partitioning.kind == PARTITION_ID else self.protocol.first
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
        try:
            asked = formats.decode(self.protocol.request_format, body).value
        except Rejected:
            raise Refused(INVALID_MESSAGES_COUNT) from None
        who = (asked.consumer.kind, asked.consumer.id.value)
        stream = self.streams[number_of(asked.stream)]
        log = self._partition(stream, asked.topic, asked.partition_id, who)
        strategy = asked.strategy
        wanted = Poll(strategy.kind, strategy.value, asked.count, who, asked.auto_commit)
        return log.poll(max(asked.partition_id or 0, self.protocol.first), wanted)

    def _partition(self, stream: Stream, topic: Any, number: int | None, who: Who) -> Log:
        if who[0] == "group" and who[1] not in stream.groups:
            raise Refused(UNKNOWN_GROUP)
        logs = stream.topics[topic.value if topic.kind == "string" else number_of(topic)]
        none = number is None or (number == 0 and self.protocol.first)
        found = logs.get(self.protocol.first if none else int(number or 0))
        if found is None:
            raise Refused(UNKNOWN_PARTITION)
        return found

    def _offset_request(self, body: bytes) -> tuple[Log, Who, int, bytes]:
        """Return the partition, the consumer, the number of the partition, and the rest of a request."""
        kind, at = body[0], 1
        parts: list[Any] = []
        for _ in range(3):
            end = at + 2 + body[at + 1]
            parts.append(formats.decode(self.protocol.identifier_format, body[at:end]).value)
            at = end
        who = ("consumer" if kind == 1 else "group", parts[0].value)
        flagged = self.protocol.optional
        number = HEAD.unpack_from(body, at + flagged)[0]
        log = self._partition(self.streams[number_of(parts[1])], parts[2], number, who)
        return log, who, number, body[at + flagged + HEAD.size :]

    def _get_offset(self, body: bytes) -> bytes:
        log, who, number, _ = self._offset_request(body)
        offset = log.stored_offset(who)
        return b"" if offset is None else requests.STORED_OFFSET.pack(number, log.current, offset)

    def _store_offset(self, body: bytes) -> bytes:
        log, who, _, rest = self._offset_request(body)
        log.store(who, requests.U64.unpack(rest)[0])
        return b""

    def _delete_offset(self, body: bytes) -> bytes:
        log, who, *_ = self._offset_request(body)
        log.delete(who)
        return b""

    def _create_group(self, body: bytes) -> bytes:
        name = body[self._name_at(body) :]
        self.streams[int.from_bytes(body[2:6], "little")].groups.add(name)
        return b""

    def _name_at(self, body: bytes) -> int:
        """Return the place of the name in the creation of a group."""
        at = 8 + body[7]
        return at + (5 if self.protocol.chosen else 1)


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
            if code == requests.LOGIN:
                known = body.startswith(b"\x04iggy\x04iggy")
                self._write(0 if known else INVALID_CREDENTIALS)
            elif not known and code != requests.PING:
                self._write(UNAUTHENTICATED)
            else:
                self._answer(code, body)

    def _answer(self, code: int, body: bytes) -> None:
        time.sleep(self.server.delay)
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
def running(fault: str = "", version: str = "0.5.0", port: int = 0) -> Iterator[MockServer]:
    """Run a server with this fault; an empty text is none."""
    with MockServer(fault, version, port) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
