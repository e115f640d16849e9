"""The body of SendMessages: iggy.md, sections 3.1, 5 and 6.

Up to 0.6.x the layout is `stream Identifier | topic Identifier | Partitioning`, then messages up to the end
of the body, without a count. Since 0.7.0 these three are preceded by their length and followed by a message
count; then come an index of the messages and the messages, since 0.11.0 a batch (section 6).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from attrs import asdict, frozen

from wireproof.iggy import batch, send_index
from wireproof.iggy.batch import PRODUCER, BatchHeader111, BatchMessage, BatchRules, Producer
from wireproof.iggy.batch_checksum import BATCH_HEADER_SIZE
from wireproof.iggy.destination import DESTINATION, Identifier, Partitioning
from wireproof.iggy.limits import LIMITS_30, LIMITS_70, LIMITS_80, RevisionLimits, check_read, check_written
from wireproof.iggy.message import (
    SENT_RULES_30,
    SENT_RULES_70,
    SENT_RULES_90,
    MessageRules,
    SentMessage,
    SentMessage70,
    SentMessage90,
    read_message,
    write_message,
)
from wireproof.iggy.revision import Revision
from wireproof.schema.struct import StructLayout
from wireproof.wire.layout import Count, Layout, Length, Nested, Number, Part, Repeated
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
    """The functions that read and write the destination and the messages of a send."""

    read: Callable[["SendRevision", Reader], dict[str, Any]]
    write: Callable[["SendRevision", Writer, Any], None]


@frozen
class SendRevision(Revision):
    """A revision of the send.

    Attributes:
        destination: the layout of the stream, the topic and the partitioning.
        message: the rules of a message.
        limits: the size limits.
        body: reads and writes the whole.
    """

    destination: StructLayout
    message: MessageRules
    limits: RevisionLimits
    body: SendBody


def decode(revision: SendRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read a whole body, and check the limits as the server does."""
    parts = revision.body.read(revision, reader)
    start = parts.pop("start")
    check_read(reader, parts["messages"], start, revision.limits, revision.message.tlv)
    return revision.value(**parts)


def encode(revision: SendRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body."""
    check_written(writer, value.messages, revision.limits, revision.message.tlv)
    revision.body.write(revision, writer, value)


def _read_plain(revision: SendRevision, reader: Reader) -> dict[str, Any]:
    destination = asdict(revision.destination.codec.read(reader), recurse=False)
    start, messages = reader.pos, list[Any]()
    while reader.left:
        reader.enter("messages", len(messages))
        messages.append(read_message(reader, revision.message))
        reader.leave()
    return {**destination, "messages": tuple(messages), "start": start}


def _write_plain(revision: SendRevision, writer: Writer, value: Any) -> None:  # noqa: ANN401 - see `encode`
    revision.destination.codec.write(writer, value)
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        write_message(writer, revision.message, message)
        writer.leave()


def _read_indexed(revision: SendRevision, reader: Reader) -> dict[str, Any]:
    destination, count = send_index.read_metadata(revision.destination, reader)
    start, messages = send_index.read_messages(reader, count, revision.message)
    return {**destination, "messages": messages, "start": start}


def _write_indexed(revision: SendRevision, writer: Writer, value: Any) -> None:  # noqa: ANN401 - see `encode`
    send_index.write_metadata(revision.destination, writer, value)
    send_index.write_messages(writer, value.messages, revision.message)


def _read_batch(rules: BatchRules, revision: SendRevision, reader: Reader) -> dict[str, Any]:
    destination, count = send_index.read_metadata(revision.destination, reader)
    start = reader.pos
    reader.enter("batch")
    head = batch.read_header(reader, rules)
    reader.leave()
    frames = batch.read_frames(reader, head, rules)
    reader.cover("messages_count", "count", start + BATCH_HEADER_SIZE, reader.pos)
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
) -> None:
    send_index.write_metadata(revision.destination, writer, value)
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
    if head.producer is not None:
        _check_producer(writer, head.producer)
    writer.enter("batch")
    at = batch.write_header(writer, head, len(frames), rules)
    writer.leave()
    batch.write_frames(writer, frames, rules)
    batch.write_length_and_checksum(writer, "batch", at)


def _check_producer(writer: Writer, producer: Producer) -> None:
    """Refuse a number out of range by its path in the value, where a producer is not inside a batch."""
    for part in PRODUCER.parts:
        if isinstance(part, Number) and not 0 <= getattr(producer, part.name) <= (part.most or 0):
            raise writer.invalid(
                f"producer.{part.name}", f"{getattr(producer, part.name)}, {part.most} allowed"
            )


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

_PARTS: Final = DESTINATION.at("0.9").parts

_METADATA: Final = Layout(
    "Metadata", (*_PARTS, Count("messages_count", "uint32le", of="messages")), cites="iggy.md §5"
)


def _after_metadata(value: type[Any], *parts: Part, cites: str) -> Layout:
    """Return the layout of a send since 0.7.0."""
    length = Length("metadata_length", "uint32le", of="metadata")
    metadata = Nested("metadata", of=_METADATA, inline=True)
    return Layout("SendMessages", (length, metadata, *parts), value=value, cites=cites)


def _indexed(value: type[Any], message: MessageRules) -> Layout:
    index = Repeated("index", of=send_index.ENTRY, like="messages")
    return _after_metadata(value, index, Repeated("messages", of=message.layout), cites="iggy.md §5")


def _batched(value: type[Any], rules: BatchRules) -> Layout:
    layout = batch.batch_layout(None, producers=rules.producers, joined=True)
    return _after_metadata(value, Nested("batch", of=layout), cites="iggy.md §6")


LAYOUT_30: Final = Layout(
    "SendMessages",
    (*DESTINATION.at("0.0.30").parts, Repeated("messages", of=SENT_RULES_30.layout)),
    value=Send30,
    cites="iggy.md §3.1",
)

_BATCHED, _PRODUCER = batch.SEND_RULES, batch.SEND_RULES_111

REVISIONS: Final[dict[str, SendRevision]] = {
    revision: SendRevision(layout, DESTINATION.at(revision), message, limits, body)
    for revision, message, limits, layout, body in (
        ("0.0.30", SENT_RULES_30, LIMITS_30, LAYOUT_30, PLAIN_BODY),
        ("0.7", SENT_RULES_70, LIMITS_70, _indexed(Send70, SENT_RULES_70), INDEXED_BODY),
        ("0.8", SENT_RULES_70, LIMITS_80, _indexed(Send70, SENT_RULES_70), INDEXED_BODY),
        ("0.9", SENT_RULES_90, LIMITS_80, _indexed(Send90, SENT_RULES_90), INDEXED_BODY),
        ("0.11", _BATCHED.frame, LIMITS_80, _batched(Send90, _BATCHED), BATCHED_BODY),
        ("0.11.1-edge", _PRODUCER.frame, LIMITS_80, _batched(Send111, _PRODUCER), PRODUCER_BODY),
    )
}
"""Revision to its row."""
