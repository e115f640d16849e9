"""The batch of messages that Iggy uses on the wire and on disk since 0.11.0: iggy.md, section 6.

A batch has a header of 256 bytes and then one frame for each message: 48 bytes of fields, the payload, the
headers. The header has the base offset and the base timestamps; the frames have deltas to them. The checksum
of a batch covers the fields of its header and the checksums of its frames. A batch is used in sends, polls
and segment files; `BatchRules` describes how these uses differ. Since 0.11.1-edge a batch may name the
idempotent producer that wrote it: section 6.1.
"""

from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof.iggy.header_kinds import HeaderValue
from wireproof.iggy.headers import TLV_WIRE_10
from wireproof.iggy.layout import (
    XXH3,
    Block,
    ChecksumField,
    FixedField,
    LengthField,
    MessageLayout,
    Treatment,
    ZeroField,
)
from wireproof.iggy.message import read_message, write_message
from wireproof.wire.checksums import IGGY_BATCH_HEADER_SIZE, iggy_batch_checksum
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


def _frame(wrong: Treatment, empty: Treatment, *, filled: bool = False) -> MessageLayout:
    deltas = (FixedField("offset_delta", "uint32le"), FixedField("timestamp_delta", "uint32le"))
    lengths = (
        LengthField("user_headers_length", "uint32le", "headers"),
        LengthField("payload_length", "uint32le", "payload"),
    )
    parts = (
        ChecksumField("checksum", "uint64le", wrong, XXH3, over="rest"),
        FixedField("id", "uint128le"),
        *deltas,
        *lengths,
        ZeroField("reserved", "uint64le", "reject"),
        Block("payload"),
        Block("headers"),
    )
    return MessageLayout(parts, BatchMessage, empty, TLV_WIRE_10, filled=filled, kept=True, sealed=True)


@frozen
class BatchRules:
    """The rules for one use of a batch.

    Attributes:
        frame: the layout of a message.
        wrong: how to treat a batch checksum or message count that does not match.
        unset: how to treat a field that the producer should leave at 0 and did not.
        producers: whether a batch may name its producer.
    """

    frame: MessageLayout
    wrong: Treatment
    unset: Treatment
    producers: bool = False


SEND_RULES: Final = BatchRules(_frame("reject", "remark", filled=True), "reject", "remark")
"""For a send: the server verifies everything, and sets the partition, base offset and base timestamp."""
POLL_RULES: Final = BatchRules(_frame("remark", "take"), "remark", "take")
"""For a poll response: no client compares a checksum or a count (section 6)."""
SEGMENT_RULES: Final = BatchRules(_frame("reject", "take"), "reject", "take")
"""For a segment file."""
SEND_RULES_111: Final = evolve(SEND_RULES, producers=True)
POLL_RULES_111: Final = evolve(POLL_RULES, producers=True)
SEGMENT_RULES_111: Final = evolve(SEGMENT_RULES, producers=True)
"""For the same uses since 0.11.1-edge."""

PRODUCER_FIELDS: Final = {
    "producer_id": ("uint64le", (1 << 63) - 1),
    "epoch": ("uint16le", (1 << 15) - 1),
    "base_sequence": ("uint32le", (1 << 31) - 1),
}
"""The primitive and the largest value of each field of a producer: section 6.1."""

PRODUCER_PADDING: Final = {"producer_id": 3, "base_sequence": 2}
"""The number of zero bytes before a field of a producer."""

SERVER_FIELDS: Final = ("partition_id", "base_offset", "base_timestamp")
"""The fields that a producer leaves at 0 and the server sets."""

LENGTH_AT: Final = 32
"""The position of the batch length in the header, in bytes."""


@frozen
class ParsedHeader:
    """A batch header that was read: its position and its fields."""

    at: int
    fields: dict[str, Any]
    length: int
    checksum: int
    count: int

    @property
    def checksum_at(self) -> int:
        """Return the position of the batch checksum."""
        return self.at + 40

    @property
    def count_at(self) -> int:
        """Return the position of the message count."""
        return self.at + 48


def read_header(reader: Reader, rules: BatchRules) -> ParsedHeader:
    """Read the batch header, the 256 bytes before the frames."""
    at, fields = reader.pos, dict[str, Any]()
    for name in SERVER_FIELDS:
        start = reader.pos
        fields[name] = reader.uint64le(name)
        if rules.unset == "remark" and fields[name]:
            reader.remark("iggy-unset-field", name, at=start)
    fields["origin_timestamp"] = reader.uint64le("origin_timestamp")
    length = reader.uint64le("batch_length")
    reader.cover("batch_length", "length", at, at + length)
    if length < IGGY_BATCH_HEADER_SIZE:
        raise reader.reject("bad-length", "batch_length", f"{length}", at=at + LENGTH_AT)
    checksum, count = reader.uint64le("batch_checksum"), reader.uint32le("message_count")
    if rules.producers:
        fields["producer"] = _read_producer(reader)
    _expect_zeros(reader, "reserved", IGGY_BATCH_HEADER_SIZE - (reader.pos - at))
    return ParsedHeader(at, fields, length, checksum, count)


def _expect_zeros(reader: Reader, name: str, size: int) -> None:
    start = reader.pos
    if any(reader.take(name, size)):
        raise reader.reject("reserved-nonzero", name, "not 0", at=start, detail="InvalidReservedField")


def _read_producer(reader: Reader) -> Producer | None:
    """Read the flags, and the producer if they announce one; else the rest of its section is reserved."""
    at, flags = reader.pos, reader.uint8("flags")
    if flags > 1:
        raise reader.reject("reserved-nonzero", "flags", f"{flags}", at=at)
    if not flags:
        return None
    reader.enter("producer")
    fields = {name: _read_producer_field(reader, name) for name in PRODUCER_FIELDS}
    reader.leave()
    return Producer(**fields)


def _read_producer_field(reader: Reader, name: str) -> int:
    if name in PRODUCER_PADDING:
        _expect_zeros(reader, f"before_{name}", PRODUCER_PADDING[name])
    kind, most = PRODUCER_FIELDS[name]
    at, number = reader.pos, int(getattr(reader, kind)(name))
    if number > most:
        raise reader.reject("invalid-value", name, f"{number}, at most {most}", at=at)
    return number


def read_frames(reader: Reader, head: ParsedHeader, rules: BatchRules, first: int = 0) -> list[BatchMessage]:
    """Read the frames of a batch. In the trace they are numbered from `first` on."""
    window = reader.window("messages", head.length - IGGY_BATCH_HEADER_SIZE)
    messages: list[BatchMessage] = []
    while window.left:
        start = window.pos
        window.enter("messages", first + len(messages))
        message = read_message(window, rules.frame)
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
        reader.remark("iggy-unminted-id", "id", at=start + 8)
    if message.offset_delta != index:
        reader.remark("iggy-offset-delta", "offset_delta", at=start + 24)


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
    frames_at = head.at + IGGY_BATCH_HEADER_SIZE
    if rules.wrong == "reject":
        reader.cover(f"{prefix}message_count", "count", frames_at, reader.pos)
        reader.cover(f"{prefix}batch_checksum", "iggy-batch", head.at, reader.pos)
    if head.count != frame_count:
        text = f"{head.count}, but {frame_count} frames follow"
        if rules.wrong == "reject":
            raise reader.reject("count-mismatch", f"{prefix}message_count", text, at=head.count_at)
        reader.remark("iggy-batch-count", f"{prefix}message_count", at=head.count_at)
    expected = iggy_batch_checksum(reader.data[head.at : reader.pos])
    if head.checksum != expected:
        text = f"{head.checksum:x}, expected {expected:x}"
        if rules.wrong == "reject":
            detail = "InvalidBatchChecksum"
            raise reader.reject(
                "crc-mismatch", f"{prefix}batch_checksum", text, at=head.checksum_at, detail=detail
            )
        reader.remark("iggy-batch-checksum", f"{prefix}batch_checksum", at=head.checksum_at)


def write_header(writer: Writer, value: Any, count: int, rules: BatchRules) -> int:  # noqa: ANN401 - a header or a batch
    """Write the batch header with length and checksum at 0, and return its position."""
    at = writer.pos
    for name in (*SERVER_FIELDS, "origin_timestamp"):
        writer.uint64le(name, getattr(value, name))
    writer.uint64le("batch_length", 0)
    writer.uint64le("batch_checksum", 0)
    writer.uint32le("message_count", count)
    if rules.producers:
        _write_producer(writer, value.producer)
    writer.put("reserved", bytes(at + IGGY_BATCH_HEADER_SIZE - writer.pos))
    return at


def _write_producer(writer: Writer, producer: Producer | None) -> None:
    writer.uint8("flags", int(producer is not None))
    if producer is None:
        return
    writer.enter("producer")
    for name, (kind, most) in PRODUCER_FIELDS.items():
        number = getattr(producer, name)
        if number > most:
            raise writer.invalid(name, f"{number}, at most {most}")
        if name in PRODUCER_PADDING:
            writer.put(f"before_{name}", bytes(PRODUCER_PADDING[name]))
        getattr(writer, kind)(name, number)
    writer.leave()


def write_frames(writer: Writer, messages: Sequence[BatchMessage], rules: BatchRules, first: int = 0) -> None:
    """Write the frames. In the trace they are numbered from `first` on."""
    for index, message in enumerate(messages, first):
        writer.enter("messages", index)
        write_message(writer, rules.frame, message)
        writer.leave()


def write_length_and_checksum(writer: Writer, name: str, at: int) -> None:
    """Write the length and the checksum of the batch `name`, which begins at `at` and ends here."""
    prefix = f"{name}." if name else ""
    writer.patch(f"{prefix}batch_length", "uint64le", at + LENGTH_AT, writer.pos - at)
    writer.cover(f"{prefix}batch_length", "length", at, writer.pos)
    writer.patch(f"{prefix}batch_checksum", "uint64le", at + 40, iggy_batch_checksum(bytes(writer.data[at:])))
