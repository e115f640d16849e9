"""The batch in segment files of server 0.2.5 to 0.4.x (crate 0.2.7 to 0.6.x): iggy.md, section 7.

The header has 24 bytes, `base_offset u64 | length u32 | last_offset_delta u32 | max_timestamp u64`. Then come
messages, each preceded by its length, which does not include itself. The payload has no length: it is the
rest of the message.
"""

from typing import Final

from attrs import frozen

from wireproof.iggy.message import STORED_27, PolledMessage40, read_message, write_message
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

HEADER_SIZE: Final = 24
"""The size of the header, in bytes."""

LENGTH_AT: Final = 8
"""The position in the header of the length of the messages."""


@frozen(kw_only=True)
class RetainedBatch:
    """A batch with its messages."""

    base_offset: int
    last_offset_delta: int
    max_timestamp: int
    messages: tuple[PolledMessage40, ...]


def batch_extent(data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
    """Return the size of the batch at `pos` and True, or a lower bound and False if `data` is too short."""
    if pos + HEADER_SIZE > len(data):
        return HEADER_SIZE, False
    at = pos + LENGTH_AT
    return HEADER_SIZE + int.from_bytes(data[at : at + 4], "little"), True


def read_batch(reader: Reader) -> RetainedBatch:
    """Read one batch."""
    base_offset = reader.uint64le("base_offset")
    length = reader.uint32le("length")
    last_offset_delta, max_timestamp = reader.uint32le("last_offset_delta"), reader.uint64le("max_timestamp")
    reader.cover("length", "length", reader.pos, reader.pos + length)
    window = reader.window("messages", length)
    messages: list[PolledMessage40] = []
    while window.left:
        window.enter("messages", len(messages))
        messages.append(_read_message(window))
        window.leave()
    return RetainedBatch(
        base_offset=base_offset,
        last_offset_delta=last_offset_delta,
        max_timestamp=max_timestamp,
        messages=tuple(messages),
    )


def _read_message(reader: Reader) -> PolledMessage40:
    length = reader.uint32le("length")
    reader.cover("length", "length", reader.pos, reader.pos + length)
    window = reader.window("payload", length)
    message: PolledMessage40 = read_message(window, STORED_27)
    return message


def write_batch(writer: Writer, value: RetainedBatch) -> None:
    """Write one batch."""
    at = writer.pos
    writer.uint64le("base_offset", value.base_offset)
    writer.uint32le("length", 0)
    writer.uint32le("last_offset_delta", value.last_offset_delta)
    writer.uint64le("max_timestamp", value.max_timestamp)
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        _write_message(writer, message)
        writer.leave()
    writer.patch("length", "uint32le", at + LENGTH_AT, writer.pos - at - HEADER_SIZE)
    writer.cover("length", "length", at + HEADER_SIZE, writer.pos)


def _write_message(writer: Writer, message: PolledMessage40) -> None:
    at = writer.pos
    writer.uint32le("length", 0)
    write_message(writer, STORED_27, message)
    writer.patch("length", "uint32le", at, writer.pos - at - 4)
    writer.cover("length", "length", at + 4, writer.pos)
