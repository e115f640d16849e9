"""The outcome of an append, from the broker's answer and from its log.

An acknowledged append is `accepted`, with the log as stored. An error code is `refused`, with its class, and
with what the log has got: it must have got nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.kafka.family.live_broker import error_codes
from wireproof.kafka.family.live_broker.entry_bytes import entries_of, next_offset
from wireproof.kafka.family.live_broker.requests import FetchAnswer, ProduceAnswer
from wireproof.kafka.family.live_broker.stored_log import Frame, stored_value
from wireproof.kafka.family.live_broker.topics import Partition
from wireproof.wire.json_values import Json

LOG_APPEND: Final = "log-append"
CLOCK_TOLERANCE_MS: Final = 60_000
"""Difference of the clocks of this machine and of the broker that is no fault of an append."""


@frozen
class Append:
    """An append that the broker answered.

    Attributes:
        start: the end of the log before it.
        answer: the broker's answer.
        found: the log from the last earlier batch on, if there is one, fetched after it.
        sent, received: milliseconds of this machine's clock.
        later: the faults that requests after it show, by the fields that the value gets for them.
    """

    start: int
    answer: ProduceAnswer
    found: FetchAnswer
    sent: int
    received: int
    later: Mapping[str, str] = field(factory=dict)


def outcome_of(request: Request, partition: Partition, done: Append) -> Outcome:
    """Return the outcome of a request, and note the end of the log for the next one."""
    entries = tuple(entries_of(done.found.data))
    earlier = _earlier(partition, done, entries)
    breaches = dict(_breaches(partition, done, earlier)) | dict(done.later)
    grown = done.found.high_watermark > done.start
    if done.answer.code and not grown and not breaches:
        return _refused(done.answer)
    appended = done.found.data[len(earlier) :]
    value = {**_value(done, partition, appended), **breaches}
    _note_end(partition, done, entries)
    faulty = bool(breaches) or "unreadable" in value or not grown or bool(done.answer.code)
    partition.retired = faulty or not _ends_whole(appended, done)
    if request.format == "kafka.log":
        return _stored_although_refused(done.answer, value) if done.answer.code else Accepted(value)
    if done.answer.code:  # an entry has no list of what was delivered first: a consumer sees the records
        breaches["error"] = value["error"] = _name(done.answer.code)
    return Accepted(_only_entry(value, breaches))


def _ends_whole(appended: bytes, done: Append) -> bool:
    """Return True if entries alone lead from the end of the log before to the end after the append.

    What is stored otherwise is judged with its own case; the next one would find it before its own bytes.
    """
    end, size = done.start, 0
    for offset, entry in entries_of(appended):
        if offset < end:
            return False
        end, size = next_offset(offset, entry), size + len(entry)
    return (end, size) == (done.found.high_watermark, len(appended))


def _earlier(partition: Partition, done: Append, entries: Sequence[tuple[int, bytes]]) -> bytes:
    """Return the bytes of the log before the append."""
    if partition.last is not None and done.found.data.startswith(partition.last[1]):
        return partition.last[1]
    return b"".join(data for offset, data in entries if offset < done.start)


def _stored_although_refused(answer: ProduceAnswer, value: Mapping[str, Any]) -> Refused:
    """Return a refusal with what it left, which no case allows, whatever its level."""
    refused = _refused(answer)
    return evolve(refused, text=f"{refused.text}; the log has changed", before=dict(value))


def _breaches(partition: Partition, done: Append, earlier: bytes) -> Iterator[tuple[str, str]]:
    """Yield the faults of an append that no field of a log shows; each becomes a field of the value."""
    if done.found.code:
        yield "unreadable", f"fetching fails with {_name(done.found.code)}"
    elif partition.last is not None and earlier != partition.last[1]:
        yield "earlier", "the batch before the append has changed or is gone"
    if done.answer.code == 0 and done.answer.base_offset != done.start:
        yield "answeredBaseOffset", str(done.answer.base_offset - done.start)


def _value(done: Append, partition: Partition, appended: bytes) -> dict[str, Any]:
    time_of_append = done.answer.append_time
    timely = done.sent - CLOCK_TOLERANCE_MS <= time_of_append <= done.received + CLOCK_TOLERANCE_MS
    frame = Frame(done.start, partition.epoch, time_of_append if timely else None)
    value = stored_value(appended, frame, done.found.high_watermark)
    stamped = any(
        entry["timestampType"] == LOG_APPEND
        for batch in value["batches"]
        for entry in batch.get("records", [batch])
    )
    if done.answer.code == 0 and value["batches"] and stamped != (time_of_append >= 0):
        value["answeredAppendTime"] = str(time_of_append)
    return value


def _only_entry(value: Mapping[str, Any], breaches: Mapping[str, str]) -> Json:
    """Return the value of the one entry that was stored; if there is not one, or a fault, a value of that."""
    batches = value["batches"]
    if breaches or "unreadable" in value or len(batches) != 1:
        return {"entries": str(len(batches)), **{name: value[name] for name in value.keys() - {"batches"}}}
    return dict(batches[0])


def _note_end(partition: Partition, done: Append, entries: Sequence[tuple[int, bytes]]) -> None:
    """Note the end of the log and its last entry, which the next case finds before its own."""
    partition.end = max(done.found.high_watermark, partition.end)
    stored = [entry for entry in entries if entry[0] >= done.start]
    if stored:
        partition.last = stored[-1]


def _refused(answer: ProduceAnswer) -> Refused:
    error = error_codes.error_of(answer.code)
    text = f"error {answer.code}: {answer.message}" if answer.message else f"error {answer.code}"
    return Refused(
        error.cls,
        detail=error.name,
        text=text,
        before={"batches": [], "nextOffset": None},
        untyped=answer.code in error_codes.UNDOCUMENTED,
    )


def _name(code: int) -> str:
    return error_codes.error_of(code).name
