"""An encode by a client program: it produces the records of the case; what arrives is judged."""

import json
from collections.abc import Iterator, Sequence
from queue import Empty, Queue
from typing import Any, Final
from uuid import uuid4

from attrs import Factory, frozen

from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled, Unsupported
from wireproof.kafka.append import TopicSettings
from wireproof.kafka.attribute_bits import CODEC_MASK, TRANSACTIONAL
from wireproof.kafka.entry import peek_batch
from wireproof.live.kafka_client.consume_case import TOPIC, failed, no_line, not_started
from wireproof.live.kafka_client.program import (
    LONGEST,
    ClientOptions,
    ClientProgram,
    Ended,
    Failed,
    LineRead,
    StoredRecord,
    parse_line,
)
from wireproof.live.loopback_broker import server
from wireproof.live.loopback_broker.cluster import Coordinator, LoopbackCluster, ServedTopic
from wireproof.live.loopback_broker.partition import Appended, ServedPartition, StoredEntry
from wireproof.live.loopback_broker.server import HangUp
from wireproof.wire.text import one_line


class ProducedLog(ServedPartition):
    """A partition that keeps what a program produces, and appends it as Kafka does.

    Attributes:
        before: how many records are sent before those of the case.
        loses: whether the next answer about the case is lost: the batch is stored, the connection closed.
        arrived: the record sets of the case, as they came.
    """

    def __init__(self, before: int = 0, *, loses: bool = False) -> None:
        super().__init__(TopicSettings())
        self.before = before
        self.loses = loses
        self.arrived: list[bytes] = []

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Keep and append a record set; raise `Refused` as Kafka does, or `HangUp` for a lost answer."""
        about_case = self.end >= self.before
        if about_case:
            self.arrived.append(data)
        answer = super().append(data, version, transactional_id, now)
        if about_case and self.loses:
            self.loses = False
            raise HangUp
        return answer

    def stored_of_case(self) -> list[StoredEntry]:
        """Return the batches of the case, without the marker of their transaction."""
        return [one for one in self.stored if one.base_offset >= self.before and not one.is_marker]


SECONDS: Final = 30.0
"""Time limit of the answers to the records of a case, with the start of the program."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""The names of the codec bits: kafka.md §1.2."""

NOBODY: Final = "-1"

MOST_EARLIER: Final = 1000
"""Records that are produced before those of the case, so that these have the sequence of the case."""


@frozen
class Producers:
    """Encodes by a client program, each by a process and a cluster of its own.

    Attributes:
        options: of the adapter.
        words: the command.
        software: name and version of the client, if it said them.
    """

    options: ClientOptions
    words: Sequence[str]
    software: list[str] = Factory(list)

    def encode(self, request: Request) -> Outcome:
        """Let the program produce the records of a value; unsupported if it cannot set a field of it."""
        value: Any = request.value
        if name := chosen_field(value):
            return Unsupported(f"a producer has no say over {name}")
        return self.produce(value)

    def produce(self, value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
        """Return the outcome for the value of a batch."""
        nobody, mode = value["producerId"] == NOBODY, "plain"
        before, coordinator = 0, Coordinator()
        if not nobody:
            before, number, epoch = (
                int(value[name]) for name in ("baseSequence", "producerId", "producerEpoch")
            )
            # in a transaction they are of its transactional id: some clients ask for an id without one too
            mode, coordinator = "transactional", Coordinator(given=number, reserved={TOPIC: (number, epoch)})
            if not int(value["attributes"]) & TRANSACTIONAL:
                mode, coordinator = "idempotent", Coordinator(given=number - 1, first_epoch=epoch)
        log = ProducedLog(before, loses=not nobody and self.options.lost == "answers")
        topics = {TOPIC: ServedTopic(uuid4(), [log])}
        cluster = LoopbackCluster(topics=topics, coordinator=coordinator, software=self.software)
        events: Queue[LineRead | Ended] = Queue()
        codec = CODECS[int(value["attributes"]) & CODEC_MASK]
        with server.running(cluster) as address:
            words = [*self.words, "produce", address, TOPIC, codec, mode]
            try:
                with ClientProgram(words, events) as program:
                    program.write(b"".join(_commands(value, mode)))
                    return _answered(events, before + len(value["records"])) or _sent(log, value)
            except OSError as error:
                return not_started(words[0], error)


def _commands(value: Any, mode: str) -> Iterator[bytes]:  # noqa: ANN401 - a JSON value
    """Yield the lines for the stdin of the program."""
    if mode == "transactional":
        yield _line({"begin": True})
    if value["baseSequence"] not in (NOBODY, "0"):  # records that take the sequences before it
        earlier = {"key": None, "value": "", "timestamp": value["baseTimestamp"], "headers": []}
        yield _line(earlier) * int(value["baseSequence"])
        yield _line({"flush": True})
    for record in value["records"]:
        names = [[bytes.fromhex(key).decode(), part] for key, part in record["headers"]]
        stamp = str(int(value["baseTimestamp"]) + int(record["timestampDelta"]))
        yield _line({"key": record["key"], "value": record["value"], "timestamp": stamp, "headers": names})
    yield _line({"flush": True})
    if mode == "transactional":
        yield _line({"commit": True})


def _line(command: dict[str, Any]) -> bytes:
    return json.dumps(command).encode() + b"\n"


def _answered(events: "Queue[LineRead | Ended]", count: int) -> Outcome | None:
    """Wait for the answers to `count` records; return None if each of them has an offset."""
    for done in range(count):
        try:
            event = events.get(timeout=SECONDS)
        except Empty:
            return Stalled(f"{done} of {count} records are answered after {SECONDS:g} s")
        if isinstance(event, Ended):
            return failed(event)
        try:
            line = parse_line(event.text)
        except ValueError as error:
            return no_line(event.text, error)
        if isinstance(line, Failed):
            return Refused(text=one_line(line.text, LONGEST))
        if line != StoredRecord(done):
            return Refused(cls="bad-offset", text=f"the record is reported as {line}, but stored at {done}")
    return None


def _sent(log: ProducedLog, value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
    """Return the one record set that the program sent; a retry sends the same again, which is stored once."""
    stored, arrived = log.stored_of_case(), log.arrived
    if not stored:
        return Stalled("no record was stored")
    if len(stored) > 1:
        text = f"{len(stored)} batches are stored, from {len(arrived)} that were sent"
        return Refused(cls="invalid-value", text=text)
    if any(data != arrived[0] for data in arrived):
        return Refused(cls="invalid-value", text="the batch of a retry is another one than the first")
    return wrong_identity(value, arrived[0]) or Accepted(data=arrived[0])


def wrong_identity(value: Any, data: bytes) -> Refused | None:  # noqa: ANN401 - a JSON value
    """Compare epoch and sequence of a producer with an id.

    Without an id they mean nothing: only clients that want idempotence must set them (kwiki:messagesets).
    """
    if value["producerId"] == NOBODY:
        return None
    header = peek_batch(data)
    sent = {"producerEpoch": str(header.producer_epoch), "baseSequence": str(header.base_sequence)}
    for name, one in sent.items():
        if one != value[name]:
            return Refused(cls="invalid-value", text=f"{name} is {one}, but must be {value[name]}")
    return None


def _is_text(name: str | None) -> bool:
    """Return True for a name of a header that a library takes as text."""
    if name is None:
        return False
    try:
        bytes.fromhex(name).decode()
    except UnicodeDecodeError:
        return False
    return True


def chosen_field(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """Return the first field that a producer sets to another value than that of a v2 batch: kafka.md §1.7."""
    records = value["records"]
    base = int(value["baseTimestamp"])
    stamps = [base + int(record["timestampDelta"]) for record in records]
    deltas = [record["offsetDelta"] for record in records]
    bits, nobody = int(value["attributes"]), value["producerId"] == NOBODY
    rules: tuple[tuple[str, bool], ...] = (
        ("magic", value["magic"] == "2"),
        ("records", bool(records)),
        ("baseOffset", value["baseOffset"] == "0"),
        ("attributes", not bits & ~(CODEC_MASK | TRANSACTIONAL) and bits & CODEC_MASK < len(CODECS)),
        ("attributes", not (nobody and bits & TRANSACTIONAL)),
        ("records[].offsetDelta", deltas == [str(place) for place in range(len(deltas))]),
        ("lastOffsetDelta", value["lastOffsetDelta"] == str(len(deltas) - 1)),
        ("baseTimestamp", stamps[:1] == [base]),
        ("maxTimestamp", int(value["maxTimestamp"]) == max(stamps, default=0)),
        ("records[].timestamp", min(stamps, default=1) > 0),
        ("records[].headers[].key", all(_is_text(name) for one in records for name, _ in one["headers"])),
        ("records[].attributes", {record["attributes"] for record in records} <= {"0"}),
        ("producerEpoch", (value["producerEpoch"] == NOBODY) == nobody),
        ("baseSequence", nobody == (value["baseSequence"] == NOBODY)),
        ("baseSequence", int(value["baseSequence"]) <= MOST_EARLIER),
    )
    return next((name for name, can in rules if not can), None)
