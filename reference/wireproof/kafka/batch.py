"""Record batches of v2, field by field with their rules: kafka.md §1.1 to §1.3, §1.5.

Readers accept and refuse like a Kafka consumer that checks CRCs. What such a consumer does not check, and no
conforming writer makes, gets a remark (§5, "IMPL"). Records, which are read by hand, are in `record`.
"""

from typing import Final

from wireproof.kafka import control_record, record
from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from wireproof.kafka.values import Record, RecordBatch
from wireproof.schema.layout import (
    REST,
    Checksum,
    ChecksumAlgorithm,
    Count,
    Flag,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Packed,
    Part,
    Repeated,
    When,
    named_bits,
)
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct
from wireproof.wire.checksums import crc32c
from wireproof.wire.compression import COMPRESSION_CODECS

CRC32C: Final = ChecksumAlgorithm("crc32c", crc32c)
"""CRC-32C (Castagnoli): §1.1."""

CODECS: Final = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
"""The names of the compression codecs, by number: §1.2."""

TIMESTAMP_TYPE: Final = Flag("timestampType", LOG_APPEND_TIME, {0: "CreateTime", 1: "LogAppendTime"})

BATCH_FLAGS: Final = (
    Flag("codec", CODEC_MASK, CODECS),
    TIMESTAMP_TYPE,
    Flag("transactional", TRANSACTIONAL),
    Flag("control", CONTROL),
    Flag("deleteHorizon", DELETE_HORIZON),
)
"""The attribute bits of a batch: §1.2."""

RECORD_HEADER: Final = Layout(
    "RecordHeader",
    (
        Length("keyLength", "varint", of="key"),
        Octets("key", text=True),
        Length("valueLength", "varint", of="value", null=-1),
        Octets("value"),
    ),
    cites="kafka.md §1.3",
)  # fmt: skip


def _control(part: Part) -> Part:
    """Return a part that only the records of a control batch have: §1.9."""
    return When(part, number="attributes", mask=CONTROL, values=(CONTROL,))


RECORD: Final = Layout(
    "Record",
    (
        Length("length", "varint", of=REST, meaning="number of bytes after it"),
        Number("attributes", "int8", meaning="unused"),
        Number("timestampDelta", "varlong", meaning="added to baseTimestamp"),
        Number("offsetDelta", "varint", meaning="added to baseOffset"),
        Length("keyLength", "varint", of="key", null=-1, meaning="-1 is null"),
        Octets("key", holds=_control(Nested("key", of=control_record.KEY))),
        Length("valueLength", "varint", of="value", null=-1, meaning="-1 is null"),
        Octets("value", holds=_control(OneOf("value", number="key.type", layouts=control_record.VALUES))),
        Count("headerCount", "varint", of="headers"),
        Repeated("headers", of=RECORD_HEADER),
    ),
    value=Record,
    computed=("offset", "timestamp", "control"),
    cites="kafka.md §1.3",
)  # fmt: skip

# --- batches: §1.1, §1.2, §1.5 ---

RECORD_BATCH: Final = Struct(
    "RecordBatch",
    Number("baseOffset", "int64", meaning="offset of the first record"),
    Length("batchLength", "int32", of=REST, meaning="number of bytes after it"),
    Number("partitionLeaderEpoch", "int32", meaning="-1 if unknown; set by the broker"),
    Number("magic", "int8", const=2),
    Checksum("crc", "uint32", algorithm=CRC32C, over=REST, meaning="CRC-32C of all bytes after it"),
    Number("attributes", "int16", flags=BATCH_FLAGS),
    Number("lastOffsetDelta", "int32", meaning="last offset minus baseOffset; compaction keeps it"),
    Number("baseTimestamp", "int64", meaning="of the first record, or the delete horizon"),
    Number("maxTimestamp", "int64", meaning="the greatest of its records, or the time of the append"),
    Number("producerId", "int64", meaning="-1 if none"),
    Number("producerEpoch", "int16", meaning="-1 if none"),
    Number("baseSequence", "int32", meaning="-1 if none"),
    Count("recordsCount", "int32", of="records"),
    Packed(
        "records",
        codec_of="attributes",
        mask=CODEC_MASK,
        of=Repeated("records", of=RECORD),
        read=record.read_region,
        write=record.write_region,
    ),
    revisions=("v2",),
    value=RecordBatch,
    framed=True,
    cites="kafka.md §1.1",
)

UNUSED_BITS: Final = ~named_bits(BATCH_FLAGS)
"""Attribute bits 7 to 15, which have no meaning: §1.2."""


@RECORD_BATCH.rule("magic", "kafka.v2.magic", unread=True)
def _other_magic(magic: int) -> Fault | None:
    return Fault("bad-magic", f"magic {magic}, a record batch has 2") if magic != 2 else None


@RECORD_BATCH.rule("crc", "kafka.v2.crc")
def _wrong_crc(crc: int, computed: int) -> Fault | None:
    if crc == computed:
        return None
    return Fault("crc-mismatch", f"{crc:08x} stored, {computed:08x} computed", detail="CRC_MISMATCH")


@RECORD_BATCH.rule("attributes", "kafka.v2.codec")
def _unknown_codec(attributes: int) -> Fault | None:
    codec = attributes & CODEC_MASK
    if not codec or codec in COMPRESSION_CODECS:  # C11, C12
        return None
    return Fault("unknown-codec", f"codec {codec}", detail="UNKNOWN_CODEC")


@RECORD_BATCH.rule("recordsCount", "kafka.v2.count.negative")
def _negative_count(records_count: int) -> Fault | None:
    if records_count >= 0:  # N01, N10
        return None
    return Fault("negative-length", f"{records_count} records", detail="COUNT_NEGATIVE")


@RECORD_BATCH.rule("baseOffset", "kafka.v2.unchecked", unwritten=True)
def _negative_offset(base_offset: int) -> Fault | None:
    return remarked("offset-negative") if base_offset < 0 else None


@RECORD_BATCH.rule("attributes", "kafka.v2.attributes.unused", unwritten=True)
def _unused_bits(attributes: int) -> Fault | None:
    return remarked("unknown-attr-bits") if attributes & UNUSED_BITS else None


@RECORD_BATCH.rule("", "kafka.v2.last-offset", unwritten=True)
def _short_delta(last_offset_delta: int, records_count: int) -> Fault | None:
    if last_offset_delta >= max(records_count - 1, 0):
        return None
    return remarked("last-offset-delta", path="lastOffsetDelta")


@RECORD_BATCH.rule("", "kafka.v2.producer", unwritten=True)
def _odd_producer(attributes: int, producer_id: int, producer_epoch: int, base_sequence: int) -> Fault | None:
    """Find a producer id, epoch and sequence that no writer combines: C20, C21, C23, C25.

    Without an id the other two mean nothing: kafkajs, aiokafka and the broker itself leave them 0.
    """
    if producer_id == -1:
        odd = bool(attributes & TRANSACTIONAL)
    else:
        no_sequence = base_sequence == -1 and not attributes & CONTROL
        odd = producer_id < -1 or producer_epoch < 0 or base_sequence < -1 or no_sequence
    return remarked("producer-fields", path="producerId") if odd else None


@RECORD_BATCH.rule("maxTimestamp", "kafka.v2.log-append-time", unwritten=True)
def _negative_append_time(attributes: int, max_timestamp: int) -> Fault | None:
    negative = attributes & LOG_APPEND_TIME and max_timestamp < 0  # C27
    return remarked("negative-timestamp") if negative else None


@RECORD_BATCH.rule("baseTimestamp", "kafka.v2.delete-horizon", unwritten=True)
def _negative_horizon(attributes: int, base_timestamp: int) -> Fault | None:
    negative = attributes & DELETE_HORIZON and base_timestamp < 0  # C26
    return remarked("negative-timestamp") if negative else None


@RECORD_BATCH.rule("", "kafka.control.first", unwritten=True)
def _packed_control(attributes: int, records_count: int) -> Fault | None:
    packed = attributes & CONTROL and attributes & CODEC_MASK and records_count  # K11
    return remarked("control-compressed", path="attributes") if packed else None


@RECORD_BATCH.rule("recordsCount", "kafka.control.first", unwritten=True)
def _several_markers(attributes: int, producer_id: int, records_count: int) -> Fault | None:
    """Find several control records of a transaction: K09. KRaft writes several without a producer."""
    transaction = producer_id >= 0 or attributes & TRANSACTIONAL
    several = attributes & CONTROL and transaction and records_count > 1
    return remarked("control-record-count") if several else None


@RECORD_BATCH.rule("records", "kafka.v2.empty", unwritten=True)
def _packed_nothing(attributes: int, records_count: int) -> Fault | None:
    """Find an empty batch with a codec: N08, N09, N18 to N21. The code paths of Kafka differ here."""
    return remarked("compressed-empty-batch") if not records_count and attributes & CODEC_MASK else None


@RECORD_BATCH.rule("records", "kafka.v2.count.zero")
def _bytes_of_no_record(attributes: int, records_count: int, room: int) -> Fault | None:
    plain = not records_count and not attributes & CODEC_MASK
    return remarked("count-zero-with-bytes") if plain and room > BATCH_HEADER else None  # N02, N16


@RECORD_BATCH.rule("", "kafka.v2.unchecked", unwritten=True)
def _odd_deltas(last_offset_delta: int, records: tuple[Record, ...]) -> Fault | None:
    deltas = [record.offset_delta for record in records]
    if not deltas:
        return None
    past_last = deltas[-1] > last_offset_delta >= len(deltas) - 1
    odd = deltas[0] < 0 or past_last or deltas != sorted(set(deltas))  # R26 to R30, R33
    return remarked("offset-delta", path="records") if odd else None


@RECORD_BATCH.rule("", "kafka.control.first", unwritten=True)
def _marker_of_no_transaction(attributes: int, records: tuple[Record, ...]) -> Fault | None:
    control = records[0].control if records else None
    odd = control and control.type < 2 and not attributes & TRANSACTIONAL  # K10
    return remarked("control-not-transactional", path="attributes") if odd else None


@RECORD_BATCH.rule("", "kafka.v2.unchecked", unwritten=True)
def _odd_timestamps(attributes: int, max_timestamp: int, records: tuple[Record, ...]) -> Fault | None:
    if not records or attributes & LOG_APPEND_TIME:
        return None
    timestamps = [record.timestamp for record in records]
    if min(timestamps) < -1:  # R32
        return remarked("negative-timestamp", path="records")
    return remarked("max-timestamp", path="maxTimestamp") if max(timestamps) != max_timestamp else None  # C19


BATCH: Final = RECORD_BATCH.at("v2")

BATCH_HEADER: Final = BATCH.fixed_size
"""The size of the fields before the records, in bytes."""

BATCH_NUMBERS: Final = tuple(
    part
    for part in BATCH.parts
    if isinstance(part, Checksum | Count) or (isinstance(part, Number) and part.const is None)
)
"""The integers of the header of a batch that vary, without its length, in the order of the wire."""
