"""The source `iggy_log` for Spark: split points and revisions of segments."""

from typing import Final

from wireproof import formats
from wireproof.iggy import log
from wireproof.iggy.family import spark_columns
from wireproof.iggy.family.index_files import log_format
from wireproof.spark.objects import ObjectReader
from wireproof.spark.sources import SourceKind
from wireproof.spark.split_points import StreamFraming, Stride, scan_record_by_record
from wireproof.wire.options import Options


def _stride(layout: log.LogRevision) -> Stride:
    """Return the stride of a revision, whose records have two lengths: iggy.md §7."""

    def stride(stored: ObjectReader, position: int, _: Options) -> int:
        size, known = 1, False
        while not known and position + size <= stored.size:
            data, at = stored.at(position, size)
            size, known = layout.record.extent(data, at)
        return size if known and position + size <= stored.size else 0

    return stride


IGGY: Final = {
    revision: StreamFraming(formats.get("iggy.log", revision), _stride(layout), items=scan_record_by_record)
    for revision, layout in log.REVISIONS.items()
}
"""The rules by revision."""


def _revision(head: bytes) -> str | None:
    fmt = log_format(head)
    return None if fmt is None else fmt.revision


LOG: Final = SourceKind(
    "wireproof.iggy_log",
    IGGY,
    spark_columns.FRAMES,
    spark_columns.RECORDS,
    (".log",),
    revision_of=_revision,
)
