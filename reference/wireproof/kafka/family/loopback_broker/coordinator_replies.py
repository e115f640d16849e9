"""The answers about consumer groups, producers, transactions, deleted records and settings."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from kafka.protocol.admin import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
)
from kafka.protocol.consumer import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
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

# --- transaction replies ---
#
# The answers to requests about producers, transactions and deleted records.


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


TRANSACTION_ANSWERS: Final[Mapping[int, Callable[[LoopbackCluster, Request], Reply]]] = {
    FindCoordinatorRequest.API_KEY: find_coordinator,
    InitProducerIdRequest.API_KEY: init_producer_id,
    AddPartitionsToTxnRequest.API_KEY: add_partitions,
    EndTxnRequest.API_KEY: end_transaction,
    DeleteRecordsRequest.API_KEY: delete_records,
}
"""The function that answers each API, by its key."""


# --- group replies ---
#
# The answers to the requests of a consumer group, for clients that only subscribe.


MEMBERS_SINCE: Final = 3
"""The version of LeaveGroup from which on it has several members: KIP-345."""

GROUPS_SINCE: Final = 8
"""The version of OffsetFetch from which on it has several groups: KIP-709."""

NOT_COMMITTED: Final = -1


def join_group(cluster: LoopbackCluster, request: Request) -> Reply:
    """Make the client the leader and only member of its group."""
    group = cluster.groups.join(request.group_id, request.member_id)
    chosen = request.protocols[0] if request.protocols else None
    version = request.version
    member = JoinGroupResponse.JoinGroupResponseMember(
        member_id=group.member,
        group_instance_id=request.group_instance_id if version >= 5 else None,
        metadata=chosen.metadata if chosen else b"",
        version=version,
    )
    return JoinGroupResponse[version](
        throttle_time_ms=0,
        error_code=0,
        generation_id=group.generation,
        protocol_type=request.protocol_type,
        protocol_name=chosen.name if chosen else "",
        leader=group.member,
        skip_assignment=False,
        member_id=group.member,
        members=[member],
    )


def sync_group(_: LoopbackCluster, request: Request) -> Reply:
    """Return the assignment that the leader, who is the only member, chose for itself."""
    own = [one.assignment for one in request.assignments if one.member_id == request.member_id]
    return SyncGroupResponse[request.version](
        throttle_time_ms=0,
        error_code=0,
        protocol_type=request.protocol_type if request.version >= 5 else None,
        protocol_name=request.protocol_name if request.version >= 5 else None,
        assignment=own[0] if own else b"",
    )


def heartbeat(_: LoopbackCluster, request: Request) -> Reply:
    """Answer that nothing changed."""
    return HeartbeatResponse[request.version](throttle_time_ms=0, error_code=0)


def leave_group(_: LoopbackCluster, request: Request) -> Reply:
    """Let every member go."""
    member = LeaveGroupResponse.MemberResponse
    rows = [
        member(
            member_id=one.member_id,
            group_instance_id=one.group_instance_id,
            error_code=0,
            version=request.version,
        )
        for one in (request.members if request.version >= MEMBERS_SINCE else ())
    ]
    return LeaveGroupResponse[request.version](throttle_time_ms=0, error_code=0, members=rows)


def commit_offsets(cluster: LoopbackCluster, request: Request) -> Reply:
    """Keep the offsets of a group."""
    group, result = cluster.groups.of(request.group_id), OffsetCommitResponse.OffsetCommitResponseTopic
    topics = []
    for topic in request.topics:
        known = cluster.topics.get(topic.name)
        for one in topic.partitions if known else ():
            group.committed[topic.name, one.partition_index] = one.committed_offset
        code = ErrorCode.NONE if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        rows = [
            result.OffsetCommitResponsePartition(
                partition_index=one.partition_index, error_code=code, version=request.version
            )
            for one in topic.partitions
        ]
        topics.append(result(name=topic.name, partitions=rows, version=request.version))
    return OffsetCommitResponse[request.version](throttle_time_ms=0, topics=topics)


def committed_offsets(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the offsets of one group, or of several."""
    version = request.version
    if version < GROUPS_SINCE:
        return OffsetFetchResponse[version](
            throttle_time_ms=0, topics=_committed(cluster, request.group_id, request, version), error_code=0
        )
    rows = [
        OffsetFetchResponse.OffsetFetchResponseGroup(
            group_id=one.group_id,
            topics=_committed(cluster, one.group_id, one, version),
            error_code=0,
            version=version,
        )
        for one in request.groups
    ]
    return OffsetFetchResponse[version](throttle_time_ms=0, groups=rows)


def _committed(cluster: LoopbackCluster, name: str, asked: Request, version: int) -> list[Reply]:
    """Return the committed offsets of a group; of all partitions that have one, if no topic is named."""
    committed = cluster.groups.of(name).committed
    if asked.topics is None:
        wanted = [(topic, [index]) for topic, index in committed]
    else:
        wanted = [(topic.name, topic.partition_indexes) for topic in asked.topics]
    if version >= GROUPS_SINCE:
        of_topic = OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics
        of_partition = of_topic.OffsetFetchResponsePartitions
    else:
        of_topic = OffsetFetchResponse.OffsetFetchResponseTopic
        of_partition = of_topic.OffsetFetchResponsePartition
    return [
        of_topic(
            name=topic,
            partitions=[
                of_partition(
                    partition_index=index,
                    committed_offset=committed.get((topic, index), NOT_COMMITTED),
                    committed_leader_epoch=-1,
                    metadata="",
                    error_code=0,
                    version=version,
                )
                for index in indexes
            ],
            version=version,
        )
        for topic, indexes in wanted
    ]


def leader_epochs(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the end of the log as the end of whatever epoch: nothing of a log is ever cut off."""
    version, result = request.version, OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
    topics = [
        result(
            topic=topic.topic,
            partitions=[_end_of_epoch(cluster, topic.topic, one, version) for one in topic.partitions],
            version=version,
        )
        for topic in request.topics
    ]
    return OffsetForLeaderEpochResponse[version](throttle_time_ms=0, topics=topics)


def _end_of_epoch(cluster: LoopbackCluster, name: str, asked: Request, version: int) -> Reply:
    code, end = ErrorCode.NONE, -1
    try:
        end = cluster.partition(name, None, asked.partition).end
    except AppendRefused as refused:
        code = refused.code
    return OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.EpochEndOffset(
        error_code=code,
        partition=asked.partition,
        leader_epoch=asked.leader_epoch,
        end_offset=end,
        version=version,
    )


GROUP_ANSWERS: Final[Mapping[int, Callable[[LoopbackCluster, Request], Reply]]] = {
    JoinGroupRequest.API_KEY: join_group,
    SyncGroupRequest.API_KEY: sync_group,
    HeartbeatRequest.API_KEY: heartbeat,
    LeaveGroupRequest.API_KEY: leave_group,
    OffsetCommitRequest.API_KEY: commit_offsets,
    OffsetFetchRequest.API_KEY: committed_offsets,
    OffsetForLeaderEpochRequest.API_KEY: leader_epochs,
}
"""The function that answers each API, by its key."""


# --- broker settings ---
#
# The settings of the loopback broker itself: how long it remembers what is idle, and their description.


PRODUCER_AGE: Final = "producer.id.expiration.ms"
ID_AGE: Final = "transactional.id.expiration.ms"

BROKER: Final = 4
"""The type of the resource: protocol guide, DescribeConfigs."""

STATIC: Final = 4
"""The source of a setting that is in the file of the broker."""


def forget_idle(cluster: LoopbackCluster, now: int) -> None:
    """Forget producers and transactional ids whose time is over; without these settings none."""
    if (age := cluster.settings.get(PRODUCER_AGE)) is not None:
        for topic in cluster.topics.values():
            for partition in topic.partitions:
                partition.forget_idle(now, age)
    if (age := cluster.settings.get(ID_AGE)) is not None:
        cluster.coordinator.forget_idle(now, age)


def describe_configs(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the settings of the broker that were asked for; other resources have none."""
    result = DescribeConfigsResponse.DescribeConfigsResult
    rows = [
        result(
            error_code=0,
            error_message=None,
            resource_type=asked.resource_type,
            resource_name=asked.resource_name,
            configs=list(_described(cluster, asked, request.version)),
            version=request.version,
        )
        for asked in request.resources
    ]
    return DescribeConfigsResponse[request.version](throttle_time_ms=0, results=rows)


def _described(cluster: LoopbackCluster, asked: Request, version: int) -> Iterator[Reply]:
    row = DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult
    wanted = asked.configuration_keys
    for name, value in cluster.settings.items() if asked.resource_type == BROKER else ():
        if wanted is None or name in wanted:
            yield row(
                name=name,
                value=str(value),
                read_only=True,
                config_source=STATIC,
                is_sensitive=False,
                synonyms=[],
                version=version,
            )


SETTINGS_ANSWERS: Final[Mapping[int, Callable[[LoopbackCluster, Request], Reply]]] = {
    DescribeConfigsRequest.API_KEY: describe_configs,
}
"""The function that answers the API, by its key."""
