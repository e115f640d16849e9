"""Kafka codecs with one planted fault each.

Each fault was seen in some client, or is one edit away from right. Those of `SWALLOWED` leave out one check
of the reference, by the specification's name of the refusal: it reports what was read so far instead.
"""

from collections.abc import Mapping
from typing import Final

from tests.mutants import kafka_bytes, kafka_derived, kafka_encode, kafka_logs, kafka_values
from tests.mutants.base import ReferenceCodec
from tests.mutants.kafka_helpers import (
    KafkaMutant,
)
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.wire.rejection import Rejected


class Swallows(KafkaMutant):
    """Answers what it has read so far where one check of the reference would refuse.

    Attributes:
        details: the specification's names of the refusals that it does not make.
    """

    details: frozenset[str] = frozenset()

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        """Accept if the check is one that is left out."""
        outcome = refused_outcome(rejected)
        if rejected.detail not in self.details:
            return outcome
        return Accepted(outcome.before, len(request.data))


SWALLOWED: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("trailing-bytes-accepted", "Ignores bytes after the last counted record.", ("TRAILING_BYTES",)),
    ("premature-end-accepted", "Ends a batch quietly where its records run out.", ("PREMATURE_EOF",)),
    ("negative-count-as-empty", "Reads a negative count as no records.", ("COUNT_NEGATIVE",)),
    (
        "record-length-unchecked",
        "Does not compare a record's length with its fields.",
        ("RECORD_LENGTH_MISMATCH",),
    ),
    (
        "record-length-negative-ends",
        "Ends a batch quietly at a negative length.",
        ("RECORD_LENGTH_NEGATIVE",),
    ),
    ("field-past-end-cut", "Cuts a field that runs past its record.", ("FIELD_PAST_END",)),
    ("header-key-null-accepted", "Takes a header without a key.", ("HEADER_KEY_NULL",)),
    ("header-count-unchecked", "Reads headers until the bytes run out.", ("HEADER_COUNT_EXCESSIVE",)),
    (
        "negative-header-count-as-none",
        "Reads a negative count of headers as none.",
        ("HEADER_COUNT_NEGATIVE",),
    ),
    ("unknown-codec-as-none", "Takes an unknown codec for no compression.", ("UNKNOWN_CODEC",)),
    ("zstd-in-legacy-accepted", "Takes zstd in v0 and v1 messages.", ("LEGACY_ZSTD",)),
    ("nested-wrapper-accepted", "Takes a wrapper inside a wrapper.", ("NESTED_COMPRESSION",)),
    ("wrapper-offset-unchecked", "Takes a wrapper below its last inner offset.", ("WRAPPER_OFFSET",)),
    ("wrapper-null-as-empty", "Takes a wrapper without a value for an empty set.", ("WRAPPER_NULL_VALUE",)),
    ("damaged-stream-as-end", "Takes a damaged compressed stream for its end.", ("DECOMPRESS_FAILED",)),
    (
        "too-small-skipped",
        "Skips an entry too small for its format.",
        ("BATCH_TOO_SMALL", "LEGACY_TOO_SMALL"),
    ),
    ("size-zero-ends", "Ends a log quietly at a size below 14.", ("SIZE_TOO_SMALL",)),
    (
        "control-key-unchecked",
        "Takes any key of a control record.",
        ("CONTROL_KEY_NULL", "CONTROL_KEY_SHORT"),
    ),
    (
        "control-version-unchecked",
        "Takes a negative version of a control key.",
        ("CONTROL_VERSION_NEGATIVE",),
    ),
)
"""Name, fault, and the names of the refusals that are not made."""


def _swallowing(name: str, fault: str, details: tuple[str, ...]) -> type[ReferenceCodec]:
    return type(name, (Swallows,), {"__doc__": fault, "name": name, "details": frozenset(details)})


_ALL: Final[tuple[type[ReferenceCodec], ...]] = (
    kafka_bytes.CrcSkip,
    kafka_bytes.CrcIeeeForV2,
    kafka_bytes.CrcRangeFromMagic,
    kafka_bytes.CrcCoversLeaderEpoch,
    kafka_bytes.VarintNoZigzag,
    kafka_bytes.VarintSixthByteWraps,
    kafka_bytes.TimestampDelta32,
    kafka_bytes.RecordAttributesAsVarint,
    kafka_bytes.SnappyRawOnly,
    kafka_bytes.Lz4V0StrictChecksum,
    kafka_bytes.LengthTrustedForAllocation,
    kafka_bytes.CountTrustedForAllocation,
    kafka_values.NullKeyAsEmpty,
    kafka_values.NullValueAsEmpty,
    kafka_values.NullHeaderValueAsEmpty,
    kafka_values.DuplicateHeadersCollapse,
    kafka_values.HeadersReversed,
    kafka_values.OffsetDeltaIgnored,
    kafka_values.BaseOffsetIgnored,
    kafka_values.LastOffsetFromCount,
    kafka_values.RelativeOffsetsAsAbsolute,
    kafka_values.WrapperOffsetIsFirst,
    kafka_values.TimestampTypeIgnored,
    kafka_values.LogAppendTimePerRecord,
    kafka_values.DeleteHorizonAsZero,
    kafka_values.LegacyTimestampIgnored,
    kafka_values.ControlBatchAsData,
    kafka_values.IsolationIgnored,
    kafka_values.AbortedByProducer,
    kafka_values.ProduceProfileIgnored,
    kafka_logs.PartialTailRaises,
    kafka_logs.PartialTailLosesPrefix,
    kafka_logs.PrefixLostOnRefusal,
    kafka_logs.FirstMagicForAll,
    kafka_logs.Magic255Accepted,
    kafka_logs.ScanStopsAtDamage,
    kafka_logs.ScanPerChunk,
    kafka_encode.EncodeNullAsEmpty,
    kafka_encode.EncodeTimestampsAbsolute,
    kafka_encode.EncodeOffsetDeltasZero,
    kafka_encode.EncodeHeadersDropped,
    kafka_encode.EncodeCodecIgnored,
    kafka_encode.EncodeLengthIncludesItself,
    *kafka_derived.DERIVED,
    *(_swallowing(*row) for row in SWALLOWED),
)

MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {made.name: made for made in _ALL}
"""Name to class."""
