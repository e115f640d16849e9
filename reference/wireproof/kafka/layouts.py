"""The formats of Kafka, field by field with their rules: kafka.md §1.1 to §1.3, §1.5, §2.1, §2.2, §2.4.

Readers accept and refuse like a Kafka consumer that checks CRCs. What such a consumer does not check, and no
conforming writer makes, gets a remark (§5, "IMPL"). Records and wrappers, which are read by hand, are in
`record` and `message`.
"""

from typing import Any, Final

from attrs import evolve

from wireproof.kafka import control_record, record
from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from wireproof.kafka.values import Log, Message, Record, RecordBatch
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
from wireproof.schema.packing import Head
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import ByRevision, Struct, StructLayout, since
from wireproof.wire.checksums import crc32, crc32c
from wireproof.wire.compression import COMPRESSION_CODECS

CRC32C: Final = ChecksumAlgorithm("crc32c", crc32c)
"""CRC-32C (Castagnoli): §1.1."""

CRC32: Final = ChecksumAlgorithm("crc32", crc32)
"""CRC-32 (ISO-HDLC): §2.1."""

CODECS: Final = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
"""The names of the compression codecs, by number: §1.2."""

_TIMESTAMP_TYPE: Final = Flag("timestampType", LOG_APPEND_TIME, {0: "CreateTime", 1: "LogAppendTime"})

BATCH_FLAGS: Final = (
    Flag("codec", CODEC_MASK, CODECS),
    _TIMESTAMP_TYPE,
    Flag("transactional", TRANSACTIONAL),
    Flag("control", CONTROL),
    Flag("deleteHorizon", DELETE_HORIZON),
)
"""The attribute bits of a batch: §1.2."""

RECORD_HEADER: Final = Layout(
    "RecordHeader",
    (
        Length("keyLength", "varint", of="key"),
        Octets("key", text=True, structure=True),
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

# --- messages: §2.1 ---

MAGICS: Final = ("v0", "v1")
"""The revisions of messages, by magic."""

_MESSAGE_CODEC: Final = Flag("codec", CODEC_MASK, {number: CODECS[number] for number in range(4)})

MESSAGE_FLAGS: Final = ((_MESSAGE_CODEC,), (_MESSAGE_CODEC, _TIMESTAMP_TYPE))
"""The attribute bits of a message, by magic: §2.1."""

NO_TIMESTAMP: Final = -1
"""The timestamp that means: none. A v0 message has no other."""

ZSTD: Final = 4


def build_message(timestamp: int = NO_TIMESTAMP, value: bytes | None = None, **fields: Any) -> Message:  # noqa: ANN401 - of the types of `Message`
    """Return a message: one without inner messages, or a wrapper without a value of its own."""
    return Message(timestamp=timestamp, value=value, **{"messages": None, **fields})


MESSAGE: Final = Struct(
    "Message",
    Number("offset", "int64", meaning="of a wrapper: that of its last message"),
    Length("size", "int32", of=REST, meaning="number of bytes after it"),
    Checksum("crc", "uint32", algorithm=CRC32, over=REST, meaning="CRC-32 of all bytes after it"),
    ByRevision("magic", lambda revision: Number("magic", "int8", const=MAGICS.index(revision))),
    ByRevision(
        "attributes",
        lambda revision: Number("attributes", "int8", flags=MESSAGE_FLAGS[MAGICS.index(revision)]),
    ),
    since("v1", Number("timestamp", "int64", meaning="in milliseconds; -1 if none")),
    Length("keyLength", "int32", of="key", null=-1, meaning="-1 is null"),
    Octets("key"),
    Length("valueLength", "int32", of="value", null=-1, meaning="-1 is null"),
    Octets("value"),
    revisions=MAGICS,
    value=Message,
    framed=True,
    build=build_message,
    cites="kafka.md §2.1",
)
"""A message that is not compressed."""

UNUSED_BITS_OF_MESSAGES: Final = tuple(~named_bits(flags) for flags in MESSAGE_FLAGS)
"""Attribute bits that have no meaning, by magic: §2.1. Bit 3 of v0 is one of them (L08)."""


def _negative_message_offset(offset: int) -> Fault | None:
    return remarked("offset-negative") if offset < 0 else None  # L40


def _unused_message_bits(attributes: int, magic: int) -> Fault | None:
    unused = attributes & UNUSED_BITS_OF_MESSAGES[min(magic, 1)]  # L08 to L10
    return remarked("unknown-attr-bits") if unused else None


def _early_timestamp(timestamp: int) -> Fault | None:
    return remarked("negative-timestamp") if timestamp < NO_TIMESTAMP else None  # L11


def _odd_null(number: int) -> Fault | None:
    return remarked("length-below-minus1") if number < -1 else None  # L04, L05


def add_common_rules(struct: Struct) -> None:
    """Add the rules that messages and wrappers have: §2.1, §5 "IMPL"."""
    struct.rule("offset", "kafka.legacy.unchecked", alone=True, unwritten=True)(_negative_message_offset)
    struct.rule("attributes", "kafka.legacy.attributes.unused", alone=True, unwritten=True)(
        _unused_message_bits
    )
    struct.rule("timestamp", "kafka.v1.timestamp", since="v1", alone=True, unwritten=True)(_early_timestamp)
    struct.rule("keyLength", "kafka.legacy.null.negative", unwritten=True)(_odd_null)


add_common_rules(MESSAGE)
MESSAGE.rule("valueLength", "kafka.legacy.null.negative", unwritten=True)(_odd_null)


@MESSAGE.rule("crc", "kafka.legacy.crc")
def _wrong_message_crc(crc: int, computed: int) -> Fault | None:
    return None if crc == computed else Fault("crc-mismatch", detail="CRC_MISMATCH")


@MESSAGE.rule("attributes", "kafka.legacy.codec")
def _message_codec(attributes: int) -> Fault | None:
    """Find the codecs 5 to 7, which do not exist (L14), and 4, zstd, which v0 and v1 do not allow.

    §2.2: L13, Z56, Z57.
    """
    codec = attributes & CODEC_MASK
    if codec < ZSTD:
        return None
    return Fault(
        "unknown-codec", f"codec {codec}", detail="LEGACY_ZSTD" if codec == ZSTD else "UNKNOWN_CODEC"
    )


@MESSAGE.rule("timestamp", "kafka.legacy.encode.timestamp", since="v1", unread=True)
def _written_timestamp(timestamp: int) -> Fault | None:
    """Find a timestamp below -1: §1.7, "writer-side rules"."""
    if timestamp >= NO_TIMESTAMP:
        return None
    return Fault("invalid-value", f"{timestamp} in a v1 message")


def _of_codec(part: Part, *codecs: int) -> Part:
    """Return a part that only the messages with these compression codecs have."""
    return When(part, number="attributes", mask=CODEC_MASK, values=codecs)


PLAIN: Final = tuple(map(MESSAGE.at, MAGICS))
"""Messages that are not compressed, by magic."""

WRAPPED: Final = Packed(
    "value",
    codec_of="attributes",
    mask=CODEC_MASK,
    of=Repeated(
        "messages",
        of=Layout(
            "InnerMessage",
            (OneOf("", number="magic", layouts=dict(enumerate(PLAIN))),),
            cites="kafka.md §2.2",
        ),
    ),
)
"""The value of a wrapper is a compressed set of messages: §2.2."""


def _any_message(magic: int) -> Layout:
    """Return the layout of messages and wrappers of a magic."""
    plain = PLAIN[magic]
    value = (_of_codec(plain.parts[-1], 0), _of_codec(WRAPPED, 1, 2, 3))
    return Layout(f"MessageV{magic}", (*plain.parts[:-1], *value), value=Message, cites="kafka.md §2.1")


MESSAGE_V0: Final = _any_message(0)

MESSAGE_V1: Final = _any_message(1)

# --- logs ---

BY_MAGIC: Final = (MESSAGE_V0, MESSAGE_V1, BATCH)
"""The layouts of entries by magic, which all of them have at the same position: §1.4."""


def _header(layout: StructLayout, last: str) -> StructLayout:
    """Return the fields before `last`; what it reads is a dictionary, and nothing is checked."""
    end = layout.parts.index(layout.part(last))
    return evolve(layout, parts=layout.parts[:end], rules=(), build=dict)


HEADERS: Final = (*(_header(layout, "keyLength") for layout in PLAIN), _header(BATCH, "records"))
"""The fields before the key or the records, by magic."""

HEADS: Final = tuple(map(Head, HEADERS))
"""The same, for a look at them without a reader."""

LOG: Final = Layout(
    "Log",
    (
        Repeated(
            "batches",
            of=Layout("Entry", (OneOf("", number="magic", layouts=dict(enumerate(BY_MAGIC))),)),
        ),
    ),
    value=Log,
    computed=("next_offset",),
    cites="kafka.md §2.4",
)  # fmt: skip

# --- index files ---

OFFSET_ENTRY: Final = Layout(
    "OffsetIndexEntry",
    (
        Number("relativeOffset", "int32", meaning="minus the base offset of the segment"),
        Number("position", "int32", meaning="in the log"),
    ),
    cites="Apache Kafka 4.x, OffsetIndex",
)

TIME_ENTRY: Final = Layout(
    "TimeIndexEntry",
    (
        Number("timestamp", "int64", meaning="the greatest so far"),
        Number("relativeOffset", "int32", meaning="minus the base offset of the segment"),
    ),
    cites="Apache Kafka 4.x, TimeIndex",
)

ABORTED_TRANSACTION_VERSION: Final = 0

ABORTED_TRANSACTION: Final = Layout(
    "AbortedTxn",
    (
        Number("version", "int16", const=ABORTED_TRANSACTION_VERSION),
        Number("producerId", "int64"),
        Number("firstOffset", "int64", meaning="of the transaction"),
        Number("lastOffset", "int64", meaning="of its ABORT marker"),
        Number("lastStableOffset", "int64", meaning="the first offset of the oldest open transaction"),
    ),
    cites="Apache Kafka 4.x, AbortedTxn",
)
