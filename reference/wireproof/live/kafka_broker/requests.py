"""Produce and Fetch with raw bytes, in the version that fits the entries."""

from collections.abc import Callable, Collection, Iterator, Sequence
from struct import Struct, pack_into, unpack_from
from typing import Any, Final, TypeVar

from attrs import evolve, field, frozen
from kafka import errors
from kafka.protocol.consumer import FetchRequest
from kafka.protocol.producer import ProduceRequest

from wireproof.kafka.batch import BATCH
from wireproof.kafka.size_and_magic import MAGIC_AT
from wireproof.live.kafka_broker import error_codes
from wireproof.live.kafka_broker.cluster import Cluster, tries
from wireproof.live.kafka_broker.connection import message
from wireproof.live.kafka_broker.topics import Partition
from wireproof.wire.checksums import crc32c

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
ISOLATION: Final = {"read_uncommitted": 0, "read_committed": 1}


class MalformedAnswerError(Exception):
    """The answer has not what the request asks for; the text is one line."""


class LostTopicError(errors.KafkaError):  # type: ignore[misc] # the library has no types
    """The broker does not know a topic any more that it created for us: it may have been started again."""


def only(rows: Sequence[Any], what: str) -> Any:  # noqa: ANN401 - a part of a response
    """Return the one row of an answer to a request about one thing; raise `MalformedAnswerError`."""
    if len(rows) != 1:
        raise MalformedAnswerError(f"the answer has {len(rows)} {what}, not the one that was asked for")
    return rows[0]


def only_partition(topics: Sequence[Any], name: str) -> Any:  # noqa: ANN401 - as above
    """Return the one partition of the one topic; `name` is that of the list in a topic."""
    return only(getattr(only(topics, "topics"), name), "partitions")


@frozen
class FetchLimits:
    """What a fetch asks for: its limits, its isolation level and its session.

    Attributes:
        version: of the request; None for the newest one.
        min_bytes, max_wait_ms: the broker waits for so many bytes, and so long; without them for none.
    """

    max_bytes: int = FETCH_BYTES
    partition_max_bytes: int = FETCH_BYTES
    isolation: str = "read_uncommitted"
    session: tuple[int, int] = (0, -1)
    forget: tuple[Partition, ...] = field(default=())
    version: int | None = None
    min_bytes: int = 0
    max_wait_ms: int | None = None


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
    """The answer to a fetch: its error code, the high watermark, and the bytes of the log.

    Of several fetches it is that of the last one, with all bytes; `highest` is the greatest high watermark.
    """

    code: int
    high_watermark: int
    data: bytes
    highest: int = -1


AnswerT = TypeVar("AnswerT")


def wished_version(cluster: Cluster, api: int) -> int:
    """Return the newest version of Produce or of Fetch that a run may send for v2."""
    return cluster.wished.get(api, VERSIONS[api][1])


def repeated(
    send: Callable[[], AnswerT],
    code: Callable[[AnswerT], int],
    waited_for: Collection[int] = error_codes.RETRIED,
    seconds: float = 5.0,
) -> AnswerT:
    """Send until the answer is about the request, not about the state of the cluster: leaders start late.

    Raises:
        LostTopicError: the topic is unknown to the end.
    """
    for _ in tries(seconds):
        answer = send()
        if (found := code(answer)) not in waited_for:
            break
    if found in error_codes.UNKNOWN_TOPIC:
        raise LostTopicError("the broker does not know its topic any more")
    return answer


def produce_request(partition: Partition, data: bytes, name: str | None) -> Any:  # noqa: ANN401 - a request
    """Return the request that appends bytes, acknowledged by all replicas; `name` is a transactional id."""
    row = {"index": partition.index, "records": data}
    topic = {"name": partition.topic, "topic_id": partition.topic_id, "partition_data": [row]}
    return message(
        ProduceRequest,
        transactional_id=name,
        acks=-1,
        timeout_ms=TIMEOUT_MS,
        topic_data=[topic],
    )


def produce(cluster: Cluster, partition: Partition, data: bytes, magic: int) -> ProduceAnswer:
    """Produce exactly these bytes to a partition, acknowledged by all replicas."""
    request = produce_request(partition, data, None)
    version = cluster.newest(ProduceRequest, LEGACY_PRODUCE.get(magic, wished_version(cluster, PRODUCE)))

    def send() -> ProduceAnswer:
        response = cluster.call(request, version, partition.node, SECONDS)
        reply = only_partition(response.responses, "partition_responses")
        single = [row.batch_index_error_message for row in getattr(reply, "record_errors", None) or ()]
        texts = (getattr(reply, "error_message", None), *single)  # KIP-467
        said = "; ".join(dict.fromkeys(text for text in texts if text))
        return ProduceAnswer(reply.error_code, said, reply.base_offset, reply.log_append_time_ms)

    return repeated(send, lambda answer: answer.code)


def fetch_request(cluster: Cluster, wanted: Sequence[tuple[Partition, int]], limits: FetchLimits) -> Any:  # noqa: ANN401 - a request
    """Return the request of offsets of partitions of one topic, in their order."""
    partitions = [
        {"partition": one.index, "fetch_offset": at, "partition_max_bytes": limits.partition_max_bytes}
        for one, at in wanted
    ]
    return message(
        FetchRequest,
        max_wait_ms=cluster.fetch_wait_ms if limits.max_wait_ms is None else limits.max_wait_ms,
        min_bytes=limits.min_bytes,
        max_bytes=limits.max_bytes,
        isolation_level=ISOLATION[limits.isolation],
        session_id=limits.session[0],
        session_epoch=limits.session[1],
        topics=[{**_topic(one), "partitions": partitions} for one, _ in wanted[:1]],
        forgotten_topics_data=[
            {**_topic(one), "partitions": [other.index for other in limits.forget]}
            for one in limits.forget[:1]
        ],
    )


def _topic(partition: Partition) -> dict[str, object]:
    return {"topic": partition.topic, "topic_id": partition.topic_id}


def fetch(cluster: Cluster, partition: Partition, offset: int, magic: int) -> FetchAnswer:
    """Fetch everything from an offset on, without waiting for more."""
    request = fetch_request(cluster, [(partition, offset)], FetchLimits())
    least, newest = cluster.versions[FETCH]
    usual = wished_version(cluster, FETCH)
    wished = LEGACY_FETCH.get(magic, usual)
    version = min(newest, wished if wished >= least else usual)

    def send() -> FetchAnswer:
        response = cluster.call(request, version, partition.node, SECONDS)
        if not response.responses:  # an error of the whole request, such as an unknown topic id
            return FetchAnswer(response.error_code or -1, -1, b"")
        reply = only_partition(response.responses, "partitions")
        return FetchAnswer(reply.error_code, reply.high_watermark, bytes(reply.records or b""))

    return repeated(send, lambda answer: answer.code)


# --- the bytes of entries, of which only the parts are read that every version has ---

V2: Final = 2
MAGICS: Final = {"v0": 0, "v1": 1, "v2": V2}
NO_PRODUCER: Final = -1
_PREFIX: Final = Struct(">qi")


def entries_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and the bytes of each whole entry: kafka.md §1.4."""
    at = 0
    while len(data) - at >= _PREFIX.size:
        offset, length = _PREFIX.unpack_from(data, at)
        end = at + _PREFIX.size + length
        if length < 0 or end > len(data):
            return
        yield offset, data[at:end]
        at = end


def next_offset(offset: int, entry: bytes) -> int:
    """Return the offset after an entry: of a batch by its last offset, of a message by its own."""
    return offset + _number(entry, "lastOffsetDelta", 4) + 1 if is_batch(entry) else offset + 1


def first_entry(data: bytes) -> bytes:
    """Return the bytes of the first entry, without the bytes after it; all bytes if it is cut."""
    return next((entry for _, entry in entries_of(data)), data)


def magic_of(data: bytes, revision: str) -> int:
    """Return the magic that decides the version of the request: of the revision, or of the first entry."""
    if revision in MAGICS:
        return MAGICS[revision]
    return data[MAGIC_AT] if len(data) > MAGIC_AT else V2


def producer_of(data: bytes) -> int:
    """Return the producer id of the first batch; -1 if there is none."""
    return _number(data, "producerId", 8) if is_batch(data) else NO_PRODUCER


def is_batch(data: bytes) -> bool:
    """Return True for an entry of v2 with a whole header."""
    return len(data) >= 61 and data[MAGIC_AT] == V2


def is_idempotent(data: bytes) -> bool:
    """Return True if the first batch has a producer id, an epoch and a sequence: KIP-98."""
    sizes = {"producerId": 8, "producerEpoch": 2, "baseSequence": 4}
    return is_batch(data) and all(_number(data, name, size) >= 0 for name, size in sizes.items())


def _number(data: bytes, field: str, size: int) -> int:
    at = BATCH.offset(field)
    return int.from_bytes(data[at : at + size], signed=True)


BOUND_MS: Final = 1_000
"""Most milliseconds to wait for a high watermark that includes an acknowledged append."""


def read_log(cluster: Cluster, partition: Partition, since: int, magic: int, beyond: int) -> FetchAnswer:
    """Fetch the log from `since` up to a high watermark that is more than `beyond`.

    A response may end before its high watermark: the broker reads one after the other.
    """
    entries: list[tuple[int, bytes]] = []
    highest = -1
    for _ in tries(BOUND_MS / 1000):
        following = max(since, *(next_offset(*entry) for entry in entries)) if entries else since
        found = fetch(cluster, partition, following, magic)
        highest = max(highest, found.high_watermark)
        known = entries[-1][0] if entries else -1
        entries += [entry for entry in entries_of(found.data) if entry[0] > known]
        reached = max((next_offset(*entry) for entry in entries), default=since)
        if found.code or reached >= found.high_watermark > beyond:
            break
    rest = found.data[sum(len(data) for _, data in entries_of(found.data)) :]
    return evolve(found, data=b"".join(data for _, data in entries) + rest, highest=highest)


class ProducerIds:
    """The producer ids of one case, each way: the broker gives others than those in the bytes of a fixture.

    A batch of a fixture has the id that `init-producer` names. On the wire the broker's own id takes its
    place, and the checksum is computed again; in answers it is replaced back. Nothing else of a batch is
    touched.
    """

    def __init__(self) -> None:
        self._of_broker: dict[int, int] = {}

    def learn(self, own: int, of_broker: int) -> None:
        """Note the id that the broker gave for one of the case."""
        self._of_broker[own] = of_broker

    def on_wire(self, own: int) -> int:
        """Return the broker's id; an id that it did not give is sent as it is."""
        return self._of_broker.get(own, own)

    def in_case(self, of_broker: int) -> int:
        """Return the id in the case of an id of the broker: the latest of several."""
        found = [own for own, other in self._of_broker.items() if other == of_broker]
        return found[-1] if found else of_broker

    def in_bytes(self, data: bytes) -> bytes:
        """Return batches with the broker's ids; bytes that are no whole batch stay as they are."""
        entries = [entry for _, entry in entries_of(data)]
        rest = data[sum(map(len, entries)) :]
        return b"".join(map(self._replaced, entries)) + rest

    @staticmethod
    def named_in(data: bytes) -> frozenset[int]:
        """Return the producer ids of the batches in some bytes."""
        return frozenset(producer_of(entry) for _, entry in entries_of(data) if is_batch(entry))

    def _replaced(self, entry: bytes) -> bytes:
        number = self._of_broker.get(producer_of(entry)) if is_batch(entry) else None
        if number is None:
            return entry
        changed = bytearray(entry)
        crc_at, checked_from = BATCH.offset("crc"), BATCH.offset("attributes")
        pack_into(">q", changed, BATCH.offset("producerId"), number)
        (crc,) = unpack_from(">I", entry, crc_at)
        fault = crc ^ crc32c(entry[checked_from:])  # a wrong checksum stays as wrong as it was
        pack_into(">I", changed, crc_at, crc32c(bytes(changed[checked_from:])) ^ fault)
        return bytes(changed)
