"""One case on a live broker: produce its bytes, and fetch what the log has then."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, Final

from attrs import evolve, frozen
from kafka import errors

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, BrokenRule, Crashed, Outcome, Refused, Stalled, Unsupported
from wireproof.kafka.append import APPEND_TIME
from wireproof.kafka.attribute_bits import LOG_APPEND_TIME
from wireproof.kafka.values import Log, LogEntry, Message, Record, RecordBatch
from wireproof.live.kafka_broker import error_codes, requests
from wireproof.live.kafka_broker.cluster import Cluster, HangsError
from wireproof.live.kafka_broker.connection import FrameError, said_by
from wireproof.live.kafka_broker.error_codes import name_of
from wireproof.live.kafka_broker.topics import Partition, Partitions, TopicError
from wireproof.wire.json_values import to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

# --- asking again: a case whose connection ended, or whose topic is lost, which may have another reason ---

MOST_ENDS: Final = 4
"""How often a case is asked again whose connection ends, each time at another of its requests."""

TOPIC: Final = -1
"""Stands for the end of a case whose topic is lost, where others have a number of requests."""

FRAME: Final = "kafka.answer.frame"

CLOSED: Final = "connection closed"
LOST: Final = "topic lost"
MALFORMED: Final = "malformed answer"
"""What stands for the error code of a broker that closes the connection, that has lost two topics of a case,
or whose answer cannot be read, or has not what was asked for."""


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
            return _asked(ask)
        except errors.KafkaError as error:
            said, is_topic = said_by(error), isinstance(error, requests.LostTopicError)
            end = TOPIC if is_topic else cluster.answered() - before
            is_alive, noticed = cluster.is_alive(), time.monotonic()
            given_up = end in ends or (not is_topic and (len(ends) == MOST_ENDS or (ends and not is_alive)))
            if given_up and is_topic:
                return Refused(detail=LOST, text=str(error), untyped=True)
            if given_up and is_alive:
                text = f"the broker closes the connection without an answer: {said}"
                return Refused(detail=CLOSED, text=text, untyped=True)
            # also where it is given up: the process that asks the next case does not wait for the broker
            if not cluster.returns() or given_up:
                return Crashed(f"the broker is gone, nothing listens at its address: {said}")
        ends.append(end)
        away = is_topic or not is_alive
        what = "during which the broker was away" if away else "whose connection the broker closed"
        cluster.asked_again["cases whose topic was lost" if is_topic else f"cases {what}"] += 1
        if away:
            lost(noticed)


def _asked(ask: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of a case, also of what ends it for a reason that asking again does not change."""
    try:
        return ask()
    except (requests.MalformedAnswerError, FrameError) as error:  # no broker that is started again answers so
        text = str(error)
        return Refused(detail=MALFORMED, text=text, untyped=True, broken=(BrokenRule(FRAME, text),))
    except TopicError as error:
        return Unsupported(str(error))
    except errors.RequestTimedOutError as error:
        return Stalled(said_by(error))
    except HangsError as error:
        return Crashed(f"the broker hangs: {said_by(error)}")


# --- the fetched bytes of an append as a value, independent of its place and time ---

LOG: Final = formats.get("kafka.log", "mixed")


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


def contents(log: Log) -> Iterator[tuple[bytes | None, bytes | None, Any]]:
    """Yield what a broker keeps of each record, in whatever form: key, value and headers."""
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


def relative_entry(entry: LogEntry, frame: Frame) -> LogEntry:
    """Return an entry, and the messages in it, independent of the place and time of the append.

    Offsets are counted from the one that the broker answered, its leader epoch is 0, and the time that it
    answered is `APPEND_TIME`. A value that contradicts the answer stays visible.
    """
    stamped = entry.magic and entry.attributes & LOG_APPEND_TIME

    def time_of(stored: int) -> int:
        return named_time(stored, frame.append_times) if stamped else stored

    match entry:
        case RecordBatch():
            epoch = 0 if entry.partition_leader_epoch == frame.epoch else entry.partition_leader_epoch
            return evolve(
                entry,
                base_offset=entry.base_offset - frame.base,
                partition_leader_epoch=epoch,
                max_timestamp=time_of(entry.max_timestamp),
                records=tuple(
                    evolve(one, offset=one.offset - frame.base, timestamp=time_of(one.timestamp))
                    for one in entry.records
                ),
            )
        case Message():
            inner = entry.messages
            return evolve(
                entry,
                offset=entry.offset - frame.base,
                timestamp=time_of(entry.timestamp),
                messages=None if inner is None else tuple(relative_entry(one, frame) for one in inner),  # type: ignore[misc] # messages
            )


def named_time(timestamp: int, append_times: Collection[int]) -> int:
    """Return a timestamp, or `APPEND_TIME` for one that the broker answered."""
    return APPEND_TIME if timestamp >= 0 and timestamp in append_times else timestamp


# --- the outcome of an append, from the broker's answer and from its log ---
#
# An acknowledged append is `accepted`, with the log as stored. An error code is `refused`, with its class.
# What no append may do, whatever is appended, is not part of the value: it is a broken rule.

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
    answer: requests.ProduceAnswer
    found: requests.FetchAnswer
    sent: int
    received: int
    later: Sequence[BrokenRule] = ()


def outcome_of(request: Request, sent: bytes, partition: Partition, done: Append) -> Outcome:
    """Return the outcome of a request with the bytes `sent`, and note the end of the log for the next one."""
    entries = tuple(requests.entries_of(done.found.data))
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
        changed = BrokenRule(NOTHING, f"{name_of(done.answer.code)} is answered, and the log has changed")
        moved = grown or any(one.rule == EARLIER for one in broken)  # not by damage in a fetch
        return evolve(_refused(done.answer), broken=(changed, *broken) if moved else broken)
    if refused is not None:
        value["unreadable"] = f"{refused.cls} at {refused.at}: {refused.text}"
    batches = value["batches"]
    if request.format != "kafka.log":  # the value of the one entry; if there is not one, a value of that
        is_one = len(batches) == 1 and "unreadable" not in value
        value = batches[0] if is_one else {**value, "entries": str(len(batches))}
        value.pop("batches", None)
    return Accepted(value, broken=broken)


def _ends_whole(appended: bytes, done: Append) -> bool:
    """Return True if entries alone lead from the end of the log before to the end after the append.

    What is stored otherwise is judged with its own case; the next one would find it before its own bytes.
    """
    end, size = done.start, 0
    for offset, entry in requests.entries_of(appended):
        if offset < end:
            return False
        end, size = requests.next_offset(offset, entry), size + len(entry)
    return (end, size) == (done.found.high_watermark, len(appended))


def _broken_log(partition: Partition, done: Append, earlier: bytes) -> Iterator[BrokenRule]:
    """Yield the rules that the log before the append breaks, and the answer."""
    before, partition.highest = partition.highest, max(partition.highest, done.found.highest)
    if done.found.code:
        yield BrokenRule("kafka.fetch.readable", f"fetching fails with {name_of(done.found.code)}")
    elif partition.last is not None:
        fetches = ((earlier, "the batch before: "), (partition.last[1], "a fetch before the append: "))
        refusals = [(read_by_consumer(data)[1], where) for data, where in fetches]
        damaged = [unreadable(one, where) for one, where in refusals if one is not None]
        yield from damaged
        count = len(list(requests.entries_of(partition.last[1])))
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
    entries = tuple(relative_entry(entry, frame) for entry in stored.batches)
    shown = Log(entries, done.found.high_watermark - frame.base)
    value: dict[str, Any] = to_json(shown, with_derived=True)  # type: ignore[assignment] # of an object
    stamped = any(
        entry["timestampType"] == "log-append"
        for batch in value["batches"]
        for entry in batch.get("records", [batch])
    )
    if done.answer.code or not value["batches"] or stamped == (time_of_append >= 0):
        return value, ()
    has = "the batch has none" if not stamped else "the batch has one"
    return value, (BrokenRule("kafka.append.append-time", f"{time_of_append} is answered, and {has}"),)


def _refused(answer: requests.ProduceAnswer) -> Refused:
    error = error_codes.error_of(answer.code)
    text = f"error {answer.code}: {answer.message}" if answer.message else f"error {answer.code}"
    return Refused(
        error.cls,
        detail=error.name,
        text=text,
        before={"batches": [], "nextOffset": None},
        untyped=answer.code in error_codes.UNDOCUMENTED,
    )


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
        data = request.data if request.format == "kafka.log" else requests.first_entry(request.data)
        magic = requests.magic_of(data, request.revision)
        magic = magic if magic in self._legacy else requests.V2
        shown = magic if request.options.topic is None else requests.V2  # as sent, or as stored
        cluster = self._cluster
        with self._partitions.lent(
            request.options.topic or {}, shown, requests.producer_of(data)
        ) as partition:
            if shown == requests.V2:
                append_earlier(cluster, partition)
            start = partition.end
            since = partition.last[0] if partition.last else start
            sent = _now()
            answer = requests.produce(cluster, partition, data, magic)
            received = _now()
            found = requests.read_log(cluster, partition, since, shown, beyond=-1 if answer.code else start)
            check_permission(answer.code, partition, "writing to")
            check_permission(found.code, partition, "reading from")
            later: list[BrokenRule] = []
            appended = next((entry for entry in requests.entries_of(found.data) if entry[0] == start), None)
            if appended and not answer.code:  # right so far: ask from inside the batch, and send it again
                if shown == requests.V2:
                    later += inside_faults(cluster, partition, appended, found.high_watermark)
                if requests.is_idempotent(data):
                    later += retry_faults(cluster, partition, data, start, found.high_watermark)
            done = Append(start, answer, found, sent, received, later)
            return outcome_of(request, data, partition, done)


def _now() -> int:
    return time.time_ns() // 1_000_000


# --- around an append: a batch before it, a fetch from its second offset, and its retry ---
#
# Each finds faults that one append to an empty partition cannot show.

BATCH_BEFORE: Final = formats.encode(
    formats.get("kafka.batch", "v2"),
    to_json(
        RecordBatch(
            *(0, -1, requests.V2, 0, 1, -1, -1, -1, -1, -1),
            records=tuple(Record(0, 0, delta, bytes([delta]), b"", ()) for delta in (0, 1)),
        )
    ),
)
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
    answer = requests.produce(cluster, partition, BATCH_BEFORE, requests.V2)
    check_permission(answer.code, partition, "writing to")
    found = requests.read_log(cluster, partition, 0, requests.V2, beyond=-1 if answer.code else 0)
    check_permission(found.code, partition, "reading from")
    partition.end, partition.highest = max(found.high_watermark, 0), found.highest
    first = next(requests.entries_of(found.data), None)
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
    if not requests.is_batch(data) or requests.next_offset(*entry) <= offset + 1:
        return
    found = requests.fetch(cluster, partition, offset + 1, requests.V2)
    fetched = list(requests.entries_of(found.data))
    where = "a fetch from the second offset"
    if found.code:
        text = f"{where} fails with {name_of(found.code)}"
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
    answer = requests.produce(cluster, partition, data, requests.V2)
    found = requests.fetch(cluster, partition, end, requests.V2)
    fault = ""
    if found.high_watermark != end and not found.data:
        yield BrokenRule(OFFSETS, f"the high watermark is {found.high_watermark}, and nothing is at {end}")
    elif found.high_watermark != end:
        fault = f"is stored again: the log has grown by {found.high_watermark - end}"
    elif answer.code not in (0, DUPLICATE):
        fault = f"is refused with {name_of(answer.code)}"
    elif answer.code == 0 and answer.base_offset != base:
        fault = f"is answered with an offset that differs by {answer.base_offset - base}"
    if fault:
        yield BrokenRule("kafka.state.duplicate", f"the same batch {fault}")
