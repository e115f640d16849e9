"""The answers about consumer groups, producers, transactions and deleted records."""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from kafka.protocol.admin import DeleteRecordsRequest
from kafka.protocol.consumer import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
    SyncGroupRequest,
)
from kafka.protocol.metadata import FindCoordinatorRequest
from kafka.protocol.producer import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest

from wireproof.live.loopback_broker.append_rules import AppendRefused, ErrorCode
from wireproof.live.loopback_broker.replies import Answer, LoopbackCluster, Reply, Request

# --- transaction replies ---
#
# The answers to requests about producers, transactions and deleted records.


RAISING: Final = 5
"""The version of EndTxn from which on the epoch is raised: KIP-890."""

KEYS_SINCE: Final = 4
"""The version of FindCoordinator from which on it has several keys: KIP-699."""


def _now() -> int:
    return time.time_ns() // 1_000_000


def find_coordinator(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return this broker: it coordinates everything."""
    where = {"node_id": cluster.node, "host": "127.0.0.1", "port": cluster.port, "error_message": None}
    if request.version < KEYS_SINCE:
        return where
    return {"coordinators": [{"key": key, **where} for key in request.coordinator_keys]}


def init_producer_id(cluster: LoopbackCluster, request: Request) -> Reply:
    code, found = 0, (-1, -1)
    known = (request.producer_id, request.producer_epoch) if request.version >= 3 else (-1, -1)
    try:
        found = cluster.coordinator.init(request.transactional_id, known, _now())
    except AppendRefused as refused:
        code = refused.code
    return {"error_code": code, "producer_id": found[0], "producer_epoch": found[1]}


def add_partitions(cluster: LoopbackCluster, request: Request) -> Reply:
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
    rows = [
        {
            "name": topic.name,
            "results_by_partition": [
                {"partition_index": number, "partition_error_code": code} for number in topic.partitions
            ],
        }
        for topic in asked
    ]
    return {"results_by_topic_v3_and_below": rows}


def end_transaction(cluster: LoopbackCluster, request: Request) -> Reply:
    code, found = 0, (-1, -1)
    producer = request.producer_id, request.producer_epoch
    raises = request.version >= RAISING
    try:
        found = cluster.coordinator.end(
            request.transactional_id, producer, _now(), commit=request.committed, raises=raises
        )
    except AppendRefused as refused:
        code = refused.code
    return {"error_code": code, "producer_id": found[0], "producer_epoch": found[1]}


def delete_records(cluster: LoopbackCluster, request: Request) -> Reply:
    rows = [
        {"name": topic.name, "partitions": [_deleted(cluster, topic.name, one) for one in topic.partitions]}
        for topic in request.topics
    ]
    return {"topics": rows}


def _deleted(cluster: LoopbackCluster, name: str, asked: Request) -> Reply:
    code, start = ErrorCode.NONE, -1
    try:
        start = cluster.partition(name, None, asked.partition_index).delete_before(asked.offset)
    except AppendRefused as refused:
        code = refused.code
    return {"partition_index": asked.partition_index, "low_watermark": start, "error_code": code}


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
    member = {
        "member_id": group.member,
        "group_instance_id": request.group_instance_id if request.version >= 5 else None,
        "metadata": chosen.metadata if chosen else b"",
    }
    return {
        "generation_id": group.generation,
        "protocol_type": request.protocol_type,
        "protocol_name": chosen.name if chosen else "",
        "leader": group.member,
        "member_id": group.member,
        "members": [member],
    }


def sync_group(_: LoopbackCluster, request: Request) -> Reply:
    """Return the assignment that the leader, who is the only member, chose for itself."""
    own = [one.assignment for one in request.assignments if one.member_id == request.member_id]
    return {
        "protocol_type": request.protocol_type if request.version >= 5 else None,
        "protocol_name": request.protocol_name if request.version >= 5 else None,
        "assignment": own[0] if own else b"",
    }


def heartbeat(_: LoopbackCluster, __: Request) -> Reply:
    """Answer that nothing changed."""
    return {}


def leave_group(_: LoopbackCluster, request: Request) -> Reply:
    """Let every member go."""
    members = request.members if request.version >= MEMBERS_SINCE else ()
    rows = [{"member_id": one.member_id, "group_instance_id": one.group_instance_id} for one in members]
    return {"members": rows}


def commit_offsets(cluster: LoopbackCluster, request: Request) -> Reply:
    """Keep the offsets of a group."""
    group, topics = cluster.groups.of(request.group_id), []
    for topic in request.topics:
        known = cluster.topics.get(topic.name)
        for one in topic.partitions if known else ():
            group.committed[topic.name, one.partition_index] = one.committed_offset
        code = ErrorCode.NONE if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        rows = [{"partition_index": one.partition_index, "error_code": code} for one in topic.partitions]
        topics.append({"name": topic.name, "partitions": rows})
    return {"topics": topics}


def committed_offsets(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the offsets of one group, or of several."""
    if request.version < GROUPS_SINCE:
        return {"topics": _committed(cluster, request.group_id, request.topics)}
    rows = [
        {"group_id": one.group_id, "topics": _committed(cluster, one.group_id, one.topics)}
        for one in request.groups
    ]
    return {"groups": rows}


def _committed(cluster: LoopbackCluster, name: str, asked: Sequence[Request] | None) -> list[Reply]:
    """Return the committed offsets of a group; of all partitions that have one, if no topic is named."""
    committed = cluster.groups.of(name).committed
    if asked is None:
        wanted = [(topic, [index]) for topic, index in committed]
    else:
        wanted = [(topic.name, topic.partition_indexes) for topic in asked]
    return [
        {
            "name": topic,
            "partitions": [
                {
                    "partition_index": index,
                    "committed_offset": committed.get((topic, index), NOT_COMMITTED),
                    "metadata": "",
                }
                for index in indexes
            ],
        }
        for topic, indexes in wanted
    ]


def leader_epochs(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the end of the log as the end of whatever epoch: nothing of a log is ever cut off."""
    topics = [
        {
            "topic": topic.topic,
            "partitions": [_end_of_epoch(cluster, topic.topic, one) for one in topic.partitions],
        }
        for topic in request.topics
    ]
    return {"topics": topics}


def _end_of_epoch(cluster: LoopbackCluster, name: str, asked: Request) -> Reply:
    code, end = ErrorCode.NONE, -1
    try:
        end = cluster.partition(name, None, asked.partition).end
    except AppendRefused as refused:
        code = refused.code
    where = {"partition": asked.partition, "leader_epoch": asked.leader_epoch}
    return {**where, "error_code": code, "end_offset": end}


ANSWERS: Final[Mapping[int, Answer]] = {
    FindCoordinatorRequest.API_KEY: find_coordinator,
    InitProducerIdRequest.API_KEY: init_producer_id,
    AddPartitionsToTxnRequest.API_KEY: add_partitions,
    EndTxnRequest.API_KEY: end_transaction,
    DeleteRecordsRequest.API_KEY: delete_records,
    JoinGroupRequest.API_KEY: join_group,
    SyncGroupRequest.API_KEY: sync_group,
    HeartbeatRequest.API_KEY: heartbeat,
    LeaveGroupRequest.API_KEY: leave_group,
    OffsetCommitRequest.API_KEY: commit_offsets,
    OffsetFetchRequest.API_KEY: committed_offsets,
    OffsetForLeaderEpochRequest.API_KEY: leader_epochs,
}
"""The function that answers each API, by its key."""
