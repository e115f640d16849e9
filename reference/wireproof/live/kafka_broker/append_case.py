"""One case on a live broker: produce its bytes, and fetch what the log has then."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen
from kafka import errors

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, BrokenRule, Crashed, Outcome, Refused, Stalled, Unsupported
from wireproof.kafka.append import APPEND_TIME
from wireproof.kafka.attribute_bits import LOG_APPEND_TIME
from wireproof.kafka.values import Log, LogEntry, Message, RecordBatch
from wireproof.live.kafka_broker import error_codes, requests
from wireproof.live.kafka_broker.cluster import Cluster, HangsError
from wireproof.live.kafka_broker.connection import FrameError, said_by
from wireproof.live.kafka_broker.requests import (
    V2,
    FetchAnswer,
    LostTopicError,
    MalformedAnswerError,
    ProduceAnswer,
    entries_of,
    first_entry,
    is_batch,
    is_idempotent,
    magic_of,
    next_offset,
    producer_of,
    read_log,
)
from wireproof.live.kafka_broker.topics import Partition, Partitions, TopicError
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

# --- asking again ---
#
# A case whose connection ended, or whose topic is lost, is asked again: that may have another reason. The
# broker may have been started again in the middle, by an operator or because another case ended it.

CLOSED: Final = "connection closed"
"""Stands for the error code of a broker that closes the connection."""

MOST_ENDS: Final = 4
"""How often a case is asked again whose connection ends, each time at another of its requests."""

TOPIC: Final = -1
"""Stands for the end of a case whose topic is lost, where others have a number of requests."""

FRAME: Final = "kafka.answer.frame"
LOST: Final = "topic lost"
"""Stands for the error code of a broker that has lost two topics of one case."""

MALFORMED: Final = "malformed answer"
"""Stands for the error code of an answer that has not what was asked for, or that cannot be read.

The case is not asked again: no broker that is started again answers so.
"""


def asked_again(cluster: Cluster, ask: Callable[[], Outcome], lost: Callable[[float], None]) -> Outcome:
    """Return the outcome of `ask`, which may raise an error of kafka-python.

    A broker that ends the connection because of a case ends it at the same request again. One that ends
    connections for a reason of its own does it anywhere in the case, which is asked once more then.

    If the broker was away or has lost a topic, `lost` gets the time at which that was noticed, before the
    case is asked again. A broker that was started again may do both to one case: it closes the connection,
    listens again before anybody looks, and does not know the topic.
    """
    ends: list[int] = []  # the requests that were answered before each end, or `TOPIC`
    while True:
        before = cluster.answered()
        try:
            return ask()
        except (MalformedAnswerError, FrameError) as error:
            text = str(error)
            return Refused(detail=MALFORMED, text=text, untyped=True, broken=(BrokenRule(FRAME, text),))
        except HangsError as error:
            return Crashed(f"the broker hangs: {said_by(error)}")
        except errors.KafkaError as error:
            end = TOPIC if isinstance(error, LostTopicError) else cluster.answered() - before
            is_alive, noticed = cluster.is_alive(), time.monotonic()
            if end in ends or (end != TOPIC and (len(ends) == MOST_ENDS or (ends and not is_alive))):
                return _given_up(cluster, error, is_alive=is_alive)
            if not cluster.returns():
                return _gone(error)
        ends.append(end)
        away = end == TOPIC or not is_alive
        cluster.asked_again[_counted(end, away=away)] += 1
        if away:
            lost(noticed)


def _given_up(cluster: Cluster, error: errors.KafkaError, *, is_alive: bool) -> Outcome:
    """Return the outcome of a case that is not asked again."""
    if isinstance(error, LostTopicError):
        return Refused(detail=LOST, text=str(error), untyped=True)
    if not is_alive:
        cluster.returns()  # the process that asks the next case does not wait for it
        return _gone(error)
    text = f"the broker closes the connection without an answer: {said_by(error)}"
    return Refused(detail=CLOSED, text=text, untyped=True)


def _counted(end: int, *, away: bool) -> str:
    """Return what a case is counted as that is asked again."""
    if end == TOPIC:
        return "cases whose topic was lost"
    return "cases during which the broker was away" if away else "cases whose connection the broker closed"


def stalled(error: errors.RequestTimedOutError) -> Stalled:
    """Return the outcome of a request that is not answered whole."""
    return Stalled(said_by(error))


def _gone(error: errors.KafkaError) -> Crashed:
    return Crashed(f"the broker is gone, nothing listens at its address: {said_by(error)}")


# --- stored log ---
#
# The fetched bytes of an append as a value, independent of the place and time of the append.
#
# Offsets are counted from the one that the broker answered, its leader epoch is written as 0, and the
# append time that it answered as `APPEND_TIME`. A value that contradicts the answer stays visible: the
# offset is not 0 then, or the time is the broker's.


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
        append_times: the times of appends; none that lies outside the time of its request.
    """

    base: int
    epoch: int
    append_times: Collection[int]


def stored_value(log: Log, frame: Frame, next_offset: int) -> dict[str, Any]:
    """Return a log as a value of `kafka.log`."""
    shown = Log(tuple(_relative(entry, frame) for entry in log.batches), next_offset - frame.base)
    tree: dict[str, Any] = to_json(shown, with_derived=True)  # type: ignore[assignment] # of an object
    return tree


def _relative(entry: LogEntry, frame: Frame) -> LogEntry:
    match entry:
        case RecordBatch():
            stamped = bool(entry.attributes & LOG_APPEND_TIME)
            epoch = 0 if entry.partition_leader_epoch == frame.epoch else entry.partition_leader_epoch
            return evolve(
                entry,
                base_offset=entry.base_offset - frame.base,
                partition_leader_epoch=epoch,
                max_timestamp=_time(entry.max_timestamp, frame, stamped=stamped),
                records=tuple(
                    evolve(
                        record,
                        offset=record.offset - frame.base,
                        timestamp=_time(record.timestamp, frame, stamped=stamped),
                    )
                    for record in entry.records
                ),
            )
        case Message():
            return relative_message(entry, frame)


def relative_message(message: Message, frame: Frame) -> Message:
    """Return a message, and those in it, independent of the place and time of the append."""
    stamped = bool(message.magic and message.attributes & LOG_APPEND_TIME)
    inner = message.messages
    return evolve(
        message,
        offset=message.offset - frame.base,
        timestamp=_time(message.timestamp, frame, stamped=stamped),
        messages=None if inner is None else tuple(relative_message(one, frame) for one in inner),
    )


def _time(stored: int, frame: Frame, *, stamped: bool) -> int:
    """Return `APPEND_TIME` for the broker's time of the append, where the entry says that it has it."""
    return named_time(stored, frame.append_times) if stamped else stored


def named_time(timestamp: int, append_times: Collection[int]) -> int:
    """Return a timestamp, or `APPEND_TIME` for one that the broker answered."""
    return APPEND_TIME if timestamp >= 0 and timestamp in append_times else timestamp


# --- append outcome ---
#
# The outcome of an append, from the broker's answer and from its log.
#
# An acknowledged append is `accepted`, with the log as stored. An error code is `refused`, with its class.
# What no append may do, whatever is appended, is not part of the value: it is a broken rule.


LOG_APPEND: Final = "log-append"
NOTHING: Final = "kafka.append.nothing"
EARLIER: Final = "kafka.append.earlier"
OFFSETS: Final = "kafka.append.offsets"
RECORDS: Final = "kafka.append.records"
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
    if partition.last is not None and done.found.data.startswith(partition.last[1]):
        earlier = partition.last[1]
    else:
        earlier = b"".join(data for offset, data in entries if offset < done.start)
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
    partition.end = max(done.found.high_watermark, partition.end)
    later = (entry for entry in reversed(entries) if entry[0] >= done.start)
    partition.last = next(later, partition.last)  # the next case finds it before its own
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


def _broken_log(partition: Partition, done: Append, earlier: bytes) -> Iterator[BrokenRule]:
    """Yield the rules that the log before the append breaks, and the answer."""
    before, partition.highest = partition.highest, max(partition.highest, done.found.highest)
    if done.found.code:
        yield BrokenRule("kafka.fetch.readable", f"fetching fails with {_name(done.found.code)}")
    elif partition.last is not None:
        fetches = ((earlier, "the batch before: "), (partition.last[1], "a fetch before the append: "))
        refusals = [(read_by_consumer(data)[1], where) for data, where in fetches]
        damaged = [unreadable(one, where) for one, where in refusals if one is not None]
        yield from damaged
        count = len(list(entries_of(partition.last[1])))
        if not damaged and earlier != partition.last[1]:
            yield BrokenRule(EARLIER, "the batch before the append has changed or is gone")
        elif count > 1:
            yield BrokenRule(RECORDS, f"the batch before the append is in the log as {count} batches")
        elif before > done.start:
            yield BrokenRule(OFFSETS, f"the high watermark was {before}, and the log ended at {done.start}")
        elif done.found.highest > (now := done.found.high_watermark):
            yield BrokenRule(OFFSETS, f"the high watermark was {done.found.highest}, and is {now}")
    if done.answer.code == 0 and done.answer.base_offset != done.start:
        ahead = done.answer.base_offset - done.start
        yield BrokenRule(OFFSETS, f"the answer has an offset that is {ahead} from the end of the log")


def _broken_entries(sent: bytes, stored: Log, partition: Partition, done: Append) -> Iterator[BrokenRule]:
    """Yield the rules that stored entries break, of whatever kind the append is."""
    wanted, found = list(contents(read_by_consumer(sent)[0])), list(contents(stored))
    if len(wanted) != len(found):
        yield BrokenRule(RECORDS, f"{len(found)} of {len(wanted)} records are in the log")
    elif wanted != found:
        yield BrokenRule(RECORDS, "keys, values or headers are not those that were sent")
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
    frame = Frame(done.start, partition.epoch, {time_of_append} if timely else ())
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


# --- append case ---


class BrokerCases:
    """Runs cases on a cluster; threads may share it."""

    def __init__(self, cluster: Cluster, partitions: Partitions, legacy: Collection[int]) -> None:
        """Use partitions of topics of our own; `legacy` are the old magics that the broker takes."""
        self._cluster = cluster
        self._partitions = partitions
        self._legacy = legacy

    def decode(self, request: Request) -> Outcome:
        """Append the bytes of a request and return what the broker answers and stores."""
        return asked_again(self._cluster, partial(self._ask, request), self._partitions.forget)

    def _ask(self, request: Request) -> Outcome:
        data = request.data if request.format == "kafka.log" else first_entry(request.data)
        magic = magic_of(data, request.revision)
        magic = magic if magic in self._legacy else V2
        shown = magic if request.options.topic is None else V2  # as sent, or as stored
        try:
            with self._partitions.lent(request.options.topic or {}, shown, producer_of(data)) as partition:
                done = self._append(partition, data, magic, shown)
                return outcome_of(request, data, partition, done)
        except TopicError as error:
            return Unsupported(str(error))
        except errors.RequestTimedOutError as error:
            return stalled(error)

    def _append(self, partition: Partition, data: bytes, magic: int, shown: int) -> Append:
        if shown == V2:
            append_earlier(self._cluster, partition)
        start = partition.end
        since = partition.last[0] if partition.last else start
        sent = _now()
        answer = requests.produce(self._cluster, partition, data, magic)
        received = _now()
        beyond = -1 if answer.code else start
        found = read_log(self._cluster, partition, since, shown, beyond)
        check_permission(answer.code, partition, "writing to")
        check_permission(found.code, partition, "reading from")
        later: list[BrokenRule] = []
        appended = next((entry for entry in entries_of(found.data) if entry[0] == start), None)
        if appended and not answer.code:  # right so far: ask from inside the batch, and send it again
            if shown == V2:
                later += inside_faults(self._cluster, partition, appended, found.high_watermark)
            if is_idempotent(data):
                later += retry_faults(self._cluster, partition, data, start, found.high_watermark)
        return Append(start, answer, found, sent, received, later)


def _now() -> int:
    return time.time_ns() // 1_000_000


# --- around append ---
#
# What is done around an append: a batch before it, a fetch from its second offset, and its retry.
#
# Each finds faults that one append to an empty partition cannot show.


EARLIER_BATCH: Final[Json] = {
    "baseOffset": "0",
    "partitionLeaderEpoch": "-1",
    "magic": "2",
    "attributes": "0",
    "lastOffsetDelta": "1",
    "baseTimestamp": "-1",
    "maxTimestamp": "-1",
    "producerId": "-1",
    "producerEpoch": "-1",
    "baseSequence": "-1",
    "records": [
        {
            "attributes": "0",
            "timestampDelta": "0",
            "offsetDelta": delta,
            "key": f"0{delta}",
            "value": "",
            "headers": [],
        }
        for delta in ("0", "1")
    ],
}
"""Two records with keys and without times: no configuration refuses them but a small `max.message.bytes`. The
keys differ from each other and from those of cases, so that compaction leaves both."""

DUPLICATE: Final = 46
"""DUPLICATE_SEQUENCE_NUMBER: the other answer to a retry, which a producer takes for success."""


def append_earlier(cluster: Cluster, partition: Partition) -> None:
    """Append a batch to a new partition, so that offset 0 is wrong after it; raise `TopicError`.

    A topic that refuses it stays empty.
    """
    if partition.used:
        return
    partition.used = True
    answer = requests.produce(cluster, partition, _EARLIER_BYTES, V2)
    check_permission(answer.code, partition, "writing to")
    found = read_log(cluster, partition, 0, V2, beyond=-1 if answer.code else 0)
    check_permission(found.code, partition, "reading from")
    partition.end, partition.highest = max(found.high_watermark, 0), found.highest
    first = next(entries_of(found.data), None)
    partition.last = (first[0], found.data) if first else None  # all of it: it is one batch, or a fault


def check_permission(code: int, partition: Partition, action: str) -> None:
    """Raise `TopicError` for an answer that is about the client, not about its records."""
    if code in error_codes.DENIED:
        raise TopicError(f"{action} the topic {partition.topic} is not permitted")


def inside_faults(
    cluster: Cluster, partition: Partition, entry: tuple[int, bytes], end: int
) -> Iterator[BrokenRule]:
    """Yield the faults of a fetch from the second offset of a batch, which returns the whole batch: §1.8.

    `end` is the high watermark, which nothing has changed since.
    """
    offset, data = entry
    if not is_batch(data) or next_offset(*entry) <= offset + 1:
        return
    found = requests.fetch(cluster, partition, offset + 1, V2)
    fetched = list(entries_of(found.data))
    where = "a fetch from the second offset"
    if found.code:
        text = f"{where} fails with {error_codes.error_of(found.code).name}"
        yield BrokenRule("kafka.fetch.readable", text)
    elif fetched != [entry]:
        refused = read_by_consumer(fetched[0][1])[1] if fetched else None
        text = f"{where} does not return the batch" + (" alone" if fetched[:1] == [entry] else "")
        yield unreadable(refused, f"{where}: ") if refused else BrokenRule("kafka.fetch.whole-batch", text)
    elif found.high_watermark != end:
        yield BrokenRule(OFFSETS, f"{where} has the high watermark {found.high_watermark}, not {end}")


def retry_faults(
    cluster: Cluster, partition: Partition, data: bytes, base: int, end: int
) -> Iterator[BrokenRule]:
    """Yield the faults of the same batch sent again: answered as before, and stored once (KIP-98)."""
    answer = requests.produce(cluster, partition, data, V2)
    found = requests.fetch(cluster, partition, end, V2)
    fault = ""
    if found.high_watermark != end and not found.data:
        yield BrokenRule(OFFSETS, f"the high watermark is {found.high_watermark}, and nothing is at {end}")
    elif found.high_watermark != end:
        fault = f"is stored again: the log has grown by {found.high_watermark - end}"
    elif answer.code not in (0, DUPLICATE):
        fault = f"is refused with {error_codes.error_of(answer.code).name}"
    elif answer.code == 0 and answer.base_offset != base:
        fault = f"is answered with an offset that differs by {answer.base_offset - base}"
    if fault:
        yield BrokenRule("kafka.state.duplicate", f"the same batch {fault}")


_EARLIER_BYTES: Final = formats.encode(formats.get("kafka.batch", "v2"), EARLIER_BATCH)
