"""A producer on one connection, from which each fault overrides a step. It encodes with the reference."""

import json
import sys
from typing import Any

from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
)

from tests.live.clients.plain_client import Row, put
from tests.live.raw_client import RawClient
from wireproof import formats

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
        answer = self.client.send(
            InitProducerIdRequest[INIT_VERSION](
                transactional_id=self.transactional_id,
                transaction_timeout_ms=TIMEOUT_MS,
                producer_id=-1,
                producer_epoch=-1,
            )
        )
        return answer.producer_id, answer.producer_epoch

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
        topics = ProduceRequest.TopicProduceData
        request = ProduceRequest[PRODUCE_VERSION](
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=TIMEOUT_MS,
            topic_data=[
                topics(name=self.topic, partition_data=[topics.PartitionProduceData(index=0, records=data)])
            ],
        )
        ((answer,),) = (one.partition_responses for one in self.client.send(request).responses)
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
        topics = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
        self.client.send(
            AddPartitionsToTxnRequest[TRANSACTION_VERSION](
                v3_and_below_transactional_id=self.topic,
                v3_and_below_producer_id=self.identity[0],
                v3_and_below_producer_epoch=self.identity[1],
                v3_and_below_topics=[topics(name=self.topic, partitions=[0])],
            )
        )

    def end(self, *, commit: bool) -> None:
        self.client.send(
            EndTxnRequest[TRANSACTION_VERSION](
                transactional_id=self.topic,
                producer_id=self.identity[0],
                producer_epoch=self.identity[1],
                committed=commit,
            )
        )
