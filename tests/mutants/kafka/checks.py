"""Kafka codecs that leave out one check, and codecs with one fault in a derived field."""

from typing import Final

from attrs import frozen

from tests.mutants.base import JsonObject
from tests.mutants.kafka.helpers import KafkaMutant, messages, records
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected


class Swallows(KafkaMutant):
    """Answers what it has read so far where one check of the reference would refuse.

    Attributes:
        details: the specification's names of the refusals that it does not make.
    """

    details: frozenset[str] = frozenset()

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        outcome = refused_outcome(rejected)
        if rejected.detail not in self.details:
            return outcome
        return Accepted(outcome.before, len(request.data))


@frozen
class Check:
    """A row: the mutant's name and fault, and the names of the refusals that it does not make."""

    name: str
    fault: str
    details: tuple[str, ...]


SWALLOWED: Final = (
    Check("trailing-bytes-accepted", "Ignores bytes after the last counted record.", ("TRAILING_BYTES",)),
    Check("nested-wrapper-accepted", "Takes a wrapper inside a wrapper.", ("NESTED_COMPRESSION",)),
    Check(
        "control-key-unchecked",
        "Takes any key of a control record.",
        ("CONTROL_KEY_NULL", "CONTROL_KEY_SHORT"),
    ),
)


def _made(check: Check) -> type[Swallows]:
    parts = {"name": check.name, "details": frozenset(check.details)}
    return type(
        check.name, (Swallows,), {**parts, "__doc__": check.fault, "__qualname__": f"CHECKS[{check.name}]"}
    )


CHECKS: Final = {check.name: _made(check) for check in SWALLOWED}
"""A mutant for each row."""


class DerivedMutant(KafkaMutant):
    """A Kafka codec that goes on after a log where its last entry sends it."""

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        value = super().patch_value(value, request, data)
        match value:
            case {"batches": [*_, {"nextOffset": after}] as batches, "nextOffset": str()}:
                return {"batches": batches, "nextOffset": after}
        return value


class NextOffsetByCount(DerivedMutant):
    """Fetches next at the base offset and the count of records, which compaction makes too low."""

    name = "next-offset-by-count"
    killed_by = ("kafka.batch/v2/batch/compacted-gaps",)

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Count the records that are there."""
        del raw
        if "records" in entry:
            entry["nextOffset"] = str(int(entry["baseOffset"]) + len(records(entry)))


class NextOffsetOfLastRecord(DerivedMutant):
    """Fetches next after the last record, and at the base offset of an empty batch again and again."""

    name = "next-offset-of-last-record"
    killed_by = ("kafka.log/mixed/entries/data-then-empty",)

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Ignore the last offset of the batch."""
        del raw
        if "records" in entry:
            ends = [str(int(record["offset"]) + 1) for record in records(entry)]
            entry["nextOffset"] = ends[-1] if ends else entry["baseOffset"]


class NextOffsetOfDelivered(KafkaMutant):
    """Fetches next after the last record that it delivers, and so a marker at the end again and again."""

    name = "next-offset-of-delivered"
    killed_by = ("kafka.log/mixed/delivered/aborted-gzip",)

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        match value:
            case {"batches": [*_, {"nextOffset": after}] as batches, "nextOffset": str()}:
                return {"batches": batches, "nextOffset": after}
            case {"batches": [], "nextOffset": str()}:
                return {"batches": [], "nextOffset": None}
        return value


class SequenceByCount(KafkaMutant):
    """Numbers the records that are there, as if compaction had left no gap."""

    name = "sequence-by-count"
    killed_by = ("kafka.log/mixed/broker/kafka-clients-compacted-0",)

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Add the position of the record to the base sequence."""
        del raw
        for index, record in enumerate(records(entry)):
            if entry["baseSequence"] != "-1":
                record["sequence"] = str((int(entry["baseSequence"]) + index) % (1 << 31))


class SequenceWithoutProducer(KafkaMutant):
    """Counts sequences from -1 on in a batch that has none."""

    name = "sequence-without-producer"
    killed_by = ("kafka.batch/v2/attributes/unused-bit-7",)

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Add the delta to -1."""
        del raw
        for record in records(entry):
            if entry["baseSequence"] == "-1":
                record["sequence"] = str(int(record["offsetDelta"]) - 1)


class CreateTimeForAppendTime(KafkaMutant):
    """Names every timestamp the producer's, also those that the broker set."""

    name = "create-time-for-append-time"
    killed_by = ("kafka.batch/v1/message/log-append-time",)

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Report LogAppendTime as CreateTime."""
        del raw
        for part in (entry, *records(entry), *messages(entry)):
            if part.get("timestampType") == "log-append":
                part["timestampType"] = "create"
