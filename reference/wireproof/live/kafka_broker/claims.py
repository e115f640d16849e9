"""What a broker is asked: decided by the versions that it accepts, and by a probe for v0 and v1."""

from typing import TYPE_CHECKING, Final

from kafka import errors
from kafka.protocol.admin import CreateTopicsRequest, DeleteRecordsRequest
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.producer import InitProducerIdRequest

from wireproof import formats
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.steps import SEQUENCE
from wireproof.formats import FORMATS
from wireproof.live.kafka_broker import requests, step_requests
from wireproof.live.kafka_broker.client_properties import ClientProperties
from wireproof.live.kafka_broker.cluster import Cluster
from wireproof.live.kafka_broker.step_requests import AnsweredError
from wireproof.live.kafka_broker.topics import Partitions
from wireproof.wire.json_values import Json

if TYPE_CHECKING:
    from wireproof.cases.case import Op

LEGACY: Final = (0, 1)
"""The magics before that of the record batch."""

WINDOW: Final = 16
"""Cases in flight."""

OLDEST_FETCH: Final = 0
"""The version of Fetch that a broker takes which converts for all old consumers."""

SESSION_FETCH: Final = 7
"""The version of Fetch from which on there are sessions: KIP-227."""

LISTED_SINCE: Final = {"list-max-timestamp": 7, "list-earliest-local": 8, "list-latest-tiered": 9}
"""The version of ListOffsets from which on it has the numbers -3, -4 and -5: KIP-734, KIP-405, KIP-1005."""

LIST_OFFSETS: Final = ListOffsetsRequest.API_KEY

ZSTD_PRODUCE: Final = 7
ZSTD_FETCH: Final = 10
"""The versions of Produce and Fetch from which on zstd is allowed: KIP-110."""

V2_FIELDS: Final = (
    "magic",
    "lastOffsetDelta",
    "producerId",
    "producerEpoch",
    "baseSequence",
    "records[].key",
    "records[].value",
    "records[].headers",
)
"""The fields that no broker changes, whatever the configuration of the topic."""

MESSAGE_FIELDS: Final = ("value", "messages[].key", "messages[].value")
"""The same for v0 and v1: the key of a wrapper, which nobody reads, is lost."""

FEATURES: Final = (
    "append",
    "delete-horizon",
    "empty-batch",
    "headers",
    "idempotent",
    "log-append-time",
    "control-batch",
    "partial-tail",
)
LEGACY_FEATURES: Final = ("wrapper", "mixed-magic", "append-legacy")

NO_TIME: Final = "-1"
"""The timestamp of a message of v0, which has none."""

_PROBE: Final[dict[str, Json]] = {
    "magic": "",
    "offset": "0",
    "attributes": "0",
    "timestamp": "1700000000000",
    "key": "6b",
    "value": "76",
    "messages": None,
}
"""A message that every broker takes that takes messages of its version at all."""


def legacy_magics(cluster: Cluster, partitions: Partitions) -> tuple[int, ...]:
    """Return the magics of old entries that the broker takes and returns."""
    return tuple(magic for magic in LEGACY if _takes(cluster, partitions, magic))


def hello_of_broker(
    cluster: Cluster, properties: ClientProperties, legacy: tuple[int, ...], name: str
) -> Hello:
    """Return the claims about a broker that takes old entries of the magics in `legacy`.

    `name` is the beginning of the transactional ids of the run.
    """
    has_zstd = all(
        min(cluster.versions[api][1], requests.wished_version(cluster, api)) >= since
        for api, since in ((requests.PRODUCE, ZSTD_PRODUCE), (requests.FETCH, ZSTD_FETCH))
    )
    codecs = ("none", "gzip", "snappy", "lz4", *(("zstd",) if has_zstd else ()))
    transactions, note = _transactions(cluster, name)
    features = FEATURES + (LEGACY_FEATURES if legacy else ()) + _of_requests(cluster, transactions)
    features += ("restart",) if properties.restart else ()
    none = {f"kafka.batch/v{magic}": Claim(()) for magic in LEGACY if magic not in legacy}
    observed: dict[str, tuple[str, ...]] = {f"kafka.batch/v{magic}": MESSAGE_FIELDS for magic in legacy}
    observed |= {"kafka.batch/v2": V2_FIELDS, "kafka.log/mixed": ("*",)}
    revisions = none | {name: _claim(name, codecs, features, fields) for name, fields in observed.items()}
    version = properties.version or cluster.release
    return Hello(properties.name, version, revisions, "exact", WINDOW, "slow", notes=(note,) if note else ())


def _claim(
    format_id: str, codecs: tuple[str, ...], features: tuple[str, ...], observes: tuple[str, ...]
) -> Claim:
    known = FORMATS[format_id].capabilities
    sequences: tuple[Op, ...] = (SEQUENCE,) if format_id == "kafka.log/mixed" else ()
    return Claim(
        ("decode", *sequences),
        tuple(name for name in codecs if name == "none" or f"codec:{name}" in known),
        ("produce",),
        observes,
        tuple(name for name in features if f"feature:{name}" in known),
    )


def _transactions(cluster: Cluster, name: str) -> tuple[int, str]:
    """Return the version of transactions to ask for, and a line if it is 0 for want of a coordinator.

    An answer that says nothing of a coordinator is left to the cases.
    """
    version = step_requests.transaction_version(cluster)
    try:
        if version:
            step_requests.coordinator(cluster, name)
    except AnsweredError as error:
        shown = errors.for_code(error.code).message
        return 0, f"transactions are not asked for: FindCoordinator answers {shown} for {name}"
    except errors.KafkaError:
        return version, ""
    return version, ""


def _of_requests(cluster: Cluster, transactions: int) -> tuple[str, ...]:
    """Return the features that need a request which not every broker has."""
    rows = (
        ("compaction", CreateTopicsRequest.API_KEY in cluster.versions),
        ("delete-records", DeleteRecordsRequest.API_KEY in cluster.versions),
        ("down-conversion", cluster.versions[requests.FETCH][0] == OLDEST_FETCH),
        *((f"{what}-expiry", step_requests.can_be_awaited(cluster, what)) for what in step_requests.SETTINGS),
        *(
            (name, cluster.versions.get(LIST_OFFSETS, (0, 0))[1] >= version)
            for name, version in LISTED_SINCE.items()
        ),
        ("fetch-session", cluster.versions[requests.FETCH][1] >= SESSION_FETCH),
        ("topic-settings", CreateTopicsRequest.API_KEY in cluster.versions),
        ("producer-ids", InitProducerIdRequest.API_KEY in cluster.versions),
        ("transactions", transactions >= 1),
        ("transactions-v2", transactions >= step_requests.V2),
    )
    return tuple(name for name, known in rows if known)


def _takes(cluster: Cluster, partitions: Partitions, magic: int) -> bool:
    """Return True if the broker takes and returns a message of v0 or v1.

    The versions that it offers do not tell: Kafka 4 offers Produce 0 to 2 and refuses them (KAFKA-18659).
    """
    least_fetch, least_produce = (cluster.versions[api][0] for api in (requests.FETCH, requests.PRODUCE))
    if least_fetch > requests.LEGACY_FETCH[magic] or least_produce > requests.LEGACY_PRODUCE[magic]:
        return False
    value: Json = {**_PROBE, "magic": str(magic), "timestamp": _PROBE["timestamp"] if magic else NO_TIME}
    data = formats.encode(formats.get("kafka.batch", f"v{magic}"), value)
    try:
        with partitions.lent({}, magic, -1) as partition:
            answer = requests.produce(cluster, partition, data, magic)
            found = requests.fetch(cluster, partition, 0, magic)
            partition.end = max(found.high_watermark, 0)
    except errors.KafkaError:
        return False
    return answer.code == 0 and found.code == 0 and partition.end == 1
