"""The body of SendMessages: iggy.md, sections 3.1, 5 and 6.

To 0.6.x `stream Identifier | topic Identifier | Partitioning`, then messages back to back to the end of the
body: there is no count, and the enclosing frame's length ends the list. From 0.7.0 on the length of these
three stands before them, and a count behind; then an index of the messages, and the messages; from 0.11.0 on
a batch (section 6).
"""

from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from wireproof.iggy import batch, indexed
from wireproof.iggy.batch import Framed, Head
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.layout import Layout
from wireproof.iggy.limits import LIMITS_30, LIMITS_70, LIMITS_80, Limits, check_read, check_written
from wireproof.iggy.message import SENT, SENT_70, SENT_90, Sent, Sent70, Sent90, read_message, write_message
from wireproof.iggy.partitioning import Partitioning
from wireproof.iggy.place import PLACE_30, PLACE_80, PLACE_90, Place, read_place, write_place
from wireproof.wire.checksums import BATCH_HEAD
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class Send:
    """The value of a send to 0.6.x."""

    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages: tuple[Sent, ...]


@frozen(kw_only=True)
class Send70:
    """The value of a send from 0.7.0 on."""

    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages: tuple[Sent70, ...]


@frozen(kw_only=True)
class Send90:
    """The value of a send from 0.9.0 on."""

    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages: tuple[Sent90, ...]


@frozen
class Body:
    """How the place and the messages of a send lie: what reads them, by name, and what writes them."""

    read: Callable[["Edition", Reader, Options], dict[str, Any]]
    write: Callable[["Edition", Writer, Any, Options], None]


@frozen
class Edition:
    """A row: the rules of the place, a message, the limits, the class of the value, the body."""

    place: Place
    message: Layout
    limits: Limits
    value: type[Any]
    body: Body


def decode(edition: Edition, reader: Reader, options: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read a whole body, and hold it to the limits as the server does."""
    parts = edition.body.read(edition, reader, options)
    start = parts.pop("start")
    check_read(reader, parts["messages"], start, edition.limits, edition.message.tlv)
    return edition.value(**parts)


def encode(edition: Edition, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body."""
    check_written(writer, value.messages, edition.limits, edition.message.tlv)
    edition.body.write(edition, writer, value, options)


def _read_plain(edition: Edition, reader: Reader, options: Options) -> dict[str, Any]:
    place = read_place(edition.place, reader, options)
    start, messages = reader.pos, list[Any]()
    while reader.left:
        reader.enter("messages", len(messages))
        messages.append(read_message(reader, edition.message))
        reader.leave()
    return {**place, "messages": tuple(messages), "start": start}


def _write_plain(edition: Edition, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `encode`
    write_place(edition.place, writer, value, options)
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        write_message(writer, edition.message, message)
        writer.leave()


def _read_indexed(edition: Edition, reader: Reader, options: Options) -> dict[str, Any]:
    place, count = indexed.read_metadata(edition.place, reader, options)
    start, messages = indexed.read_messages(reader, count, edition.message)
    return {**place, "messages": messages, "start": start}


def _write_indexed(edition: Edition, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `encode`
    indexed.write_metadata(edition.place, writer, value, options)
    indexed.write_messages(writer, value.messages, edition.message)


def _read_batch(edition: Edition, reader: Reader, options: Options) -> dict[str, Any]:
    place, count = indexed.read_metadata(edition.place, reader, options)
    start = reader.pos
    reader.enter("batch")
    head = batch.read_head(reader, batch.SENT)
    reader.leave()
    frames = batch.read_frames(reader, head, batch.SENT)
    reader.cover("messages_count", "count", start + BATCH_HEAD, reader.pos)
    batch.check(reader, "batch", head, len(frames), batch.SENT)
    indexed.check_rest(reader, count, len(frames))
    return {**place, "messages": tuple(map(_sent, frames)), "start": start}


def _sent(one: Framed) -> Sent90:
    return Sent90(id=one.id, origin_timestamp=one.origin_timestamp, headers=one.headers, payload=one.payload)


def _write_batch(edition: Edition, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `encode`
    indexed.write_metadata(edition.place, writer, value, options)
    origin = min(message.origin_timestamp for message in value.messages)
    head = Head(partition_id=0, base_offset=0, base_timestamp=0, origin_timestamp=origin, message_count=0)
    frames = [_framed(writer, index, message, origin) for index, message in enumerate(value.messages)]
    writer.enter("batch")
    at = batch.write_head(writer, head, len(frames))
    writer.leave()
    batch.write_frames(writer, frames, batch.SENT)
    batch.seal(writer, "batch", at)


def _framed(writer: Writer, index: int, one: Sent90, origin: int) -> Framed:
    """The producer mints ids (section 2.5): 0 is none."""
    if not one.id:
        raise writer.invalid(f"messages[{index}].id", "0: from 0.11.0 on the producer mints one")
    late = one.origin_timestamp - origin
    return Framed(
        id=one.id, offset_delta=index, timestamp_delta=late, headers=one.headers, payload=one.payload
    )


PLAIN: Final = Body(_read_plain, _write_plain)
INDEXED: Final = Body(_read_indexed, _write_indexed)
BATCHED: Final = Body(_read_batch, _write_batch)

EDITIONS: Final[dict[str, Edition]] = {
    "0.0.30": Edition(PLACE_30, SENT, LIMITS_30, Send, PLAIN),
    "0.7": Edition(PLACE_30, SENT_70, LIMITS_70, Send70, INDEXED),
    "0.8": Edition(PLACE_80, SENT_70, LIMITS_80, Send70, INDEXED),
    "0.9": Edition(PLACE_90, SENT_90, LIMITS_80, Send90, INDEXED),
    "0.11": Edition(PLACE_90, batch.SENT.frame, LIMITS_80, Send90, BATCHED),
}
"""By revision."""
