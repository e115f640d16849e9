"""The answers of a broker as values of steps: numbers as texts, errors by name, batches in a few fields."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kafka import errors

from wireproof import formats
from wireproof.cases.steps import ERROR
from wireproof.kafka import control_types
from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL
from wireproof.kafka.family.live_broker.entry_bytes import entries_of
from wireproof.kafka.family.live_broker.producer_ids import ProducerIds
from wireproof.kafka.values import Log, LogEntry, RecordBatch
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

LOG: Final = formats.get("kafka.log", "mixed")
NO_PRODUCER: Final = -1

ENDS: Final = {control_types.COMMIT: "commit", control_types.ABORT: "abort"}


def error(code: int) -> dict[str, Json]:
    """Return the answer for an error code, by its name in Kafka's protocol guide."""
    return {ERROR: str(getattr(errors.for_code(code), "message", "") or f"error {code}")}


def of_partition(reply: Any, ids: ProducerIds) -> dict[str, Any]:  # noqa: ANN401 - a part of a response
    """Return the answer of a partition to a fetch."""
    if reply.error_code:
        return error(reply.error_code)
    aborted: list[Json] = [
        [str(ids.in_case(one.producer_id)), str(one.first_offset)] for one in reply.aborted_transactions or ()
    ]
    return {
        "highWatermark": str(reply.high_watermark),
        "lastStableOffset": str(reply.last_stable_offset),
        "logStartOffset": str(reply.log_start_offset),
        "aborted": sorted(aborted, key=str),
        **of_log(bytes(reply.records or b""), ids),
    }


def of_log(data: bytes, ids: ProducerIds) -> dict[str, Json]:
    """Return the whole entries of fetched bytes; a response may end inside an entry."""
    whole = b"".join(entry for _, entry in entries_of(data))
    try:
        found = formats.decode(LOG, whole, Options()).value
    except Rejected as rejected:
        return {"unreadable": f"{rejected.cls} at {rejected.at}: {rejected.text}"}
    entries: Sequence[LogEntry] = found.batches if isinstance(found, Log) else ()
    return {"entries": [entry_json(entry, ids) for entry in entries if isinstance(entry, RecordBatch)]}


def entry_json(batch: RecordBatch, ids: ProducerIds) -> Json:
    """Return a batch: its offsets, its producer, its kind, and the value of each record by its offset."""
    last = batch.base_offset + batch.last_offset_delta
    named: dict[str, Json] = {"baseOffset": str(batch.base_offset), "lastOffset": str(last)}
    if batch.producer_id != NO_PRODUCER:
        named |= {
            "producerId": str(ids.in_case(batch.producer_id)),
            "producerEpoch": str(batch.producer_epoch),
            "baseSequence": str(batch.base_sequence),
        }
    kind = _kind(batch)
    return (
        {**named, "kind": kind}
        if kind in ENDS.values()
        else {**named, "kind": kind, "records": dict(_records(batch))}
    )


def _kind(batch: RecordBatch) -> str:
    if batch.attributes & CONTROL:
        return next(
            (ENDS.get(record.control.type, "control") for record in batch.records if record.control),
            "control",
        )
    return "transaction" if batch.attributes & TRANSACTIONAL else "data"


def _records(batch: RecordBatch) -> Iterator[tuple[str, Json]]:
    for record in batch.records:
        yield str(record.offset), None if record.value is None else record.value.hex()
