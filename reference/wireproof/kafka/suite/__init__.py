"""The family `kafka`: entries and logs of Apache Kafka."""

from functools import partial
from typing import Final

from wireproof.family import Family, Format, Redaction, deferred
from wireproof.kafka import entry, layouts, log, scan
from wireproof.kafka.remark_classes import KAFKA_REMARKS
from wireproof.kafka.suite import streams
from wireproof.kafka.suite.streams import DERIVED_FIELDS, FILE_NAMES, MARKS, STREAMS
from wireproof.kafka.values import Log, Message, RecordBatch
from wireproof.schema.layout import Layout

_CODECS: Final = ("codec:none", "codec:gzip", "codec:snappy", "codec:lz4")

_MESSAGE: Final = (*_CODECS, "feature:wrapper")

_V1: Final = (*_MESSAGE, "feature:log-append-time")

_V2: Final = (
    *_CODECS,
    "codec:zstd",
    "feature:control-batch",
    "feature:delete-horizon",
    "feature:empty-batch",
    "feature:headers",
    "feature:idempotent",
    "feature:log-append-time",
    "feature:transactional",
)

_LOG: Final = (
    *_V2,
    "feature:append",
    "feature:append-legacy",
    "feature:topic-settings",
    "feature:compaction",
    "feature:delete-records",
    "feature:down-conversion",
    "feature:fetch-session",
    "feature:producer-expiry",
    "feature:producer-ids",
    "feature:fetch-offset",
    "feature:list-earliest-local",
    "feature:list-latest-tiered",
    "feature:list-max-timestamp",
    "feature:max-message",
    "feature:segment-file",
    "feature:mixed-magic",
    "feature:partial-tail",
    "feature:read-committed",
    "feature:restart",
    "feature:transactional-id-expiry",
    "feature:transactions",
    "feature:transactions-v2",
    "feature:wrapper",
)


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
    _batch("v2", 2, RecordBatch, _V2, layouts.BATCH),
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
