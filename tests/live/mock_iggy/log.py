"""The messages of a mock server of Iggy, and the steps of a send that a fault replaces.

The codec of the package decides which sends are refused. What is stored and polled is written here.
"""

import time
import zlib
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

from attrs import define, field, frozen

from wireproof import formats
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

SEND: Final = formats.get("iggy.send", "0.7")
PRODUCE: Final = Options(profile="produce")
INVALID_COMMAND: Final = 3
SERVER_ID: Final = bytes((99, *bytes(15)))
"""The id that a message without one gets."""

NUMBER: Final = Struct("<I")
INDEX_SIZE: Final = 16
POLL: Final = Struct("<IQI")
CHECKSUM: Final = Struct("<Q")
MESSAGE: Final = Struct("<16sQQQII")
"""A message after its checksum: id, offset, timestamp, origin, lengths of the headers and of the payload."""


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

    def packed(self) -> bytes:
        """Return the message with its checksum, as it is polled."""
        facts = (self.id, self.offset, self.timestamp, self.origin, len(self.headers), len(self.payload))
        data = MESSAGE.pack(*facts) + self.payload + self.headers
        return CHECKSUM.pack(zlib.crc32(data)) + data


@define
class Log:
    """The partition of a topic."""

    messages: list[Message] = field(factory=list)

    def read(self, body: bytes) -> list[Message]:
        """Return the messages of a send."""
        try:
            formats.decode(SEND, body, PRODUCE)
        except Rejected:
            raise Refused(INVALID_COMMAND) from None
        return list(_messages(body))

    def append(self, sent: Sequence[Message]) -> None:
        """Store the messages of a send."""
        for message in sent:
            self.messages.append(self.stored(message, len(self.messages)))

    def stored(self, message: Message, offset: int) -> Message:
        """Return a message as it is stored."""
        name = message.id if any(message.id) else SERVER_ID
        now = time.time_ns() // 1000
        return Message(name, message.origin, message.headers, message.payload, offset, now)

    def polled(self, partition: int, offset: int, count: int) -> bytes:
        """Return the body of a poll."""
        found = [message for message in self.messages if message.offset >= offset][:count]
        current = self.messages[-1].offset if self.messages else 0
        packed = b"".join(message.packed() for message in found)
        return POLL.pack(partition, current, len(found)) + packed


def _messages(body: bytes) -> Iterator[Message]:
    """Yield the messages of a send that is right: metadata, index, messages."""
    end = NUMBER.size + NUMBER.unpack_from(body)[0]
    at = end + INDEX_SIZE * int(NUMBER.unpack_from(body, end - NUMBER.size)[0])
    while at < len(body):
        name, _, _, origin, headers, size = MESSAGE.unpack_from(body, at + CHECKSUM.size)
        at += CHECKSUM.size + MESSAGE.size
        yield Message(name, origin, body[at + size : at + size + headers], body[at : at + size])
        at += size + headers
