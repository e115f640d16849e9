"""A client on one connection, from which each fault overrides a step. It decodes with the reference."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any

from kafka.protocol.consumer import FetchRequest

from tests.live.raw_client import RawClient
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

    def fetch(self) -> tuple[bytes, tuple[tuple[int, int], ...]]:
        topics = FetchRequest.FetchTopic
        partition = topics.FetchPartition(
            partition=0,
            current_leader_epoch=-1,
            fetch_offset=self.position,
            log_start_offset=-1,
            partition_max_bytes=self.limit,
        )
        request = FetchRequest[FETCH_VERSION](
            replica_id=-1,
            max_wait_ms=100,
            min_bytes=1,
            max_bytes=1 << 26,
            isolation_level=int(self.isolation == "read_committed"),
            session_id=0,
            session_epoch=-1,
            topics=[topics(topic=self.topic, partitions=[partition])],
            forgotten_topics_data=[],
            rack_id="",
        )
        ((answer,),) = (one.partitions for one in self.client.send(request).responses)
        rows = tuple((row.producer_id, row.first_offset) for row in answer.aborted_transactions or ())
        return bytes(answer.records or b""), rows

    def take(self, data: bytes, aborted: tuple[tuple[int, int], ...]) -> None:
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

    def options(self, aborted: tuple[tuple[int, int], ...]) -> Options:
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
