"""Faults in what a consumer or a broker concludes from an entry: next offset, sequence, timestamp type.

No other value shows them: kafka.md §1.1, §1.8, §1.10. `kafka.MUTANTS` lists them.
"""

from typing import Final

from tests.mutants.base import JsonObject, ReferenceCodec
from tests.mutants.kafka_helpers import KafkaMutant, messages, records
from wireproof.adapters.contract import Request
from wireproof.wire.json_values import Json


class DerivedMutant(KafkaMutant):
    """A Kafka codec that goes on after a log where its last entry sends it."""

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Take the next offset of a log from its last entry, as it is after the fault."""
        value = super().patch_value(value, request, data)
        match value:
            case {"batches": [*_, {"nextOffset": after}] as batches, "nextOffset": str()}:
                return {"batches": batches, "nextOffset": after}
        return value


class NextOffsetByCount(DerivedMutant):
    """Fetches next at the base offset and the count of records, which compaction makes too low."""

    name = "next-offset-by-count"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Count the records that are there."""
        del raw
        if "records" in entry:
            entry["nextOffset"] = str(int(entry["baseOffset"]) + len(records(entry)))


class NextOffsetOfLastRecord(DerivedMutant):
    """Fetches next after the last record, and at the base offset of an empty batch again and again."""

    name = "next-offset-of-last-record"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Ignore the last offset of the batch."""
        del raw
        if "records" in entry:
            ends = [str(int(record["offset"]) + 1) for record in records(entry)]
            entry["nextOffset"] = ends[-1] if ends else entry["baseOffset"]


class NextOffsetOfWrapperByCount(DerivedMutant):
    """Fetches next after a wrapper at its first offset and the count of its messages."""

    name = "next-offset-of-wrapper-by-count"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Count the messages that are there."""
        del raw
        if inner := messages(entry):
            entry["nextOffset"] = str(int(inner[0]["offset"]) + len(inner))


class NextOffsetOfDelivered(KafkaMutant):
    """Fetches next after the last record that it delivers, and so a marker at the end again and again."""

    name = "next-offset-of-delivered"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Forget the entries that are not delivered."""
        del request, data
        match value:
            case {"batches": [*_, {"nextOffset": after}] as batches, "nextOffset": str()}:
                return {"batches": batches, "nextOffset": after}
            case {"batches": [], "nextOffset": str()}:
                return {"batches": [], "nextOffset": None}
        return value


class SequenceDoesNotWrap(KafkaMutant):
    """Adds the offset delta to the base sequence beyond 2147483647, where an int32 is negative."""

    name = "sequence-does-not-wrap"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Let the sum overflow."""
        del raw
        for record in records(entry):
            if entry["baseSequence"] != "-1":
                total = int(entry["baseSequence"]) + int(record["offsetDelta"])
                record["sequence"] = str((total + (1 << 31)) % (1 << 32) - (1 << 31))


class SequenceByCount(KafkaMutant):
    """Numbers the records that are there, as if compaction had left no gap."""

    name = "sequence-by-count"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Add the position of the record to the base sequence."""
        del raw
        for index, record in enumerate(records(entry)):
            if entry["baseSequence"] != "-1":
                record["sequence"] = str((int(entry["baseSequence"]) + index) % (1 << 31))


class SequenceWithoutProducer(KafkaMutant):
    """Counts sequences from -1 on in a batch that has none."""

    name = "sequence-without-producer"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Add the delta to -1."""
        del raw
        for record in records(entry):
            if entry["baseSequence"] == "-1":
                record["sequence"] = str(int(record["offsetDelta"]) - 1)


class CreateTimeForAppendTime(KafkaMutant):
    """Names every timestamp the producer's, also those that the broker set."""

    name = "create-time-for-append-time"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Report LogAppendTime as CreateTime."""
        del raw
        for part in (entry, *records(entry), *messages(entry)):
            if part.get("timestampType") == "log-append":
                part["timestampType"] = "create"


class CreateTimeForNone(KafkaMutant):
    """Reports the producer's timestamp for a v0 message, which has none."""

    name = "create-time-for-none"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Report CreateTime for no timestamp."""
        del raw
        for part in (entry, *messages(entry)):
            if part.get("timestampType") == "none":
                part["timestampType"] = "create"


class InnerTimestampType(KafkaMutant):
    """Takes the timestamp type of inner messages from their own attributes, not from the wrapper's."""

    name = "timestamp-type-of-inner"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Ignore the wrapper."""
        del raw
        for message in messages(entry):
            if message["timestampType"] != "none":
                message["timestampType"] = "log-append" if int(message["attributes"]) & 8 else "create"


DERIVED: Final[tuple[type[ReferenceCodec], ...]] = (
    NextOffsetByCount,
    NextOffsetOfLastRecord,
    NextOffsetOfWrapperByCount,
    NextOffsetOfDelivered,
    SequenceDoesNotWrap,
    SequenceByCount,
    SequenceWithoutProducer,
    CreateTimeForAppendTime,
    CreateTimeForNone,
    InnerTimestampType,
)
"""The mutants of this module."""
