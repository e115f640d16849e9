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
from kafka.protocol.admin import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kafka.protocol.consumer import FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)

SECONDS: Final = 60
LOOK_SECONDS: Final = 0.05
TIMEOUT_MS: Final = 30_000
LATEST: Final = -1
_SIZE: Final = Struct(">i")

RESPONSES: Final = {
    ProduceRequest.API_KEY: ProduceResponse,
    FetchRequest.API_KEY: FetchResponse,
    ListOffsetsRequest.API_KEY: ListOffsetsResponse,
    CreateTopicsRequest.API_KEY: CreateTopicsResponse,
    DeleteTopicsRequest.API_KEY: DeleteTopicsResponse,
    InitProducerIdRequest.API_KEY: InitProducerIdResponse,
    AddPartitionsToTxnRequest.API_KEY: AddPartitionsToTxnResponse,
    EndTxnRequest.API_KEY: EndTxnResponse,
}


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
        wanted = CreateTopicsRequest.CreatableTopic(
            name=topic,
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=[
                CreateTopicsRequest.CreatableTopic.CreatableTopicConfig(name=name, value=value)
                for name, value in configs.items()
            ],
        )
        request = CreateTopicsRequest[4](topics=[wanted], timeout_ms=TIMEOUT_MS, validate_only=False)
        (result,) = self.send(request).topics
        if not result.error_code:
            for index in range(partitions):
                self.end(topic, index)
        return int(result.error_code)

    def delete(self, *topics: str) -> list[int]:
        """Delete topics; return their error codes."""
        reply = self.send(DeleteTopicsRequest[4](topic_names=list(topics), timeout_ms=TIMEOUT_MS))
        return [one.error_code for one in reply.responses]

    def produce(self, topic: str, index: int, data: bytes, version: int = 9) -> Produced:
        """Send a record set to a partition."""
        topics = ProduceRequest.TopicProduceData
        partition = topics.PartitionProduceData(index=index, records=data)
        request = ProduceRequest[version](
            transactional_id=None,
            acks=-1,
            timeout_ms=TIMEOUT_MS,
            topic_data=[topics(name=topic, partition_data=[partition])],
        )
        ((answer,),) = (one.partition_responses for one in self.send(request).responses)
        records = tuple(error.batch_index for error in answer.record_errors or ())
        return Produced(answer.error_code, answer.base_offset, answer.log_append_time_ms, records)

    def fetch(self, topic: str, index: int, offset: int, version: int = 11) -> tuple[int, int, bytes]:
        """Return error code, high watermark and the bytes from an offset on."""
        topics = FetchRequest.FetchTopic
        partition = topics.FetchPartition(
            partition=index,
            current_leader_epoch=-1,
            fetch_offset=offset,
            log_start_offset=-1,
            partition_max_bytes=1 << 26,
        )
        request = FetchRequest[version](
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 26,
            isolation_level=0,
            session_id=0,
            session_epoch=-1,
            topics=[topics(topic=topic, partitions=[partition])],
            forgotten_topics_data=[],
            rack_id="",
        )
        ((answer,),) = (one.partitions for one in self.send(request).responses)
        return answer.error_code, answer.high_watermark, bytes(answer.records or b"")

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
        topics = ListOffsetsRequest.ListOffsetsTopic
        partition = topics.ListOffsetsPartition(
            partition_index=index, timestamp=timestamp, current_leader_epoch=-1
        )
        request = ListOffsetsRequest[version](
            replica_id=-1, isolation_level=isolation, topics=[topics(name=topic, partitions=[partition])]
        )
        ((answer,),) = (one.partitions for one in self.send(request).topics)
        return Listed(answer.error_code, answer.timestamp, answer.offset, answer.leader_epoch)

    def send(self, request: Any) -> Any:
        """Send a request and return its reply; raises `OSError` if the broker is gone."""
        self._correlation += 1
        request.with_header(correlation_id=self._correlation, client_id="wireproof-test")
        self._socket.sendall(request.encode(header=True, framed=True))
        (size,) = _SIZE.unpack(self._read(_SIZE.size))
        response = RESPONSES[request.API_KEY]
        return response.decode(self._read(size), version=request.API_VERSION, header=True)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionResetError("the broker closed the connection")
            data += part
        return bytes(data)
