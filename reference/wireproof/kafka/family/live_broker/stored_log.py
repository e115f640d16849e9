"""The fetched bytes of an append as a value, independent of the place and time of the append.

Offsets are counted from the one that the broker answered, its leader epoch is written as 0, and the append
time that it answered as `APPEND_TIME`. A value that contradicts the answer stays visible: the offset is not
0 then, or the time is the broker's.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.outcome import BrokenRule
from wireproof.kafka.append import APPEND_TIME
from wireproof.kafka.attribute_bits import LOG_APPEND_TIME
from wireproof.kafka.values import Log, LogEntry, Message, Record, RecordBatch
from wireproof.wire.json_values import to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

LOG: Final = formats.get("kafka.log", "mixed")

Content: TypeAlias = tuple[bytes | None, bytes | None, Any]
"""Key, value and headers of a record."""


def read_by_consumer(data: bytes) -> tuple[Log, Rejected | None]:
    """Return the entries that a consumer reads, and why it refuses the one after them, if it does."""
    try:
        log = formats.decode(LOG, data, Options()).value
    except Rejected as rejected:
        return rejected.before if isinstance(rejected.before, Log) else Log(()), rejected
    assert isinstance(log, Log)
    return log, None


def unreadable(rejected: Rejected, where: str = "") -> BrokenRule:
    """Return the rule that a broker breaks whose fetch returns what a consumer refuses."""
    rule = "kafka.append.crc" if rejected.cls == "crc-mismatch" else "kafka.fetch.readable"
    return BrokenRule(rule, f"{where}{rejected.cls} at {rejected.at}: {rejected.text}")


def contents(log: Log) -> Iterator[Content]:
    """Yield what a broker keeps of each record, in whatever form it stores them."""
    for entry in log.batches:
        if isinstance(entry, RecordBatch):
            yield from ((record.key, record.value, record.headers) for record in entry.records)
        else:
            inner = (entry,) if entry.messages is None else entry.messages
            yield from ((message.key, message.value, ()) for message in inner)


@frozen
class Frame:
    """The place and time of an append, as the broker answered them.

    Attributes:
        base: the offset of its first record.
        epoch: the leader epoch of the partition.
        append_time: the time of the append, if it lies within the time of the request; else None.
    """

    base: int
    epoch: int
    append_time: int | None


def stored_value(log: Log, frame: Frame, next_offset: int) -> dict[str, Any]:
    """Return a log as a value of `kafka.log`."""
    shown = Log(tuple(_relative(entry, frame) for entry in log.batches), next_offset - frame.base)
    tree: dict[str, Any] = to_json(shown, with_derived=True)  # type: ignore[assignment] # of an object
    return tree


def _relative(entry: LogEntry, frame: Frame) -> LogEntry:
    match entry:
        case RecordBatch():
            return _relative_batch(entry, frame)
        case Message():
            return _relative_message(entry, frame)


def _relative_batch(batch: RecordBatch, frame: Frame) -> RecordBatch:
    stamped = bool(batch.attributes & LOG_APPEND_TIME)
    epoch = 0 if batch.partition_leader_epoch == frame.epoch else batch.partition_leader_epoch
    return evolve(
        batch,
        base_offset=batch.base_offset - frame.base,
        partition_leader_epoch=epoch,
        max_timestamp=_time(batch.max_timestamp, frame, stamped=stamped),
        records=tuple(_relative_record(record, frame, stamped=stamped) for record in batch.records),
    )


def _relative_record(record: Record, frame: Frame, *, stamped: bool) -> Record:
    timestamp = _time(record.timestamp, frame, stamped=stamped)
    return evolve(record, offset=record.offset - frame.base, timestamp=timestamp)


def _relative_message(message: Message, frame: Frame) -> Message:
    stamped = bool(message.magic and message.attributes & LOG_APPEND_TIME)
    inner = message.messages
    return evolve(
        message,
        offset=message.offset - frame.base,
        timestamp=_time(message.timestamp, frame, stamped=stamped),
        messages=None if inner is None else tuple(_relative_message(one, frame) for one in inner),
    )


def _time(stored: int, frame: Frame, *, stamped: bool) -> int:
    """Return `APPEND_TIME` for the broker's time of the append, where the entry says that it has it."""
    return APPEND_TIME if stamped and stored == frame.append_time else stored
