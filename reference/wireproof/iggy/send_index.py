"""The metadata, message count and index of a send since 0.7.0: iggy.md, section 5.

The metadata are preceded by their length. Then there is an index entry of 16 bytes for each message, with the
position where the message ends, relative to the start of the first message.
"""

from collections.abc import Sequence
from typing import Any, Final

from attrs import asdict, frozen

from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.message import MessageRules, read_message, write_message
from wireproof.schema.struct import StructLayout
from wireproof.wire.layout import Layout, Length, Zero
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

ENTRY: Final = Layout(
    "IndexEntry",
    (
        Zero("offset", kind="uint32le", nonzero="reject", error="NonZeroOffset"),
        Length("position", "uint32le", of="messages", up_to=True, meaning="where the message ends"),
        Zero("timestamp", kind="uint64le", nonzero="reject", error="NonZeroTimestamp"),
    ),
    cites="iggy.md §5",
)

(_ENTRY,) = iggy_runs(ENTRY)


@frozen
class EndField:
    """The end position in an index entry (`value`), and the position of that field in the body (`at`)."""

    value: int
    at: int


def read_metadata(destination: StructLayout, reader: Reader) -> tuple[dict[str, Any], int]:
    """Read the destination of a send and the count of its messages."""
    at = reader.pos
    length = reader.uint32le("metadata_length")
    start = reader.pos
    parts = asdict(destination.codec.read(reader), recurse=False)
    count = reader.uint32le("messages_count")
    reader.cover("metadata_length", "length", start, reader.pos)
    if reader.pos - start != length:
        text = f"{length}, but the metadata has {reader.pos - start} bytes"
        raise reader.reject("length-mismatch", "metadata_length", text, at=at, detail="InvalidCommand")
    return parts, count


def write_metadata(destination: StructLayout, writer: Writer, value: Any) -> None:  # noqa: ANN401 - a send
    """Write the length, the destination and the count of the messages."""
    at = writer.pos
    writer.uint32le("metadata_length", 0)
    destination.codec.write(writer, value)
    writer.uint32le("messages_count", len(value.messages))
    writer.patch("metadata_length", "uint32le", at, writer.pos - at - 4)
    writer.cover("metadata_length", "length", at + 4, writer.pos)


def read_messages(reader: Reader, count: int, rules: MessageRules) -> tuple[int, tuple[Any, ...]]:
    """Read the index and `count` messages. Return the position of the first message, and the messages.

    Raises:
        Rejected: a message does not end where the index says, or bytes follow the last message.
    """
    ends = [_read_entry(reader, index) for index in range(count)]
    start, messages = reader.pos, list[Any]()
    reader.cover("messages_count", "count", start, reader.end)
    for index, end in enumerate(ends):
        reader.enter("messages", index)
        messages.append(read_message(reader, rules))
        reader.leave()
        _check_end(reader, f"index[{index}].position", end, start)
    check_rest(reader, count, count)
    return start, tuple(messages)


def check_rest(reader: Reader, count: int, found: int) -> None:
    """Check that the count is the number of messages found, and that no bytes follow them."""
    if count != found:
        text = f"{count}, but {found} messages follow"
        raise reader.reject("count-mismatch", "messages_count", text, detail="InvalidMessagesCount")
    if reader.left:
        text = f"{reader.left} bytes after {count} messages"
        raise reader.reject("trailing-data", "messages", text, detail="InvalidMessagesSize")


def _read_entry(reader: Reader, index: int) -> EndField:
    reader.enter("index", index)
    at = reader.pos + ENTRY.offset("position")
    _, end, _ = _ENTRY.read(reader)
    reader.leave()
    return EndField(end, at)


def _check_end(reader: Reader, name: str, end: EndField, start: int) -> None:
    reader.cover(name, "length", start, reader.pos)
    if end.value != reader.pos - start:
        text = f"{end.value}, but the message ends at {reader.pos - start}"
        raise reader.reject("length-mismatch", name, text, at=end.at, detail="InvalidMessagesSize")


def write_messages(writer: Writer, messages: Sequence[Any], rules: MessageRules) -> None:
    """Write the index and the messages."""
    ends = [_write_entry(writer, index) for index in range(len(messages))]
    start = writer.pos
    for index, (message, at) in enumerate(zip(messages, ends, strict=True)):
        writer.enter("messages", index)
        write_message(writer, rules, message)
        writer.leave()
        name = f"index[{index}].position"
        writer.patch(name, "uint32le", at, writer.pos - start)
        writer.cover(name, "length", start, writer.pos)


def _write_entry(writer: Writer, index: int) -> int:
    """Write an index entry with its end at 0, and return the position of the end."""
    writer.enter("index", index)
    at = writer.pos + ENTRY.offset("position")
    _ENTRY.write(writer, (0, 0, 0))
    writer.leave()
    return at
