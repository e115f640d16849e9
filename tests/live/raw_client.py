"""A client that sends record sets with exactly the bytes that it is given, to compare brokers.

It connects to one broker, which must lead every partition.
"""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from socket import create_connection
from struct import Struct
from typing import Any, Final, Self

from attrs import frozen
from kafka.protocol.admin import CreateTopicsRequest, DeleteTopicsRequest
from kafka.protocol.api_header import ResponseClassRegistry
from kafka.protocol.consumer import FetchRequest, ListOffsetsRequest
from kafka.protocol.producer import ProduceRequest

from wireproof.live.kafka_broker.connection import message

SECONDS: Final = 60
LOOK_SECONDS: Final = 0.05
TIMEOUT_MS: Final = 30_000
LATEST: Final = -1
MOST: Final = 1 << 26
"""Bytes of an answer."""

_SIZE: Final = Struct(">i")


@frozen
class Produced:
    """The answer to a Produce: error code, base offset, append time, and the indexes of refused records."""

    code: int
    base_offset: int
    append_time: int
    records: tuple[int, ...]


@frozen
class Listed:
    """The answer to a ListOffsets; the epoch is -1 in versions that have none."""

    code: int
    timestamp: int
    offset: int
    epoch: int


class RawClient(AbstractContextManager["RawClient"]):
    """One connection to a broker."""

    def __init__(self, address: str) -> None:
        """Connect to `host:port`."""
        host, _, port = address.rpartition(":")
        self._socket = create_connection((host, int(port)), SECONDS)
        self._correlation = 0

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._socket.close()

    def create(self, topic: str, partitions: int, configs: Mapping[str, str]) -> int:
        """Create a topic and wait until its partitions can be used; return the error code."""
        settings = [{"name": name, "value": value} for name, value in configs.items()]
        wanted = {"name": topic, "num_partitions": partitions, "replication_factor": 1, "configs": settings}
        (result,) = self.ask(CreateTopicsRequest, 4, topics=[wanted], timeout_ms=TIMEOUT_MS).topics
        if not result.error_code:
            for index in range(partitions):
                self.end(topic, index)
        return int(result.error_code)

    def delete(self, *topics: str) -> list[int]:
        """Delete topics; return their error codes."""
        reply = self.ask(DeleteTopicsRequest, 4, topic_names=list(topics), timeout_ms=TIMEOUT_MS)
        return [one.error_code for one in reply.responses]

    def produce(self, topic: str, index: int, data: bytes, version: int = 9) -> Produced:
        """Send a record set to a partition."""
        answer = self.produced(topic, index, data, version)
        records = tuple(error.batch_index for error in answer.record_errors or ())
        return Produced(answer.error_code, answer.base_offset, answer.log_append_time_ms, records)

    def produced(self, topic: str, index: int, data: bytes, version: int, name: str | None = None) -> Any:
        """Return the answer of a partition to a record set; `name` is a transactional id."""
        rows = [{"index": index, "records": data}]
        reply = self.ask(
            ProduceRequest,
            version,
            transactional_id=name,
            acks=-1,
            timeout_ms=TIMEOUT_MS,
            topic_data=[{"name": topic, "partition_data": rows}],
        )
        ((answer,),) = (one.partition_responses for one in reply.responses)
        return answer

    def fetch(self, topic: str, index: int, offset: int, version: int = 11) -> tuple[int, int, bytes]:
        """Return error code, high watermark and the bytes from an offset on."""
        answer = self.fetched(topic, index, offset, version)
        return answer.error_code, answer.high_watermark, bytes(answer.records or b"")

    def fetched(
        self, topic: str, index: int, offset: int, version: int, most: int = MOST, **fields: int
    ) -> Any:
        """Return the answer of a partition to a Fetch from an offset on."""
        rows = [{"partition": index, "fetch_offset": offset, "partition_max_bytes": most}]
        limits = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": MOST, **fields}
        reply = self.ask(FetchRequest, version, topics=[{"topic": topic, "partitions": rows}], **limits)
        ((answer,),) = (one.partitions for one in reply.responses)
        return answer

    def end(self, topic: str, index: int) -> int:
        """Return the offset of the next record; wait for a partition that has no leader yet."""
        deadline = time.monotonic() + SECONDS
        while (answer := self.listed(topic, index, LATEST)).code:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{topic}/{index}: ListOffsets answers error {answer.code}")
            time.sleep(LOOK_SECONDS)
        return answer.offset

    def listed(self, topic: str, index: int, timestamp: int, version: int = 2, isolation: int = 0) -> Listed:
        """Ask for the offset of a time."""
        rows = [{"partition_index": index, "timestamp": timestamp}]
        topics = [{"name": topic, "partitions": rows}]
        reply = self.ask(ListOffsetsRequest, version, isolation_level=isolation, topics=topics)
        ((answer,),) = (one.partitions for one in reply.topics)
        return Listed(answer.error_code, answer.timestamp, answer.offset, answer.leader_epoch)

    def ask(self, kind: Any, version: int, **fields: Any) -> Any:
        """Send a request of plain values in a version; return its reply; raise `OSError` without one."""
        return self.send(message(kind, version, **fields))

    def send(self, request: Any) -> Any:
        """Send a request and return its reply; raises `OSError` if the broker is gone."""
        self._correlation += 1
        request.with_header(correlation_id=self._correlation, client_id="wireproof-test")
        self._socket.sendall(request.encode(header=True, framed=True))
        (size,) = _SIZE.unpack(self._read(_SIZE.size))
        response = ResponseClassRegistry.get_response_class(request.header)
        return response.decode(self._read(size), version=request.API_VERSION, header=True)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionResetError("the broker closed the connection")
            data += part
        return bytes(data)
