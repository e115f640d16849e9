"""librdkafka's producer in front of the broker on the loopback: what its Produce request carries.

One entry at a time: `linger.ms` holds the messages back until `flush`. Which magic it writes the broker
decides, by the versions of Produce that it knows. Producer id and epoch are the broker's to give.
"""

from collections.abc import Iterator
from typing import Any, Final

from attrs import define, field
from confluent_kafka import KafkaException, Producer

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled, Unsupported
from wireproof_peers.build_entries import CODEC_BITS, TRANSACTIONAL, beyond_legacy, beyond_modern
from wireproof_peers.exception_map import Refusals
from wireproof_peers.fake_kafka_broker import MAGICS, PARTITIONS, TOPIC, Broker, Identity
from wireproof_peers.record_fields import to_bytes

PATIENCE: Final = 10
"""How often a request's time limit a wait may take: who asked stops it sooner."""

COMPRESSION: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""By the codec bits: kafka.md §1.2."""

ROOMY: Final = 1_000_000_000
MANY: Final = 1_000_000
SETTINGS: Final = {
    "linger.ms": 50_000,
    "batch.num.messages": MANY,
    "batch.size": ROOMY,
    "message.max.bytes": ROOMY,
    "queue.buffering.max.messages": MANY,
    "queue.buffering.max.kbytes": 2 * MANY,
    "request.required.acks": -1,
    "message.timeout.ms": 60_000,
    "transaction.timeout.ms": 60_000,
    "log_level": 0,
}

REFUSALS: Final = Refusals(documented=(KafkaException, BufferError))

_TOLD: Final = (
    *("baseOffset", "magic", "attributes", "lastOffsetDelta", "baseTimestamp", "maxTimestamp"),
    *("producerId", "producerEpoch", "baseSequence"),
    *(
        f"records[].{name}"
        for name in ("attributes", "timestampDelta", "offsetDelta", "offset", "timestamp", "key", "value")
    ),
    "records[].headers",
)
"""What it writes of a v2 batch as told; the leader epoch is its own to choose."""

CLAIMS: Final = {
    "kafka.batch/v0": Claim(("encode",), COMPRESSION[:4], ("reader",), features=("wrapper",)),
    "kafka.batch/v1": Claim(("encode",), COMPRESSION[:4], ("reader",), features=("wrapper",)),
    "kafka.batch/v2": Claim(
        ("encode",), COMPRESSION, ("reader",), _TOLD, ("headers", "idempotent", "transactional")
    ),
}


@define
class Producers:
    """One broker a magic, and one producer a magic and codec; one with an identity serves one request."""

    _brokers: dict[str, Broker] = field(factory=dict)
    _known: dict[tuple[str, str], Any] = field(factory=dict)
    _asked: int = 0

    def encode(self, request: Request) -> Outcome:
        """Produce one entry; it cannot be asked for what a producer has no say over."""
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
        """End the producers and the brokers."""
        self._known.clear()
        for broker in self._brokers.values():
            broker.close()
        self._brokers.clear()

    def _sent(self, request: Request, value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
        broker = self._broker(request.revision)
        partition = self._asked % PARTITIONS
        self._asked += 1
        seen = broker.serve(partition, None)
        seconds = request.limits.ms * PATIENCE / 1000
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

    def _broker(self, revision: str) -> Broker:
        if revision not in self._brokers:
            self._brokers[revision] = Broker(MAGICS[revision])
        return self._brokers[revision]

    def _producer(self, broker: Broker, revision: str, value: Any) -> Any:  # noqa: ANN401 - of the library
        codec = COMPRESSION[int(value["attributes"]) & CODEC_BITS]
        settings = {**SETTINGS, "bootstrap.servers": broker.address, "compression.type": codec}
        if revision == "v2" and value["producerId"] != "-1":
            return _identified(broker, settings, value)
        if (revision, codec) not in self._known:
            self._known[revision, codec] = Producer(settings)
        return self._known[revision, codec]


def _identified(broker: Broker, settings: dict[str, Any], value: Any) -> Any:  # noqa: ANN401 - as above
    """A producer that will be told who it is; its sequence begins at 0."""
    broker.identity = Identity(int(value["producerId"]), int(value["producerEpoch"]))
    if not int(value["attributes"]) & TRANSACTIONAL:
        return Producer({**settings, "enable.idempotence": True})
    producer = Producer({**settings, "transactional.id": "wireproof"})
    producer.init_transactions(5)
    producer.begin_transaction()
    return producer


def _records(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:  # noqa: ANN401 - a JSON value
    """The time of each message, and what else `produce` is told."""
    if "records" in value:
        for record in value["records"]:
            headers = [(bytes.fromhex(key).decode(), to_bytes(part)) for key, part in record["headers"]]
            told = {"key": to_bytes(record["key"]), "value": to_bytes(record["value"])}
            stamp = int(value["baseTimestamp"]) + int(record["timestampDelta"])
            yield stamp, told | ({"headers": headers} if headers else {})
        return
    for message in value["messages"] or [value]:
        yield (
            int(message["timestamp"]),
            {"key": to_bytes(message["key"]), "value": to_bytes(message["value"])},
        )


def _beyond(revision: str, value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """The first field that a producer sets by itself, to something else than `value` asks for."""
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
    return next((name for name, can in rules if not can), None) or beyond_modern(value)


def _beyond_legacy(revision: str, value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """The same of a v0 or v1 entry; a time of 0 is the time at which it is sent."""
    stamps = {message["timestamp"] for message in value["messages"] or [value]}
    rules: tuple[tuple[str, bool], ...] = (
        ("magic", revision == f"v{value['magic']}"),
        ("offset", value["offset"] == "0"),
        ("messages", value["messages"] != []),
        ("timestamp", revision == "v0" or "0" not in stamps),
        ("attributes", int(value["attributes"]) < len(COMPRESSION) - 1),
    )
    return next((name for name, can in rules if not can), None) or beyond_legacy(value)
