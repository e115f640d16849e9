"""The answers to the requests of a consumer group, for clients that only subscribe."""

from collections.abc import Callable, Mapping
from typing import Final

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

from wireproof.kafka.family.loopback_broker.append_rules import AppendRefused, ErrorCode
from wireproof.kafka.family.loopback_broker.replies import LoopbackCluster, Reply, Request

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


ANSWERS: Final[Mapping[int, Callable[[LoopbackCluster, Request], Reply]]] = {
    JoinGroupRequest.API_KEY: join_group,
    SyncGroupRequest.API_KEY: sync_group,
    HeartbeatRequest.API_KEY: heartbeat,
    LeaveGroupRequest.API_KEY: leave_group,
    OffsetCommitRequest.API_KEY: commit_offsets,
    OffsetFetchRequest.API_KEY: committed_offsets,
    OffsetForLeaderEpochRequest.API_KEY: leader_epochs,
}
"""The function that answers each API, by its key."""
