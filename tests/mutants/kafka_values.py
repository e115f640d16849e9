"""Faults in what is made of the bytes: nulls, headers, offsets, timestamps, control records.

Each class is one; `kafka.MUTANTS` lists them.
"""

from typing import Final

from tests.mutants.base import JsonObject, with_options
from tests.mutants.kafka_helpers import (
    MAGIC,
    KafkaMutant,
    bit,
    codec_of,
    messages,
    records,
)
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader

APPEND_TIME: Final = 0x08
CONTROL: Final = 0x20
HORIZON: Final = 0x40

# --- nulls and headers: kafka.md, section 1.3 ---


class NullKeyAsEmpty(KafkaMutant):
    """Tells an empty key where there is none."""

    name = "null-key-as-empty"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Empty keys for null ones."""
        del raw
        for record in (*records(entry), *messages(entry), *([entry] if "key" in entry else [])):
            record["key"] = record["key"] or ""


class NullValueAsEmpty(KafkaMutant):
    """Tells an empty value for a tombstone."""

    name = "null-value-as-empty"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Empty values for null ones, but of a wrapper, whose value is its messages."""
        del raw
        plain = [entry] if entry.get("messages", ()) is None else []
        for record in (*records(entry), *messages(entry), *plain):
            record["value"] = record["value"] or ""


class NullHeaderValueAsEmpty(KafkaMutant):
    """Tells an empty header value where there is none."""

    name = "null-header-value-as-empty"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Empty header values for null ones."""
        del raw
        for record in records(entry):
            record["headers"] = [[key, value or ""] for key, value in record["headers"]]


class DuplicateHeadersCollapse(KafkaMutant):
    """Keeps headers in a map: of two with one key the last is left."""

    name = "duplicate-headers-collapse"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Keep one header for each key."""
        del raw
        for record in records(entry):
            record["headers"] = [[key, value] for key, value in dict(record["headers"]).items()]


class HeadersReversed(KafkaMutant):
    """Delivers headers last to first."""

    name = "headers-reversed"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Reverse the order."""
        del raw
        for record in records(entry):
            record["headers"] = record["headers"][::-1]


# --- offsets and timestamps: kafka.md, sections 1.8, 1.10 and 2.2 ---


class OffsetDeltaIgnored(KafkaMutant):
    """Counts records instead of reading their offset deltas."""

    name = "offset-delta-ignored"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Offsets without gaps."""
        del raw
        for index, record in enumerate(records(entry)):
            record["offset"] = str(int(entry["baseOffset"]) + index)


class BaseOffsetIgnored(KafkaMutant):
    """Takes offset deltas for offsets."""

    name = "base-offset-ignored"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Offsets that begin at 0."""
        del raw
        for record in records(entry):
            record["offset"] = record["offsetDelta"]


class LastOffsetFromCount(KafkaMutant):
    """Works out the last offset of a batch from its count of records."""

    name = "last-offset-from-count"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Compute the delta without the gaps that compaction leaves."""
        del raw
        if "lastOffsetDelta" in entry:
            entry["lastOffsetDelta"] = str(max(0, len(records(entry)) - 1))


class RelativeOffsetsAsAbsolute(KafkaMutant):
    """Takes the relative offsets inside a v1 wrapper for absolute ones."""

    name = "relative-offsets-as-absolute"

    def patch_entry(self, entry: bytes) -> bytes:
        """Set the offset of a wrapper to 0, so that inner offsets are read as absolute; no CRC covers it."""
        return bytes(8) + entry[8:] if entry[MAGIC] == 1 and codec_of(entry) else entry

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Restore the offset of the wrapper itself."""
        if entry.get("messages") is not None:
            entry["offset"] = str(int.from_bytes(raw[:8], "big", signed=True))


class WrapperOffsetIsFirst(KafkaMutant):
    """Takes the offset of a v1 wrapper for that of its first message."""

    name = "wrapper-offset-is-first"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Offsets that go on from the wrapper's."""
        del raw
        inner = messages(entry)
        if entry.get("magic") == "1" and inner:
            shift = int(entry["offset"]) - int(inner[0]["offset"])
            for message in inner:
                message["offset"] = str(int(message["offset"]) + shift)


class TypelessReader(Reader):
    """Reads the attributes of batches and messages without the timestamp type."""

    __slots__ = ()

    def int16(self, name: str) -> int:
        """Clear bit 3 in the attributes of a batch."""
        value = super().int16(name)
        return value & ~APPEND_TIME if name == "attributes" else value

    def int8(self, name: str) -> int:
        """Clear bit 3 in the attributes of a message, not in those of a record."""
        value = super().int8(name)
        mine = name == "attributes" and "records[" not in self.path(name)
        return value & ~APPEND_TIME if mine else value


class TimestampTypeIgnored(KafkaMutant):
    """Computes create times where the broker wrote one append time."""

    name = "timestamp-type-ignored"
    reader = TypelessReader

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Restore the attributes themselves."""
        _restore_attributes(entry, raw)


def _restore_attributes(entry: JsonObject, raw: bytes) -> None:
    start, end = (21, 23) if "records" in entry else (17, 18)
    entry["attributes"] = str(int.from_bytes(raw[start:end], "big", signed=True))


class LogAppendTimePerRecord(KafkaMutant):
    """Adds each record's delta to the append time."""

    name = "log-append-time-per-record"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Timestamps that differ inside a batch."""
        del raw
        for record in records(entry):
            if bit(entry, APPEND_TIME):
                record["timestamp"] = str(int(entry["maxTimestamp"]) + int(record["timestampDelta"]))


class DeleteHorizonAsZero(KafkaMutant):
    """Counts timestamp deltas from 0 where the base is a delete horizon."""

    name = "delete-horizon-as-zero"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Deltas for timestamps."""
        del raw
        for record in records(entry):
            if bit(entry, HORIZON) and not bit(entry, APPEND_TIME):
                record["timestamp"] = record["timestampDelta"]


class LegacyTimestampIgnored(KafkaMutant):
    """Reads v1 messages as if they had no timestamp."""

    name = "legacy-timestamp-ignored"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """-1, as for v0."""
        del raw
        for message in (*messages(entry), *([entry] if "timestamp" in entry else [])):
            message["timestamp"] = "-1"


# --- control batches: kafka.md, section 1.9 ---


class UncontrolledReader(Reader):
    """Reads the attributes of batches without the control bit."""

    __slots__ = ()

    def int16(self, name: str) -> int:
        """Clear bit 5 in the attributes of a batch."""
        value = super().int16(name)
        return value & ~CONTROL if name == "attributes" else value


class ControlBatchAsData(KafkaMutant):
    """Delivers control records as if they were data."""

    name = "control-batch-as-data"
    reader = UncontrolledReader

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Restore the attributes themselves."""
        _restore_attributes(entry, raw)


class IsolationIgnored(KafkaMutant):
    """Delivers the records of aborted transactions to a reader of committed ones."""

    name = "isolation-ignored"

    def options(self, request: Request) -> Options:
        """Everything is delivered."""
        return with_options(request, isolation="read_uncommitted", aborted=())


class AbortedByProducer(KafkaMutant):
    """Drops every transactional batch of a producer that ever aborted."""

    name = "aborted-forever"

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        """Remove every batch of such a producer, even of its later committed transactions."""
        value, aborted = outcome.value, {str(producer) for producer, _ in request.options.aborted}
        if (
            not isinstance(value, dict)
            or not isinstance(batches := value.get("batches"), list)
            or not aborted
        ):
            return outcome
        kept = [one for one in batches if isinstance(one, dict) and one.get("producerId") not in aborted]
        return Accepted({**value, "batches": [*kept]}, outcome.consumed, remarks=outcome.remarks)


class ProduceProfileIgnored(KafkaMutant):
    """Lets a producer send whatever a consumer can read."""

    name = "produce-profile-ignored"

    def options(self, request: Request) -> Options:
        """Use the profile of a reader."""
        return with_options(request, profile="reader")
