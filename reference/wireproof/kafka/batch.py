"""Format v2, the record batch: kafka.md §1.1, §1.2, §1.5, §1.6, §1.8.

`read` accepts and rejects like a Kafka consumer that checks CRCs. For values that this consumer does not
check (§1.5, last paragraphs) and that no conforming writer makes, `read` adds a remark.
"""

from typing import Final

from attrs import evolve, frozen

from wireproof.kafka import attribute_bits, record
from wireproof.kafka.layouts import BATCH, BATCH_FLAGS
from wireproof.kafka.record import BatchContext
from wireproof.kafka.remark_classes import EntryRemarks
from wireproof.kafka.size_and_magic import SizeAndMagic
from wireproof.kafka.values import Record, RecordBatch
from wireproof.wire.checksums import crc32c
from wireproof.wire.compression import COMPRESSION_CODECS, compress, decompress_prefix
from wireproof.wire.layout import named_bits
from wireproof.wire.layout_codec import patch_computed, runs
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

MAGIC: Final = 2

(HEADER,) = runs(BATCH)
"""All integers of a batch, up to the records."""

_UNTIL_CRC, _AFTER_CRC = runs(BATCH, "crc")
_stored = HEADER.stored()
"""The fields of a header that a batch has: all but length, CRC and count, which are computed."""

_numbers = HEADER.numbers()
"""The integers of a header, from a batch and its length, CRC and count."""

UNUSED_BITS: Final = ~named_bits(BATCH_FLAGS)
"""Attribute bits 7 to 15, which have no meaning: §1.2."""


@frozen
class RecordBatchHeader:
    """A header that was read: the batch still without records, their count, and the start of the batch."""

    batch: RecordBatch
    count: int
    start: int


def read(reader: Reader, prefix: SizeAndMagic) -> RecordBatch:
    """Read the batch at the current position; all its bytes must be there.

    Order of checks (§1.5): size and magic (checked before, in `prefix`), CRC, codec, count, records.

    Raises:
        Rejected: `before` is the batch with the records decoded so far, or None if there are none.
    """
    entry = reader.window("batch", prefix.total)
    header = _header(entry)
    codec = header.batch.attributes & attribute_bits.CODEC_MASK
    if codec and codec not in COMPRESSION_CODECS:  # C11, C12
        at = header.start + BATCH.offset("attributes")
        raise entry.reject("unknown-codec", "attributes", f"codec {codec}", at=at, detail="UNKNOWN_CODEC")
    if header.count < 0:  # N01, N10
        at, text = header.start + BATCH.offset("recordsCount"), f"{header.count} records"
        raise entry.reject("negative-length", "recordsCount", text, at=at, detail="COUNT_NEGATIVE")
    remarks = EntryRemarks()
    _remark_header(entry, header, remarks)
    try:
        records = _records(entry, header, codec, remarks)
    except Rejected as rejected:
        raise _with_batch(rejected, header.batch) from None
    _remark_records(entry, header, records, remarks)
    return _with_records(header.batch, records)


def read_without_records(reader: Reader, prefix: SizeAndMagic) -> RecordBatch:
    """Read the header of a batch whose records nobody looks at; only the CRC is checked.

    Raises:
        Rejected: `crc-mismatch`.
    """
    entry = reader.window("batch", prefix.total)
    header = _header(entry)
    entry.region("records", "ignored", entry.pos, entry.end)
    return header.batch


def peek_header(data: bytes, pos: int) -> RecordBatch:
    """Return the batch at `pos` without its records; nothing is checked."""
    return _without_records(HEADER.peek(data, pos))


def _header(entry: Reader) -> RecordBatchHeader:
    """Read the 61 bytes of the header; check the CRC of all bytes after it: §1.1."""
    start = entry.pos
    numbers = _UNTIL_CRC.read(entry)
    crc, computed = numbers[-1], crc32c(entry.data[entry.pos : entry.end])
    if crc != computed:
        text = f"{crc:08x} stored, {computed:08x} computed"
        at = start + BATCH.offset("crc")
        raise entry.reject("crc-mismatch", "crc", text, at=at, detail="CRC_MISMATCH")
    numbers += _AFTER_CRC.read(entry)
    return RecordBatchHeader(_without_records(numbers), numbers[-1], start)


def _without_records(numbers: tuple[int, ...]) -> RecordBatch:
    return RecordBatch(*_stored(numbers), records=())  # type: ignore[misc] # integers, in order


def _records(entry: Reader, header: RecordBatchHeader, codec: int, remarks: EntryRemarks) -> list[Record]:
    """Read the records, from byte 61 to the end of the batch: raw, or one compressed stream."""
    if header.count == 0:
        _remark_empty(entry, codec, remarks)
        return []
    batch = header.batch
    inner, defect = decompress_prefix(entry, "records", codec) if codec else (entry, None)
    context = BatchContext(
        batch.base_offset,
        batch.base_timestamp,
        append_timestamp=batch.max_timestamp if batch.attributes & attribute_bits.LOG_APPEND_TIME else None,
        compressed=codec != 0,
        control=bool(batch.attributes & attribute_bits.CONTROL),
        defect=defect,
        remarks=remarks,
    )
    return record.read_records(inner, context, header.count)


def _remark_empty(entry: Reader, codec: int, remarks: EntryRemarks) -> None:
    """Add remarks on a batch with count 0: §1.5.

    No record is read and nothing is decompressed. The code paths of Kafka differ here: N08, N09, N18 to N21.
    """
    if codec:
        remarks.add(entry, "compressed-empty-batch", "records", entry.pos)
    elif entry.left:  # N02, N16
        remarks.add(entry, "count-zero-with-bytes", "records", entry.pos)
    entry.region("records", "ignored", entry.pos, entry.end)


def _with_records(batch: RecordBatch, records: list[Record]) -> RecordBatch:
    return evolve(batch, records=tuple(records)) if records else batch


def _with_batch(rejected: Rejected, batch: RecordBatch) -> Rejected:
    """Return the rejection with the batch decoded so far: §5. Without a record nothing is delivered."""
    return rejected.with_before(_with_records(batch, rejected.before) if rejected.before else None)


# --- values that the reader does not check: §1.5, §5 "IMPL" ---


def _remark_header(entry: Reader, header: RecordBatchHeader, remarks: EntryRemarks) -> None:
    batch, attributes = header.batch, header.batch.attributes
    append, horizon = attributes & attribute_bits.LOG_APPEND_TIME, attributes & attribute_bits.DELETE_HORIZON
    short = batch.last_offset_delta < max(header.count - 1, 0)
    checks = (
        (attributes & UNUSED_BITS, "unknown-attr-bits", "attributes"),
        (batch.base_offset < 0, "offset-negative", "baseOffset"),
        (short, "last-offset-delta", "lastOffsetDelta"),
        (_has_invalid_producer(batch), "producer-fields", "producerId"),
        (append and batch.max_timestamp < 0, "negative-timestamp", "maxTimestamp"),  # C27
        (horizon and batch.base_timestamp < 0, "negative-timestamp", "baseTimestamp"),  # C26
    )
    for applies, cls, name in checks:
        if applies:
            _remark(entry, header, remarks, cls, name)
    if attributes & attribute_bits.CONTROL:
        _remark_control(entry, header, remarks)


def _remark(entry: Reader, header: RecordBatchHeader, remarks: EntryRemarks, cls: str, name: str) -> None:
    """Add a remark on the field `name` of the header."""
    remarks.add(entry, cls, name, header.start + BATCH.offset(name))


def _has_invalid_producer(batch: RecordBatch) -> bool:
    """Return True for producer id, epoch and sequence that no writer combines: §1.1, C20, C21, C23, C25."""
    producer, epoch, sequence = batch.producer_id, batch.producer_epoch, batch.base_sequence
    control = batch.attributes & attribute_bits.CONTROL
    if producer == -1:  # the other two mean nothing: kafkajs, aiokafka and the broker itself leave them 0
        return bool(batch.attributes & attribute_bits.TRANSACTIONAL)
    return producer < -1 or epoch < 0 or sequence < -1 or (sequence == -1 and not control)


def _remark_control(entry: Reader, header: RecordBatchHeader, remarks: EntryRemarks) -> None:
    if header.batch.attributes & attribute_bits.CODEC_MASK and header.count:  # K11
        _remark(entry, header, remarks, "control-compressed", "attributes")
    transaction = header.batch.producer_id >= 0 or header.batch.attributes & attribute_bits.TRANSACTIONAL
    if header.count > 1 and transaction:  # K09; KRaft writes several records without a producer
        _remark(entry, header, remarks, "control-record-count", "recordsCount")


def _remark_records(
    entry: Reader, header: RecordBatchHeader, records: list[Record], remarks: EntryRemarks
) -> None:
    if not records:
        return
    batch = header.batch
    deltas = [record.offset_delta for record in records]
    past_last = deltas[-1] > batch.last_offset_delta >= header.count - 1
    if deltas[0] < 0 or past_last or deltas != sorted(set(deltas)):  # R26 to R30, R33
        _remark(entry, header, remarks, "offset-delta", "records")
    control = records[0].control
    if control and control.type < 2 and not batch.attributes & attribute_bits.TRANSACTIONAL:  # K10
        _remark(entry, header, remarks, "control-not-transactional", "attributes")
    if batch.attributes & attribute_bits.LOG_APPEND_TIME:
        return
    timestamps = [record.timestamp for record in records]
    if min(timestamps) < -1:  # R32
        _remark(entry, header, remarks, "negative-timestamp", "records")
    elif max(timestamps) != batch.max_timestamp:  # C19
        _remark(entry, header, remarks, "max-timestamp", "maxTimestamp")


# --- writing ---


def write(writer: Writer, batch: RecordBatch) -> None:
    """Write a batch: §1.1. Length, CRC and count are computed.

    Raises:
        Rejected: `invalid-value` for a magic other than 2, a codec of 5 to 7, or a number too large for its
            field.
    """
    codec = batch.attributes & attribute_bits.CODEC_MASK
    if batch.magic != MAGIC:
        raise writer.invalid("magic", f"magic {batch.magic}, a record batch has 2")
    if codec and codec not in COMPRESSION_CODECS:
        raise writer.invalid("attributes", f"codec {codec}")
    start = len(writer.data)
    HEADER.write(writer, _numbers(batch, (0, 0, len(batch.records))))
    writer.cover("recordsCount", "count", len(writer.data), len(writer.data))
    _write_records(writer, batch, codec)
    patch_computed(writer, BATCH, start)


def _write_records(writer: Writer, batch: RecordBatch, codec: int) -> None:
    if not codec:
        record.write_records(writer, batch.records)
        return
    inner = Writer(scope=writer.scope)
    record.write_records(inner, batch.records)
    writer.put("records", compress(codec, bytes(inner.data)))
