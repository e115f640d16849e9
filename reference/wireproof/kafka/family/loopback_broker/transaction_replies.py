"""The answers to requests about producers, transactions and deleted records."""

import time
from collections.abc import Callable, Mapping
from typing import Final

from kafka.protocol.admin import DeleteRecordsRequest, DeleteRecordsResponse
from kafka.protocol.metadata import FindCoordinatorRequest, FindCoordinatorResponse
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)

from wireproof.kafka.family.loopback_broker.append_rules import AppendRefused, ErrorCode
from wireproof.kafka.family.loopback_broker.replies import LoopbackCluster, Reply, Request

RAISING: Final = 5
"""The version of EndTxn from which on the epoch is raised: KIP-890."""


def _now() -> int:
    return time.time_ns() // 1_000_000


def find_coordinator(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return this broker: it coordinates everything."""
    version, where = request.version, {"node_id": cluster.node, "host": "127.0.0.1", "port": cluster.port}
    if version < 4:
        return FindCoordinatorResponse[version](throttle_time_ms=0, error_code=0, error_message=None, **where)
    found = FindCoordinatorResponse.Coordinator
    rows = [
        found(key=key, error_code=0, error_message=None, version=version, **where)
        for key in request.coordinator_keys
    ]
    return FindCoordinatorResponse[version](throttle_time_ms=0, coordinators=rows)


def init_producer_id(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the id and the epoch of a producer."""
    code, found = 0, (-1, -1)
    known = (request.producer_id, request.producer_epoch) if request.version >= 3 else (-1, -1)
    try:
        found = cluster.coordinator.init(request.transactional_id, known, _now())
    except AppendRefused as refused:
        code = refused.code
    return InitProducerIdResponse[request.version](
        throttle_time_ms=0, error_code=code, producer_id=found[0], producer_epoch=found[1]
    )


def add_partitions(cluster: LoopbackCluster, request: Request) -> Reply:
    """Add partitions to a transaction."""
    version, topic_result = request.version, AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult
    code, asked = 0, request.v3_and_below_topics
    try:
        places = {
            (topic.name, number): cluster.partition(topic.name, None, number)
            for topic in asked
            for number in topic.partitions
        }
        producer = request.v3_and_below_producer_id, request.v3_and_below_producer_epoch
        cluster.coordinator.add(request.v3_and_below_transactional_id, producer, places)
    except AppendRefused as refused:
        code = refused.code
    one = topic_result.AddPartitionsToTxnPartitionResult
    rows = [
        topic_result(
            name=topic.name,
            results_by_partition=[
                one(partition_index=number, partition_error_code=code, version=version)
                for number in topic.partitions
            ],
            version=version,
        )
        for topic in asked
    ]
    return AddPartitionsToTxnResponse[version](throttle_time_ms=0, results_by_topic_v3_and_below=rows)


def end_transaction(cluster: LoopbackCluster, request: Request) -> Reply:
    """End a transaction."""
    code, found = 0, (-1, -1)
    producer = request.producer_id, request.producer_epoch
    try:
        found = cluster.coordinator.end(
            request.transactional_id,
            producer,
            _now(),
            commit=request.committed,
            raises=request.version >= RAISING,
        )
    except AppendRefused as refused:
        code = refused.code
    return EndTxnResponse[request.version](
        throttle_time_ms=0, error_code=code, producer_id=found[0], producer_epoch=found[1]
    )


def delete_records(cluster: LoopbackCluster, request: Request) -> Reply:
    """Move the beginning of partitions."""
    version, result = request.version, DeleteRecordsResponse.DeleteRecordsTopicResult
    rows = [
        result(
            name=topic.name,
            partitions=[_deleted(cluster, version, topic.name, asked) for asked in topic.partitions],
            version=version,
        )
        for topic in request.topics
    ]
    return DeleteRecordsResponse[version](throttle_time_ms=0, topics=rows)


def _deleted(cluster: LoopbackCluster, version: int, name: str, asked: Request) -> Reply:
    code, start = ErrorCode.NONE, -1
    try:
        start = cluster.partition(name, None, asked.partition_index).delete_before(asked.offset)
    except AppendRefused as refused:
        code = refused.code
    return DeleteRecordsResponse.DeleteRecordsTopicResult.DeleteRecordsPartitionResult(
        partition_index=asked.partition_index, low_watermark=start, error_code=code, version=version
    )


ANSWERS: Final[Mapping[int, Callable[[LoopbackCluster, Request], Reply]]] = {
    FindCoordinatorRequest.API_KEY: find_coordinator,
    InitProducerIdRequest.API_KEY: init_producer_id,
    AddPartitionsToTxnRequest.API_KEY: add_partitions,
    EndTxnRequest.API_KEY: end_transaction,
    DeleteRecordsRequest.API_KEY: delete_records,
}
"""The function that answers each API, by its key."""
