"""The family `kafka`: entries and logs of Apache Kafka."""

from functools import partial
from typing import Final

from wireproof.family import Family, Format, Redaction, deferred
from wireproof.kafka import batch, entry, layouts, log, scan
from wireproof.kafka.remark_classes import KAFKA_REMARKS
from wireproof.kafka.suite import streams
from wireproof.kafka.suite.streams import DERIVED_FIELDS, FILE_NAMES, MARKS, STREAMS
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.schema.layout import Layout

_CODECS: Final = ("codec:none", "codec:gzip", "codec:snappy", "codec:lz4")


def _features(*names: str) -> tuple[str, ...]:
    return tuple(f"feature:{name}" for name in names)


_MESSAGE: Final = (*_CODECS, *_features("wrapper"))

_V1: Final = (*_MESSAGE, *_features("log-append-time"))

_V2: Final = (
    *_CODECS,
    "codec:zstd",
    *_features(
        "control-batch", "delete-horizon", "empty-batch", "headers", "idempotent", "log-append-time",
        "transactional",
    ),
)  # fmt: skip

_LOG: Final = (
    *_V2,
    *_features(
        "append", "append-legacy", "topic-settings", "compaction", "delete-records", "down-conversion",
        "fetch-session", "producer-expiry", "producer-ids", "fetch-offset", "list-earliest-local",
        "list-latest-tiered", "list-max-timestamp", "max-message", "segment-file", "mixed-magic",
        "partial-tail", "read-committed", "restart", "transactional-id-expiry", "transactions",
        "transactions-v2", "wrapper",
    ),
)  # fmt: skip


def _batch(revision: str, magic: int, value: type, capabilities: tuple[str, ...], layout: Layout) -> Format:
    return Format(
        "kafka.batch",
        revision,
        value,
        decode=partial(entry.decode, magic=magic),
        encode=partial(entry.encode, magic=magic),
        wrapped_by=("kafka.log", "mixed", "batches"),
        delimited=True,
        capabilities=capabilities,
        layout=layout,
    )


_FORMATS: Final = (
    _batch("v0", 0, Message, _MESSAGE, layouts.MESSAGE_V0),
    _batch("v1", 1, Message, _V1, layouts.MESSAGE_V1),
    _batch("v2", 2, RecordBatch, _V2, batch.BATCH),
    Format(
        "kafka.log",
        "mixed",
        Log,
        log.decode,
        log.encode,
        scan=scan.scan,
        capabilities=_LOG,
        layout=layouts.LOG,
    ),
)

FAMILY: Final = Family(
    "kafka",
    _FORMATS,
    remarks=KAFKA_REMARKS,
    marks=MARKS,
    file_names=FILE_NAMES,
    streams=STREAMS,
    derived_fields=DERIVED_FIELDS,
    listings={"kafka.log": "wireproof.kafka.suite.listing:LISTING"},
    capabilities=streams.of_bytes,
    value_capabilities=streams.of_value,
    strategies="wireproof.kafka.suite.strategies:VALUES",
    option_strategies="wireproof.kafka.suite.strategies:OPTIONS",
    sources={"kafka_log": "wireproof.kafka.suite.spark_source:LOG"},
    mutation="wireproof.kafka.suite.mutation:RULES",
    fast_decoders="wireproof.kafka.columnar.decoders:FAST_DECODERS",
    generators="wireproof.kafka.suite.generators:GENERATORS",
    servers={
        "kafka-broker": "wireproof.live.kafka_broker:entry_of_broker",
        "kafka-client": "wireproof.live.kafka_client:entry_of_client",
    },
    trial_servers={"broker": "wireproof.live.loopback_broker.faults:BROKER"},
    client_templates="wireproof.kafka.suite.client_templates:TEMPLATES",
    index_files="wireproof.kafka.suite.index_files:RULES",
    directories="wireproof.kafka.suite.data_directory:RULES",
    message_sets="wireproof.kafka.suite.producer_messages:MESSAGE_SETS",
    step_ops="wireproof.kafka.suite.steps:STEP_OPS",
    step_words="wireproof.kafka.suite.steps:words_of_batch",
    dictionary=deferred("wireproof.kafka.suite.mutation:words"),
    # names, and the data of a control batch; at the beginning, offset to magic: kafka.md §1.1
    redaction=Redaction(
        (".headers[].key", "xerial.magic", ".directoryId", ".tagged", ".host", ".name"), kept_head_bytes=17
    ),
)
