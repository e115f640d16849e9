"""A consumer and a producer on one connection, whose steps a fault replaces; they use the reference."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any

from kafka.protocol.producer import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest

from tests.live.raw_client import RawClient
from wireproof import formats
from wireproof.kafka import log
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.live.loopback_broker.regroup_records import split_log
from wireproof.wire.json_values import json_of
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

FETCH_VERSION = 12
"""The newest version of Fetch that names topics."""

SECONDS = 60
"""How long a client without hope waits for its end."""

TIMESTAMP_TYPES = {"create": "CreateTime", "log-append": "LogAppendTime", "none": None}

Row = dict[str, Any]
Aborted = tuple[tuple[int, int], ...]
"""Producer id and first offset of aborted transactions."""


class PlainConsumer:
    """A consumer: it fetches, reads, shows the records, and goes on after the last batch."""

    limit = 1 << 26
    """The most bytes of an answer."""

    def __init__(self, address: str, topic: str, isolation: str, offset: str) -> None:
        self.client = RawClient(address)
        self.topic, self.isolation, self.position = topic, isolation, int(offset)

    def run(self) -> None:
        while True:
            data, aborted = self.fetch()
            if data:
                self.take(data, aborted)

    def fetch(self) -> tuple[bytes, Aborted]:
        answer = self.client.fetched(
            self.topic,
            0,
            self.position,
            FETCH_VERSION,
            self.limit,
            max_wait_ms=100,
            min_bytes=1,
            isolation_level=int(self.isolation == "read_committed"),
        )
        rows = tuple((row.producer_id, row.first_offset) for row in answer.aborted_transactions or ())
        return bytes(answer.records or b""), rows

    def take(self, data: bytes, aborted: Aborted) -> None:
        """Show the records of an answer, and move on."""
        options = self.options(aborted)
        try:
            found = self.decode(data, options)
        except Rejected as rejected:
            self.refuse(data, rejected)
            return
        for row in self.rows(found):
            self.show(row)
        self.position = self.following(found, data)

    def options(self, aborted: Aborted) -> Options:
        committed = self.isolation == "read_committed"
        return Options(
            fetch_offset=self.position,
            isolation="read_committed" if committed else "read_uncommitted",
            aborted=aborted if committed else (),
        )

    def decode(self, data: bytes, options: Options) -> Log:
        return log.decode(Reader(data), options)

    def refuse(self, data: bytes, rejected: Rejected) -> None:
        """Show the records of the entries before the damage, report an error, and stop."""
        for row in self.rows(self.before(data)):
            self.show(row)
        put({"error": str(rejected)})
        time.sleep(SECONDS)

    def before(self, data: bytes) -> Log:
        """Return the entries that can be read, up to the first that cannot."""
        ends = list(accumulate(len(entry.data) for entry in split_log(data).entries))
        for end in reversed([0, *ends]):
            with suppress(Rejected):
                return self.decode(data[:end], Options(fetch_offset=self.position))
        return Log(())

    def rows(self, found: Log) -> Iterator[Row]:
        for entry in found.batches:
            yield from self.rows_of(entry)

    def rows_of(self, entry: RecordBatch | Message) -> Iterator[Row]:
        if isinstance(entry, RecordBatch) and entry.attributes & 0x20:
            return
        tree: Any = json_of(entry, with_derived=True)
        for one in tree.get("records") or tree.get("messages") or ([tree] if "messages" in tree else []):
            yield row_of(one)

    def following(self, found: Log, _: bytes) -> int:
        """Return the offset after the last entry."""
        return self.position if found.next_offset is None else found.next_offset

    def show(self, row: Row) -> None:
        put(row)


def row_of(one: Row) -> Row:
    """Return the line of a record or message."""
    headers = [
        [bytes.fromhex(name).decode(errors="surrogateescape"), value]
        for name, value in one.get("headers", ())
    ]
    kept = {name: one[name] for name in ("offset", "timestamp", "key", "value")}
    return kept | {"timestampType": TIMESTAMP_TYPES[one["timestampType"]], "headers": headers}


def put(row: Row) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


# --- a producer ---

PRODUCE_VERSION = 9
INIT_VERSION = 3
TRANSACTION_VERSION = 3
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TRANSACTIONAL = 0x10
NOBODY = (-1, -1)
TIMEOUT_MS = 30_000


class PlainProducer:
    """A producer: it sends the records before a flush as one batch, again if there is no answer."""

    def __init__(self, address: str, topic: str, codec: str, mode: str) -> None:
        self.address, self.topic = address, topic
        self.codec, self.mode = CODECS.index(codec), mode
        self.client = RawClient(address)
        self.sequence = 0
        self.identity = NOBODY if mode == "plain" else self.identify()
        self.records: list[Row] = []

    @property
    def transactional_id(self) -> str | None:
        return self.topic if self.mode == "transactional" else None

    def identify(self) -> tuple[int, int]:
        answer = self.ask_for_id(self.transactional_id)
        return answer.producer_id, answer.producer_epoch

    def ask_for_id(self, name: str | None) -> Any:
        """Return the answer to a request for a producer id."""
        fields = {"transactional_id": name, "transaction_timeout_ms": TIMEOUT_MS}
        return self.client.ask(InitProducerIdRequest, INIT_VERSION, **fields)

    def run(self) -> None:
        for line in sys.stdin:
            match json.loads(line):
                case {"flush": True}:
                    self.flush()
                case {"begin": True}:
                    self.begin()
                case {"commit": True}:
                    self.end(commit=True)
                case {"abort": True}:
                    self.end(commit=False)
                case record:
                    self.records.append(record)

    def flush(self) -> None:
        for records in self.batches():
            base = self.send(records)
            for delta in range(len(records)):
                put({"offset": str(base + delta)})
        self.records = []

    def batches(self) -> list[list[Row]]:
        return [self.records]

    def send(self, records: list[Row]) -> int:
        """Send a batch, once more if there is no answer; return its base offset."""
        try:
            base = self.produce(self.encoded(records))
        except OSError:
            self.client = RawClient(self.address)
            base = self.produce(self.again(records))
        self.sequence += len(records)
        return base

    def again(self, records: list[Row]) -> bytes:
        """Return the batch for the second time."""
        return self.encoded(records)

    def produce(self, data: bytes) -> int:
        answer = self.client.produced(self.topic, 0, data, PRODUCE_VERSION, self.transactional_id)
        if answer.error_code:
            put({"error": f"{answer.error_code}: {answer.error_message}"})
        return int(answer.base_offset)

    def encoded(self, records: list[Row]) -> bytes:
        return formats.encode(formats.get("kafka.batch", "v2"), self.value(records))

    def value(self, records: list[Row]) -> Any:
        """Return the value of a batch."""
        stamps = [int(one["timestamp"]) for one in records]
        return {
            "baseOffset": "0",
            "partitionLeaderEpoch": "-1",
            "magic": "2",
            "attributes": str(self.codec | TRANSACTIONAL * (self.mode == "transactional")),
            "lastOffsetDelta": str(len(records) - 1),
            "baseTimestamp": str(stamps[0]),
            "maxTimestamp": str(max(stamps)),
            "producerId": str(self.identity[0]),
            "producerEpoch": str(self.identity[1]),
            "baseSequence": "-1" if self.mode == "plain" else str(self.sequence),
            "records": [self.record(one, delta, stamps[0]) for delta, one in enumerate(records)],
        }

    def record(self, one: Row, delta: int, base: int) -> Row:
        return {
            "attributes": "0",
            "timestampDelta": str(int(one["timestamp"]) - base),
            "offsetDelta": str(delta),
            "key": one["key"],
            "value": one["value"],
            "headers": [[name.encode().hex(), value] for name, value in one["headers"]],
        }

    def begin(self) -> None:
        self.client.ask(
            AddPartitionsToTxnRequest,
            TRANSACTION_VERSION,
            v3_and_below_transactional_id=self.topic,
            v3_and_below_producer_id=self.identity[0],
            v3_and_below_producer_epoch=self.identity[1],
            v3_and_below_topics=[{"name": self.topic, "partitions": [0]}],
        )

    def end(self, *, commit: bool) -> None:
        self.client.ask(
            EndTxnRequest,
            TRANSACTION_VERSION,
            transactional_id=self.topic,
            producer_id=self.identity[0],
            producer_epoch=self.identity[1],
            committed=commit,
        )
