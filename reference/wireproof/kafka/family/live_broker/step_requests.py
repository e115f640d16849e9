"""The requests of steps, in the versions that their rules need."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from attrs import field, frozen
from kafka.protocol.admin import DeleteRecordsRequest
from kafka.protocol.consumer import FetchRequest, ListOffsetsRequest
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
)

from wireproof.kafka.family.live_broker import requests
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.kafka.family.live_broker.error_codes import RETRIED
from wireproof.kafka.family.live_broker.topics import Partition

IMPLICIT_PRODUCE: Final = 12
"""From this version of Produce on, a broker with transactions v2 adds the partition itself: KIP-890."""

BUMPING_END: Final = 5
"""From this version of EndTxn on, the end of a transaction begins a new epoch: KIP-890."""

ONE_TRANSACTION: Final = 3
"""The newest version of AddPartitionsToTxn for clients: from 4 on, brokers ask for several transactions."""

OLD_FETCH: Final = max(requests.LEGACY_FETCH.values())
"""The newest version of Fetch without batches: the answer has messages, and no last stable offset."""

CONCURRENT_TRANSACTIONS: Final = 51
WAITED_FOR: Final = RETRIED | {15, 16, CONCURRENT_TRANSACTIONS}
"""Codes after which a client repeats its request: the coordinator is not ready, or still writes markers."""

SETTLE_SECONDS: Final = 10.0
PAUSE: Final = 0.03
TRANSACTION_MS: Final = 60_000
TRANSACTIONS: Final = 1
"""The type of the key of FindCoordinator."""

TRANSACTION_FEATURE: Final = "transaction.version"
V2: Final = 2

ISOLATION: Final = {"read_uncommitted": 0, "read_committed": 1}


@frozen
class FetchLimits:
    """What a fetch asks for: its limits, its isolation level and its session.

    Attributes:
        version: of the request; None for the newest one.
        min_bytes, max_wait_ms: the broker waits for so many bytes, and so long; without them for none.
    """

    max_bytes: int = requests.FETCH_BYTES
    partition_max_bytes: int = requests.FETCH_BYTES
    isolation: str = "read_uncommitted"
    session: tuple[int, int] = (0, -1)
    forget: tuple[Partition, ...] = field(default=())
    version: int | None = None
    min_bytes: int = 0
    max_wait_ms: int | None = None


def repeated(send: Callable[[], Any], code: Callable[[Any], int]) -> Any:  # noqa: ANN401 - a response
    """Send until the answer is about the request, and not about a broker that is busy."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while (found := code(answer := send())) in WAITED_FOR and time.monotonic() < deadline:
        time.sleep(PAUSE)
    requests.check_known(found)
    return answer


def transaction_version(cluster: Cluster) -> int:
    """Return the version of transactions that the cluster has: 0 without any, 2 with KIP-890."""
    needed = (InitProducerIdRequest, AddPartitionsToTxnRequest, EndTxnRequest, FindCoordinatorRequest)
    if any(request.API_KEY not in cluster.versions for request in needed):
        return 0
    if (
        cluster.versions[EndTxnRequest.API_KEY][1] < BUMPING_END
        or cluster.versions[requests.PRODUCE][1] < IMPLICIT_PRODUCE
    ):
        return 1
    response = cluster.call(
        ApiVersionsRequest(client_software_name="wireproof", client_software_version="1"),
        cluster.newest(ApiVersionsRequest, 3),
    )
    found = {one.name: one.max_version_level for one in getattr(response, "finalized_features", None) or ()}
    return V2 if found.get(TRANSACTION_FEATURE, 0) >= V2 else 1


class NoCoordinatorError(Exception):
    """FindCoordinator names no node, but an error: `code`."""

    def __init__(self, code: int) -> None:
        """Store the code."""
        super().__init__(f"FindCoordinator answers error {code}")
        self.code = code


def coordinator(cluster: Cluster, name: str) -> int:
    """Return the node that coordinates a transactional id; raise `NoCoordinatorError`."""
    version = cluster.newest(FindCoordinatorRequest)

    def ask() -> Any:  # noqa: ANN401 - a part of a response
        if version >= 4:  # several keys: KIP-699
            request = FindCoordinatorRequest(key_type=TRANSACTIONS, coordinator_keys=[name])
            return requests.only(cluster.call(request, version).coordinators, "coordinators")
        return cluster.call(FindCoordinatorRequest(key=name, key_type=TRANSACTIONS), version)

    found = repeated(ask, lambda answer: int(answer.error_code))
    if found.error_code:
        raise NoCoordinatorError(int(found.error_code))
    return int(found.node_id)


def init_producer(cluster: Cluster, name: str | None, known: tuple[int, int]) -> Any:  # noqa: ANN401 - a response
    """Ask for a producer id; `known` is the id and epoch to be raised, -1 without any: KIP-360."""
    version = cluster.newest(InitProducerIdRequest, 5)
    node = None if name is None else coordinator(cluster, name)
    request = InitProducerIdRequest(
        transactional_id=name,
        transaction_timeout_ms=TRANSACTION_MS,
        producer_id=known[0],
        producer_epoch=known[1],
    )
    return repeated(lambda: cluster.call(request, version, node), lambda answer: int(answer.error_code))


def add_partitions(cluster: Cluster, name: str, producer: tuple[int, int], added: Sequence[Partition]) -> int:
    """Add partitions to a transaction; return the error code of the first one that has one."""
    kind = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[kind(name=added[0].topic, partitions=[one.index for one in added])],
    )
    version, node = cluster.newest(AddPartitionsToTxnRequest, ONE_TRANSACTION), coordinator(cluster, name)

    def code(answer: Any) -> int:  # noqa: ANN401 - a response
        topic = requests.only(answer.results_by_topic_v3_and_below, "topics")
        codes = (int(one.partition_error_code) for one in topic.results_by_partition)
        return next((one for one in codes if one), 0)

    return code(repeated(lambda: cluster.call(request, version, node), code))


def end_transaction(
    cluster: Cluster, name: str, producer: tuple[int, int], *, commit: bool, version: int
) -> Any:  # noqa: ANN401 - a response
    """End a transaction; with transactions v2 the answer has the next epoch."""
    request = EndTxnRequest(
        transactional_id=name, producer_id=producer[0], producer_epoch=producer[1], committed=commit
    )
    newest = cluster.newest(EndTxnRequest, BUMPING_END if version >= V2 else BUMPING_END - 1)
    node = coordinator(cluster, name)
    return repeated(lambda: cluster.call(request, newest, node), lambda answer: int(answer.error_code))


def produce_request(partition: Partition, data: bytes, name: str | None) -> Any:  # noqa: ANN401 - a request
    """Return the request that appends bytes, acknowledged by all replicas."""
    topic = ProduceRequest.TopicProduceData
    row = topic.PartitionProduceData(index=partition.index, records=data)
    return ProduceRequest(
        transactional_id=name,
        acks=requests.ALL_REPLICAS,
        timeout_ms=requests.TIMEOUT_MS,
        topic_data=[topic(name=partition.topic, topic_id=partition.topic_id, partition_data=[row])],
    )


def produce_version(cluster: Cluster, name: str | None, version: int) -> int:
    """Return the version of Produce: one without implicit partitions for transactions of KIP-98."""
    explicit = name is not None and version < V2
    return cluster.newest(ProduceRequest, IMPLICIT_PRODUCE - 1 if explicit else None)


def produced(response: Any) -> Any:  # noqa: ANN401 - a response and a part of it
    """Return the answer of the one partition of a Produce."""
    topic = requests.only(response.responses, "topics")
    return requests.only(topic.partition_responses, "partitions")


def fetch(
    cluster: Cluster, wanted: Iterable[tuple[Partition, int]], limits: FetchLimits, node: int | None = None
) -> Any:  # noqa: ANN401 - a response
    """Fetch from offsets of partitions of one topic, in their order."""
    kind, rows = FetchRequest.FetchTopic, list(wanted)
    partitions = [
        kind.FetchPartition(
            partition=one.index, fetch_offset=offset, partition_max_bytes=limits.partition_max_bytes
        )
        for one, offset in rows
    ]
    topics = [kind(topic=one.topic, topic_id=one.topic_id, partitions=partitions) for one, _ in rows[:1]]
    request = FetchRequest(
        max_wait_ms=cluster.fetch_wait_ms if limits.max_wait_ms is None else limits.max_wait_ms,
        min_bytes=limits.min_bytes,
        max_bytes=limits.max_bytes,
        isolation_level=ISOLATION[limits.isolation],
        session_id=limits.session[0],
        session_epoch=limits.session[1],
        topics=topics,
        forgotten_topics_data=list(_forgotten(limits.forget)),
    )
    node = rows[0][0].node if node is None else node
    newest = cluster.newest(FetchRequest, requests.VERSIONS[requests.FETCH][1])
    return cluster.call(request, newest if limits.version is None else limits.version, node)


def _forgotten(partitions: Sequence[Partition]) -> Iterable[Any]:
    for one in partitions[:1]:
        indexes = [other.index for other in partitions]
        yield FetchRequest.ForgottenTopic(topic=one.topic, topic_id=one.topic_id, partitions=indexes)


def delete_records(cluster: Cluster, partition: Partition, offset: int) -> Any:  # noqa: ANN401 - a part of a response
    """Delete the records before an offset."""
    kind = DeleteRecordsRequest.DeleteRecordsTopic
    row = kind.DeleteRecordsPartition(partition_index=partition.index, offset=offset)
    request = DeleteRecordsRequest(
        topics=[kind(name=partition.topic, partitions=[row])], timeout_ms=requests.TIMEOUT_MS
    )
    version = cluster.newest(DeleteRecordsRequest)
    topic = requests.only(cluster.call(request, version, partition.node).topics, "topics")
    return requests.only(topic.partitions, "partitions")


def list_offset(
    cluster: Cluster, partition: Partition, timestamp: int, isolation: str, version: int | None = None
) -> Any:  # noqa: ANN401 - as above
    """Return the offset of a time, or of what a number below 0 stands for, such as -1 for the end."""
    kind = ListOffsetsRequest.ListOffsetsTopic
    row = kind.ListOffsetsPartition(
        partition_index=partition.index, current_leader_epoch=-1, timestamp=timestamp
    )
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=ISOLATION[isolation],
        topics=[kind(name=partition.topic, partitions=[row])],
        timeout_ms=requests.TIMEOUT_MS,
    )
    version = cluster.newest(ListOffsetsRequest, 9) if version is None else version
    topic = requests.only(cluster.call(request, version, partition.node).topics, "topics")
    return requests.only(topic.partitions, "partitions")
