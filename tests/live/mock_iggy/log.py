"""The messages of a mock server of Iggy, and the steps of sends and polls that a fault replaces.

The codec of the package decides which sends are refused. What is stored and polled is written here.
"""

import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from struct import Struct
from typing import Final

import xxhash
from attrs import define, field, frozen

from wireproof import formats
from wireproof.live.iggy_server.requests import Protocol
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

PRODUCE: Final = Options(profile="produce")
INVALID_COMMAND: Final = 3
INVALID_MESSAGES_COUNT: Final = 4009
INVALID_OFFSET: Final = 4100
OFFSET_NOT_FOUND: Final = 3021
SERVER_ID: Final = bytes((99, *bytes(15)))
"""The id that a message without one gets."""

NUMBER: Final = Struct("<I")
INDEX_SIZE: Final = 16
POLL: Final = Struct("<IQI")
CHECKSUM: Final = Struct("<Q")
MESSAGE: Final = Struct("<16sQQQII")
"""A message after its checksum: id, offset, timestamp, origin, lengths of the headers and of the payload."""

CHECKSUMS: Final[Mapping[str, Callable[[bytes], int]]] = {
    "0.7": zlib.crc32,
    "0.8": xxhash.xxh3_64_intdigest,
    "0.9": xxhash.xxh3_64_intdigest,
}
RESERVED: Final = {"0.7": b"", "0.8": b"", "0.9": bytes(8)}
"""The bytes between the lengths and the payload."""

Who = tuple[str, bytes]
"""The kind and the id of a consumer."""


class Refused(Exception):  # noqa: N818 - an order to the server
    """The request gets an error code."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@frozen
class Message:
    """A message; the server sets its offset and its timestamp, in microseconds."""

    id: bytes
    origin: int
    headers: bytes
    payload: bytes
    offset: int = 0
    timestamp: int = 0

    def packed(self, revision: str) -> bytes:
        """Return the message with its checksum, as it is polled."""
        facts = (self.id, self.offset, self.timestamp, self.origin, len(self.headers), len(self.payload))
        data = MESSAGE.pack(*facts) + RESERVED[revision] + self.payload + self.headers
        return CHECKSUM.pack(CHECKSUMS[revision](data)) + data


@frozen
class Poll:
    """A request for messages; `who` is the consumer that asks."""

    strategy: str
    value: int
    count: int
    who: Who
    commit: bool = False


@define
class Log:
    """The partition of a topic.

    Attributes:
        protocol: of the server.
        messages: in the order of their offsets.
        stored_offsets: by consumer.
    """

    protocol: Protocol
    messages: list[Message] = field(factory=list)
    stored_offsets: dict[Who, int] = field(factory=dict)

    # --- sends ---

    def read(self, body: bytes) -> list[Message]:
        """Return the messages of a send."""
        try:
            formats.decode(self.protocol.send_format, body, PRODUCE)
        except Rejected:
            raise Refused(INVALID_COMMAND) from None
        return list(_messages(body, len(RESERVED[self.protocol.send])))

    def append(self, sent: Sequence[Message]) -> None:
        """Store the messages of a send."""
        for message in sent:
            self.messages.append(self.stored(message, len(self.messages)))

    def stored(self, message: Message, offset: int) -> Message:
        """Return a message as it is stored."""
        name = message.id if any(message.id) else SERVER_ID
        now = time.time_ns() // 1000
        return Message(name, message.origin, message.headers, message.payload, offset, now)

    # --- polls ---

    @property
    def current(self) -> int:
        """Return the newest offset."""
        return self.messages[-1].offset if self.messages else 0

    def poll(self, partition: int, asked: Poll) -> bytes:
        """Return the body of a poll, and commit its last offset if that is wanted."""
        found = self.selected(asked)
        self.commit(asked, found)
        return self.answer(partition, found)

    def commit(self, asked: Poll, found: Sequence[Message]) -> None:
        """Store the offset of the last message of a poll."""
        if asked.commit and found:
            self.stored_offsets[self.key(asked.who)] = found[-1].offset

    def key(self, who: Who) -> Who:
        """Return the name under which the offset of a consumer is stored."""
        return who

    def selected(self, asked: Poll) -> list[Message]:
        """Return the messages of a poll."""
        if not asked.count:
            raise Refused(INVALID_MESSAGES_COUNT)
        return self.candidates(asked)[: asked.count]

    def candidates(self, asked: Poll) -> list[Message]:
        """Return the messages from the one on at which a poll begins."""
        match asked.strategy:
            case "offset":
                return self.from_offset(asked.value)
            case "timestamp":
                return self.from_timestamp(asked.value)
            case "first":
                return list(self.messages)
            case "last":
                return self.messages[-asked.count :]
            case _:
                return self.after_stored(asked.who)

    def from_offset(self, offset: int) -> list[Message]:
        """Return the messages from an offset on."""
        return [message for message in self.messages if message.offset >= offset]

    def from_timestamp(self, timestamp: int) -> list[Message]:
        """Return the messages from the first one on that is at or after a time."""
        return [message for message in self.messages if message.timestamp >= timestamp]

    def after_stored(self, who: Who) -> list[Message]:
        """Return the messages after the stored offset of a consumer."""
        offset = self.stored_offsets.get(self.key(who))
        return list(self.messages) if offset is None else self.from_offset(offset + 1)

    def answer(self, partition: int, found: Sequence[Message]) -> bytes:
        """Return the body of the answer to a poll."""
        packed = b"".join(message.packed(self.protocol.send) for message in found)
        return POLL.pack(partition, self.current, len(found)) + packed

    # --- stored offsets ---

    def store(self, who: Who, offset: int) -> None:
        """Store the offset of a consumer."""
        if offset > self.current:
            raise Refused(INVALID_OFFSET)
        self.stored_offsets[self.key(who)] = offset

    def stored_offset(self, who: Who) -> int | None:
        """Return the stored offset of a consumer."""
        return self.stored_offsets.get(self.key(who))

    def delete(self, who: Who) -> None:
        """Delete the stored offset of a consumer."""
        if self.stored_offsets.pop(self.key(who), None) is None:
            raise Refused(OFFSET_NOT_FOUND)


def _messages(body: bytes, reserved: int) -> Iterator[Message]:
    """Yield the messages of a send that is right: metadata, index, messages."""
    end = NUMBER.size + NUMBER.unpack_from(body)[0]
    at = end + INDEX_SIZE * int(NUMBER.unpack_from(body, end - NUMBER.size)[0])
    while at < len(body):
        name, _, _, origin, headers, size = MESSAGE.unpack_from(body, at + CHECKSUM.size)
        at += CHECKSUM.size + MESSAGE.size + reserved
        yield Message(name, origin, body[at + size : at + size + headers], body[at : at + size])
        at += size + headers
