"""One case on a live broker: produce its bytes, and fetch what the log has then."""

import time
from collections.abc import Collection, Iterator
from functools import partial

from attrs import evolve
from kafka import errors

from wireproof.adapters.contract import Request
from wireproof.adapters.python_object import line_of
from wireproof.cases.outcome import BrokenRule, Outcome, Stalled, Unsupported
from wireproof.kafka.family.live_broker import around_append, requests
from wireproof.kafka.family.live_broker.append_outcome import Append, outcome_of
from wireproof.kafka.family.live_broker.asked_twice import asked_twice
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.kafka.family.live_broker.entry_bytes import (
    V2,
    entries_of,
    first_entry,
    is_idempotent,
    magic_of,
    producer_of,
)
from wireproof.kafka.family.live_broker.log_reading import read_log
from wireproof.kafka.family.live_broker.partitions import Partitions
from wireproof.kafka.family.live_broker.topics import Partition, TopicError


class BrokerCases:
    """Runs cases on a cluster; threads may share it."""

    def __init__(self, cluster: Cluster, partitions: Partitions, legacy: Collection[int]) -> None:
        """Use partitions of topics of our own; `legacy` are the old magics that the broker takes."""
        self._cluster = cluster
        self._partitions = partitions
        self._legacy = legacy

    def decode(self, request: Request) -> Outcome:
        """Append the bytes of a request and return what the broker answers and stores."""
        return asked_twice(self._cluster, partial(self._ask, request), self._partitions.forget)

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
            return Stalled(line_of(error))

    def _append(self, partition: Partition, data: bytes, magic: int, shown: int) -> Append:
        if shown == V2:
            around_append.append_earlier(self._cluster, partition)
        start = partition.end
        since = partition.last[0] if partition.last else start
        sent = _now()
        answer = requests.produce(self._cluster, partition, data, magic)
        received = _now()
        beyond = -1 if answer.code else start
        found = read_log(self._cluster, partition, since, shown, beyond)
        around_append.check_permission(answer.code, partition, "writing to")
        around_append.check_permission(found.code, partition, "reading from")
        done = Append(start, answer, found, sent, received)
        return done if answer.code else evolve(done, later=tuple(self._later(partition, data, done, shown)))

    def _later(self, partition: Partition, data: bytes, done: Append, shown: int) -> Iterator[BrokenRule]:
        """Yield what a fetch from inside the batch and a retry show of an append that is right so far."""
        appended = [entry for entry in entries_of(done.found.data) if entry[0] == done.start]
        if appended and shown == V2:
            yield from around_append.inside_faults(self._cluster, partition, appended[0], shown)
        if appended and is_idempotent(data):
            end = done.found.high_watermark
            yield from around_append.retry_faults(self._cluster, partition, data, done.start, end)


def _now() -> int:
    return time.time_ns() // 1_000_000
