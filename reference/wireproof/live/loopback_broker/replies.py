"""The answers to requests about topics and records, as the fields of kafka-python's message classes."""

import time
from collections.abc import Awaitable, Callable, Mapping
from enum import IntEnum
from typing import Any, Final, Self, TypeAlias
from uuid import UUID, uuid4

from attrs import Factory, define, evolve
from kafka.protocol.admin import CreateTopicsRequest, DeleteRecordsRequest, DeleteTopicsRequest
from kafka.protocol.consumer import (
    FetchRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListOffsetsRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
    SyncGroupRequest,
)
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest, MetadataRequest
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
)

from wireproof.kafka.append import InvalidSettingError
from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.entry import peek_batch
from wireproof.live.loopback_broker.append_rules import (
    BODY,
    LEADER_EPOCH,
    AppendRefused,
    ErrorCode,
    settings_of,
)
from wireproof.live.loopback_broker.coordinator import Coordinator, Groups, Sessions
from wireproof.live.loopback_broker.partition import ServedPartition

NODE: Final = 1
IMPLICIT: Final = 12
"""The version of Produce from which on a batch adds its partition to the transaction: KIP-890."""

READ_COMMITTED: Final = 1

VERSIONS: Final = {
    ProduceRequest: (3, 13),
    FetchRequest: (4, 17),
    ListOffsetsRequest: (1, 9),
    MetadataRequest: (0, 13),
    ApiVersionsRequest: (0, 4),
    CreateTopicsRequest: (2, 7),
    DeleteTopicsRequest: (1, 6),
    InitProducerIdRequest: (0, 5),
    FindCoordinatorRequest: (1, 6),
    AddPartitionsToTxnRequest: (0, 3),
    EndTxnRequest: (0, 5),
    DeleteRecordsRequest: (0, 2),
    OffsetForLeaderEpochRequest: (2, 4),
    JoinGroupRequest: (0, 9),
    SyncGroupRequest: (0, 5),
    HeartbeatRequest: (0, 4),
    LeaveGroupRequest: (0, 5),
    OffsetCommitRequest: (2, 9),
    OffsetFetchRequest: (1, 9),
}
"""The versions of each request that the broker takes."""

FEATURES_SINCE: Final = 3
"""The version of ApiVersions from which on it has features: KIP-584."""

Request: TypeAlias = Any
"""A message of kafka-python, whose fields come from a schema at run time."""

Reply: TypeAlias = dict[str, Any]
"""The fields of a response, or of a part of it: `messages`."""

Answer: TypeAlias = Callable[["LoopbackCluster", Request], Reply | Awaitable[Reply]]


class ListedTime(IntEnum):
    """The times of ListOffsets that are no times: protocol guide, ListOffsets."""

    LATEST = -1
    EARLIEST = -2
    LARGEST = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5


@define
class ServedTopic:
    """A topic: its id, its partitions, and the node that leads them since `leader_epoch`."""

    id: UUID
    partitions: list[ServedPartition]
    leader: int = NODE
    leader_epoch: int = LEADER_EPOCH

    def move_to(self, node: int) -> None:
        self.leader, self.leader_epoch = node, self.leader_epoch + 1


@define
class LoopbackCluster:
    """A cluster, as one of its nodes sees it; the nodes share all but their number and their sessions.

    Attributes:
        partition_class: of each partition that a client creates; a fault is a class of its own.
        newest, oldest: the newest and the oldest version that is announced of an API, by its key; else those
            of `VERSIONS`.
        node: the number of this node.
        ports: where each node listens.
        topics: by name.
        coordinator: of transactions.
        groups: of consumers.
        sessions: of consumers.
        fetching_class: of the answers to a Fetch, a class of its own for a fault; None for the right one.
        software: name and version of the last client that said them: KIP-511.
        apis: the requests that it takes beside those of `VERSIONS`, each with its versions.
        answers: the functions that answer in place of those of every broker, by the key of the API.
    """

    partition_class: type[ServedPartition] = ServedPartition
    newest: Mapping[int, int] = Factory(dict)
    oldest: Mapping[int, int] = Factory(dict)
    node: int = NODE
    ports: dict[int, int] = Factory(dict)
    topics: dict[str, ServedTopic] = Factory(dict)
    coordinator: Coordinator = Factory(Coordinator)
    groups: Groups = Factory(Groups)
    sessions: Sessions = Factory(Sessions)
    fetching_class: type[Any] | None = None
    software: list[str] = Factory(list)
    apis: Mapping[type[Any], tuple[int, int]] = Factory(dict)
    answers: Mapping[int, Answer] = Factory(dict)

    def other_node(self, node: int) -> Self:
        """Return the same cluster as another node sees it."""
        return evolve(self, node=node, sessions=Sessions())

    @property
    def port(self) -> int:
        return self.ports[self.node]

    def versions(self) -> Mapping[type[Any], tuple[int, int]]:
        """Return the least and the newest version of each request that is taken."""
        return {
            one: (self.oldest.get(one.API_KEY, least), min(most, self.newest.get(one.API_KEY, most)))
            for one, (least, most) in {**VERSIONS, **self.apis}.items()
        }

    def topic(self, name: str | None, number: UUID | None) -> tuple[str, ServedTopic | None]:
        """Return name and topic by its name or its id."""
        if name:
            return name, self.topics.get(name)
        return next(
            ((known, topic) for known, topic in self.topics.items() if topic.id == number), ("", None)
        )

    def partition(self, name: str | None, number: UUID | None, index: int) -> ServedPartition:
        """Return a partition by the name or the id of its topic.

        Raises:
            AppendRefused: there is none.
        """
        _, topic = self.topic(name, number)
        if topic is None and not name:
            raise AppendRefused(ErrorCode.UNKNOWN_TOPIC_ID, "no topic with this id")
        if topic is None or not 0 <= index < len(topic.partitions):
            raise AppendRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no such partition")
        if topic.leader != self.node:
            raise AppendRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"node {topic.leader} leads")
        return topic.partitions[index]


def api_versions(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the versions of each API; remember what the client is."""
    keys = [
        {"api_key": one.API_KEY, "min_version": span[0], "max_version": span[1]}
        for one, span in cluster.versions().items()
    ]
    if request.version < FEATURES_SINCE:
        return {"api_keys": keys}
    cluster.software[:] = [str(request.client_software_name), str(request.client_software_version)]
    # transactions v2: KIP-890
    feature = {"name": "transaction.version", "max_version_level": 2, "min_version_level": 2}
    return {"api_keys": keys, "finalized_features_epoch": 0, "finalized_features": [feature]}


def metadata(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the broker, and the topics that were asked for."""
    if request.topics is None or not (request.version or request.topics):
        found: list[tuple[str, ServedTopic | None]] = list(cluster.topics.items())
    else:
        asked = request.topics
        rows = [cluster.topic(one.name, one.topic_id if request.version >= 10 else None) for one in asked]
        found = [(name or one.name, topic) for one, (name, topic) in zip(asked, rows, strict=True)]
    return {
        "brokers": [
            {"node_id": node, "host": "127.0.0.1", "port": port, "rack": None}
            for node, port in cluster.ports.items()
        ],
        "cluster_id": "wireproof-loopback",
        "controller_id": NODE,
        "topics": [_topic_metadata(name, topic) for name, topic in found],
    }


def _topic_metadata(name: str, topic: ServedTopic | None) -> Reply:
    if topic is None:
        return {"error_code": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "name": name, "partitions": []}
    partitions = [
        {
            "partition_index": index,
            "leader_id": topic.leader,
            "leader_epoch": topic.leader_epoch,
            "replica_nodes": [topic.leader],
            "isr_nodes": [topic.leader],
            "offline_replicas": [],
        }
        for index in range(len(topic.partitions))
    ]
    return {"name": name, "topic_id": topic.id, "partitions": partitions}


def create_topics(cluster: LoopbackCluster, request: Request) -> Reply:
    return {"topics": [_created(cluster, wanted, request) for wanted in request.topics]}


def _created(cluster: LoopbackCluster, wanted: Request, request: Request) -> Reply:
    count = 1 if wanted.num_partitions == -1 else wanted.num_partitions
    try:
        _check_new(cluster, wanted, count)
        settings = settings_of({one.name: one.value for one in wanted.configs})
    except AppendRefused as refused:
        return {"name": wanted.name, "error_code": refused.code, "error_message": refused.text}
    except InvalidSettingError as error:
        return {"name": wanted.name, "error_code": ErrorCode.INVALID_CONFIG, "error_message": str(error)}
    topic = ServedTopic(uuid4(), [cluster.partition_class(settings) for _ in range(count)])
    if not request.validate_only:
        cluster.topics[wanted.name] = topic
    known = {"name": wanted.name, "topic_id": topic.id, "error_message": None}
    return {**known, "num_partitions": count, "replication_factor": 1, "configs": []}


def _check_new(cluster: LoopbackCluster, wanted: Request, count: int) -> None:
    if wanted.name in cluster.topics:
        raise AppendRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {wanted.name} exists")
    if count < 1:
        raise AppendRefused(ErrorCode.INVALID_PARTITIONS, f"{count} partitions")
    if wanted.replication_factor not in (-1, 1):
        raise AppendRefused(ErrorCode.INVALID_REPLICATION_FACTOR, "there is one broker")


def delete_topics(cluster: LoopbackCluster, request: Request) -> Reply:
    if request.version >= 6:
        asked = [(one.name, one.topic_id) for one in request.topics]
    else:
        asked = [(name, None) for name in request.topic_names]
    responses = []
    for name, number in asked:
        known, topic = cluster.topic(name, number)
        if topic is not None:
            del cluster.topics[known]
        code = ErrorCode.NONE if topic is not None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        where = {"name": known or name, "topic_id": number}
        responses.append({**where, "error_code": code, "error_message": None})
    return {"responses": responses}


def produce(cluster: LoopbackCluster, request: Request) -> Reply:
    """Append the record sets, each to its partition."""
    responses = [
        {
            "name": topic.name,
            "topic_id": topic.topic_id,
            "partition_responses": [
                {"index": asked.index, **_appended(cluster, request, topic, asked)}
                for asked in topic.partition_data
            ],
        }
        for topic in request.topic_data
    ]
    return {"responses": responses}


def _appended(cluster: LoopbackCluster, request: Request, topic: Request, asked: Request) -> Reply:
    now = time.time_ns() // 1_000_000
    try:
        partition = cluster.partition(topic.name, topic.topic_id, asked.index)
        data = bytes(asked.records or b"")
        name, _ = cluster.topic(topic.name, topic.topic_id)
        _join_transaction(cluster, partition, (name, asked.index), request, data)
        answer = partition.append(data, request.version, request.transactional_id, now)
    except AppendRefused as refused:
        errors = [
            {"batch_index": index, "batch_index_error_message": text} for index, text in refused.records
        ]
        said = {"record_errors": errors, "error_message": refused.text}
        return {"error_code": refused.code, "base_offset": -1, "log_append_time_ms": -1, **said}
    return {
        "base_offset": answer.base_offset,
        "log_append_time_ms": answer.append_time,
        "log_start_offset": 0,
        "record_errors": [],
    }


def _join_transaction(
    cluster: LoopbackCluster,
    partition: ServedPartition,
    place: tuple[str, int],
    request: Request,
    data: bytes,
) -> None:
    """Add the partition to the transaction of a batch, or check that it is in it; raises `AppendRefused`.

    The end of a fenced transaction is INVALID_PRODUCER_EPOCH for a producer: ReplicaManager.
    """
    if request.transactional_id is None or len(data) < BODY:
        return
    header = peek_batch(data)
    producer = header.producer_id, header.producer_epoch
    if not header.attributes & TRANSACTIONAL:
        return
    try:
        if request.version >= IMPLICIT:
            cluster.coordinator.add(request.transactional_id, producer, {place: partition})
        elif header.producer_id not in partition.open:
            cluster.coordinator.verify(request.transactional_id, producer, place)
    except AppendRefused as refused:
        if refused.code != ErrorCode.PRODUCER_FENCED:
            raise
        raise AppendRefused(ErrorCode.INVALID_PRODUCER_EPOCH, refused.text) from None


def list_offsets(cluster: LoopbackCluster, request: Request) -> Reply:
    return {
        "topics": [
            {
                "name": topic.name,
                "partitions": [_offset(cluster, request, topic.name, asked) for asked in topic.partitions],
            }
            for topic in request.topics
        ]
    }


def _offset(cluster: LoopbackCluster, request: Request, name: str, asked: Request) -> Reply:
    code, found = ErrorCode.NONE, (-1, -1)
    committed = request.version >= 2 and request.isolation_level == READ_COMMITTED
    try:
        partition = cluster.partition(name, None, asked.partition_index)
        partition.check_listed(asked.timestamp, request.version)
        found = _time_and_offset(partition, asked.timestamp, committed=committed)
    except AppendRefused as refused:
        code = refused.code
    return {
        "partition_index": asked.partition_index,
        "error_code": code,
        "timestamp": found[0],
        "offset": found[1],
        "leader_epoch": LEADER_EPOCH if found[1] >= 0 else -1,
    }


def _time_and_offset(partition: ServedPartition, timestamp: int, *, committed: bool) -> tuple[int, int]:
    match timestamp:
        case ListedTime.LATEST:
            return -1, partition.last_stable_offset() if committed else partition.end
        case ListedTime.EARLIEST:
            return -1, partition.start
        case ListedTime.EARLIEST_LOCAL:
            return -1, partition.local_start()
        case ListedTime.LATEST_TIERED:
            return -1, partition.tiered_end()
        case ListedTime.LARGEST:
            record = partition.latest()
        case _:
            record = partition.first_after(timestamp)
    if record is None or (committed and record.offset >= partition.last_listed()):
        return -1, -1
    return record.timestamp, record.offset


ANSWERS: Final[Mapping[int, Answer]] = {
    ProduceRequest.API_KEY: produce,
    ListOffsetsRequest.API_KEY: list_offsets,
    MetadataRequest.API_KEY: metadata,
    ApiVersionsRequest.API_KEY: api_versions,
    CreateTopicsRequest.API_KEY: create_topics,
    DeleteTopicsRequest.API_KEY: delete_topics,
}
"""The function that answers each API, by its key."""
