"""The bodies of the requests that a case needs around its own, as servers 0.5 to 0.8 take them.

Codes and bodies: `core/common/src/types/command/mod.rs` and `core/common/src/commands/` at the tags
server-0.5.0 and server-0.6.0, `core/binary_protocol/src/` at server-0.8.0. Identifiers, sends and polls are
formats of this package and are written by its codecs.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final

from wireproof import formats
from wireproof.iggy.family.live_server.protocol import Protocol
from wireproof.wire.json_values import Json

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

_NEVER: Final = (1 << 64) - 1
"""Messages do not expire."""

_NO_COMPRESSION: Final = 1


def login(user: str, password: str) -> bytes:
    """Return a login without the version and the context of a client."""
    return _short_text(user) + _short_text(password) + U32.pack(0) * 2


def create_stream(protocol: Protocol, name: str) -> bytes:
    """Return the creation of a stream to which the server gives a number."""
    return _chosen(protocol, 0) + _short_text(name)


def create_topic(protocol: Protocol, stream: int, number: int, name: bytes, partitions: int) -> bytes:
    """Return the creation of a topic; number 0 lets the server choose one, and from 0.6 on it always does."""
    facts = _chosen(protocol, number) + _TOPIC.pack(partitions, _NO_COMPRESSION, _NEVER, 0, 1)
    return identifier(protocol, numeric(stream)) + facts + bytes((len(name),)) + name


def group(protocol: Protocol, name: str) -> bytes:
    """Return the end of the creation of a consumer group, after the stream and the topic."""
    return _chosen(protocol, 0) + _short_text(name)


def _chosen(protocol: Protocol, number: int) -> bytes:
    return U32.pack(number) if protocol.chosen else b""


def identifier(protocol: Protocol, value: Json) -> bytes:
    """Return the bytes of an identifier."""
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


def number_in(created: bytes) -> int:
    """Return the number of a stream or a topic in the answer to its creation."""
    number: int = U32.unpack_from(created)[0]
    return number


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
