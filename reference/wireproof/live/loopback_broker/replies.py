"""The answers to requests, as the fields of kafka-python's message classes, and the APIs of the broker."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final, TypeVar
from uuid import uuid4

from kafka.protocol import admin, consumer, producer
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest, MetadataRequest

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
from wireproof.live.loopback_broker.cluster import (
    NOBODY,
    NODE,
    Api,
    LoopbackCluster,
    Reply,
    Request,
    ServedTopic,
)
from wireproof.live.loopback_broker.fetching import READ_COMMITTED, Fetching
from wireproof.live.loopback_broker.partition import ServedPartition

LOOK_SECONDS: Final = 0.01

T = TypeVar("T")


class ListedTime(IntEnum):
    """The times of ListOffsets that are no times: protocol guide, ListOffsets."""

    LATEST = -1
    EARLIEST = -2
    LARGEST = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5


def versions_of(cluster: LoopbackCluster) -> Mapping[type[Any], tuple[int, int]]:
    """Return the least and the newest version of each request that a node takes."""
    return {
        one: (
            cluster.oldest.get(one.API_KEY, least),
            min(newest, cluster.newest.get(one.API_KEY, newest)),
        )
        for one, (least, newest, _) in {**APIS, **cluster.apis}.items()
    }


def _now() -> int:
    return time.time_ns() // 1_000_000


def _tried(ask: Callable[[], T], otherwise: T) -> tuple[int, T]:
    """Return the error code of what may be refused, and its result or another one."""
    try:
        return ErrorCode.NONE, ask()
    except AppendRefused as refused:
        return refused.code, otherwise


def _of_partitions(topics: Sequence[Request], reply: Callable[[str, Request], Reply]) -> Reply:
    """Return what is said of each partition that is asked for, by topic."""
    return {
        "topics": [
            {"name": topic.name, "partitions": [reply(topic.name, one) for one in topic.partitions]}
            for topic in topics
        ]
    }


# --- the cluster and its topics ---


def api_versions(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the versions of each API; remember what the client is."""
    keys = [
        {"api_key": one.API_KEY, "min_version": span[0], "max_version": span[1]}
        for one, span in versions_of(cluster).items()
    ]
    if request.version < 3:  # KIP-511, KIP-584
        return {"api_keys": keys}
    cluster.software[:] = [str(request.client_software_name), str(request.client_software_version)]
    # transactions v2: KIP-890
    feature = {"name": "transaction.version", "max_version_level": 2, "min_version_level": 2}
    return {"api_keys": keys, "finalized_features_epoch": 0, "finalized_features": [feature]}


def metadata(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the nodes, and the topics that were asked for."""
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
    partition = {
        "leader_id": topic.leader,
        "leader_epoch": topic.leader_epoch,
        "replica_nodes": [topic.leader],
        "isr_nodes": [topic.leader],
        "offline_replicas": [],
    }
    partitions = [{"partition_index": index, **partition} for index in range(len(topic.partitions))]
    return {"name": name, "topic_id": topic.id, "partitions": partitions}


def create_topics(cluster: LoopbackCluster, request: Request) -> Reply:
    return {"topics": [_created(cluster, wanted, request) for wanted in request.topics]}


def _created(cluster: LoopbackCluster, wanted: Request, request: Request) -> Reply:
    count = 1 if wanted.num_partitions == -1 else wanted.num_partitions
    try:
        check_new(cluster, wanted, count)
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


def check_new(cluster: LoopbackCluster, wanted: Request, count: int) -> None:
    """Check that a topic with so many partitions can be created; raise `AppendRefused`."""
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


# --- records ---


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
    now = _now()
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
    if not header.attributes & TRANSACTIONAL:
        return
    known = header.producer_id, header.producer_epoch
    try:
        if request.version >= 12:  # KIP-890
            cluster.coordinator.add(request.transactional_id, known, {place: partition})
        elif header.producer_id not in partition.open:
            cluster.coordinator.verify(request.transactional_id, known, place)
    except AppendRefused as refused:
        if refused.code != ErrorCode.PRODUCER_FENCED:
            raise
        raise AppendRefused(ErrorCode.INVALID_PRODUCER_EPOCH, refused.text) from None


async def fetch(cluster: LoopbackCluster, request: Request) -> Reply:
    """Answer a Fetch as soon as there is something, or after its time."""
    try:
        fetching = (cluster.fetching_class or Fetching).begin(cluster, request)
    except AppendRefused as refused:  # the session
        return {"error_code": refused.code, "responses": []}
    loop = asyncio.get_running_loop()
    end = loop.time() + request.max_wait_ms / 1000
    parts = fetching.look()
    while request.min_bytes and not fetching.is_ready(parts) and loop.time() < end:
        await asyncio.sleep(LOOK_SECONDS)
        parts = fetching.look()
    return fetching.reply(parts)


def list_offsets(cluster: LoopbackCluster, request: Request) -> Reply:
    committed = request.version >= 2 and request.isolation_level == READ_COMMITTED

    def listed(name: str, asked: Request) -> Reply:
        def found() -> tuple[int, int]:
            partition = cluster.partition(name, None, asked.partition_index)
            partition.check_listed(asked.timestamp, request.version)
            return _time_and_offset(partition, asked.timestamp, committed=committed)

        code, (timestamp, offset) = _tried(found, NOBODY)
        return {
            "partition_index": asked.partition_index,
            "error_code": code,
            "timestamp": timestamp,
            "offset": offset,
            "leader_epoch": LEADER_EPOCH if offset >= 0 else -1,
        }

    return _of_partitions(request.topics, listed)


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


def delete_records(cluster: LoopbackCluster, request: Request) -> Reply:
    def deleted(name: str, asked: Request) -> Reply:
        index = asked.partition_index
        code, start = _tried(lambda: cluster.partition(name, None, index).delete_before(asked.offset), -1)
        return {"partition_index": index, "low_watermark": start, "error_code": code}

    return _of_partitions(request.topics, deleted)


def leader_epochs(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the end of the log as the end of whatever epoch: nothing of a log is ever cut off."""

    def ended(name: str, asked: Request) -> Reply:
        code, end = _tried(lambda: cluster.partition(name, None, asked.partition).end, -1)
        where = {"partition": asked.partition, "leader_epoch": asked.leader_epoch}
        return {**where, "error_code": code, "end_offset": end}

    rows = [(topic.topic, [ended(topic.topic, one) for one in topic.partitions]) for topic in request.topics]
    return {"topics": [{"topic": name, "partitions": partitions} for name, partitions in rows]}


# --- producers and transactions ---


def find_coordinator(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return this broker: it coordinates everything."""
    where = {"node_id": cluster.node, "host": "127.0.0.1", "port": cluster.port, "error_message": None}
    if request.version < 4:  # one key: KIP-699
        return where
    return {"coordinators": [{"key": key, **where} for key in request.coordinator_keys]}


def init_producer_id(cluster: LoopbackCluster, request: Request) -> Reply:
    known = (request.producer_id, request.producer_epoch) if request.version >= 3 else NOBODY
    return _producer(lambda: cluster.coordinator.init(request.transactional_id, known, _now()))


def end_transaction(cluster: LoopbackCluster, request: Request) -> Reply:
    return _producer(
        lambda: cluster.coordinator.end(
            request.transactional_id,
            (request.producer_id, request.producer_epoch),
            _now(),
            commit=request.committed,
            raises=request.version >= 5,  # KIP-890
        )
    )


def _producer(ask: Callable[[], tuple[int, int]]) -> Reply:
    code, (number, epoch) = _tried(ask, NOBODY)
    return {"error_code": code, "producer_id": number, "producer_epoch": epoch}


def add_partitions(cluster: LoopbackCluster, request: Request) -> Reply:
    asked = request.v3_and_below_topics

    def add() -> None:
        places = {
            (topic.name, number): cluster.partition(topic.name, None, number)
            for topic in asked
            for number in topic.partitions
        }
        known = request.v3_and_below_producer_id, request.v3_and_below_producer_epoch
        cluster.coordinator.add(request.v3_and_below_transactional_id, known, places)

    code, _ = _tried(add, None)
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


# --- groups of consumers, for clients that only subscribe ---


def join_group(cluster: LoopbackCluster, request: Request) -> Reply:
    """Make the client the leader and only member of its group, with a name if it has none."""
    group = cluster.group(request.group_id)
    group.generation += 1
    group.member = request.member_id or f"member-{group.generation}"
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


def leave_group(_: LoopbackCluster, request: Request) -> Reply:
    """Let every member go."""
    members = request.members if request.version >= 3 else ()  # KIP-345
    rows = [{"member_id": one.member_id, "group_instance_id": one.group_instance_id} for one in members]
    return {"members": rows}


def commit_offsets(cluster: LoopbackCluster, request: Request) -> Reply:
    """Keep the offsets of a group."""
    committed = cluster.group(request.group_id).committed

    def commit(name: str, asked: Request) -> Reply:
        index, code = asked.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if name in cluster.topics:
            committed[name, index], code = asked.committed_offset, ErrorCode.NONE
        return {"partition_index": index, "error_code": code}

    return _of_partitions(request.topics, commit)


def committed_offsets(cluster: LoopbackCluster, request: Request) -> Reply:
    """Return the offsets of one group, or of several."""
    if request.version < 8:  # KIP-709
        return {"topics": _committed(cluster, request.group_id, request.topics)}
    rows = [
        {"group_id": one.group_id, "topics": _committed(cluster, one.group_id, one.topics)}
        for one in request.groups
    ]
    return {"groups": rows}


def _committed(cluster: LoopbackCluster, name: str, asked: Sequence[Request] | None) -> list[Reply]:
    """Return the committed offsets of a group; of all partitions that have one, if no topic is named."""
    committed = cluster.group(name).committed
    if asked is None:
        wanted = [(topic, [index]) for topic, index in committed]
    else:
        wanted = [(topic.name, topic.partition_indexes) for topic in asked]
    rows = [
        (topic, [(index, committed.get((topic, index), -1)) for index in indexes])
        for topic, indexes in wanted
    ]
    return [
        {
            "name": topic,
            "partitions": [
                {"partition_index": index, "committed_offset": offset, "metadata": ""}
                for index, offset in offsets
            ],
        }
        for topic, offsets in rows
    ]


APIS: Final[dict[type[Any], Api]] = {
    producer.ProduceRequest: (3, 13, produce),
    consumer.FetchRequest: (4, 17, fetch),
    consumer.ListOffsetsRequest: (1, 9, list_offsets),
    MetadataRequest: (0, 13, metadata),
    ApiVersionsRequest: (0, 4, api_versions),
    admin.CreateTopicsRequest: (2, 7, create_topics),
    admin.DeleteTopicsRequest: (1, 6, delete_topics),
    producer.InitProducerIdRequest: (0, 5, init_producer_id),
    FindCoordinatorRequest: (1, 6, find_coordinator),
    producer.AddPartitionsToTxnRequest: (0, 3, add_partitions),
    producer.EndTxnRequest: (0, 5, end_transaction),
    admin.DeleteRecordsRequest: (0, 2, delete_records),
    consumer.OffsetForLeaderEpochRequest: (2, 4, leader_epochs),
    consumer.JoinGroupRequest: (0, 9, join_group),
    consumer.SyncGroupRequest: (0, 5, sync_group),
    consumer.HeartbeatRequest: (0, 4, lambda *_: {}),  # nothing changed
    consumer.LeaveGroupRequest: (0, 5, leave_group),
    consumer.OffsetCommitRequest: (2, 9, commit_offsets),
    consumer.OffsetFetchRequest: (1, 9, committed_offsets),
}
"""The requests that the broker takes."""
