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

if TYPE_CHECKING:
    from wireproof.cases.case import Op
    from wireproof.wire.json_values import Json

LEGACY: Final = (0, 1)
"""The magics before that of the record batch."""

WINDOW: Final = 16
"""Cases in flight."""

LISTED_SINCE: Final = {"list-max-timestamp": 7, "list-earliest-local": 8, "list-latest-tiered": 9}
"""The version of ListOffsets from which on it has the numbers -3, -4 and -5: KIP-734, KIP-405, KIP-1005."""

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


def legacy_magics(cluster: Cluster, partitions: Partitions) -> tuple[int, ...]:
    """Return the magics of old entries that the broker takes and returns."""
    return tuple(magic for magic in LEGACY if _takes(cluster, partitions, magic))


def _takes(cluster: Cluster, partitions: Partitions, magic: int) -> bool:
    """Return True if the broker takes and returns a message of v0 or v1.

    The versions that it offers do not tell: Kafka 4 offers Produce 0 to 2 and refuses them (KAFKA-18659).
    """
    least_fetch, least_produce = (cluster.versions[api][0] for api in (requests.FETCH, requests.PRODUCE))
    if least_fetch > requests.LEGACY_FETCH[magic] or least_produce > requests.LEGACY_PRODUCE[magic]:
        return False
    message: dict[str, Json] = {"magic": str(magic), "offset": "0", "attributes": "0", "messages": None}
    message |= {"timestamp": "1700000000000" if magic else "-1", "key": "6b", "value": "76"}
    data = formats.encode(formats.get("kafka.batch", f"v{magic}"), message)
    try:
        with partitions.lent({}, magic, -1) as partition:
            answer = requests.produce(cluster, partition, data, magic)
            found = requests.fetch(cluster, partition, 0, magic)
            partition.end = max(found.high_watermark, 0)
    except errors.KafkaError:
        return False
    return answer.code == 0 and found.code == 0 and partition.end == 1


def hello_of_broker(
    cluster: Cluster, properties: ClientProperties, legacy: tuple[int, ...], name: str
) -> Hello:
    """Return the claims about a broker that takes old entries of the magics in `legacy`.

    `name` is the beginning of the transactional ids of the run.
    """
    has_zstd = all(
        min(cluster.versions[api][1], requests.wished_version(cluster, api)) >= since
        for api, since in ((requests.PRODUCE, 7), (requests.FETCH, 10))  # KIP-110
    )
    codecs = ("none", "gzip", "snappy", "lz4", *(("zstd",) if has_zstd else ()))
    transactions, note = step_requests.transaction_version(cluster), ""
    try:
        if transactions:
            step_requests.coordinator(cluster, name)
    except AnsweredError as error:
        transactions, shown = 0, errors.for_code(error.code).message
        note = f"transactions are not asked for: FindCoordinator answers {shown} for {name}"
    except errors.KafkaError:  # an answer that says nothing of a coordinator is left to the cases
        pass
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


def _of_requests(cluster: Cluster, transactions: int) -> tuple[str, ...]:
    """Return the features that need a request which not every broker has."""
    fetch = cluster.versions[requests.FETCH]
    _, list_offsets = cluster.versions.get(ListOffsetsRequest.API_KEY, (0, 0))
    rows = (
        ("compaction", CreateTopicsRequest.API_KEY in cluster.versions),
        ("delete-records", DeleteRecordsRequest.API_KEY in cluster.versions),
        ("down-conversion", fetch[0] == 0),  # it converts for all old consumers
        *((f"{what}-expiry", step_requests.can_be_awaited(cluster, what)) for what in step_requests.SETTINGS),
        *((name, list_offsets >= version) for name, version in LISTED_SINCE.items()),
        ("fetch-session", fetch[1] >= 7),  # KIP-227
        ("topic-settings", CreateTopicsRequest.API_KEY in cluster.versions),
        ("producer-ids", InitProducerIdRequest.API_KEY in cluster.versions),
        ("transactions", transactions >= 1),
        ("transactions-v2", transactions >= step_requests.V2),
    )
    return tuple(name for name, known in rows if known)
