"""The layouts of the Kafka formats: kafka.md §1.1, §1.2, §1.3, §2.1."""

from typing import Final

from wireproof.kafka import control_layouts
from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from wireproof.kafka.values import Record, RecordBatch
from wireproof.wire.checksums import crc32c
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

CODECS: Final = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
"""The names of the compression codecs, by number: §1.2."""

BATCH_FLAGS: Final = (
    Flag("codec", CODEC_MASK, CODECS),
    Flag("timestampType", LOG_APPEND_TIME, {0: "CreateTime", 1: "LogAppendTime"}),
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
