"""aiokafka, driven as its fetcher drives it (`aiokafka.consumer.fetcher`, `_unpack_records`).

One wheel holds two codecs: extensions in Cython, and the same in Python, which it takes when the
environment has `AIOKAFKA_NO_EXTENSIONS=1` before its first import. So two adapters use this module, with
different environments.
"""

from importlib.metadata import version
from typing import Any, Final

from aiokafka.errors import CorruptRecordException, KafkaError
from aiokafka.record.control_record import ControlRecord
from aiokafka.record.default_records import (
    DefaultRecordBatch,
    DefaultRecordBatchBuilder,
)
from aiokafka.record.legacy_records import (
    LegacyRecordBatch,
    LegacyRecordBatchBuilder,
)
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.util import NO_EXTENSIONS

from wireproof.adapters.contract import Claim
from wireproof_peers.exception_map import Refusals
from wireproof_peers.record_set import BATCH_FIELDS, OBSERVES, READS, Library, RecordSet, write_claims

CODECS: Final = {
    "v0": ("none", "gzip", "snappy"),
    "v1": ("none", "gzip", "snappy", "lz4"),
    "v2": ("none", "gzip", "snappy", "lz4", "zstd"),
}
"""No LZ4 in v0: its error for that names KAFKA-3160."""

REFUSALS: Final = Refusals(
    documented=(KafkaError,),
    classes=(
        ("failed its crc check", "crc-mismatch"),
        ("less than the minimum record overhead", "bad-length"),
        ("unconsumed bytes", "trailing-data"),
        ("Invalid record size", "length-mismatch"),
        ("Invalid negative header key size", "null-not-allowed"),
        ("Value of compressed message is None", "null-not-allowed"),
        ("Unknown compression codec", "unknown-codec"),
        ("LZ4 is not supported", "unknown-codec"),
        ("double-compressed", "bad-nesting"),
    ),
)

NAMES: Final = dict(
    zip(
        BATCH_FIELDS,
        (
            "base_offset",
            "last_offset_delta",
            "first_timestamp",
            "max_timestamp",
            "producer_id",
            "producer_epoch",
            "base_sequence",
        ),
        strict=True,
    )
)

NEXT_OFFSET: Final = ("nextOffset", "next_offset")


def _control(record: Any) -> object:  # noqa: ANN401 - of the library
    """Read the marker of a control batch with the class that its fetcher uses."""
    return ControlRecord.parse(record.key)


def _unknown(_: Any) -> None:  # noqa: ANN401 - of the library
    """Return nothing: its reader does not report the number of bytes that it used."""


adapter: Final = RecordSet(
    Library(
        name="aiokafka-pure" if NO_EXTENSIONS else "aiokafka",
        version=version("aiokafka"),
        records=MemoryRecords,
        modern=DefaultRecordBatch,
        legacy=LegacyRecordBatch,
        header=(*NAMES.items(), NEXT_OFFSET),
        legacy_header=(NEXT_OFFSET,),
        control=_control,
        consumed=_unknown,
        modern_builder=DefaultRecordBatchBuilder,
        legacy_builder=LegacyRecordBatchBuilder,
        refusals=REFUSALS,
        bad_crc=CorruptRecordException,
    ),
    claims=(
        (
            "kafka.log/mixed",
            Claim(
                ops=("decode",),
                codecs=CODECS["v2"],
                profiles=("reader",),
                observes=(*OBSERVES, "batches[].nextOffset"),
                features=READS,
            ),
        ),
        *write_claims(CODECS),
    ),
)
