"""librdkafka through confluent-kafka: a client of the loopback broker, for its codec cannot be called alone.

Each decode has its own partition, so that nothing of a case remains for the next one. It serves the bytes of
the case, and one more record: a client that delivers that one has read them, whatever it delivered. A client
that asks for an offset of the case again and again has stalled. An error of its consumer is a refusal. It
returns no fields of a batch, and never delivers a control batch. `check.crcs` is on; its default is off.
"""

import time
from importlib import metadata
from typing import Any, Final

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled
from wireproof.live.kafka_client.consume_case import MOST_FETCHES, REPEATS
from wireproof.live.loopback_broker.regroup_records import SeenRecord, assign_records, log_value
from wireproof.live.loopback_broker.served_log import END, ServedLog, Serving
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import RejectClass
from wireproof_peers.exception_map import Refusals
from wireproof_peers.kafka_client_broker import PARTITIONS, TOPIC, ClientBroker
from wireproof_peers.librdkafka_producer import CLAIMS, Producers
from wireproof_peers.record_fields import READS as EVERYBODY_READS
from wireproof_peers.record_fields import observed_fields

WAIT_FACTOR: Final = 10
"""Time limits of a request that a wait may take; the runner stops the worker sooner and reports a timeout.

A stall does not depend on the time: the Fetches show it.
"""

POLL_SECONDS: Final = 0.05
"""How long to wait for an event before the Fetches are counted."""

LIMIT: Final = 1 << 20
"""The limit of bytes with which a partition begins; one whose limit grew keeps it."""

CONNECT_SECONDS: Final = 2.0

SETTINGS: Final = {
    "group.id": "wireproof",
    "check.crcs": True,
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "fetch.wait.max.ms": 0,
    "fetch.error.backoff.ms": 1,
    "log_level": 0,
}

READS: Final = (*EVERYBODY_READS, "fetch-offset", "read-committed")
"""The features that it reads; not control batches, which it reads and does not deliver."""

DERIVED: Final = (
    "nextOffset",
    "batches[].records[].timestampType",
    "batches[].messages[].timestampType",
)
"""The derived fields: the offset of its last Fetch, and the types that `Message.timestamp` returns."""

TIMESTAMP_TYPES: Final = {
    confluent_kafka.TIMESTAMP_NOT_AVAILABLE: "none",
    confluent_kafka.TIMESTAMP_CREATE_TIME: "create",
    confluent_kafka.TIMESTAMP_LOG_APPEND_TIME: "log-append",
}

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")

CLASSES: Final[tuple[tuple[str, RejectClass], ...]] = (
    ("CRC32", "crc-mismatch"),
    ("MagicByte", "bad-magic"),
    ("Decompression", "decompress-failed"),
    ("codec", "unknown-codec"),
)
"""Parts of its error texts, each with the only class that it can mean."""

REFUSALS: Final = Refusals((KafkaException,), CLASSES)


class Librdkafka:
    """librdkafka as an adapter of `kafka.log`, and of `kafka.batch` for encoding."""

    name = "librdkafka"
    version = f"{confluent_kafka.libversion()[0]} (confluent-kafka {metadata.version('confluent-kafka')})"
    documented = REFUSALS.documented
    cost = "slow"
    """Most cases take a millisecond, but after an abort or a hang a new process is started."""
    revisions: Final = {
        "kafka.log/mixed": Claim(
            ("decode",), CODECS, ("reader",), observes=(*observed_fields(), *DERIVED), features=READS
        ),
        **CLAIMS,
    }

    def __init__(self) -> None:
        """Start broker and consumer, so that no case includes the time to connect."""
        self._broker = ClientBroker()
        self._consumers: dict[str, Any] = {}
        self._unused = list(range(PARTITIONS))
        self._producers = Producers()
        self._consumed(DEFAULT_OPTIONS, b"", CONNECT_SECONDS)

    def encode(self, request: Request) -> Outcome:
        """Produce the records of `request.value`, and take the record set from the request."""
        return self._producers.encode(request)

    def decode(self, request: Request) -> Outcome:
        """Consume from a partition that holds `request.data`."""
        served, events = self._consumed(request.options, request.data, request.limits.ms * WAIT_FACTOR / 1000)
        return _outcome(request, served, events)

    def _consumed(self, options: Options, data: bytes, seconds: float) -> tuple[ServedLog, "_Events"]:
        if not self._unused:
            self._close_consumers()
            self._unused = list(range(PARTITIONS))
        partition = self._unused.pop(0)
        serving = Serving(data, options.fetch_offset or 0, options.aborted, "whole")
        served = ServedLog(serving, lambda *_: None)
        self._broker.put(partition, served)
        consumer = self._consumer(options.isolation)
        consumer.assign([TopicPartition(TOPIC, partition, options.fetch_offset or 0)])
        try:
            return served, _polled(consumer, served, seconds)
        finally:
            consumer.unassign()
            self._broker.forget(partition)
            if served.limit <= LIMIT:
                self._unused.append(partition)

    def close(self) -> None:
        self._close_consumers()
        self._producers.close()
        self._broker.close()

    def _close_consumers(self) -> None:
        for consumer in self._consumers.values():
            consumer.close()
        self._consumers.clear()

    def _consumer(self, isolation: str) -> Any:  # noqa: ANN401 - of the library
        if isolation not in self._consumers:
            own = {"bootstrap.servers": self._broker.address, "isolation.level": isolation}
            self._consumers[isolation] = Consumer({**SETTINGS, **own})
        return self._consumers[isolation]


class _Events:
    """What a consumer delivers: records, at most one error, and whether the record after the log."""

    def __init__(self) -> None:
        self.records: list[SeenRecord] = []
        self.error: KafkaError | None = None
        self.ended = False


def _polled(consumer: Any, served: ServedLog, seconds: float) -> _Events:  # noqa: ANN401 - of the library
    """Poll until the record after the log, an error, or a stall."""
    events = _Events()
    deadline = time.monotonic() + seconds
    while not events.ended and events.error is None and (left := deadline - time.monotonic()) > 0:
        message = consumer.poll(min(left, POLL_SECONDS))
        if message is None and served.repeated >= REPEATS:
            break
        if served.fetches >= MOST_FETCHES and (message is None or not served.waits):
            break
        if message is None:
            continue
        if (error := message.error()) is not None:
            events.error = error
        elif message.value() == END and message.offset() == served.end_at:
            events.ended = True
        else:
            events.records.append(_record(message))
    return events


def _record(message: Any) -> SeenRecord:  # noqa: ANN401 - of the library
    """Return a record; without a timestamp the kind is 0 and the time 0 or less, which Kafka reads as -1."""
    kind, stamp = message.timestamp()
    headers = tuple((_bytes(key), part) for key, part in message.headers() or ())
    time = stamp if kind else -1
    return SeenRecord(message.offset(), time, message.key(), message.value(), headers, TIMESTAMP_TYPES[kind])


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")


def _outcome(request: Request, served: ServedLog, events: _Events) -> Outcome:
    if events.error is not None:
        return _refused(events.error, _value(served, events, None, whole=False))
    if not events.ended:
        asks = f"asks for offset {served.offset} again and again" if served.repeated else "does nothing more"
        return Stalled(f"{len(events.records)} records and no error; it {asks}")
    whole = (request.options.fetch_offset, request.options.isolation) == (None, DEFAULT_OPTIONS.isolation)
    following = str(served.end_at) if served.serving.log.entries else None
    return Accepted(value=_value(served, events, following, whole=whole))


def _value(served: ServedLog, events: _Events, following: str | None, *, whole: bool) -> Json:
    value = log_value(assign_records(served.serving.log, events.records), whole=whole)
    assert isinstance(value, dict)
    return value | {"nextOffset": following}


def _refused(error: KafkaError, before: Json) -> Refused:
    return REFUSALS.outcome(KafkaException(error), before)
