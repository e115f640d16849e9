"""The source `kafka_log` for Spark."""

from typing import Final

from wireproof.kafka.family import spark_columns
from wireproof.kafka.family.spark_framing import KAFKA
from wireproof.runner.iggy_index_files import begins_like_kafka
from wireproof.spark.source_kind import SourceKind


def _revision(head: bytes) -> str | None:
    return KAFKA.fmt.revision if begins_like_kafka(head) else None


LOG: Final = SourceKind(
    "wireproof.kafka_log",
    {KAFKA.fmt.revision: KAFKA},
    spark_columns.FRAMES,
    spark_columns.RECORDS,
    (".log",),
    revision_of=_revision,
    index_files=True,
)
