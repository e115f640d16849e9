"""The outcome of an append, from the broker's answer and from its log.

An acknowledged append is `accepted`, with the log as stored. An error code is `refused`, with its class. What
no append may do, whatever is appended, is not part of the value: it is a broken rule.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen

from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, BrokenRule, Outcome, Refused
from wireproof.kafka.family.live_broker import error_codes
from wireproof.kafka.family.live_broker.entry_bytes import entries_of, next_offset
from wireproof.kafka.family.live_broker.requests import FetchAnswer, ProduceAnswer
from wireproof.kafka.family.live_broker.stored_log import (
    Frame,
    contents,
    read_by_consumer,
    stored_value,
    unreadable,
)
from wireproof.kafka.family.live_broker.topics import Partition
from wireproof.kafka.values import Log, RecordBatch
from wireproof.wire.json_values import Json

LOG_APPEND: Final = "log-append"
NOTHING: Final = "kafka.append.nothing"
EARLIER: Final = "kafka.append.earlier"
OFFSETS: Final = "kafka.append.offsets"
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
        later: the rules that are broken by answers to requests after it.
    """

    start: int
    answer: ProduceAnswer
    found: FetchAnswer
    sent: int
    received: int
    later: Sequence[BrokenRule] = ()


def outcome_of(request: Request, sent: bytes, partition: Partition, done: Append) -> Outcome:
    """Return the outcome of a request with the bytes `sent`, and note the end of the log for the next one."""
    entries = tuple(entries_of(done.found.data))
    earlier = _earlier(partition, done, entries)
    appended = done.found.data[len(earlier) :]
    stored, refused = read_by_consumer(appended)
    value, times = _value(done, partition, stored)
    own = read_by_consumer(sent)[1] is not None  # what a consumer refuses then is what the case is about
    broken = (
        *(() if refused is None or own else (unreadable(refused),)),
        *_broken_log(partition, done, earlier),
        *(() if done.answer.code or own or refused else _broken_entries(sent, stored, partition, done)),
        *times,
        *done.later,
    )
    grown = done.found.high_watermark > done.start
    if done.answer.code and not grown and not broken:
        return _refused(done.answer)
    _note_end(partition, done, entries)
    faulty = bool(broken) or refused is not None or not grown or bool(done.answer.code)
    partition.retired = faulty or not _ends_whole(appended, done)
    if done.answer.code:
        changed = BrokenRule(NOTHING, f"{_name(done.answer.code)} is answered, and the log has changed")
        moved = grown or any(one.rule == EARLIER for one in broken)  # not by damage in a fetch
        return evolve(_refused(done.answer), broken=(changed, *broken) if moved else broken)
    if refused is not None:
        value["unreadable"] = f"{refused.cls} at {refused.at}: {refused.text}"
    return Accepted(value if request.format == "kafka.log" else _only_entry(value), broken=broken)


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


def _broken_log(partition: Partition, done: Append, earlier: bytes) -> Iterator[BrokenRule]:
    """Yield the rules that the log before the append breaks, and the answer."""
    if done.found.code:
        yield BrokenRule("kafka.fetch.readable", f"fetching fails with {_name(done.found.code)}")
    elif partition.last is not None:
        fetches = ((earlier, "the batch before: "), (partition.last[1], "a fetch before the append: "))
        refusals = [(read_by_consumer(data)[1], where) for data, where in fetches]
        damaged = [unreadable(one, where) for one, where in refusals if one is not None]
        yield from damaged
        if not damaged and earlier != partition.last[1]:
            yield BrokenRule(EARLIER, "the batch before the append has changed or is gone")
    if done.answer.code == 0 and done.answer.base_offset != done.start:
        ahead = done.answer.base_offset - done.start
        yield BrokenRule(OFFSETS, f"the answer has an offset that is {ahead} from the end of the log")


def _broken_entries(sent: bytes, stored: Log, partition: Partition, done: Append) -> Iterator[BrokenRule]:
    """Yield the rules that stored entries break, of whatever kind the append is."""
    wanted, found = list(contents(read_by_consumer(sent)[0])), list(contents(stored))
    if len(wanted) != len(found):
        yield BrokenRule("kafka.append.records", f"{len(found)} of {len(wanted)} records are in the log")
    elif wanted != found:
        yield BrokenRule("kafka.append.records", "keys, values or headers are not those that were sent")
    first = next(iter(stored.batches), None)
    if not isinstance(first, RecordBatch):
        return
    if first.base_offset != done.start:
        ahead = first.base_offset - done.start
        yield BrokenRule(OFFSETS, f"the batch has an offset that is {ahead} from the end of the log")
    if partition.epoch >= 0 and first.partition_leader_epoch != partition.epoch:
        text = f"the batch has {first.partition_leader_epoch}, the metadata {partition.epoch}"
        yield BrokenRule("kafka.append.leader-epoch", text)


def _value(done: Append, partition: Partition, stored: Log) -> tuple[dict[str, Any], tuple[BrokenRule, ...]]:
    """Return the stored log as a value, and the rule that is broken if it contradicts the answered time."""
    time_of_append = done.answer.append_time
    timely = done.sent - CLOCK_TOLERANCE_MS <= time_of_append <= done.received + CLOCK_TOLERANCE_MS
    frame = Frame(done.start, partition.epoch, time_of_append if timely else None)
    value = stored_value(stored, frame, done.found.high_watermark)
    stamped = any(
        entry["timestampType"] == LOG_APPEND
        for batch in value["batches"]
        for entry in batch.get("records", [batch])
    )
    if done.answer.code or not value["batches"] or stamped == (time_of_append >= 0):
        return value, ()
    has = "the batch has none" if not stamped else "the batch has one"
    return value, (BrokenRule("kafka.append.append-time", f"{time_of_append} is answered, and {has}"),)


def _only_entry(value: Mapping[str, Any]) -> Json:
    """Return the value of the one entry that was stored; if there is not one, a value of that."""
    batches = value["batches"]
    if "unreadable" in value or len(batches) != 1:
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
