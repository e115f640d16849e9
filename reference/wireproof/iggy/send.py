"""The body of SendMessages: iggy.md, sections 3.1, 5 and 6.

Up to 0.6.x the layout is `stream Identifier | topic Identifier | Partitioning`, then messages up to the end
of the body, without a count. Since 0.7.0 these three are preceded by their length and followed by a message
count; then come an index of the messages, with an entry of 16 bytes for each, and the messages, since 0.11.0
a batch (section 6).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import asdict, frozen

from wireproof.iggy.batch import BATCHES, PRODUCER, BatchMessage
from wireproof.iggy.checksums import BATCH_HEADER_SIZE
from wireproof.iggy.destination import DESTINATION
from wireproof.iggy.headers import block_size
from wireproof.iggy.message import HEADED, SENT
from wireproof.iggy.revision import EDGE, Revision
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.schema.compiling import refuse, report
from wireproof.schema.layout import Count, Layout, Length, Nested, Number, Octets, Repeated, Zero
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct, StructLayout, many, optional, since, until
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

if TYPE_CHECKING:
    from wireproof.iggy import values

_COUNT: Final = Count("messages_count", "uint32le", of="messages")

METADATA: Final = Layout("Metadata", (*DESTINATION.at("0.9").parts, _COUNT), cites="iggy.md §5")

_METADATA: Final = (
    Length("metadata_length", "uint32le", of="metadata"),
    Nested("metadata", of=METADATA, inline=True),
)

_ENTRY: Final[tuple[Zero | Length, ...]] = (
    Zero("offset", kind="uint32le", error="NonZeroOffset"),
    Length("position", "uint32le", of="messages", meaning="where the message ends"),
    Zero("timestamp", kind="uint64le", error="NonZeroTimestamp"),
)

ENTRY: Final = Layout("IndexEntry", _ENTRY, cites="iggy.md §5")
"""An entry of the index."""

SEND: Final = Struct(
    "SendMessages",
    *(until(HEADED, part) for part in DESTINATION.fields),
    *(since(HEADED, part) for part in _METADATA),
    since(HEADED, Repeated("index", of=ENTRY, like="messages")),
    many("messages", SENT),
    revisions=ALL,
    cites="iggy.md §3.1, §5",
)
"""A send up to 0.10.x."""

# --- its limits: sections 3.1, 5 and 9 ---
#
# Up to 0.6.x they apply to the sum over all messages of a request, and only the values of headers count.
# Since 0.7.0 they apply to each message, and the whole header block counts.

HEADERS_30, PAYLOADS_30 = 100 * 1024, 10 * 1024**2
"""The limits up to 0.6.x, in bytes."""

LOWERED_HEADERS, LOWERED_PAYLOADS = 100 * 1000, 10 * 1000**2
"""Those of servers since 0.0.116."""

HEADERS: Final = 100 * 1000
"""The limit of the header block of a message since 0.7.0, in bytes."""

PAYLOAD_70, PAYLOAD_80 = 10 * 1000**2, 64 * 1000**2
"""The limits of the payload of a message since 0.7.0 and since 0.8.0, in bytes."""


def _over(name: str, size: int, most: int, lowered: int, detail: str) -> Fault | None:
    if size > most:
        return Fault("limit-exceeded", f"{size} bytes of {name}, {most} allowed", detail=detail)
    return remarked("iggy-lowered-limit") if size > lowered else None


@SEND.rule("messages", "iggy.send.count")
def no_messages(messages: Sequence["values.SentMessage"]) -> Fault | None:
    """Refuse a send without messages."""
    return None if messages else Fault("count-mismatch", "none", detail="InvalidMessagesCount")


@SEND.rule("messages", "iggy.send.limit.headers", until=HEADED)
def header_values(messages: Sequence["values.SentMessage"]) -> Fault | None:
    """Limit the header values of a request. Keys do not count; the blog states the opposite (section 0)."""
    maps = (message.headers for message in messages)
    size = sum(len(value.value) for one in maps if isinstance(one, tuple) for _, value in one)
    return _over("headers", size, HEADERS_30, LOWERED_HEADERS, "TooBigHeadersPayload")


@SEND.rule("messages", "iggy.send.limit.payload", until=HEADED)
def all_payloads(messages: Sequence["values.SentMessage"]) -> Fault | None:
    """Limit the payloads of a request."""
    size = sum(len(message.payload) for message in messages)
    return _over("payload", size, PAYLOADS_30, LOWERED_PAYLOADS, "TooBigMessagePayload")


@SEND.rule("messages", "iggy.send.headed.limits", since=HEADED)
def header_block(messages: Sequence["values.SentMessage"]) -> Fault | None:
    """Limit the header block of each message."""
    size = max((block_size(message.headers) for message in messages), default=0)
    return _over("headers", size, HEADERS, HEADERS, "TooBigUserHeaders")


def _payload_limit(most: int) -> Any:  # noqa: ANN401 - a check
    def payload(messages: Sequence["values.SentMessage"]) -> Fault | None:
        size = max((len(message.payload) for message in messages), default=0)
        return _over("payload", size, most, most, "TooBigMessagePayload")

    return payload


SEND.rule("messages", "iggy.send.headed.limits", since=HEADED, until="0.8")(_payload_limit(PAYLOAD_70))
SEND.rule("messages", "iggy.send.headed.limits", since="0.8")(_payload_limit(PAYLOAD_80))

PRODUCED_SEND: Final = Struct(
    "ProducedSend",
    *DESTINATION.fields,
    Number("flags", "uint8"),
    optional("producer", "flags", PRODUCER),
    many("messages", SENT),
    revisions=ALL,
    cites="iggy.md §6.1",
)
"""The value of a send since 0.11.1-edge, which may have an idempotent producer."""


@frozen
class SendRevision(Revision):
    """A revision of the send since 0.7.0.

    Attributes:
        message: the layout of a message; since 0.11.0 the value of a frame is made one.
        destination: the layout of the stream, the topic and the partitioning.
        limited: the layout of a send with the limits of the revision.
        batch: the layout of the batch; None for an index and messages.
    """

    message: StructLayout
    destination: StructLayout
    limited: StructLayout
    batch: StructLayout | None = None


def decode(revision: SendRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read a whole body, and check the limits as the server does."""
    at, length = reader.pos, reader.uint32le("metadata_length")
    start = reader.pos
    parts = asdict(revision.destination.codec.read(reader), recurse=False)
    count = reader.uint32le("messages_count")
    reader.cover("metadata_length", "length", start, reader.pos)
    if reader.pos - start != length:
        text = f"{length}, but the metadata has {reader.pos - start} bytes"
        raise reader.reject("length-mismatch", "metadata_length", text, at=at, detail="InvalidCommand")
    if revision.batch is None:
        start, parts["messages"] = _read_messages(reader, revision.message, count)
    else:
        start = reader.pos
        reader.enter("batch")
        head, frames = revision.batch.inner_codec.read(reader)
        reader.leave()
        reader.cover("messages_count", "count", start + BATCH_HEADER_SIZE, reader.pos)
        _check_rest(reader, count, len(frames))
        if hasattr(head, "producer"):
            parts["producer"] = head.producer
        names = ("id", "origin_timestamp", "headers", "payload")
        rows = ({name: getattr(one, name) for name in names} for one in frames)
        parts["messages"] = tuple(revision.message.type(**row) for row in rows)
    for fault in revision.limited.faults(messages=parts["messages"]):
        report(reader, "messages", start, fault)
    return revision.value(**parts)


def encode(revision: SendRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write a whole body."""
    for fault in revision.limited.faults(messages=value.messages):
        refuse(writer, "messages", fault)
    at = writer.pos
    writer.uint32le("metadata_length", 0)
    revision.destination.codec.write(writer, value)
    writer.uint32le("messages_count", len(value.messages))
    writer.patch("metadata_length", "uint32le", at, writer.pos - at - 4)
    if revision.batch is None:
        _write_messages(writer, revision.message, value.messages)
    else:
        _write_batch(writer, revision.batch, value)


# --- an index and messages: section 5 ---


def _read_messages(reader: Reader, layout: StructLayout, count: int) -> tuple[int, tuple[Any, ...]]:
    """Read the index and `count` messages. Return the position of the first message, and the messages.

    Raises:
        Rejected: a message does not end where the index says, or bytes follow the last message.
    """
    ends: list[tuple[int, int]] = []
    while len(ends) < count:
        reader.enter("index", len(ends))
        for part in _ENTRY:
            at, number = reader.pos, getattr(reader, part.kind)(part.name)
            if isinstance(part, Length):
                ends.append((at, number))
            elif number:
                raise reader.reject("reserved-nonzero", part.name, str(number), at=at, detail=part.error)
        reader.leave()
    start, messages, read = reader.pos, list[Any](), layout.inner_codec.read
    reader.cover("messages_count", "count", start, reader.end)
    for index, (at, end) in enumerate(ends):
        reader.enter("messages", index)
        messages.append(read(reader))
        reader.leave()
        name = f"index[{index}].position"
        reader.cover(name, "length", start, reader.pos)
        if end != reader.pos - start:
            text = f"{end}, but the message ends at {reader.pos - start}"
            raise reader.reject("length-mismatch", name, text, at=at, detail="InvalidMessagesSize")
    _check_rest(reader, count, count)
    return start, tuple(messages)


def _check_rest(reader: Reader, count: int, found: int) -> None:
    """Check that the count is the number of messages found, and that no bytes follow them."""
    if count != found:
        text = f"{count}, but {found} messages follow"
        raise reader.reject("count-mismatch", "messages_count", text, detail="InvalidMessagesCount")
    if reader.left:
        text = f"{reader.left} bytes after {count} messages"
        raise reader.reject("trailing-data", "messages", text, detail="InvalidMessagesSize")


def _write_messages(writer: Writer, layout: StructLayout, messages: Sequence[Any]) -> None:
    """Write the index and the messages; the ends of the messages are known when they are written."""
    index_at = writer.pos
    for index in range(len(messages)):
        writer.enter("index", index)
        for part in _ENTRY:
            getattr(writer, part.kind)(part.name, 0)
        writer.leave()
    start, write = writer.pos, layout.inner_codec.write
    for index, message in enumerate(messages):
        writer.enter("messages", index)
        write(writer, message)
        writer.leave()
        at = index_at + index * ENTRY.fixed_size + ENTRY.offset("position")
        writer.patch(f"index[{index}].position", "uint32le", at, writer.pos - start)


# --- a batch: section 6 ---


def _write_batch(writer: Writer, batch: StructLayout, value: Any) -> None:  # noqa: ANN401 - see `encode`
    origin = min(message.origin_timestamp for message in value.messages)
    frames: list[BatchMessage] = []
    for index, message in enumerate(value.messages):
        if not message.id:  # section 2.5
            text = "0, but since 0.11.0 the producer must generate an id"
            raise writer.invalid(f"messages[{index}].id", text)
        frames.append(
            BatchMessage(
                id=message.id,
                offset_delta=index,
                timestamp_delta=message.origin_timestamp - origin,
                headers=message.headers,
                payload=message.payload,
            )
        )
    producer = {"producer": value.producer} if hasattr(value, "producer") else {}
    if producer.get("producer") is not None:
        for part in PRODUCER.at(EDGE).numbers:  # by its path in the value, where it is not inside a batch
            number = getattr(value.producer, part.name)
            if part.most is not None and not 0 <= number <= part.most:
                raise writer.invalid(f"producer.{part.name}", f"{number}, {part.most} allowed")
    numbers = dict.fromkeys(("partition_id", "base_offset", "base_timestamp", "message_count"), 0)
    head = batch.type(**numbers, origin_timestamp=origin, **producer)
    writer.enter("batch")
    batch.inner_codec.write(writer, head, None, frames)
    writer.leave()


# --- revisions ---


def _indexed(revision: str) -> SendRevision:
    return SendRevision(SEND.at(revision), SENT.at(revision), DESTINATION.at(revision), SEND.at(revision))


def _batched(revision: str, value: type[Any]) -> SendRevision:
    one = BATCHES["send"].at(revision)
    layout = Layout("SendMessages", (*_METADATA, Nested("batch", of=one)), value=value, cites="iggy.md §6")
    return SendRevision(layout, SENT.at("0.9"), DESTINATION.at(revision), SEND.at(revision), one)


REVISIONS: Final[dict[str, SendRevision]] = {
    **{revision: _indexed(revision) for revision in (HEADED, "0.8", "0.9")},
    "0.11": _batched("0.11", SEND.at("0.9").type),
    EDGE: _batched(EDGE, PRODUCED_SEND.at(EDGE).type),
}
"""Revision to its row."""


# --- reply ---
#
# The reply to a request: iggy.md, sections 2.1 and 6.
#
# Up to 0.10.x a reply has the classic framing. Since 0.11.0 the framing of a reply is in `frame`; here is the
# body of a reply to SendMessages, which confirms each batch. The body may be empty. The Rust client reads a
# body that is truncated or too long as one without confirmations, because committed messages must not be sent
# again; this reader refuses it.


CLASSIC_REPLY: Final = Struct(
    "ClassicReply",
    Number("status", "uint32le", meaning="0 is success, other numbers are error codes"),
    Length("length", "uint32le", of="body"),
    Octets("body"),
    revisions=ALL,
    cites="iggy.md §2.1",
)


@CLASSIC_REPLY.rule("body", "iggy.reply.short")
def _short_body(body: bytes) -> Fault | None:
    """Remark a body of one byte, which clients read as an empty one: section 2.1."""
    return remarked("iggy-short-body", others=(("empty", ""),)) if len(body) == 1 else None


CONFIRMATION: Final = Struct(
    "SendConfirmation",
    Number("stream_id", "uint32le"),
    Number("topic_id", "uint32le"),
    Number("partition_id", "uint32le"),
    Number("base_offset", "uint64le", meaning="where the server stored the batch"),
    revisions=ALL,
    cites="iggy.md §6",
)
"""The partition and the base offset at which the server stored a batch, in bytes as in JSON."""

SEND_REPLY: Final = Struct(
    "SendReply",
    Count("count", "uint32le", of="confirmations", meaning="absent in an empty body"),
    many("confirmations", CONFIRMATION),
    revisions=ALL,
    cites="iggy.md §6",
    whole="iggy.reply.confirmations.torn",
    empty=True,
)
