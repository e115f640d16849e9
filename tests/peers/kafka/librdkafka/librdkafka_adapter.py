"""librdkafka through confluent-kafka: a client that shows no codec, behind a broker on the loopback.

Each decode has a partition of its own, so nothing of one case is left for the next: the first Fetch is
answered with the case's bytes, and the second one tells what the client made of them. It asks for what
lies behind them: they were read, whatever was delivered. It asks for something else: it stalls. An error
that its consumer is told is a refusal. It says nothing of the fields of a batch, and never delivers a
control batch. `check.crcs` is on, which it is not by default.
"""

import time
from typing import Any, Final

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled
from wireproof.wire.classes import RejectClass
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.values import Json
from wireproof_peers.exception_map import Refusals
from wireproof_peers.fake_kafka_broker import PARTITIONS, TOPIC, Broker, Partition, RecordSet
from wireproof_peers.librdkafka_producer import CLAIMS, Producers
from wireproof_peers.record_fields import READS as EVERYBODY_READS
from wireproof_peers.record_fields import observed
from wireproof_peers.regroup_records import Log, Record, log_of, shared_out, value_of

PATIENCE: Final = 10
"""How often a request's time limit a wait may take: who asked stops it sooner, and calls it a timeout.

A stall is no matter of time here: the client's second Fetch shows it.
"""

CONNECT_SECONDS: Final = 2.0

SETTINGS: Final = {
    "group.id": "wireproof",
    "check.crcs": True,
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "fetch.wait.max.ms": 10,
    "fetch.error.backoff.ms": 1,
    "log_level": 0,
}

READS: Final = (*EVERYBODY_READS, "fetch-offset", "read-committed")
"""No control batches: it reads them, and shows none."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")

CLASSES: Final[tuple[tuple[str, RejectClass], ...]] = (
    ("CRC32", "crc-mismatch"),
    ("MagicByte", "bad-magic"),
    ("Decompression", "decompress-failed"),
    ("codec", "unknown-codec"),
)
"""Parts of what its consumer is told, and the class that they leave no doubt of."""

REFUSALS: Final = Refusals((KafkaException,), CLASSES)


class Librdkafka:
    """librdkafka as an adapter of `kafka.log`, and of `kafka.batch` for encoding."""

    name = "librdkafka"
    version = f"{confluent_kafka.libversion()[0]} (confluent-kafka {confluent_kafka.version()})"
    documented = REFUSALS.documented
    cost = "slow"
    """Most cases take a millisecond, but where it aborts or hangs a new process is started."""
    revisions: Final = {
        "kafka.log/mixed": Claim(("decode",), CODECS, ("reader",), observes=observed(), features=READS),
        **CLAIMS,
    }

    def __init__(self) -> None:
        """Start broker and consumer: the time to connect is no case's."""
        self._broker = Broker()
        self._consumers: dict[str, Any] = {}
        self._asked = 0
        self._producers = Producers()
        self._consumed(DEFAULT, b"", CONNECT_SECONDS)

    def encode(self, request: Request) -> Outcome:
        """Produce the records of `request.value`, and take the record set from the request."""
        return self._producers.encode(request)

    def decode(self, request: Request) -> Outcome:
        """Consume from a partition that holds `request.data`."""
        seen, heard = self._consumed(request.options, request.data, request.limits.ms * PATIENCE / 1000)
        return _outcome(request, seen, heard)

    def _consumed(self, options: Options, data: bytes, seconds: float) -> tuple[Partition, "_Heard"]:
        partition = self._asked % PARTITIONS
        self._asked += 1
        seen = self._broker.serve(partition, RecordSet(data, options.aborted))
        consumer = self._consumer(options.isolation)
        consumer.assign([TopicPartition(TOPIC, partition, options.fetch_offset or 0)])
        try:
            return seen, _polled(consumer, seconds)
        finally:
            self._broker.forget(partition)

    def close(self) -> None:
        """End the clients and the servers."""
        for consumer in self._consumers.values():
            consumer.close()
        self._consumers.clear()
        self._producers.close()
        self._broker.close()

    def _consumer(self, isolation: str) -> Any:  # noqa: ANN401 - of the library
        if isolation not in self._consumers:
            own = {"bootstrap.servers": self._broker.address, "isolation.level": isolation}
            self._consumers[isolation] = Consumer({**SETTINGS, **own})
        return self._consumers[isolation]


class _Heard:
    """What a consumer told, in order: records, at most one error, and whether it came to an end."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.error: KafkaError | None = None
        self.ended = False


def _polled(consumer: Any, seconds: float) -> _Heard:  # noqa: ANN401 - of the library
    """Poll until the end that the broker's second answer names; what comes after an error is left."""
    heard = _Heard()
    deadline = time.monotonic() + seconds
    while not heard.ended and (left := deadline - time.monotonic()) > 0:
        message = consumer.poll(left)
        if message is None:
            continue
        error = message.error()
        if error is not None and error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
            heard.ended = True
        elif heard.error is None and error is not None:
            heard.error = error
        elif heard.error is None:
            heard.records.append(_record(message))
    return heard


def _record(message: Any) -> Record:  # noqa: ANN401 - of the library
    """A message; without a timestamp it says kind 0 and time 0 or less, which Kafka reads as -1."""
    kind, stamp = message.timestamp()
    headers = tuple((_bytes(key), part) for key, part in message.headers() or ())
    return Record(message.offset(), stamp if kind else -1, message.key(), message.value(), headers)


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")


def _outcome(request: Request, seen: Partition, heard: _Heard) -> Outcome:
    log = log_of(request.data)
    if heard.error is not None:
        return _refused(heard.error, _value(log, heard, whole=False))
    if not heard.ended or len(seen.fetched) <= bool(request.data):
        return Stalled(f"{len(heard.records)} records, then nothing; it asked for {seen.fetched[:3]}")
    if not log.is_read(seen.fetched[-1]):
        return Stalled(
            f"{len(heard.records)} records and no error; it asks for offset {seen.fetched[-1]} again"
        )
    whole = (request.options.fetch_offset, request.options.isolation) == (None, DEFAULT.isolation)
    return Accepted(value=_value(log, heard, whole=whole))


def _value(log: Log, heard: _Heard, *, whole: bool) -> Json:
    return value_of(shared_out(log, heard.records), whole=whole)


def _refused(error: KafkaError, before: Json) -> Refused:
    return REFUSALS.outcome(KafkaException(error), before)
