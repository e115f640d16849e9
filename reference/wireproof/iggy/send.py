"""The body of SendMessages: iggy.md, sections 3.1, 5 and 6.

Up to 0.6.x the layout is `stream Identifier | topic Identifier | Partitioning`, then messages up to the end
of the body, without a count. Since 0.7.0 these three are preceded by their length and followed by a message
count; then come an index of the messages and the messages, since 0.11.0 a batch (section 6).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from attrs import frozen

from wireproof.iggy import batch, send_index
from wireproof.iggy.batch import BatchHeader111, BatchMessage, BatchRules, Producer
from wireproof.iggy.destination import (
    DESTINATION_30,
    DESTINATION_80,
    DESTINATION_90,
    DestinationRevision,
    read_destination,
    write_destination,
)
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.layout import MessageLayout
from wireproof.iggy.limits import LIMITS_30, LIMITS_70, LIMITS_80, RevisionLimits, check_read, check_written
from wireproof.iggy.message import (
    SENT_30,
    SENT_70,
    SENT_90,
    SentMessage,
    SentMessage70,
    SentMessage90,
    read_message,
    write_message,
)
from wireproof.iggy.partitioning import Partitioning
from wireproof.wire.checksums import IGGY_BATCH_HEADER_SIZE
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class Send30:
    """The value of a send up to 0.6.x."""

    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages: tuple[SentMessage, ...]


@frozen(kw_only=True)
class Send70:
    """The value of a send since 0.7.0."""

    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages: tuple[SentMessage70, ...]


@frozen(kw_only=True)
class Send90:
    """The value of a send since 0.9.0."""

    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    messages: tuple[SentMessage90, ...]


@frozen(kw_only=True)
class Send111:
    """The value of a send since 0.11.1-edge. `producer` is an idempotent producer."""

    stream: Identifier
    topic: Identifier
    partitioning: Partitioning
    producer: Producer | None
    messages: tuple[SentMessage90, ...]


@frozen
class SendBody:
    """The layout of the destination and the messages of a send: the functions that read and write them."""

    read: Callable[["SendRevision", Reader, Options], dict[str, Any]]
    write: Callable[["SendRevision", Writer, Any, Options], None]


@frozen
class SendRevision:
    """A revision of the send.

    Attributes:
        destination: the revisions of the identifiers and the partitioning.
        message: the layout of a message.
        limits: the size limits.
        value: the class of the value.
        body: the layout of the whole.
    """

    destination: DestinationRevision
    message: MessageLayout
    limits: RevisionLimits
    value: type[Any]
    body: SendBody


def decode(revision: SendRevision, reader: Reader, options: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read a whole body, and check the limits as the server does."""
    parts = revision.body.read(revision, reader, options)
    start = parts.pop("start")
    check_read(reader, parts["messages"], start, revision.limits, revision.message.tlv)
    return revision.value(**parts)


def encode(revision: SendRevision, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body."""
    check_written(writer, value.messages, revision.limits, revision.message.tlv)
    revision.body.write(revision, writer, value, options)


def _read_plain(revision: SendRevision, reader: Reader, options: Options) -> dict[str, Any]:
    destination = read_destination(revision.destination, reader, options)
    start, messages = reader.pos, list[Any]()
    while reader.left:
        reader.enter("messages", len(messages))
        messages.append(read_message(reader, revision.message))
        reader.leave()
    return {**destination, "messages": tuple(messages), "start": start}


def _write_plain(revision: SendRevision, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `encode`
    write_destination(revision.destination, writer, value, options)
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        write_message(writer, revision.message, message)
        writer.leave()


def _read_indexed(revision: SendRevision, reader: Reader, options: Options) -> dict[str, Any]:
    destination, count = send_index.read_metadata(revision.destination, reader, options)
    start, messages = send_index.read_messages(reader, count, revision.message)
    return {**destination, "messages": messages, "start": start}


def _write_indexed(revision: SendRevision, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `encode`
    send_index.write_metadata(revision.destination, writer, value, options)
    send_index.write_messages(writer, value.messages, revision.message)


def _read_batch(
    rules: BatchRules, revision: SendRevision, reader: Reader, options: Options
) -> dict[str, Any]:
    destination, count = send_index.read_metadata(revision.destination, reader, options)
    start = reader.pos
    reader.enter("batch")
    head = batch.read_header(reader, rules)
    reader.leave()
    frames = batch.read_frames(reader, head, rules)
    reader.cover("messages_count", "count", start + IGGY_BATCH_HEADER_SIZE, reader.pos)
    batch.check_count_and_checksum(reader, "batch", head, len(frames), rules)
    send_index.check_rest(reader, count, len(frames))
    producer = {"producer": head.fields["producer"]} if rules.producers else {}
    return {**destination, **producer, "messages": tuple(map(_sent_message, frames)), "start": start}


def _sent_message(message: BatchMessage) -> SentMessage90:
    return SentMessage90(
        id=message.id,
        origin_timestamp=message.origin_timestamp,
        headers=message.headers,
        payload=message.payload,
    )


def _write_batch(
    rules: BatchRules,
    revision: SendRevision,
    writer: Writer,
    value: Any,  # noqa: ANN401 - see `encode`
    options: Options,
) -> None:
    send_index.write_metadata(revision.destination, writer, value, options)
    origin = min(message.origin_timestamp for message in value.messages)
    head = BatchHeader111(
        partition_id=0,
        base_offset=0,
        base_timestamp=0,
        origin_timestamp=origin,
        message_count=0,
        producer=value.producer if rules.producers else None,
    )
    frames = [_batch_message(writer, index, message, origin) for index, message in enumerate(value.messages)]
    writer.enter("batch")
    at = batch.write_header(writer, head, len(frames), rules)
    writer.leave()
    batch.write_frames(writer, frames, rules)
    batch.write_length_and_checksum(writer, "batch", at)


def _batch_message(writer: Writer, index: int, message: SentMessage90, base: int) -> BatchMessage:
    """Return a message of a batch; refuse id 0, because the producer must generate the id (section 2.5)."""
    if not message.id:
        raise writer.invalid(f"messages[{index}].id", "0, but since 0.11.0 the producer must generate an id")
    delta = message.origin_timestamp - base
    return BatchMessage(
        id=message.id,
        offset_delta=index,
        timestamp_delta=delta,
        headers=message.headers,
        payload=message.payload,
    )


PLAIN_BODY: Final = SendBody(_read_plain, _write_plain)
INDEXED_BODY: Final = SendBody(_read_indexed, _write_indexed)
BATCHED_BODY: Final = SendBody(
    partial(_read_batch, batch.SEND_RULES), partial(_write_batch, batch.SEND_RULES)
)
PRODUCER_BODY: Final = SendBody(
    partial(_read_batch, batch.SEND_RULES_111), partial(_write_batch, batch.SEND_RULES_111)
)

REVISIONS: Final[dict[str, SendRevision]] = {
    "0.0.30": SendRevision(DESTINATION_30, SENT_30, LIMITS_30, Send30, PLAIN_BODY),
    "0.7": SendRevision(DESTINATION_30, SENT_70, LIMITS_70, Send70, INDEXED_BODY),
    "0.8": SendRevision(DESTINATION_80, SENT_70, LIMITS_80, Send70, INDEXED_BODY),
    "0.9": SendRevision(DESTINATION_90, SENT_90, LIMITS_80, Send90, INDEXED_BODY),
    "0.11": SendRevision(DESTINATION_90, batch.SEND_RULES.frame, LIMITS_80, Send90, BATCHED_BODY),
    "0.11.1-edge": SendRevision(DESTINATION_90, batch.SEND_RULES.frame, LIMITS_80, Send111, PRODUCER_BODY),
}
"""Revision to its row."""
