"""What is asked of an Iggy server around a case, and the codes with which it answers."""

from collections.abc import Iterator, Mapping, Sequence
from struct import Struct
from typing import Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.formats import Format
from wireproof.iggy.header_kinds import is_utf8
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import RejectClass

# --- what differs between the servers that are judged: iggy.md, sections 1, 3.2, 5 and 8 ---


@frozen
class Protocol:
    """The formats of a server, by the revision of its sends.

    Attributes:
        send: the revision of a send and of a poll over TCP.
        requests: the revision of the request of a poll.
        identifiers: the revision of identifiers.
        json_send, json_poll, json_error: the revisions of the bodies over HTTP.
        first: the first number of a stream, of a topic and of a partition.
        chosen: True if a creation names the number of what is created.
        optional: True if a flag precedes the number of a partition in a request.
        consumer: the name of the consumer in the query of a poll over HTTP.
    """

    send: str
    requests: str
    identifiers: str
    json_send: str
    json_poll: str
    json_error: str = "0.0.40"
    first: int = 0
    chosen: bool = False
    optional: bool = True
    consumer: str = "consumer_id"

    @property
    def send_format(self) -> Format:
        return formats.get("iggy.send", self.send)

    @property
    def poll_format(self) -> Format:
        return formats.get("iggy.poll", self.send)

    @property
    def request_format(self) -> Format:
        return formats.get("iggy.poll-request", self.requests)

    @property
    def identifier_format(self) -> Format:
        return formats.get("iggy.identifier", self.identifiers)

    @property
    def most_partitions(self) -> int:
        """Return the number of the last partition that a topic can have: `CreateTopic::validate`."""
        return 999 + self.first


_OF_0_5: Final = Protocol(
    "0.7", "0.0.92", "0.0.30", "0.7", "0.7", first=1, chosen=True, optional=False, consumer="id"
)
_OF_0_6: Final = Protocol("0.8", "0.8", "0.8", "0.8", "0.7")
_OF_0_7: Final = Protocol("0.9", "0.8", "0.8", "0.9", "0.9")
_OF_0_8: Final = Protocol("0.9", "0.10", "0.8", "0.10", "0.10")

BY_VERSION: Final[Mapping[str, Protocol]] = {"0.5": _OF_0_5, "0.6": _OF_0_6, "0.7": _OF_0_7, "0.8": _OF_0_8}
"""The protocol by the first two numbers of a server's version."""

BY_REVISION: Final[Mapping[str, Protocol]] = {"0.7": _OF_0_5, "0.8": _OF_0_6, "0.9": _OF_0_8}
"""The protocol by the revision of a send that a properties file names."""


# --- the bodies of the requests that a case needs around its own, as servers 0.5 to 0.8 take them ---
#
# Codes and bodies: `core/common/src/types/command/mod.rs` and `core/common/src/commands/` at the tags
# server-0.5.0 and server-0.6.0, `core/binary_protocol/src/` at server-0.8.0. Identifiers, sends and polls
# are formats of this package and are written by its codecs.

PING: Final = 1
GET_STATS: Final = 10
LOGIN: Final = 38
POLL_MESSAGES: Final = 100
SEND_MESSAGES: Final = 101
GET_CONSUMER_OFFSET: Final = 120
STORE_CONSUMER_OFFSET: Final = 121
DELETE_CONSUMER_OFFSET: Final = 122
GET_STREAMS: Final = 201
CREATE_STREAM: Final = 202
DELETE_STREAM: Final = 203
CREATE_TOPIC: Final = 302
CREATE_CONSUMER_GROUP: Final = 602
JOIN_CONSUMER_GROUP: Final = 604

MOST_POLLED: Final = 100_000
"""The number of messages that one poll asks for: no case sends so many."""

U32: Final = Struct("<I")
U64: Final = Struct("<Q")
STORED_OFFSET: Final = Struct("<IQQ")
"""The partition, its last offset, and the stored offset of a consumer."""

_TOPIC: Final = Struct("<IBQQB")
_STATS: Final = Struct("<IffQQQQQQQQIIIIQII")
"""The numbers of the statistics; five texts follow, and the fifth is the version of the server."""

_STREAM: Final = Struct("<IQIQQ")
"""Number, time, topics, size and messages of a stream; its name follows."""


def login(user: str, password: str) -> bytes:
    """Return a login without the version and the context of a client."""
    return _short_text(user) + _short_text(password) + U32.pack(0) * 2


def create_stream(protocol: Protocol, name: str) -> bytes:
    """Return the creation of a stream to which the server gives a number."""
    return _chosen(protocol, 0) + _short_text(name)


def create_topic(protocol: Protocol, stream: int, number: int, name: bytes, partitions: int) -> bytes:
    """Return the creation of a topic; number 0 lets the server choose one, and from 0.6 on it always does."""
    facts = _chosen(protocol, number) + _TOPIC.pack(
        partitions, 1, (1 << 64) - 1, 0, 1
    )  # no compression, no expiry
    return identifier(protocol, numeric(stream)) + facts + bytes((len(name),)) + name


def group(protocol: Protocol, name: str) -> bytes:
    """Return the end of the creation of a consumer group, after the stream and the topic."""
    return _chosen(protocol, 0) + _short_text(name)


def _chosen(protocol: Protocol, number: int) -> bytes:
    return U32.pack(number) if protocol.chosen else b""


def identifier(protocol: Protocol, value: Json) -> bytes:
    return formats.encode(protocol.identifier_format, value)


def numeric(number: int) -> Json:
    """Return the identifier of a number."""
    return {"kind": "numeric", "value": U32.pack(number).hex()}


def poll(protocol: Protocol, stream: int, topic: Json, partition: int, offset: int) -> bytes:
    """Return the request of the messages from `offset` on, by a consumer that stores no offset."""
    return formats.encode(
        protocol.request_format,
        {
            "consumer": {"kind": "consumer", "id": numeric(1)},
            "stream": numeric(stream),
            "topic": topic,
            "partition_id": str(partition),
            "strategy": {"kind": "offset", "value": str(offset)},
            "count": str(MOST_POLLED),
            "auto_commit": False,
        },
    )


def version_in(stats: bytes) -> str:
    """Return the version of the server in its statistics; empty if they end before it."""
    at, text = _STATS.size, b""
    for _ in range(5):
        if at + U32.size > len(stats):
            return ""
        (size,) = U32.unpack_from(stats, at)
        at += U32.size
        text = stats[at : at + size]
        at += size
    return text.decode(errors="replace")


def streams_in(body: bytes) -> Iterator[tuple[int, str]]:
    """Yield the number and the name of each stream in the list of all."""
    at = 0
    while at + _STREAM.size < len(body):
        (number, *_) = _STREAM.unpack_from(body, at)
        at += _STREAM.size
        size = body[at]
        yield number, body[at + 1 : at + 1 + size].decode(errors="replace")
        at += 1 + size


def _short_text(text: str) -> bytes:
    data = text.encode()
    return bytes((len(data),)) + data


# --- the stream, topic and partition that the bytes of a send name: iggy.md, sections 2.2 and 5 ---
#
# The bytes of a case may be damaged, so they are read without the codec: only the places of the three parts
# matter here. The stream becomes one of our own; the topic is created there as the bytes name it.

NUMERIC, STRING = 1, 2
"""The kinds of an identifier."""

PARTITION_ID: Final = 2
VALUE_AT: Final = 6
"""The place of the value of the stream: after the length of the metadata, the kind and the size."""


@frozen
class Part:
    """A kind, a value, and the place of the kind in the bytes."""

    kind: int
    value: bytes
    at: int

    @property
    def number(self) -> int:
        """Return the value as a number; 0 if it has not four bytes."""
        number: int = U32.unpack(self.value)[0] if len(self.value) == U32.size else 0
        return number

    @property
    def end(self) -> int:
        return self.at + 2 + len(self.value)


@frozen
class Topic:
    """A topic to create: its identifier in polls, number (0: the server chooses), name and partitions.

    `partition` is the one that gets the messages; a topic of one partition leaves no choice.
    """

    identifier: Json
    number: int
    name: bytes
    partitions: int = 1
    partition: int = 0

    @property
    def by_number(self) -> bool:
        """Return True if its identifier is a number."""
        return isinstance(self.identifier, dict) and self.identifier["kind"] == "numeric"


DEFAULT_TOPIC: Final = Topic({"kind": "string", "value": b"topic".hex()}, 0, b"topic")
"""The topic of bytes that name none."""


def parts_of(data: bytes) -> tuple[Part, ...]:
    """Return the stream, the topic and the partitioning, as far as the bytes have them whole."""
    parts: list[Part] = []
    at = U32.size
    while len(parts) < 3 and at + 2 <= len(data):
        value = data[at + 2 : at + 2 + data[at + 1]]
        if len(value) < data[at + 1]:
            break
        parts.append(Part(data[at], value, at))
        at = parts[-1].end
    return tuple(parts)


def with_stream(protocol: Protocol, data: bytes, number: int, name: str) -> bytes:
    """Return the bytes with a stream of our own in place of theirs.

    A name becomes our name, and the length of the metadata changes by the difference. Of every other value
    the first four bytes become our number, also if the bytes end in it, so that no reading of them names the
    stream of somebody else. Number 0 stays where it names no stream.
    """
    if len(data) < VALUE_AT:
        return data
    kind, size = data[U32.size : VALUE_AT]
    value = data[VALUE_AT : VALUE_AT + size]
    if kind != STRING:
        none = protocol.first and value == bytes(U32.size)
        return data if none else _overwritten(data, U32.pack(number))
    if len(value) < size:
        return _overwritten(data, name.encode()[: len(value)])
    if not value:
        return data
    ours = name.encode()
    (length,) = U32.unpack_from(data)
    metadata = U32.pack((length + len(ours) - size) % (1 << 32))
    return metadata + bytes((STRING, len(ours))) + ours + data[VALUE_AT + size :]


def with_topic(data: bytes, number: int) -> bytes:
    """Return the bytes with the number that the server gave to the topic, if they name one by its number."""
    parts = parts_of(data)
    if len(parts) < 2 or parts[1].kind != NUMERIC or len(parts[1].value) != U32.size:
        return data
    return data[: parts[1].end - U32.size] + U32.pack(number) + data[parts[1].end :]


def _overwritten(data: bytes, value: bytes) -> bytes:
    """Return the bytes with others at the place of the value; no byte is added."""
    whole = data[:VALUE_AT] + value + data[VALUE_AT + len(value) :]
    return whole[: len(data)]


def topic_of(protocol: Protocol, data: bytes) -> Topic:
    """Return the topic that the bytes name, with as many partitions as they need."""
    parts, first, topic = parts_of(data), protocol.first, DEFAULT_TOPIC
    if len(parts) > 1:
        part = parts[1]
        if part.kind == STRING and part.value and is_utf8(part.value):
            topic = Topic({"kind": "string", "value": part.value.hex()}, 0, part.value)
        elif part.kind == NUMERIC and len(part.value) == U32.size and part.number >= first:
            topic = Topic(numeric(part.number), part.number, DEFAULT_TOPIC.name)
    partition = _partition(parts)
    if not first <= partition <= protocol.most_partitions:
        return evolve(topic, partition=first)
    return evolve(topic, partitions=partition + 1 - first, partition=partition)


def with_partition(protocol: Protocol, data: bytes) -> bytes:
    """Return the bytes with the first partition in place of one that no topic can have."""
    parts = parts_of(data)
    if _partition(parts) <= protocol.most_partitions:
        return data
    return data[: parts[2].end - U32.size] + U32.pack(protocol.first) + data[parts[2].end :]


def _partition(parts: Sequence[Part]) -> int:
    """Return the number of the partition that is named; -1 if none is."""
    if len(parts) < 3 or parts[2].kind != PARTITION_ID or len(parts[2].value) != U32.size:
        return -1
    return parts[2].number


# --- the error codes of a server as reject classes: iggy.md, section 9 ---


@frozen
class ServerError:
    """An error of the server: its name and the class of a refusal."""

    name: str
    cls: RejectClass = "other"


ERRORS: Final[Mapping[int, ServerError]] = {
    3: ServerError("InvalidCommand"),
    6: ServerError("InvalidIdentifier", "invalid-value"),
    40: ServerError("Unauthenticated"),
    41: ServerError("Unauthorized", "not-permitted"),
    42: ServerError("InvalidCredentials"),
    204: ServerError("CannotParseSlice"),
    209: ServerError("CannotParseHeaderKind", "bad-kind"),
    1009: ServerError("StreamIdNotFound"),
    2010: ServerError("TopicIdNotFound"),
    3007: ServerError("PartitionNotFound"),
    3021: ServerError("ConsumerOffsetNotFound"),
    3022: ServerError("NotResolvedConsumer"),
    4009: ServerError("InvalidMessagesCount", "count-mismatch"),
    4017: ServerError("TooBigUserHeaders", "limit-exceeded"),
    4018: ServerError("InvalidHeaderKey", "invalid-value"),
    4019: ServerError("InvalidHeaderValue", "invalid-value"),
    4022: ServerError("TooBigMessagePayload", "limit-exceeded"),
    4024: ServerError("EmptyMessagePayload", "invalid-value"),
    4025: ServerError("InvalidMessagePayloadLength", "bad-length"),
    4027: ServerError("InvalidMessageChecksum", "crc-mismatch"),
    4028: ServerError("InvalidKeyValueLength", "bad-length"),
    4031: ServerError("NonZeroOffset", "reserved-nonzero"),
    4032: ServerError("NonZeroTimestamp", "reserved-nonzero"),
    4033: ServerError("MissingIndex", "count-mismatch"),
    4034: ServerError("InvalidIndexesByteSize", "length-mismatch"),
    4035: ServerError("InvalidIndexesCount", "count-mismatch"),
    4036: ServerError("InvalidMessagesSize", "length-mismatch"),
    4037: ServerError("TooSmallMessage", "truncated"),
    4100: ServerError("InvalidOffset", "bad-offset"),
    4101: ServerError("InvalidReservedField", "reserved-nonzero"),
    5000: ServerError("ConsumerGroupIdNotFound"),
    5003: ServerError("ConsumerGroupNameNotFound"),
    5006: ServerError("ConsumerGroupMemberNotFound"),
    10011: ServerError("CannotReadIndexPosition", "bad-offset"),
}


def error_of(status: int) -> ServerError:
    """Return the error with a code; one that the table lacks has its number as name."""
    return ERRORS.get(status) or ServerError(f"error {status}")
