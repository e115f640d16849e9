"""Format v2, the record batch: kafka.md §1.1, §1.2, §1.5, §1.6, §1.8.

`read` accepts and rejects like a Kafka consumer that checks CRCs. For values that this consumer does not
check (§1.5, last paragraphs) and that no conforming writer makes, `read` adds a remark.
"""

from struct import Struct
from typing import Final

from attrs import evolve, frozen

from wireproof.kafka import attribute_bits, record
from wireproof.kafka.entry_remarks import EntryRemarks
from wireproof.kafka.record import BatchContext
from wireproof.kafka.size_and_magic import SizeAndMagic
from wireproof.kafka.values import Record, RecordBatch
from wireproof.wire.checksums import crc32c
from wireproof.wire.compression import COMPRESSION_CODECS, compress, decompress_prefix
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

MAGIC: Final = 2

_HEADER: Final = Struct(">q4xib4xhiqqqhi4x")
"""The fields of a header, without batchLength, crc and recordsCount: §1.1."""

# Positions in the batch, in bytes: §1.1
LENGTH_AT: Final = 8
CRC_AT: Final = 17
ATTRIBUTES_AT: Final = 21
LAST_OFFSET_DELTA_AT: Final = 23
BASE_TIME_AT: Final = 27
MAX_TIME_AT: Final = 35
PRODUCER_ID_AT: Final = 43
RECORDS_COUNT_AT: Final = 57
RECORDS_AT: Final = 61

UNUSED_BITS: Final = ~0x7F
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
        at = header.start + ATTRIBUTES_AT
        raise entry.reject("unknown-codec", "attributes", f"codec {codec}", at=at, detail="UNKNOWN_CODEC")
    if header.count < 0:  # N01, N10
        at, text = header.start + RECORDS_COUNT_AT, f"{header.count} records"
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


def peek_header(reader: Reader) -> RecordBatch:
    """Return the batch at the current position without its records; nothing is checked, the reader stays."""
    fields: tuple[int, ...] = _HEADER.unpack_from(reader.data, reader.pos)
    base, epoch, magic, attributes, delta, first, most, producer, producer_epoch, sequence = fields
    return RecordBatch(
        base, epoch, magic, attributes, delta, first, most, producer, producer_epoch, sequence, records=()
    )


def _header(entry: Reader) -> RecordBatchHeader:
    """Read the 61 bytes of the header; check the CRC of all bytes after it: §1.1."""
    start = entry.pos
    base_offset = entry.int64("baseOffset")
    entry.int32("batchLength")
    entry.cover("batchLength", "length", entry.pos, entry.end)
    epoch = entry.int32("partitionLeaderEpoch")
    magic = entry.int8("magic")
    crc = entry.uint32("crc")
    entry.cover("crc", "crc32c", entry.pos, entry.end)
    computed = crc32c(entry.data[entry.pos : entry.end])
    if crc != computed:
        text = f"{crc:08x} stored, {computed:08x} computed"
        raise entry.reject("crc-mismatch", "crc", text, at=start + CRC_AT, detail="CRC_MISMATCH")
    batch = RecordBatch(
        base_offset,
        epoch,
        magic,
        attributes=entry.int16("attributes"),
        last_offset_delta=entry.int32("lastOffsetDelta"),
        base_timestamp=entry.int64("baseTimestamp"),
        max_timestamp=entry.int64("maxTimestamp"),
        producer_id=entry.int64("producerId"),
        producer_epoch=entry.int16("producerEpoch"),
        base_sequence=entry.int32("baseSequence"),
        records=(),
    )
    count = entry.int32("recordsCount")
    entry.cover("recordsCount", "count", entry.pos, entry.end)
    return RecordBatchHeader(batch, count, start)


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
    batch, start = header.batch, header.start
    attributes = batch.attributes
    append, horizon = attributes & attribute_bits.LOG_APPEND_TIME, attributes & attribute_bits.DELETE_HORIZON
    short = batch.last_offset_delta < max(header.count - 1, 0)
    checks = (
        (attributes & UNUSED_BITS, "unknown-attr-bits", "attributes", ATTRIBUTES_AT),
        (batch.base_offset < 0, "offset-negative", "baseOffset", 0),
        (short, "last-offset-delta", "lastOffsetDelta", LAST_OFFSET_DELTA_AT),
        (_has_invalid_producer(batch), "producer-fields", "producerId", PRODUCER_ID_AT),
        (append and horizon, "lat-and-horizon", "attributes", ATTRIBUTES_AT),  # X03
        (append and batch.max_timestamp < 0, "negative-timestamp", "maxTimestamp", MAX_TIME_AT),  # C27
        (horizon and batch.base_timestamp < 0, "negative-timestamp", "baseTimestamp", BASE_TIME_AT),  # C26
    )
    for applies, cls, name, offset in checks:
        if applies:
            remarks.add(entry, cls, name, start + offset)
    if attributes & attribute_bits.CONTROL:
        _remark_control(entry, header, remarks)


def _has_invalid_producer(batch: RecordBatch) -> bool:
    """Return True for producer id, epoch and sequence that no writer combines: §1.1, C20 to C25."""
    producer, epoch, sequence = batch.producer_id, batch.producer_epoch, batch.base_sequence
    control = batch.attributes & attribute_bits.CONTROL
    if producer == -1:
        return epoch != -1 or sequence != -1 or bool(batch.attributes & attribute_bits.TRANSACTIONAL)
    return producer < -1 or epoch < 0 or sequence < -1 or (sequence == -1 and not control)


def _remark_control(entry: Reader, header: RecordBatchHeader, remarks: EntryRemarks) -> None:
    at = header.start + ATTRIBUTES_AT
    if header.batch.attributes & attribute_bits.CODEC_MASK and header.count:  # K11
        remarks.add(entry, "control-compressed", "attributes", at)
    if header.count > 1:  # K09
        remarks.add(entry, "control-record-count", "recordsCount", header.start + RECORDS_COUNT_AT)


def _remark_records(
    entry: Reader, header: RecordBatchHeader, records: list[Record], remarks: EntryRemarks
) -> None:
    if not records:
        return
    batch, start = header.batch, header.start
    deltas = [record.offset_delta for record in records]
    past_last = deltas[-1] > batch.last_offset_delta >= header.count - 1
    if deltas[0] < 0 or past_last or deltas != sorted(set(deltas)):  # R26 to R30, R33
        remarks.add(entry, "offset-delta", "records", start + RECORDS_AT)
    control = records[0].control
    if control and control.type < 2 and not batch.attributes & attribute_bits.TRANSACTIONAL:  # K10
        remarks.add(entry, "control-not-transactional", "attributes", start + ATTRIBUTES_AT)
    if batch.attributes & attribute_bits.LOG_APPEND_TIME:
        return
    timestamps = [record.timestamp for record in records]
    if min(timestamps) < -1:  # R32
        remarks.add(entry, "negative-timestamp", "records", start + RECORDS_AT)
    elif max(timestamps) != batch.max_timestamp:  # C19
        remarks.add(entry, "max-timestamp", "maxTimestamp", start + MAX_TIME_AT)


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
    writer.int64("baseOffset", batch.base_offset)
    writer.int32("batchLength", 0)
    writer.int32("partitionLeaderEpoch", batch.partition_leader_epoch)
    writer.int8("magic", batch.magic)
    writer.uint32("crc", 0)
    writer.int16("attributes", batch.attributes)
    writer.int32("lastOffsetDelta", batch.last_offset_delta)
    writer.int64("baseTimestamp", batch.base_timestamp)
    writer.int64("maxTimestamp", batch.max_timestamp)
    writer.int64("producerId", batch.producer_id)
    writer.int16("producerEpoch", batch.producer_epoch)
    writer.int32("baseSequence", batch.base_sequence)
    writer.int32("recordsCount", len(batch.records))
    writer.cover("recordsCount", "count", len(writer.data), len(writer.data))
    _write_records(writer, batch, codec)
    _patch_length_and_crc(writer, start)


def _write_records(writer: Writer, batch: RecordBatch, codec: int) -> None:
    if not codec:
        record.write_records(writer, batch.records)
        return
    inner = Writer(scope=writer.scope)
    record.write_records(inner, batch.records)
    writer.put("records", compress(codec, bytes(inner.data)))


def _patch_length_and_crc(writer: Writer, start: int) -> None:
    """Write batchLength and crc, which depend on the bytes after them: §1.1."""
    end = len(writer.data)
    writer.patch("batchLength", "int32", start + LENGTH_AT, end - start - 12)
    writer.cover("batchLength", "length", start + LENGTH_AT + 4, end)
    writer.patch("crc", "uint32", start + CRC_AT, crc32c(bytes(writer.data[start + ATTRIBUTES_AT :])))
    writer.cover("crc", "crc32c", start + ATTRIBUTES_AT, end)
