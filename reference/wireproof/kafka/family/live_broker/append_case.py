"""One case on a live broker: produce its bytes, fetch what the log has then, and answer with it.

An acknowledged append is `accepted`, with the log as stored. An error code is `refused`, with its class. If
the broker refuses and the log has grown, the answer is what a consumer sees: the records are there.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from struct import Struct
from typing import Any, Final

from attrs import evolve, frozen
from kafka import errors

from wireproof.adapters.contract import Request
from wireproof.adapters.python_object import line_of
from wireproof.cases.outcome import Accepted, Crashed, Outcome, Refused, Stalled, Unsupported
from wireproof.kafka.family.live_broker import error_codes, requests
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.kafka.family.live_broker.partitions import Partitions
from wireproof.kafka.family.live_broker.requests import FetchAnswer, ProduceAnswer
from wireproof.kafka.family.live_broker.stored_log import Frame, stored_value
from wireproof.kafka.family.live_broker.topics import Partition, TopicError
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.size_and_magic import MAGIC_AT
from wireproof.wire.json_values import Json

V2: Final = 2
MAGICS: Final = {"v0": 0, "v1": 1, "v2": V2}
LOG_APPEND: Final = "log-append"
NO_PRODUCER: Final = -1
BATCH_HEADER: Final = 61
"""Bytes of a batch before its records."""

CLOSED: Final = "connection closed"
"""Stands for the error code of a broker that closes the connection."""

_PREFIX: Final = Struct(">qi")
PREFIX: Final = _PREFIX.size
"""Bytes of an entry up to the end of its length, which counts the bytes after it."""

CLOCK_TOLERANCE_MS: Final = 60_000
"""Difference of the clocks of this machine and of the broker that is no fault of an append."""

BOUND_MS: Final = 1_000
"""Most milliseconds to wait for a high watermark that includes an acknowledged append."""

PAUSE: Final = 0.02


@frozen
class _Append:
    """An append that the broker answered.

    Attributes:
        start: the end of the log before it.
        answer: the broker's answer.
        found: the log from `since` on, fetched after it.
        since: the offset of the fetch: that of the last earlier batch, if there is one.
        sent, received: milliseconds of this machine's clock.
    """

    start: int
    answer: ProduceAnswer
    found: FetchAnswer
    since: int
    sent: int
    received: int


class BrokerCases:
    """Runs cases on a cluster; threads may share it."""

    def __init__(self, cluster: Cluster, partitions: Partitions, legacy: Collection[int]) -> None:
        """Use partitions of topics of our own; `legacy` are the old magics that the broker takes."""
        self._cluster = cluster
        self._partitions = partitions
        self._legacy = legacy

    def decode(self, request: Request) -> Outcome:
        """Append the bytes of a request and return what the broker answers and stores."""
        try:
            return self._ask(request)
        except errors.KafkaError as error:
            return self._ask_again(request) if self._cluster.is_alive() else _gone(error)

    def _ask_again(self, request: Request) -> Outcome:
        """Repeat a case whose connection ended, which may have another reason than the case."""
        try:
            return self._ask(request)
        except errors.KafkaError as error:
            text = f"the broker closes the connection without an answer: {line_of(error)}"
            return (
                Refused(detail=CLOSED, text=text, untyped=True) if self._cluster.is_alive() else _gone(error)
            )

    def _ask(self, request: Request) -> Outcome:
        data = request.data if request.format == "kafka.log" else first_entry(request.data)
        magic = magic_of(data, request.revision)
        magic = magic if magic in self._legacy else V2
        shown = magic if request.options.topic is None else V2  # as sent, or as stored
        try:
            with self._partitions.lent(request.options.topic or {}, shown, producer_of(data)) as partition:
                return _outcome(request, partition, self._append(partition, data, magic, shown))
        except TopicError as error:
            return Unsupported(str(error))
        except errors.RequestTimedOutError as error:
            return Stalled(line_of(error))

    def _append(self, partition: Partition, data: bytes, magic: int, shown: int) -> _Append:
        start = partition.end
        since = partition.last[0] if partition.last else start
        sent = _now()
        answer = requests.produce(self._cluster, partition, data, magic)
        received = _now()
        found = self._fetched(partition, since, shown, start, appended=answer.code == 0)
        return _Append(start, answer, found, since, sent, received)

    def _fetched(
        self, partition: Partition, since: int, magic: int, start: int, *, appended: bool
    ) -> FetchAnswer:
        """Fetch the log up to the high watermark, which includes an acknowledged append.

        A response may end before its high watermark: the broker reads one after the other.
        """
        deadline = time.monotonic() + BOUND_MS / 1000
        entries: list[tuple[int, bytes]] = []
        while True:
            following = max(since, *(next_offset(*entry) for entry in entries)) if entries else since
            found = requests.fetch(self._cluster, partition, following, magic)
            known = entries[-1][0] if entries else -1
            entries += [entry for entry in entries_of(found.data) if entry[0] > known]
            reached = max((next_offset(*entry) for entry in entries), default=since)
            whole = reached >= found.high_watermark and (not appended or found.high_watermark > start)
            if whole or found.code or time.monotonic() > deadline:
                rest = found.data[sum(len(data) for _, data in entries_of(found.data)) :]
                return evolve(found, data=b"".join(data for _, data in entries) + rest)
            time.sleep(PAUSE)


def _gone(error: errors.KafkaError) -> Crashed:
    return Crashed(f"the broker is gone, nothing listens at its address: {line_of(error)}")


def _outcome(request: Request, partition: Partition, done: _Append) -> Outcome:
    entries = tuple(entries_of(done.found.data))
    earlier = b"".join(data for offset, data in entries if offset < done.start)
    appended = done.found.data[len(earlier) :]
    breaches = dict(_breaches(partition, done, earlier))
    grown = done.found.high_watermark > done.start
    if done.answer.code and not grown and not breaches:
        return _refused(done.answer)
    if done.answer.code:
        breaches["error"] = _name(done.answer.code)
    value = {**_value(done, partition, appended), **breaches}
    _note_end(partition, done, entries)
    partition.retired = bool(breaches) or "unreadable" in value or not grown
    return Accepted(value if request.format == "kafka.log" else _only_entry(value, breaches))


def _breaches(partition: Partition, done: _Append, earlier: bytes) -> Iterator[tuple[str, str]]:
    """Yield the faults of an append that no field of a log shows; each becomes a field of the value."""
    if done.found.code:
        yield "unreadable", f"fetching fails with {_name(done.found.code)}"
    elif partition.last is not None and earlier != partition.last[1]:
        yield "earlier", "the batch before the append has changed or is gone"
    if done.answer.code == 0 and done.answer.base_offset != done.start:
        yield "answeredBaseOffset", str(done.answer.base_offset - done.start)


def _value(done: _Append, partition: Partition, appended: bytes) -> dict[str, Any]:
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


def _note_end(partition: Partition, done: _Append, entries: Sequence[tuple[int, bytes]]) -> None:
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


def _now() -> int:
    return time.time_ns() // 1_000_000


# --- the bytes of entries, of which only the parts are read that every version has ---


def entries_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and the bytes of each whole entry: kafka.md §1.4."""
    at = 0
    while len(data) - at >= PREFIX:
        offset, length = _PREFIX.unpack_from(data, at)
        end = at + PREFIX + length
        if length < 0 or end > len(data):
            return
        yield offset, data[at:end]
        at = end


def next_offset(offset: int, entry: bytes) -> int:
    """Return the offset after an entry: of a batch by its last offset, of a message by its own."""
    if len(entry) < BATCH_HEADER or entry[MAGIC_AT] != V2:
        return offset + 1
    at = BATCH.offset("lastOffsetDelta")
    return offset + int.from_bytes(entry[at : at + 4], signed=True) + 1


def first_entry(data: bytes) -> bytes:
    """Return the bytes of the first entry, without the bytes after it; all bytes if it is cut."""
    return next((entry for _, entry in entries_of(data)), data)


def magic_of(data: bytes, revision: str) -> int:
    """Return the magic that decides the version of the request: of the revision, or of the first entry."""
    if revision in MAGICS:
        return MAGICS[revision]
    return data[MAGIC_AT] if len(data) > MAGIC_AT else V2


def producer_of(data: bytes) -> int:
    """Return the producer id of the first batch; -1 if there is none."""
    at = BATCH.offset("producerId")
    if len(data) < at + 8 or data[MAGIC_AT] != V2:
        return NO_PRODUCER
    return int.from_bytes(data[at : at + 8], signed=True)
