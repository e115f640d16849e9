"""Encoding with librdkafka's producer: the broker keeps the record set of its Produce request.

It sends one entry at a time, for `linger.ms` delays the messages until `flush`. It chooses the magic by the
versions of Produce that the broker supports. The broker assigns producer id and epoch.
"""

from collections.abc import Iterator
from typing import Any, Final

from attrs import define, field
from confluent_kafka import KafkaException, Producer

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled, Unsupported
from wireproof_peers.build_entries import CODEC_BITS, TRANSACTIONAL, fixed_batch_field, fixed_message_field
from wireproof_peers.exception_map import Refusals
from wireproof_peers.kafka_client_broker import PARTITIONS, TOPIC, ClientBroker, KeptAsSent
from wireproof_peers.record_fields import to_bytes

WAIT_FACTOR: Final = 10
"""Time limits of a request that a wait may take; the runner stops the worker sooner."""

COMPRESSION: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""The names of the codec bits: kafka.md §1.2."""

LARGE: Final = 1_000_000_000
MANY: Final = 1_000_000
SETTINGS: Final = {
    "linger.ms": 50_000,
    "batch.num.messages": MANY,
    "batch.size": LARGE,
    "message.max.bytes": LARGE,
    "queue.buffering.max.messages": MANY,
    "queue.buffering.max.kbytes": 2 * MANY,
    "request.required.acks": -1,
    "message.timeout.ms": 60_000,
    "transaction.timeout.ms": 60_000,
    "log_level": 0,
}

REFUSALS: Final = Refusals(documented=(KafkaException, BufferError))

_WRITTEN: Final = (
    *("baseOffset", "magic", "attributes", "lastOffsetDelta", "baseTimestamp", "maxTimestamp"),
    *("producerId", "producerEpoch", "baseSequence"),
    *(
        f"records[].{name}"
        for name in ("attributes", "timestampDelta", "offsetDelta", "offset", "timestamp", "key", "value")
    ),
    "records[].headers",
)
"""The fields of a v2 batch that it writes as given; it chooses the leader epoch."""

CLAIMS: Final = {
    "kafka.batch/v0": Claim(("encode",), COMPRESSION[:4], ("reader",), features=("wrapper",)),
    "kafka.batch/v1": Claim(("encode",), COMPRESSION[:4], ("reader",), features=("wrapper",)),
    "kafka.batch/v2": Claim(
        ("encode",), COMPRESSION, ("reader",), _WRITTEN, ("headers", "idempotent", "transactional")
    ),
}


@define
class Producers:
    """A broker for each magic, a producer for each magic and codec, or for a request with a producer id."""

    _brokers: dict[str, ClientBroker] = field(factory=dict)
    _known: dict[tuple[str, str], Any] = field(factory=dict)
    _asked: int = 0

    def encode(self, request: Request) -> Outcome:
        """Produce one entry; unsupported if the producer sets a field otherwise."""
        value: Any = request.value
        beyond = _beyond(request.revision, value)
        if beyond:
            return Unsupported(f"a producer has no say over {beyond}")
        try:
            return self._sent(request, value)
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
            self._known.clear()
            return REFUSALS.outcome(error)

    def close(self) -> None:
        self._known.clear()
        for broker in self._brokers.values():
            broker.close()
        self._brokers.clear()

    def _sent(self, request: Request, value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
        broker = self._broker(request.revision)
        partition = self._asked % PARTITIONS
        self._asked += 1
        seen = KeptAsSent()
        broker.put(partition, seen)
        seconds = request.limits.ms * WAIT_FACTOR / 1000
        producer = self._producer(broker, request.revision, value)
        for stamp, record in _records(value):
            producer.produce(TOPIC, partition=partition, timestamp=stamp, **record)
        left = producer.flush(seconds)
        broker.forget(partition)
        match seen.produced:
            case [data] if not left:
                return Accepted(data=data)
            case []:
                return Stalled(f"{left} messages unsent after {seconds:g} s")
            case several:
                return Refused(cls="invalid-value", text=f"sent in {len(several)} parts")

    def _broker(self, revision: str) -> ClientBroker:
        if revision not in self._brokers:
            self._brokers[revision] = ClientBroker(revision)
        return self._brokers[revision]

    def _producer(self, broker: ClientBroker, revision: str, value: Any) -> Any:  # noqa: ANN401 - of the library
        codec = COMPRESSION[int(value["attributes"]) & CODEC_BITS]
        settings = {**SETTINGS, "bootstrap.servers": broker.address, "compression.type": codec}
        if revision == "v2" and value["producerId"] != "-1":
            return _identified(broker, settings, value)
        if (revision, codec) not in self._known:
            self._known[revision, codec] = Producer(settings)
        return self._known[revision, codec]


def _identified(broker: ClientBroker, settings: dict[str, Any], value: Any) -> Any:  # noqa: ANN401 - as above
    """Return a producer to which the broker assigns id and epoch; its sequence begins at 0."""
    broker.identify(int(value["producerId"]), int(value["producerEpoch"]))
    if not int(value["attributes"]) & TRANSACTIONAL:
        return Producer({**settings, "enable.idempotence": True})
    producer = Producer({**settings, "transactional.id": "wireproof"})
    producer.init_transactions(5)
    producer.begin_transaction()
    return producer


def _records(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:  # noqa: ANN401 - a JSON value
    """Yield the time of each message and the further arguments of `produce`."""
    if "records" in value:
        for record in value["records"]:
            headers = [(bytes.fromhex(key).decode(), to_bytes(part)) for key, part in record["headers"]]
            arguments = {"key": to_bytes(record["key"]), "value": to_bytes(record["value"])}
            stamp = int(value["baseTimestamp"]) + int(record["timestampDelta"])
            yield stamp, arguments | ({"headers": headers} if headers else {})
        return
    for message in value["messages"] or [value]:
        yield (
            int(message["timestamp"]),
            {"key": to_bytes(message["key"]), "value": to_bytes(message["value"])},
        )


def _beyond(revision: str, value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """Return the first field that a producer sets to another value than that of `value`."""
    if revision != "v2":
        return _beyond_legacy(revision, value)
    records = value["records"]
    deltas = [record["offsetDelta"] for record in records]
    nobody = value["producerId"] == "-1"
    stamps = {int(value["baseTimestamp"]) + int(record["timestampDelta"]) for record in records}
    bits = int(value["attributes"])
    rules: tuple[tuple[str, bool], ...] = (
        ("magic", value["magic"] == "2"),
        ("attributes", bits & CODEC_BITS < len(COMPRESSION) and not (nobody and bits & TRANSACTIONAL)),
        ("records", bool(records)),
        ("records[].offsetDelta", deltas == [str(place) for place in range(len(deltas))]),
        ("records[].timestamp", 0 not in stamps),
        ("producerEpoch", (value["producerEpoch"] == "-1") == nobody),
        ("baseSequence", value["baseSequence"] == ("-1" if nobody else "0")),
    )
    return next((name for name, can in rules if not can), None) or fixed_batch_field(value)


def _beyond_legacy(revision: str, value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """Return the same for a v0 or v1 entry; a time of 0 means the time of sending."""
    stamps = {message["timestamp"] for message in value["messages"] or [value]}
    rules: tuple[tuple[str, bool], ...] = (
        ("magic", revision == f"v{value['magic']}"),
        ("offset", value["offset"] == "0"),
        ("messages", value["messages"] != []),
        ("timestamp", revision == "v0" or "0" not in stamps),
        ("attributes", int(value["attributes"]) < len(COMPRESSION) - 1),
    )
    return next((name for name, can in rules if not can), None) or fixed_message_field(value)
