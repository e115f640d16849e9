"""The source `kafka_log` for Spark."""

from typing import Final

from wireproof.kafka.family import spark_columns
from wireproof.kafka.family.index_files import begins_like_entries
from wireproof.kafka.family.spark_framing import KAFKA
from wireproof.kafka.size_and_magic import LOG_OVERHEAD
from wireproof.spark.sources import SourceKind


def _revision(head: bytes) -> str | None:
    return KAFKA.fmt.revision if begins_like_entries(head) else None


MAX_MESSAGE_BYTES: Final = 1024 * 1024 + LOG_OVERHEAD
"""Kafka's default of `max.message.bytes`, which limits whole batches: kafka/server/config, 1048588."""


LOG: Final = SourceKind(
    "wireproof.kafka_log",
    {KAFKA.fmt.revision: KAFKA},
    spark_columns.FRAMES,
    spark_columns.RECORDS,
    (".log",),
    revision_of=_revision,
    index_files=True,
    stream_max_message=MAX_MESSAGE_BYTES,
)
