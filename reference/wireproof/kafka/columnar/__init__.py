"""The fast decoder of Kafka entries: whole buffers to arrays and Arrow columns.

    frames = columnar.scan(buffer)            # an item for every byte: arrays, one row for each item
    columnar.read_header_columns(buffer, frames)  # the same as a pyarrow.RecordBatch with header fields
    for batch in columnar.records(buffer):    # pyarrow.RecordBatch, one row for each record
        ...

`buffer` is any contiguous bytes: `bytes`, or `memoryview(mmap)`. To scan a part of a file, pass
`view[start:end]`; positions then count from `start`. All functions take `Options` and respect `max_output`,
`max_message` and `profile` like the reference's scan. None of them raises, whatever the bytes are.

The kernels answer only for entries that they find valid and without remarks. They hand every other entry to
the reference (`wireproof.kafka`), one at a time. So the result is always that of the reference; only the time
differs. `KafkaFrames.by_reference` marks the entries that the reference decoded; `reference_share` is their
part of all entries.

Memory: a scan needs about 30 bytes for each item. Records are returned in blocks of 4 MiB of entries or 2
MiB of decompressed bytes, unless one entry alone is larger. Without numba and pyarrow the import fails with
one line that names the extra.
"""

from typing import TYPE_CHECKING, Any, Final

from wireproof.columnar.basic_kernels import FRAME, GARBAGE, KINDS, TAIL
from wireproof.family import object_at
from wireproof.kafka.columnar.entry_scan import KafkaFrames, scan

if TYPE_CHECKING:
    from wireproof.kafka.columnar.columns import (
        HEADER_COLUMNS,
        RECORD_COLUMNS,
        clean_records,
        read_header_columns,
        records,
    )

__all__ = [
    "FRAME",
    "GARBAGE",
    "HEADER_COLUMNS",
    "KINDS",
    "RECORD_COLUMNS",
    "TAIL",
    "KafkaFrames",
    "clean_records",
    "read_header_columns",
    "records",
    "scan",
]

_OF_ARROW: Final = {
    "HEADER_COLUMNS": "columns",
    "read_header_columns": "columns",
    "RECORD_COLUMNS": "columns",
    "clean_records": "columns",
    "records": "columns",
}
"""The modules that import pyarrow, by the names that are taken from them when they are first used."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any of the names
    """Return a name of a module that needs pyarrow, which a scan does not."""
    if name not in _OF_ARROW:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return object_at(f"{__name__}.{_OF_ARROW[name]}:{name}")
