"""kafka-python, driven as its fetcher drives it (`kafka.consumer.fetcher`, `_unpack_records`)."""

from importlib.metadata import version
from typing import Any, Final

from kafka import errors
from kafka.record.default_records import (
    DefaultRecordBatch,
    DefaultRecordBatchBuilder,
)
from kafka.record.legacy_records import (
    LegacyRecordBatch,
    LegacyRecordBatchBuilder,
)
from kafka.record.memory_records import MemoryRecords

from wireproof.adapters.contract import Claim
from wireproof_peers.exception_map import Refusals
from wireproof_peers.record_set import OBSERVES, READS, Library, RecordSet, write_claims

CODECS: Final = {
    "v0": ("none", "gzip", "snappy", "lz4"),
    "v1": ("none", "gzip", "snappy", "lz4"),
    "v2": ("none", "gzip", "snappy", "lz4", "zstd"),
}
FURTHER: Final = tuple(f"batches[].{name}" for name in ("partitionLeaderEpoch", "magic", "attributes"))

HEADER: Final = {
    "baseOffset": "base_offset",
    "partitionLeaderEpoch": "leader_epoch",
    "magic": "magic",
    "attributes": "attributes",
    "lastOffsetDelta": "last_offset_delta",
    "baseTimestamp": "first_timestamp",
    "maxTimestamp": "max_timestamp",
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "baseSequence": "base_sequence",
    "nextOffset": "next_offset",
}
MISSING: Final = {name for name, own in HEADER.items() if not hasattr(DefaultRecordBatch, own)}
"""The fields of a batch that an old release does not show."""

BAD_CRC: Final = getattr(errors, "CorruptRecordError", None) or errors.CorruptRecordException
"""The error of a wrong checksum; before 3.0 it had another name."""

REFUSALS: Final = Refusals(
    documented=(errors.KafkaError,),
    classes=(
        ("failed its crc check", "crc-mismatch"),
        ("less than the minimum record overhead", "bad-length"),
        ("unconsumed bytes", "trailing-data"),
        ("Invalid record size", "length-mismatch"),
        ("Invalid negative header key size", "null-not-allowed"),
        ("Value of compressed message is None", "null-not-allowed"),
        ("Unrecognized compression type", "unknown-codec"),
        ("double-compressed", "bad-nesting"),
    ),
)


def _parsed_already(_: Any) -> None:  # noqa: ANN401 - of the library
    """Return nothing: the library reads the key of a control record when it makes the record."""


adapter: Final = RecordSet(
    Library(
        name="kafka-python",
        version=version("kafka-python"),
        records=MemoryRecords,
        modern=DefaultRecordBatch,
        legacy=LegacyRecordBatch,
        header=tuple((name, own) for name, own in HEADER.items() if name not in MISSING),
        legacy_header=(("magic", "magic"), ("attributes", "_attributes")),
        control=_parsed_already,
        consumed=MemoryRecords.valid_bytes,
        modern_builder=DefaultRecordBatchBuilder,
        legacy_builder=LegacyRecordBatchBuilder,
        refusals=REFUSALS,
        bad_crc=BAD_CRC,
    ),
    claims=(
        (
            "kafka.log/mixed",
            Claim(
                ops=("decode",),
                codecs=CODECS["v2"],
                profiles=("reader",),
                observes=tuple(
                    name
                    for name in (*OBSERVES, *FURTHER, "batches[magic=2].nextOffset")
                    if name.rpartition(".")[2] not in MISSING or name.count(".") > 1
                ),
                features=READS,
            ),
        ),
        *write_claims(CODECS),
    ),
)
