"""The layouts of the Kafka formats: kafka.md §1.1, §1.2, §1.3, §2.1, §2.2, §2.4."""

from typing import Final

from wireproof.kafka import control_layouts
from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from wireproof.kafka.values import Log, Message, Record, RecordBatch
from wireproof.wire.checksums import crc32, crc32c
from wireproof.wire.layout import (
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
)

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
        Octets("key", holds=_control(Nested("key", of=control_layouts.KEY))),
        Length("valueLength", "varint", of="value", null=-1, meaning="-1 is null"),
        Octets("value", holds=_control(OneOf("value", number="key.type", layouts=control_layouts.VALUES))),
        Count("headerCount", "varint", of="headers"),
        Repeated("headers", of=RECORD_HEADER),
    ),
    value=Record,
    computed=("offset", "timestamp", "control"),
    cites="kafka.md §1.3",
)  # fmt: skip

BATCH: Final = Layout(
    "RecordBatch",
    (
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
        Packed("records", codec_of="attributes", mask=CODEC_MASK, of=Repeated("records", of=RECORD)),
    ),
    value=RecordBatch,
    cites="kafka.md §1.1",
)  # fmt: skip

BATCH_NUMBERS: Final = tuple(
    part
    for part in BATCH.parts
    if isinstance(part, Checksum | Count) or (isinstance(part, Number) and part.const is None)
)
"""The integers of the header of a batch that vary, without its length, in the order of the wire."""

# --- messages ---

_MESSAGE_CODEC: Final = Flag("codec", CODEC_MASK, {number: CODECS[number] for number in range(4)})

MESSAGE_FLAGS: Final = ((_MESSAGE_CODEC,), (_MESSAGE_CODEC, _TIMESTAMP_TYPE))
"""The attribute bits of a message, by magic: §2.1."""


def _of_codec(part: Part, *codecs: int) -> Part:
    """Return a part that only the messages with these compression codecs have."""
    return When(part, number="attributes", mask=CODEC_MASK, values=codecs)


def _message(magic: int, *value: Part) -> Layout:
    """Return the layout of a message of this magic, whose value has the given parts."""
    timestamp = (Number("timestamp", "int64", meaning="in milliseconds; -1 if none"),)
    return Layout(
        f"MessageV{magic}",
        (
            Number("offset", "int64", meaning="of a wrapper: that of its last message"),
            Length("size", "int32", of=REST, meaning="number of bytes after it"),
            Checksum("crc", "uint32", algorithm=CRC32, over=REST, meaning="CRC-32 of all bytes after it"),
            Number("magic", "int8", const=magic),
            Number("attributes", "int8", flags=MESSAGE_FLAGS[magic]),
            *(timestamp if magic else ()),
            Length("keyLength", "int32", of="key", null=-1, meaning="-1 is null"),
            Octets("key"),
            Length("valueLength", "int32", of="value", null=-1, meaning="-1 is null"),
            *value,
        ),
        value=Message,
        cites="kafka.md §2.1",
    )


_INNER: Final = Layout(
    "InnerMessage",
    (OneOf("", number="magic", layouts={magic: _message(magic, Octets("value")) for magic in (0, 1)}),),
    cites="kafka.md §2.2",
)

_MESSAGE_VALUE: Final = (
    _of_codec(Octets("value"), 0),
    _of_codec(
        Packed("value", codec_of="attributes", mask=CODEC_MASK, of=Repeated("messages", of=_INNER)), 1, 2, 3
    ),
)
"""The value of a message; that of a wrapper is a compressed set of messages: §2.2."""

MESSAGE_V0: Final = _message(0, *_MESSAGE_VALUE)

MESSAGE_V1: Final = _message(1, *_MESSAGE_VALUE)

# --- logs ---

BY_MAGIC: Final = (MESSAGE_V0, MESSAGE_V1, BATCH)
"""The layouts of entries by magic, which all of them have at the same position: §1.4."""

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
