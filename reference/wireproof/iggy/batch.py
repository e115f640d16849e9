"""The batch of messages that Iggy uses on the wire and on disk since 0.11.0: iggy.md, section 6.

A batch has a header of 256 bytes and then one frame for each message: 48 bytes of fields, the payload, the
headers. The header has the base offset and the base timestamps; the frames have deltas to them. The checksum
of a batch covers the fields of its header and the checksums of its frames. A batch is used in sends, polls
and segment files; `BatchRules` describes how these uses differ. Since 0.11.1-edge a batch may name the
idempotent producer that wrote it: section 6.1.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof.iggy.batch_checksum import BATCH_HEADER_SIZE, batch_checksum
from wireproof.iggy.fixed_fields import BATCH_CHECKSUM, XXH3, check_field, iggy_runs
from wireproof.iggy.header_kinds import HeaderValue
from wireproof.iggy.headers import TLV_WIRE_10
from wireproof.iggy.message import (
    LENGTHS,
    PAYLOAD,
    RESERVED,
    headers_block,
    reserved_set,
    sent_empty,
    unverified,
    wrong_checksum,
)
from wireproof.iggy.revision import REVISIONS
from wireproof.schema.struct import Struct, StructLayout
from wireproof.wire.layout import (
    WHOLE,
    Checksum,
    Count,
    Flag,
    Layout,
    Length,
    Nested,
    Number,
    Repeated,
    Treatment,
    When,
    Zero,
)
from wireproof.wire.layout_codec import FixedRun
from wireproof.wire.reader import Reader
from wireproof.wire.writer import MASK64, Writer


@frozen(kw_only=True)
class BatchMessage:
    """A message inside a batch. The last three fields are computed from its deltas and the batch header."""

    checksum: int = field(default=0)
    id: int
    offset_delta: int
    timestamp_delta: int
    headers: tuple[tuple[HeaderValue, HeaderValue], ...] | bytes
    payload: bytes
    offset: int = field(default=0)
    timestamp: int = field(default=0)
    origin_timestamp: int = field(default=0)


@frozen(kw_only=True)
class BatchHeader:
    """The header of a batch, for values that hold the messages of all batches in one list."""

    partition_id: int
    base_offset: int
    base_timestamp: int
    origin_timestamp: int
    message_count: int
    batch_checksum: int = field(default=0)


@frozen(kw_only=True)
class Producer:
    """The idempotent producer of a batch. `base_sequence` is the sequence number of the first message."""

    producer_id: int
    epoch: int
    base_sequence: int


@frozen(kw_only=True)
class BatchHeader111:
    """The header of a batch since 0.11.1-edge."""

    partition_id: int
    base_offset: int
    base_timestamp: int
    origin_timestamp: int
    message_count: int
    producer: Producer | None
    batch_checksum: int = field(default=0)


@frozen(kw_only=True)
class Batch:
    """A batch with its messages: a record of a segment file."""

    partition_id: int
    base_offset: int
    base_timestamp: int
    origin_timestamp: int
    batch_checksum: int = field(default=0)
    messages: tuple[BatchMessage, ...]


@frozen(kw_only=True)
class Batch111:
    """A batch with its messages, since 0.11.1-edge."""

    partition_id: int
    base_offset: int
    base_timestamp: int
    origin_timestamp: int
    producer: Producer | None
    batch_checksum: int = field(default=0)
    messages: tuple[BatchMessage, ...]


def _frame() -> Struct:
    return Struct(
        "BatchMessage",
        Checksum("checksum", "uint64le", algorithm=XXH3, shown=True),
        Number("id", "uint128le"),
        Number("offset_delta", "uint32le", meaning="added to base_offset"),
        Number("timestamp_delta", "uint32le", meaning="added to origin_timestamp, microseconds"),
        *LENGTHS,
        RESERVED,
        PAYLOAD,
        headers_block(TLV_WIRE_10, sealed=True),
        revisions=REVISIONS,
        value=BatchMessage,
        computed=("offset", "timestamp", "origin_timestamp"),
        cites="iggy.md §6",
    )


SENT_FRAME: Final = _frame()
POLLED_FRAME: Final = _frame()
STORED_FRAME: Final = _frame()

SENT_FRAME.rule("reserved", "iggy.send.batch.reserved")(reserved_set)
SENT_FRAME.rule("payload", "iggy.send.headed.payload.empty")(sent_empty)
SENT_FRAME.rule("checksum", "iggy.send.batch.checksum")(wrong_checksum)
POLLED_FRAME.rule("reserved", "iggy.poll.batch.reserved")(reserved_set)
POLLED_FRAME.rule("checksum", "iggy.poll.batch.checksum")(unverified)
STORED_FRAME.rule("reserved", "iggy.log.batch.frame")(reserved_set)
STORED_FRAME.rule("checksum", "iggy.log.batch.checksum")(wrong_checksum)

FRAME: Final = STORED_FRAME.at("0.11")
"""The layout of a frame, which is one for all uses."""


def _padding(name: str, size: int) -> Zero:
    return Zero(name, size=size, nonzero="reject", error="InvalidReservedField")


PRODUCER: Final = Layout(
    "Producer",
    (
        _padding("before_producer_id", 3),
        Number("producer_id", "uint64le", most=(1 << 63) - 1),
        Number("epoch", "uint16le", most=(1 << 15) - 1),
        _padding("before_base_sequence", 2),
        Number("base_sequence", "uint32le", most=(1 << 31) - 1, meaning="of the first message"),
    ),
    value=Producer,
    cites="iggy.md §6.1",
)

_PRODUCER: Final = (
    Number("flags", "uint8", flags=(Flag("producer", 1),)),
    When(Nested("producer", of=PRODUCER), number="flags", values=(1,)),
)
"""The producer of a batch since 0.11.1-edge; without one its section is reserved."""


def batch_layout(value: type[Any] | None, *, producers: bool = False, joined: bool = False) -> Layout:
    """Return the layout of a batch.

    Args:
        value: the class of the value, if it has one.
        producers: whether a batch may name its producer.
        joined: whether the messages of all batches are one list.
    """
    return Layout(
        "Batch",
        (
            Number("partition_id", "uint64le"),
            Number("base_offset", "uint64le", meaning="offset of the first message"),
            Number("base_timestamp", "uint64le", meaning="of all messages, set by the server"),
            Number("origin_timestamp", "uint64le", meaning="the least of its messages"),
            Length("batch_length", "uint64le", of=WHOLE),
            Checksum("batch_checksum", "uint64le", algorithm=BATCH_CHECKSUM, over=WHOLE, shown=True),
            Count("message_count", "uint32le", of="messages", advisory=True),
            *(_PRODUCER if producers else ()),
            Zero("reserved", until=BATCH_HEADER_SIZE, nonzero="reject", error="InvalidReservedField"),
            Repeated("messages", of=FRAME, joined=joined),
        ),
        value=value,
        computed=("message_count",),
        cites="iggy.md §6",
    )


@frozen
class BatchRules:
    """The rules for one use of a batch.

    Attributes:
        frame: the layout of a message.
        wrong: how to treat a batch checksum or message count that does not match.
        unset: how to treat a field that the producer should leave at 0 and did not.
        producers: whether a batch may name its producer.
    """

    frame: StructLayout
    wrong: Treatment
    unset: Treatment
    producers: bool = False

    @cached_property
    def layout(self) -> Layout:
        """Return the layout of the header; what follows it depends on the use."""
        return batch_layout(None, producers=self.producers)

    @cached_property
    def header(self) -> Sequence[FixedRun]:
        """Return the fields up to the length, and those after it."""
        return iggy_runs(self.layout, "batch_length")

    def at(self, name: str) -> int:
        """Return the position of a field in the header."""
        return self.layout.offset(name)


SEND_RULES: Final = BatchRules(SENT_FRAME.at("0.11"), "reject", "remark")
"""For a send: the server verifies everything, and sets the partition, base offset and base timestamp."""
POLL_RULES: Final = BatchRules(POLLED_FRAME.at("0.11"), "remark", "accept")
"""For a poll response: no client compares a checksum or a count (section 6)."""
SEGMENT_RULES: Final = BatchRules(FRAME, "reject", "accept")
"""For a segment file."""
SEND_RULES_111: Final = evolve(SEND_RULES, producers=True)
POLL_RULES_111: Final = evolve(POLL_RULES, producers=True)
SEGMENT_RULES_111: Final = evolve(SEGMENT_RULES, producers=True)
"""For the same uses since 0.11.1-edge."""

(_PRODUCER_FIELDS,) = iggy_runs(PRODUCER)

SERVER_FIELDS: Final = ("partition_id", "base_offset", "base_timestamp")
"""The fields that a producer leaves at 0 and the server sets."""


@frozen
class ParsedHeader:
    """A batch header that was read: its position and its fields."""

    at: int
    fields: dict[str, Any]
    length: int
    checksum: int
    count: int


def read_header(reader: Reader, rules: BatchRules) -> ParsedHeader:
    """Read the batch header, the 256 bytes before the frames."""
    at, (first, second) = reader.pos, rules.header
    fields = first.read_fields(reader)
    if rules.unset == "remark":
        for name in SERVER_FIELDS:
            if fields[name]:
                reader.remark("iggy-unset-field", name, at=at + rules.at(name))
    length = fields.pop("batch_length")
    reader.cover("batch_length", "length", at, at + length)
    if length < BATCH_HEADER_SIZE:
        raise reader.reject("bad-length", "batch_length", f"{length}", at=at + rules.at("batch_length"))
    numbers = second.read_fields(reader)
    if rules.producers:
        fields["producer"] = _read_producer(reader, numbers["flags"])
    _read_reserved(reader, at)
    return ParsedHeader(at, fields, length, numbers["batch_checksum"], numbers["message_count"])


def _read_reserved(reader: Reader, at: int) -> None:
    part = SEGMENT_RULES.layout.part("reserved")
    start = reader.pos
    check_field(reader, part, reader.take(part.name, at + BATCH_HEADER_SIZE - start), start)


def _read_producer(reader: Reader, flags: int) -> Producer | None:
    """Read the producer if the flags announce one; else its section is reserved."""
    if flags > 1:
        raise reader.reject("reserved-nonzero", "flags", f"{flags}", at=reader.pos - 1)
    if not flags:
        return None
    reader.enter("producer")
    fields = _PRODUCER_FIELDS.read_fields(reader)
    reader.leave()
    return Producer(**fields)


def read_frames(reader: Reader, head: ParsedHeader, rules: BatchRules, first: int = 0) -> list[BatchMessage]:
    """Read the frames of a batch. In the trace they are numbered from `first` on."""
    window = reader.window("messages", head.length - BATCH_HEADER_SIZE)
    messages: list[BatchMessage] = []
    while window.left:
        start = window.pos
        window.enter("messages", first + len(messages))
        message = rules.frame.inner_codec.read(window)
        if rules.unset == "remark":
            _check_sent(window, message, len(messages), start)
        messages.append(_with_position(head, message))
        window.leave()
    return messages


def _check_sent(reader: Reader, message: BatchMessage, index: int, start: int) -> None:
    """Remark an id of 0 or an unexpected offset delta: sections 2.5 and 6.

    A producer numbers its messages and generates their ids; the server checks neither.
    """
    if not message.id:
        reader.remark("iggy-unminted-id", "id", at=start + FRAME.offset("id"))
    if message.offset_delta != index:
        reader.remark("iggy-offset-delta", "offset_delta", at=start + FRAME.offset("offset_delta"))


def _with_position(head: ParsedHeader, message: BatchMessage) -> BatchMessage:
    """Return the message with its offset and timestamps; `timestamp` is the same in the whole batch."""
    return evolve(
        message,
        offset=head.fields["base_offset"] + message.offset_delta & MASK64,
        timestamp=head.fields["base_timestamp"],
        origin_timestamp=head.fields["origin_timestamp"] + message.timestamp_delta & MASK64,
    )


def check_count_and_checksum(
    reader: Reader, name: str, head: ParsedHeader, frame_count: int, rules: BatchRules
) -> None:
    """Check the count and the checksum of the batch `name`, which ends here: sections 6 and 11.1, R9.

    Args:
        reader: it is at the end of the batch.
        name: the path of the batch in the trace; empty for the root.
        head: the header of the batch.
        frame_count: the number of frames that were read.
        rules: the treatment of a mismatch.
    """
    prefix = f"{name}." if name else ""
    frames_at = head.at + BATCH_HEADER_SIZE
    count_at, checksum_at = head.at + rules.at("message_count"), head.at + rules.at("batch_checksum")
    if rules.wrong == "reject":
        reader.cover(f"{prefix}message_count", "count", frames_at, reader.pos)
        reader.cover(f"{prefix}batch_checksum", "iggy-batch", head.at, reader.pos)
    if head.count != frame_count:
        text = f"{head.count}, but {frame_count} frames follow"
        if rules.wrong == "reject":
            raise reader.reject("count-mismatch", f"{prefix}message_count", text, at=count_at)
        reader.remark("iggy-batch-count", f"{prefix}message_count", at=count_at)
    expected = batch_checksum(reader.data[head.at : reader.pos])
    if head.checksum != expected:
        text = f"{head.checksum:x}, expected {expected:x}"
        if rules.wrong == "reject":
            detail = "InvalidBatchChecksum"
            raise reader.reject(
                "crc-mismatch", f"{prefix}batch_checksum", text, at=checksum_at, detail=detail
            )
        reader.remark("iggy-batch-checksum", f"{prefix}batch_checksum", at=checksum_at)


def write_header(writer: Writer, value: Any, count: int, rules: BatchRules) -> int:  # noqa: ANN401 - a header or a batch
    """Write the batch header with length and checksum at 0, and return its position."""
    at, (first, second) = writer.pos, rules.header
    first.write_fields(writer, value)
    flags = (int(value.producer is not None),) if rules.producers else ()
    second.write(writer, (0, count, *flags))
    if rules.producers and value.producer is not None:
        writer.enter("producer")
        _PRODUCER_FIELDS.write_fields(writer, value.producer)
        writer.leave()
    writer.put("reserved", bytes(at + BATCH_HEADER_SIZE - writer.pos))
    return at


def write_frames(writer: Writer, messages: Sequence[BatchMessage], rules: BatchRules, first: int = 0) -> None:
    """Write the frames. In the trace they are numbered from `first` on."""
    for index, message in enumerate(messages, first):
        writer.enter("messages", index)
        rules.frame.inner_codec.write(writer, message)
        writer.leave()


def write_length_and_checksum(writer: Writer, name: str, at: int) -> None:
    """Write the length and the checksum of the batch `name`, which begins at `at` and ends here."""
    prefix, rules = f"{name}." if name else "", SEGMENT_RULES
    length_at, checksum_at = at + rules.at("batch_length"), at + rules.at("batch_checksum")
    writer.patch(f"{prefix}batch_length", "uint64le", length_at, writer.pos - at)
    writer.cover(f"{prefix}batch_length", "length", at, writer.pos)
    checksum = batch_checksum(bytes(writer.data[at:]))
    writer.patch(f"{prefix}batch_checksum", "uint64le", checksum_at, checksum)
