"""The answers of a broker as values of steps: numbers as texts, errors by name, batches in a few fields."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve
from kafka import errors

from wireproof.cases.outcome import BrokenRule
from wireproof.cases.steps import ERROR
from wireproof.kafka import control_types
from wireproof.kafka.append import APPEND_TIME
from wireproof.kafka.attribute_bits import CONTROL, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.family.live_broker.entry_bytes import entries_of
from wireproof.kafka.family.live_broker.producer_ids import ProducerIds
from wireproof.kafka.family.live_broker.stored_log import read_by_consumer, unreadable
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.wire.json_values import Json, to_json

NO_PRODUCER: Final = -1
UNREADABLE: Final = "unreadable"
"""The field of an answer with the rule that it breaks."""

ENDS: Final = {control_types.COMMIT: "commit", control_types.ABORT: "abort"}


def error(code: int) -> dict[str, Json]:
    """Return the answer for an error code, by its name in Kafka's protocol guide."""
    return {ERROR: str(getattr(errors.for_code(code), "message", "") or f"error {code}")}


def of_partition(reply: Any, ids: ProducerIds, append_times: Collection[int] | None = None) -> dict[str, Any]:  # noqa: ANN401 - a part of a response
    """Return the answer of a partition to a fetch; with append times, the time of each batch is shown."""
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
        **of_log(bytes(reply.records or b""), ids, append_times),
    }


def of_old_partition(reply: Any, append_times: Collection[int]) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return the answer of a partition to a Fetch before version 4, which has messages of v0 or v1."""
    if reply.error_code:
        return error(reply.error_code)
    entries = _entries(bytes(reply.records or b""))
    shown: dict[str, Json] = (
        entries
        if isinstance(entries, dict)
        else {"entries": [_old_entry(entry, append_times) for entry in entries]}
    )
    return {"highWatermark": str(reply.high_watermark), **shown}


def of_log(data: bytes, ids: ProducerIds, append_times: Collection[int] | None = None) -> dict[str, Json]:
    """Return the whole entries of fetched bytes; a response may end inside an entry."""
    entries = _entries(data)
    if isinstance(entries, dict):
        return entries
    batches = [entry for entry in entries if isinstance(entry, RecordBatch)]
    if append_times is None:
        return {"entries": [entry_json(batch, ids) for batch in batches]}
    return {"entries": [entry_json(batch, ids) | _time_json(batch, append_times) for batch in batches]}


def _entries(data: bytes) -> Sequence[LogEntry] | dict[str, Json]:
    """Return the whole entries of bytes, or the field of an answer that says why they are unreadable."""
    found, refused = read_by_consumer(b"".join(entry for _, entry in entries_of(data)))
    if refused is None:
        return found.batches
    broken = unreadable(refused)
    return {UNREADABLE: {broken.rule: broken.text}}


def broken_in(answers: Sequence[Json]) -> Iterator[BrokenRule]:
    """Yield the rules that the answers to the steps of a case break, whatever the case is about."""
    for number, answer in enumerate(answers):
        assert isinstance(answer, dict)
        for part in (answer, *answer.get("partitions", ())):  # type: ignore[misc] # of a fetch session
            found: Any = part.get(UNREADABLE, {})
            yield from (BrokenRule(rule, f"step {number + 1}: {text}") for rule, text in found.items())


def _old_entry(entry: LogEntry, append_times: Collection[int]) -> Json:
    """Return a message as a value of its format, with `APPEND_TIME` for a time that the broker answered.

    A batch, which has no place there, is shown whole.
    """
    return to_json(_timeless(entry, append_times) if isinstance(entry, Message) else entry)


def named_time(timestamp: int, append_times: Collection[int]) -> int:
    """Return a timestamp, or `APPEND_TIME` for one that the broker answered."""
    return APPEND_TIME if timestamp >= 0 and timestamp in append_times else timestamp


def _timeless(message: Message, append_times: Collection[int]) -> Message:
    stamped = message.magic and message.attributes & LOG_APPEND_TIME
    inner = message.messages
    return evolve(
        message,
        timestamp=named_time(message.timestamp, append_times) if stamped else message.timestamp,
        messages=None if inner is None else tuple(_timeless(one, append_times) for one in inner),
    )


def last_offset(entry: Mapping[str, Any]) -> int:
    """Return the last offset of an entry of an answer, which a message has as its only one."""
    return int(entry.get("lastOffset", entry.get("offset", entry.get("baseOffset"))))


def count_records(entry: Mapping[str, Any]) -> int:
    """Return the number of records in an entry of an answer."""
    if "offset" in entry:
        return len(entry["messages"] or (entry,))
    return len(entry.get("records", ()))


def _time_json(batch: RecordBatch, append_times: Collection[int]) -> dict[str, Json]:
    """Return timestamp type and greatest time of a batch; of a marker, which no answer names, the type."""
    kind: dict[str, Json] = {"timestampType": "append" if batch.attributes & LOG_APPEND_TIME else "create"}
    if batch.attributes & CONTROL:
        return kind
    return {**kind, "maxTimestamp": str(named_time(batch.max_timestamp, append_times))}


def entry_json(batch: RecordBatch, ids: ProducerIds) -> dict[str, Json]:
    """Return a batch: its offsets, its producer, its kind, and the value of each record by its offset."""
    last = batch.base_offset + batch.last_offset_delta
    named: dict[str, Json] = {"baseOffset": str(batch.base_offset), "lastOffset": str(last)}
    if batch.producer_id != NO_PRODUCER:
        named |= {
            "producerId": str(ids.in_case(batch.producer_id)),
            "producerEpoch": str(batch.producer_epoch),
            "baseSequence": str(batch.base_sequence),
        }
    if batch.attributes & DELETE_HORIZON:
        named["deleteHorizon"] = True
    elif batch.records and batch.records[0].offset != batch.base_offset:
        named["baseTimestamp"] = str(batch.base_timestamp)  # of the first record that cleaning left
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
