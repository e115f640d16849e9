"""The answers to requests, in the message classes of kafka-python."""

import time
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Final, Self
from uuid import UUID, uuid4

from attrs import Factory, define, evolve
from kafka.protocol.admin import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeConfigsRequest,
)
from kafka.protocol.consumer import (
    FetchRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
    SyncGroupRequest,
)
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    MetadataRequest,
    MetadataResponse,
)
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
    ProduceResponse,
)

from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.entry import peek_batch
from wireproof.kafka.family.loopback_broker.append_rules import (
    BODY,
    LEADER_EPOCH,
    AppendRefused,
    ErrorCode,
    InvalidSettingError,
    TopicSettings,
)
from wireproof.kafka.family.loopback_broker.coordinator import Coordinator, Groups, Sessions
from wireproof.kafka.family.loopback_broker.partition import ServedPartition

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
    DescribeConfigsRequest: (1, 4),
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

RECORD_ERRORS_SINCE: Final = 8
"""The version of Produce from which on single records have error messages: KIP-467."""

REQUESTS: Final = {request.API_KEY: request for request in VERSIONS}


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
        """Make another node the leader."""
        self.leader, self.leader_epoch = node, self.leader_epoch + 1


@define
class LoopbackCluster:
    """A cluster, as one of its nodes sees it; the nodes share all but their number and their sessions.

    Attributes:
        partition_class: of each partition that a client creates; a fault is a class of its own.
        newest, oldest: the newest and the oldest version that is announced of an API, by its key; else those
            of `VERSIONS`.
        settings: of the broker, by their names; without one, what it is about does not happen.
        node: the number of this node.
        ports: where each node listens.
        topics: by name.
        coordinator: of transactions.
        groups: of consumers.
        sessions: of consumers.
        fetching_class: of the answers to a Fetch, a class of its own for a fault; None for the right one.
        software: name and version of the last client that said them: KIP-511.
    """

    partition_class: type[ServedPartition] = ServedPartition
    newest: Mapping[int, int] = Factory(dict)
    oldest: Mapping[int, int] = Factory(dict)
    settings: Mapping[str, int] = Factory(dict)
    node: int = NODE
    ports: dict[int, int] = Factory(dict)
    topics: dict[str, ServedTopic] = Factory(dict)
    coordinator: Coordinator = Factory(Coordinator)
    groups: Groups = Factory(Groups)
    sessions: Sessions = Factory(Sessions)
    fetching_class: type[Any] | None = None
    software: list[str] = Factory(list)

    def other_node(self, node: int) -> Self:
        """Return the same cluster as another node sees it."""
        return evolve(self, node=node, sessions=Sessions())

    @property
    def port(self) -> int:
        """Return the port of this node."""
        return self.ports[self.node]

    def versions(self) -> Mapping[type[Any], tuple[int, int]]:
        """Return the least and the newest version of each request that is taken."""
        return {
            one: (self.oldest.get(one.API_KEY, least), min(most, self.newest.get(one.API_KEY, most)))
            for one, (least, most) in VERSIONS.items()
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
            Refused: there is none.
        """
        _, topic = self.topic(name, number)
        if topic is None and not name:
            raise AppendRefused(ErrorCode.UNKNOWN_TOPIC_ID, "no topic with this id")
        if topic is None or not 0 <= index < len(topic.partitions):
            raise AppendRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no such partition")
        if topic.leader != self.node:
            raise AppendRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"node {topic.leader} leads")
        return topic.partitions[index]


Request = Any
"""A message of kafka-python, whose fields come from a schema at run time."""

Reply = Any


def api_versions(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the versions of each API; remember what the client is."""
    if request.version >= FEATURES_SINCE:
        cluster.software[:] = [str(request.client_software_name), str(request.client_software_version)]
    keys = [
        ApiVersionsResponse.ApiVersion(
            api_key=one.API_KEY, min_version=span[0], max_version=span[1], version=request.version
        )
        for one, span in cluster.versions().items()
    ]
    return ApiVersionsResponse[request.version](
        error_code=0, api_keys=keys, throttle_time_ms=0, **_features(request.version)
    )


def _features(version: int) -> dict[str, Any]:
    """Return the feature of transactions v2 (KIP-890), in versions of the answer that have features."""
    if version < FEATURES_SINCE:
        return {}
    feature = ApiVersionsResponse.FinalizedFeatureKey(
        name="transaction.version", max_version_level=2, min_version_level=2, version=version
    )
    return {"finalized_features_epoch": 0, "finalized_features": [feature]}


def metadata(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the broker, and the topics that were asked for."""
    version = request.version
    if request.topics is None or not (version or request.topics):
        found: list[tuple[str, ServedTopic | None]] = list(cluster.topics.items())
    else:
        asked = request.topics
        found = [cluster.topic(one.name, one.topic_id if version >= 10 else None) for one in asked]
        found = [(name or one.name, topic) for one, (name, topic) in zip(asked, found, strict=True)]
    broker = MetadataResponse.MetadataResponseBroker
    return MetadataResponse[version](
        brokers=[
            broker(node_id=node, host="127.0.0.1", port=port, rack=None, version=version)
            for node, port in cluster.ports.items()
        ],
        cluster_id="wireproof-loopback",
        controller_id=NODE,
        topics=[_topic_metadata(name, topic, version) for name, topic in found],
    )


def _topic_metadata(name: str, topic: ServedTopic | None, version: int) -> Reply:
    known = MetadataResponse.MetadataResponseTopic
    if topic is None:
        return known(
            error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name=name, partitions=[], version=version
        )
    partitions = [
        known.MetadataResponsePartition(
            error_code=0,
            partition_index=index,
            leader_id=topic.leader,
            leader_epoch=topic.leader_epoch,
            replica_nodes=[topic.leader],
            isr_nodes=[topic.leader],
            offline_replicas=[],
            version=version,
        )
        for index in range(len(topic.partitions))
    ]
    return known(error_code=0, name=name, topic_id=topic.id, partitions=partitions, version=version)


def create_topics(cluster: LoopbackCluster, request: Request) -> Reply:
    """Create topics with their settings."""
    results = [_created(cluster, wanted, request) for wanted in request.topics]
    return CreateTopicsResponse[request.version](throttle_time_ms=0, topics=results)


def _created(cluster: LoopbackCluster, wanted: Request, request: Request) -> Reply:
    result = CreateTopicsResponse.CreatableTopicResult
    count = 1 if wanted.num_partitions == -1 else wanted.num_partitions
    try:
        _check_new(cluster, wanted, count)
        settings = TopicSettings.parse({one.name: one.value for one in wanted.configs})
    except AppendRefused as refused:
        code, text = refused.code, refused.text
    except InvalidSettingError as error:
        code, text = ErrorCode.INVALID_CONFIG, str(error)
    else:
        topic = ServedTopic(uuid4(), [cluster.partition_class(settings) for _ in range(count)])
        if not request.validate_only:
            cluster.topics[wanted.name] = topic
        return result(
            name=wanted.name,
            topic_id=topic.id,
            error_code=0,
            error_message=None,
            num_partitions=count,
            replication_factor=1,
            configs=[],
            version=request.version,
        )
    return result(name=wanted.name, error_code=code, error_message=text, version=request.version)


def _check_new(cluster: LoopbackCluster, wanted: Request, count: int) -> None:
    """Check that a topic can be created; raises `Refused`."""
    if wanted.name in cluster.topics:
        raise AppendRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {wanted.name} exists")
    if count < 1:
        raise AppendRefused(ErrorCode.INVALID_PARTITIONS, f"{count} partitions")
    if wanted.replication_factor not in (-1, 1):
        raise AppendRefused(ErrorCode.INVALID_REPLICATION_FACTOR, "there is one broker")


def delete_topics(cluster: LoopbackCluster, request: Request) -> Reply:
    """Delete topics by their names or ids."""
    version = request.version
    if version >= 6:
        asked = [(one.name, one.topic_id) for one in request.topics]
    else:
        asked = [(name, None) for name in request.topic_names]
    responses = []
    for name, number in asked:
        known, topic = cluster.topic(name, number)
        if topic is not None:
            del cluster.topics[known]
        code = ErrorCode.NONE if topic is not None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        responses.append(
            DeleteTopicsResponse.DeletableTopicResult(
                name=known or name, topic_id=number, error_code=code, error_message=None, version=version
            )
        )
    return DeleteTopicsResponse[version](throttle_time_ms=0, responses=responses)


def produce(cluster: LoopbackCluster, request: Request) -> Reply:
    """Append the record sets, each to its partition."""
    version, topic_response = request.version, ProduceResponse.TopicProduceResponse
    responses = [
        topic_response(
            name=topic.name,
            topic_id=topic.topic_id,
            partition_responses=[_appended(cluster, request, topic, asked) for asked in topic.partition_data],
            version=version,
        )
        for topic in request.topic_data
    ]
    return ProduceResponse[version](responses=responses, throttle_time_ms=0)


def _appended(cluster: LoopbackCluster, request: Request, topic: Request, asked: Request) -> Reply:
    result, version = ProduceResponse.TopicProduceResponse.PartitionProduceResponse, request.version
    now = time.time_ns() // 1_000_000
    try:
        partition = cluster.partition(topic.name, topic.topic_id, asked.index)
        data = bytes(asked.records or b"")
        name, _ = cluster.topic(topic.name, topic.topic_id)
        _join_transaction(cluster, partition, (name, asked.index), request, data)
        answer = partition.append(data, version, request.transactional_id, now)
    except AppendRefused as refused:
        errors = [
            result.BatchIndexAndErrorMessage(
                batch_index=index, batch_index_error_message=text, version=version
            )
            for index, text in refused.records
            if version >= RECORD_ERRORS_SINCE
        ]
        return result(
            index=asked.index,
            error_code=refused.code,
            base_offset=-1,
            log_append_time_ms=-1,
            log_start_offset=-1,
            record_errors=errors,
            error_message=refused.text,
            version=version,
        )
    return result(
        index=asked.index,
        error_code=0,
        base_offset=answer.base_offset,
        log_append_time_ms=answer.append_time,
        log_start_offset=0,
        record_errors=[],
        error_message=None,
        version=version,
    )


def _join_transaction(
    cluster: LoopbackCluster,
    partition: ServedPartition,
    place: tuple[str, int],
    request: Request,
    data: bytes,
) -> None:
    """Add the partition to the transaction of a batch, or check that it is part of it; raises `Refused`.

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
    """Return the offsets for times."""
    version, topic_response = request.version, ListOffsetsResponse.ListOffsetsTopicResponse
    isolation = request.isolation_level if version >= 2 else 0
    topics = [
        topic_response(
            name=topic.name,
            partitions=[
                _offset(cluster, version, topic.name, asked, isolation) for asked in topic.partitions
            ],
            version=version,
        )
        for topic in request.topics
    ]
    return ListOffsetsResponse[version](throttle_time_ms=0, topics=topics)


def _offset(cluster: LoopbackCluster, version: int, name: str, asked: Request, isolation: int) -> Reply:
    code, found = ErrorCode.NONE, (-1, -1)
    try:
        partition = cluster.partition(name, None, asked.partition_index)
        partition.check_listed(asked.timestamp, version)
        found = _time_and_offset(partition, asked.timestamp, committed=isolation == READ_COMMITTED)
    except AppendRefused as refused:
        code = refused.code
    return ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=code,
        timestamp=found[0],
        offset=found[1],
        leader_epoch=LEADER_EPOCH if found[1] >= 0 else -1,
        version=version,
    )


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


ANSWERS: Final[Mapping[int, Callable[[LoopbackCluster, Request], Reply]]] = {
    ProduceRequest.API_KEY: produce,
    ListOffsetsRequest.API_KEY: list_offsets,
    MetadataRequest.API_KEY: metadata,
    ApiVersionsRequest.API_KEY: api_versions,
    CreateTopicsRequest.API_KEY: create_topics,
    DeleteTopicsRequest.API_KEY: delete_topics,
}
"""The function that answers each API, by its key."""
