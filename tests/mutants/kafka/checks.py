"""Kafka codecs that leave out one check, and codecs with one fault in a derived field."""

from tests.mutants.base import JsonObject, mutant, variant
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


for _name, _fault, *_details in (
    ("trailing-bytes-accepted", "Ignores bytes after the last counted record.", "TRAILING_BYTES"),
    ("nested-wrapper-accepted", "Takes a wrapper inside a wrapper.", "NESTED_COMPRESSION"),
    ("control-key-unchecked", "Takes any key of a control record.", "CONTROL_KEY_NULL", "CONTROL_KEY_SHORT"),
):
    variant(Swallows, _name, _fault, details=frozenset(_details))


class DerivedMutant(KafkaMutant):
    """A Kafka codec that goes on after a log where its last entry sends it."""

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        value = super().patch_value(value, request, data)
        match value:
            case {"batches": [*_, {"nextOffset": after}] as batches, "nextOffset": str()}:
                return {"batches": batches, "nextOffset": after}
        return value


@mutant(DerivedMutant, "spoil", "next-offset-by-count", "kafka.batch/v2/batch/compacted-gaps")
def next_offset_by_count(entry: JsonObject) -> None:
    """Fetches next at the base offset and the count of records, which compaction makes too low."""
    if "records" in entry:
        entry["nextOffset"] = str(int(entry["baseOffset"]) + len(records(entry)))


@mutant(DerivedMutant, "spoil", "next-offset-of-last-record", "kafka.log/mixed/entries/data-then-empty")
def next_offset_of_last_record(entry: JsonObject) -> None:
    """Fetches next after the last record, and at the base offset of an empty batch again and again."""
    if "records" in entry:
        ends = [str(int(record["offset"]) + 1) for record in records(entry)]
        entry["nextOffset"] = ends[-1] if ends else entry["baseOffset"]


@mutant(KafkaMutant, "patch_value", "next-offset-of-delivered", "kafka.log/mixed/delivered/aborted-gzip")
def next_offset_of_delivered(value: Json) -> Json:
    """Fetches next after the last record that it delivers, and so a marker at the end again and again."""
    match value:
        case {"batches": [*_, {"nextOffset": after}] as batches, "nextOffset": str()}:
            return {"batches": batches, "nextOffset": after}
        case {"batches": [], "nextOffset": str()}:
            return {"batches": [], "nextOffset": None}
    return value


@mutant(KafkaMutant, "spoil", "sequence-by-count", "kafka.log/mixed/broker/kafka-clients-compacted-0")
def sequence_by_count(entry: JsonObject) -> None:
    """Numbers the records that are there, as if compaction had left no gap."""
    for index, record in enumerate(records(entry)):
        if entry["baseSequence"] != "-1":
            record["sequence"] = str((int(entry["baseSequence"]) + index) % (1 << 31))


@mutant(KafkaMutant, "spoil", "sequence-without-producer", "kafka.batch/v2/attributes/unused-bit-7")
def sequence_without_producer(entry: JsonObject) -> None:
    """Counts sequences from -1 on in a batch that has none."""
    for record in records(entry):
        if entry["baseSequence"] == "-1":
            record["sequence"] = str(int(record["offsetDelta"]) - 1)


@mutant(KafkaMutant, "spoil", "create-time-for-append-time", "kafka.batch/v1/message/log-append-time")
def create_time_for_append_time(entry: JsonObject) -> None:
    """Names every timestamp the producer's, also those that the broker set."""
    for part in (entry, *records(entry), *messages(entry)):
        if part.get("timestampType") == "log-append":
            part["timestampType"] = "create"
