"""The source `tally_stream` for Spark: its split points, and the tables of entries and of amounts."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

import pyarrow as pa
from attrs import evolve
from tally import ENTRY, HEAD, LENGTH_AT, SYNC, Amount, Entry

from wireproof import formats
from wireproof.spark.columns import RAW, SHARED, RowData, SourceColumn, SourceTable, item_row, read_part
from wireproof.spark.objects import ObjectReader
from wireproof.spark.sources import SourceKind
from wireproof.spark.split_points import StreamFraming
from wireproof.wire.options import Options


def _stride(stored: ObjectReader, position: int, _: Options) -> int:
    """Return the size of the entry at a position; 0 if none begins there."""
    data, at = stored.at(position, ENTRY.fixed_size)
    if len(data) - at < ENTRY.fixed_size:
        return 0
    sync, _, length, _ = HEAD.peek(data, at)
    total = LENGTH_AT + 2 + length
    return total if sync == SYNC and position + total <= stored.size else 0


def _entry(row: RowData) -> Entry | None:
    found: Entry | None = row.item.value
    return found


def _amount(row: RowData) -> Amount | None:
    found: Amount | None = row.record
    return found


def _rows(row: RowData) -> Iterable[RowData]:
    entry = _entry(row)
    if entry is None:
        return (row,)
    return [evolve(row, index=number, record=one) for number, one in enumerate(entry.amounts)]


FLAGS: Final = SourceColumn("flags", pa.int32(), read_part(attrgetter("flags"), _entry))
NAME: Final = SourceColumn("name", pa.binary(), read_part(attrgetter("name"), _amount))
AMOUNT: Final = SourceColumn("amount", pa.int32(), read_part(attrgetter("amount"), _amount))

STREAM: Final = SourceKind(
    "wireproof.tally_stream",
    {"1": StreamFraming(formats.get("tally.stream", "1"), _stride)},
    SourceTable((*SHARED, FLAGS, RAW), item_row),
    SourceTable((*SHARED, NAME, AMOUNT), _rows),
)
