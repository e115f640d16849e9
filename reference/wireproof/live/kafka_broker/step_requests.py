"""The requests of steps, in the versions that their rules need, and the answers to them as values."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from kafka import errors
from kafka.errors import KafkaError
from kafka.protocol.admin import DescribeConfigsRequest
from kafka.protocol.consumer import FetchRequest
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
)

from wireproof.cases.outcome import BrokenRule
from wireproof.cases.steps import ERROR
from wireproof.kafka import control_types
from wireproof.kafka.attribute_bits import CONTROL, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.live.kafka_broker import requests
from wireproof.live.kafka_broker.append_case import (
    Frame,
    named_time,
    read_by_consumer,
    relative_entry,
    unreadable,
)
from wireproof.live.kafka_broker.cluster import Cluster
from wireproof.live.kafka_broker.connection import message
from wireproof.live.kafka_broker.error_codes import DENIED, RETRIED
from wireproof.live.kafka_broker.requests import (
    FetchLimits,
    ProducerIds,
    entries_of,
    next_offset,
)
from wireproof.live.kafka_broker.topics import Partition
from wireproof.wire.json_values import Json, to_json

IMPLICIT_PRODUCE: Final = 12
"""From this version of Produce on, a broker with transactions v2 adds the partition itself: KIP-890."""

BUMPING_END: Final = 5
"""From this version of EndTxn on, the end of a transaction begins a new epoch: KIP-890."""

ONE_TRANSACTION: Final = 3
"""The newest version of AddPartitionsToTxn for clients: from 4 on, brokers ask for several transactions."""

OLD_FETCH: Final = max(requests.LEGACY_FETCH.values())
"""The newest version of Fetch without batches: the answer has messages, and no last stable offset."""

WAITED_FOR: Final = RETRIED | {15, 16, 51}
"""Codes after which a client repeats its request: the coordinator is not ready, or still writes markers."""

TRANSACTION_MS: Final = 60_000
V2: Final = 2


class AnsweredError(Exception):
    """A request is answered with an error: `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(f"error {code}")
        self.code = code


def code_of(answer: Any) -> int:  # noqa: ANN401 - a response, or a part of it
    """Return the error code of an answer."""
    return int(answer.error_code)


def repeated(send: Callable[[], Any], code: Callable[[Any], int] = code_of) -> Any:  # noqa: ANN401 - a response
    """Send until the answer is about the request, and not about a broker that is busy."""
    return requests.repeated(send, code, WAITED_FOR, seconds=10.0)


def settled(send: Callable[[], Any], code: Callable[[Any], int] = code_of) -> Any:  # noqa: ANN401 - a response
    """Return the answer to a request that is repeated as above; raise `AnsweredError` for an error."""
    answer = repeated(send, code)
    if found := code(answer):
        raise AnsweredError(found)
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
    return V2 if found.get("transaction.version", 0) >= V2 else 1


def coordinator(cluster: Cluster, name: str) -> int:
    """Return the node that coordinates a transactional id; raise `AnsweredError`."""
    version, of_transactions = cluster.newest(FindCoordinatorRequest), 1

    def ask() -> Any:  # noqa: ANN401 - a part of a response
        if version >= 4:  # several keys: KIP-699
            request = FindCoordinatorRequest(key_type=of_transactions, coordinator_keys=[name])
            return requests.only(cluster.call(request, version).coordinators, "coordinators")
        return cluster.call(FindCoordinatorRequest(key=name, key_type=of_transactions), version)

    return int(settled(ask).node_id)


def init_producer(cluster: Cluster, name: str | None, known: tuple[int, int]) -> Any:  # noqa: ANN401 - a response
    """Ask for a producer id; `known` is the id and epoch to be raised, -1 without any: KIP-360.

    Raises:
        AnsweredError: the broker gives none.
    """
    version = cluster.newest(InitProducerIdRequest, 5)
    node = None if name is None else coordinator(cluster, name)
    request = InitProducerIdRequest(
        transactional_id=name,
        transaction_timeout_ms=TRANSACTION_MS,
        producer_id=known[0],
        producer_epoch=known[1],
    )
    return settled(lambda: cluster.call(request, version, node))


def produce_version(cluster: Cluster, name: str | None, version: int) -> int:
    """Return the version of Produce: one without implicit partitions for transactions of KIP-98."""
    explicit = name is not None and version < V2
    return cluster.newest(ProduceRequest, IMPLICIT_PRODUCE - 1 if explicit else None)


def fetch(
    cluster: Cluster, wanted: Sequence[tuple[Partition, int]], limits: FetchLimits, node: int | None = None
) -> Any:  # noqa: ANN401 - a response
    """Fetch from offsets of partitions of one topic, in their order."""
    newest = cluster.newest(FetchRequest, requests.VERSIONS[requests.FETCH][1])
    version = newest if limits.version is None else limits.version
    request = requests.fetch_request(cluster, wanted, limits)
    return cluster.call(request, version, wanted[0][0].node if node is None else node)


# --- answers as values of steps: numbers as texts, errors by name, batches in a few fields ---

UNREADABLE: Final = "unreadable"
"""The field of an answer with the rule that it breaks."""

ENDS: Final = {control_types.COMMIT: "commit", control_types.ABORT: "abort"}


def error(code: int) -> dict[str, Json]:
    """Return the answer for an error code, by its name in Kafka's protocol guide."""
    return {ERROR: str(getattr(errors.for_code(code), "message", "") or f"error {code}")}


def of_partition(reply: Any, ids: ProducerIds, append_times: Collection[int] | None = None) -> dict[str, Any]:  # noqa: ANN401 - a part of a response
    """Return the answer of a partition to a fetch; with append times, the time of each batch is shown."""
    if reply.error_code:
        return error(reply.error_code)
    aborted: list[Json] = [
        [str(ids.in_case(one.producer_id)), str(one.first_offset)] for one in reply.aborted_transactions or ()
    ]
    return {
        "highWatermark": str(reply.high_watermark),
        "lastStableOffset": str(reply.last_stable_offset),
        "logStartOffset": str(reply.log_start_offset),
        "aborted": sorted(aborted, key=str),
        **_batches(bytes(reply.records or b""), ids, append_times),
    }


def _batches(data: bytes, ids: ProducerIds, append_times: Collection[int] | None) -> dict[str, Json]:
    """Return the whole batches of fetched bytes; a response may end inside one."""
    entries = _entries(data)
    if isinstance(entries, dict):
        return entries
    rows: list[Json] = []
    for batch in (entry for entry in entries if isinstance(entry, RecordBatch)):
        row = entry_json(batch, ids)
        if append_times is not None:
            row["timestampType"] = "append" if batch.attributes & LOG_APPEND_TIME else "create"
            if not batch.attributes & CONTROL:  # the time of a marker is in no answer
                row["maxTimestamp"] = str(named_time(batch.max_timestamp, append_times))
        rows.append(row)
    return {"entries": rows}


def of_old_partition(reply: Any, append_times: Collection[int]) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return the answer of a partition to a Fetch before version 4, which has messages of v0 or v1."""
    if reply.error_code:
        return error(reply.error_code)
    entries = _entries(bytes(reply.records or b""))
    if not isinstance(entries, dict):  # a batch, which has no place there, is shown whole
        placed = Frame(0, 0, append_times)
        timeless = (relative_entry(one, placed) if isinstance(one, Message) else one for one in entries)
        entries = {"entries": list(map(to_json, timeless))}
    return {"highWatermark": str(reply.high_watermark), **entries}


def _entries(data: bytes) -> Sequence[LogEntry] | dict[str, Json]:
    """Return the whole entries of bytes, or the field of an answer that says why they are unreadable."""
    rows = list(entries_of(data))
    found, refused = read_by_consumer(b"".join(entry for _, entry in rows))
    if refused is not None:
        broken = unreadable(refused)
        return {UNREADABLE: {broken.rule: broken.text}}
    for before, (offset, _) in pairwise(rows):
        if offset < (end := next_offset(*before)):
            return {
                UNREADABLE: {
                    "kafka.fetch.readable": f"offset {offset} behind an entry that ends before {end}"
                }
            }
    return found.batches


def broken_in(answers: Sequence[Json]) -> Iterator[BrokenRule]:
    """Yield the rules that the answers to the steps of a case break, whatever the case is about."""
    for number, answer in enumerate(answers):
        assert isinstance(answer, dict)
        for part in (answer, *answer.get("partitions", ())):
            found: Any = part.get(UNREADABLE, {})
            yield from (BrokenRule(rule, f"step {number + 1}: {text}") for rule, text in found.items())


def last_offset(entry: Mapping[str, Any]) -> int:
    """Return the last offset of an entry of an answer, which a message has as its only one."""
    return int(entry.get("lastOffset", entry.get("offset", entry.get("baseOffset"))))


def count_records(entry: Mapping[str, Any]) -> int:
    """Return the number of records in an entry of an answer."""
    if "offset" in entry:
        return len(entry["messages"] or (entry,))
    return len(entry.get("records", ()))


def entry_json(batch: RecordBatch, ids: ProducerIds) -> dict[str, Json]:
    """Return a batch: its offsets, its producer, its kind, and the value of each record by its offset."""
    last = batch.base_offset + batch.last_offset_delta
    named: dict[str, Json] = {"baseOffset": str(batch.base_offset), "lastOffset": str(last)}
    if batch.producer_id != -1:
        named |= {
            "producerId": str(ids.in_case(batch.producer_id)),
            "producerEpoch": str(batch.producer_epoch),
            "baseSequence": str(batch.base_sequence),
        }
    if batch.attributes & DELETE_HORIZON:
        named["deleteHorizon"] = True
    elif batch.records and batch.records[0].offset != batch.base_offset:
        named["baseTimestamp"] = str(batch.base_timestamp)  # of the first record that cleaning left
    named["kind"] = "transaction" if batch.attributes & TRANSACTIONAL else "data"
    if batch.attributes & CONTROL:
        kinds = (ENDS.get(one.control.type, "control") for one in batch.records if one.control)
        named["kind"] = next(kinds, "control")
    if named["kind"] in ENDS.values():
        return named
    values = ((one.offset, one.value) for one in batch.records)
    return {**named, "records": {str(at): None if one is None else one.hex() for at, one in values}}


# --- how long a broker remembers idle producers and transactional ids, by its own settings ---

SETTINGS: Final[Mapping[str, tuple[str, str]]] = {
    "producer": ("producer.id.expiration.ms", "producer.id.expiration.check.interval.ms"),
    "transactional-id": (
        "transactional.id.expiration.ms",
        "transaction.remove.expired.transaction.cleanup.interval.ms",
    ),
}
"""What expires, with two settings of a broker: the age at which it does, and how often the broker looks."""

LONGEST_MS: Final = 20_000
"""The longest time that a case waits."""

SHORTEST_MS: Final = 1_000
"""The shortest age: a case must be able to send a few requests before it."""


class NotAskedError(Exception):
    """A case cannot be asked of this broker; the text is one line with the reason."""


def waiting_ms(cluster: Cluster, what: str) -> int:
    """Return the milliseconds after which every broker has forgotten what is idle; raise `NotAskedError`."""
    found = cluster.metadata()
    cluster.learn_node(found)
    return max((_of_broker(cluster, broker.node_id, what) for broker in found.brokers), default=0)


def can_be_awaited(cluster: Cluster, what: str) -> bool:
    """Return True if the brokers name settings after which something is forgotten soon.

    A `KeyError` is a broker without DescribeConfigs.
    """
    try:
        return waiting_ms(cluster, what) > 0
    except (NotAskedError, KeyError, KafkaError):
        return False


def _of_broker(cluster: Cluster, node: int, what: str) -> int:
    names = SETTINGS[what]
    asked = {"resource_type": 4, "resource_name": str(node), "configuration_keys": list(names)}
    request = message(DescribeConfigsRequest, resources=[asked])
    settings: dict[str, int] = {}
    for answer in cluster.call(request, cluster.newest(DescribeConfigsRequest), node).results:
        if code := answer.error_code:
            reason = "is not permitted" if code in DENIED else f"fails with error {code}"
            raise NotAskedError(f"describing the settings of broker {node} {reason}")
        settings |= {
            row.name: int(row.value) for row in answer.configs if re.fullmatch("[0-9]{1,18}", row.value or "")
        }
    if missing := [name for name in names if name not in settings]:
        raise NotAskedError(f"broker {node} does not name its setting {missing[0]}, which is long by default")
    age, interval = (settings[name] for name in names)
    waited = age + 2 * interval + 1_000  # a check may have begun when the age is reached
    if age < SHORTEST_MS or waited > LONGEST_MS:
        named = " and ".join(f"{name}={settings[name]}" for name in names)
        raise NotAskedError(f"{named} of broker {node} are too short or too long to be tested")
    return waited
