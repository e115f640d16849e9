"""The body of SendMessages (code 101), 0.0.30 to 0.6.x: iggy.md, section 3.1.

`stream Identifier | topic Identifier | Partitioning`, then messages back to back to the end of the
body. There is no count: the enclosing frame's length ends the list.
"""

from typing import Any

from attrs import frozen

from wireproof.iggy import identifier, partitioning
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.limits import check_read, check_written
from wireproof.iggy.message import SENT, Sent, read_message, write_message
from wireproof.iggy.partitioning import Partitioning
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class Send:
    """The value of a send."""

    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages: tuple[Sent, ...]


_PLACE = (("stream", identifier), ("topic", identifier))


def decode(reader: Reader, options: Options) -> Send:
    """Read a whole body, and hold it to the limits as the server does."""
    place: dict[str, Any] = {}
    for name, codec in _PLACE:
        reader.enter(name)
        place[name] = codec.decode(reader, options)
        reader.leave()
    reader.enter("partitioning")
    place["partitioning"] = partitioning.read(reader, options)
    reader.leave()
    start, messages = reader.pos, list[Sent]()
    while reader.left:
        reader.enter("messages", len(messages))
        messages.append(read_message(reader, SENT))
        reader.leave()
    check_read(reader, messages, start)
    return Send(**place, messages=tuple(messages))


def encode(writer: Writer, value: Send, options: Options) -> None:
    """Write a whole body."""
    check_written(writer, value.messages)
    for name, codec in (*_PLACE, ("partitioning", partitioning)):
        writer.enter(name)
        codec.encode(writer, getattr(value, name), options)
        writer.leave()
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        write_message(writer, SENT, message)
        writer.leave()
