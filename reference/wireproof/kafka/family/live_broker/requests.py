"""Produce and Fetch with raw bytes, in the version that fits the entries."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from attrs import frozen
from kafka import errors
from kafka.protocol.consumer import FetchRequest
from kafka.protocol.producer import ProduceRequest

from wireproof.kafka.family.live_broker import error_codes
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.kafka.family.live_broker.topics import Partition

PRODUCE: Final = ProduceRequest.API_KEY
FETCH: Final = FetchRequest.API_KEY
VERSIONS: Final = {PRODUCE: (3, ProduceRequest.max_version), FETCH: (4, 17)}
"""The versions for entries of v2. Fetch 18 adds only a field for followers (KIP-1166)."""

LEGACY_PRODUCE: Final = {0: 2, 1: 2}
"""The newest version of Produce for entries of v0 and v1: from 3 on, only v2 is accepted (KIP-98)."""

LEGACY_FETCH: Final = {0: 1, 1: 3}
"""The newest version of Fetch that returns such entries: the broker converts others down (KIP-283)."""

TIMEOUT_MS: Final = 5_000
SECONDS: Final = 6.0
"""Time limit of an answer, after which a broker hangs."""

FETCH_BYTES: Final = 64 * 1024 * 1024
ALL_REPLICAS: Final = -1
SETTLE_SECONDS: Final = 5.0
PAUSE: Final = 0.05


class MalformedAnswerError(Exception):
    """The answer has not what the request asks for; the text is one line."""


class LostTopicError(errors.KafkaError):  # type: ignore[misc] # the library has no types
    """The broker does not know a topic any more that it created for us: it may have been started again."""


def check_known(code: int) -> None:
    """Raise `LostTopicError` for an answer that the topic or partition of a case is unknown."""
    if code in error_codes.UNKNOWN_TOPIC:
        raise LostTopicError("the broker does not know its topic any more")


def only(rows: Sequence[Any], what: str) -> Any:  # noqa: ANN401 - a part of a response
    """Return the one row of an answer to a request about one thing; raise `MalformedAnswerError`."""
    if len(rows) != 1:
        raise MalformedAnswerError(f"the answer has {len(rows)} {what}, not the one that was asked for")
    return rows[0]


@frozen
class ProduceAnswer:
    """The answer to a produced record set.

    Attributes:
        code: the error code; 0 for success.
        message: the error message of the broker, with those of single records.
        base_offset: the offset of the first record; -1 after an error.
        append_time: the time of the append in milliseconds; -1 if the topic keeps the producers' times.
    """

    code: int
    message: str
    base_offset: int
    append_time: int


@frozen
class FetchAnswer:
    """The answer to a fetch: its error code, the high watermark, and the bytes of the log."""

    code: int
    high_watermark: int
    data: bytes


Answer = TypeVar("Answer", ProduceAnswer, FetchAnswer)


def wished_version(cluster: Cluster, api: int) -> int:
    """Return the newest version of Produce or of Fetch that a run may send for v2."""
    return cluster.wished.get(api, VERSIONS[api][1])


def produce(cluster: Cluster, partition: Partition, data: bytes, magic: int) -> ProduceAnswer:
    """Produce exactly these bytes to a partition, acknowledged by all replicas."""
    topic = ProduceRequest.TopicProduceData
    row = topic.PartitionProduceData(index=partition.index, records=data)
    request = ProduceRequest(
        transactional_id=None,
        acks=ALL_REPLICAS,
        timeout_ms=TIMEOUT_MS,
        topic_data=[topic(name=partition.topic, topic_id=partition.topic_id, partition_data=[row])],
    )
    version = cluster.newest(ProduceRequest, LEGACY_PRODUCE.get(magic, wished_version(cluster, PRODUCE)))
    return _settled(lambda: _produced(cluster.call(request, version, partition.node, SECONDS)))


def _produced(response: Any) -> ProduceAnswer:  # noqa: ANN401 - a response
    found = only(response.responses, "topics")
    reply = only(found.partition_responses, "partitions")
    return ProduceAnswer(reply.error_code, _message(reply), reply.base_offset, reply.log_append_time_ms)


def _settled(send: Callable[[], Answer]) -> Answer:
    """Send until the answer is about the records, not about the state of the cluster: leaders start late."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while (answer := send()).code in error_codes.RETRIED and time.monotonic() < deadline:
        time.sleep(PAUSE)
    check_known(answer.code)
    return answer


def _message(reply: Any) -> str:  # noqa: ANN401 - a part of a response
    """Return the texts of the broker: KIP-467."""
    single = [row.batch_index_error_message for row in getattr(reply, "record_errors", None) or ()]
    texts = [getattr(reply, "error_message", None), *single]
    return "; ".join(dict.fromkeys(text for text in texts if text))


def fetch(cluster: Cluster, partition: Partition, offset: int, magic: int) -> FetchAnswer:
    """Fetch everything from an offset on, without waiting for more."""
    topic = FetchRequest.FetchTopic
    row = topic.FetchPartition(
        partition=partition.index, fetch_offset=offset, partition_max_bytes=FETCH_BYTES
    )
    request = FetchRequest(
        max_wait_ms=cluster.fetch_wait_ms,
        min_bytes=0,
        max_bytes=FETCH_BYTES,
        topics=[topic(topic=partition.topic, topic_id=partition.topic_id, partitions=[row])],
    )
    least, newest = cluster.versions[FETCH]
    usual = wished_version(cluster, FETCH)
    wished = LEGACY_FETCH.get(magic, usual)
    version = min(newest, wished if wished >= least else usual)
    return _settled(lambda: _fetched(cluster.call(request, version, partition.node, SECONDS)))


def _fetched(response: Any) -> FetchAnswer:  # noqa: ANN401 - a response
    if not response.responses:  # an error of the whole request, such as an unknown topic id
        return FetchAnswer(response.error_code or -1, -1, b"")
    found = only(response.responses, "topics")
    reply = only(found.partitions, "partitions")
    return FetchAnswer(reply.error_code, reply.high_watermark, bytes(reply.records or b""))
