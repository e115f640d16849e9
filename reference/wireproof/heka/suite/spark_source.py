"""The source `heka_stream` for Spark: its tables, split points, and options."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import attrgetter
from struct import unpack
from typing import Any, Final

import pyarrow as pa
from attrs import evolve

from wireproof import formats
from wireproof.formats import Format
from wireproof.heka.message import HEKA_FIELD, HEKA_MESSAGE, DynamicField
from wireproof.heka.scan import RESYNC_MODES, Scanner, read_head
from wireproof.heka.stream import FRAME_OVERHEAD, HEKA_HEADER, RECORD_SEPARATOR, HekaFrame
from wireproof.schema.layout import ProtoField, proto_fields
from wireproof.spark.item_cases import ItemCase, case_of_bytes
from wireproof.spark.logs.columns import (
    RAW,
    SHARED,
    RowData,
    SourceColumn,
    SourceTable,
    decode_text,
    read_part,
)
from wireproof.spark.logs.objects import ObjectReader, PieceReader
from wireproof.spark.logs.sources import SourceKind
from wireproof.spark.logs.split_points import SplitPoint, StreamFraming
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

# --- columns ---

TYPES: Final[dict[str, pa.DataType]] = {
    "bool": pa.bool_(),
    "bytes": pa.binary(),
    "double": pa.float64(),
    "enum": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "string": pa.string(),
    "uint32": pa.int64(),
}
"""The type of the column of a field, by its type in protobuf."""

_DECODED: Final[dict[str, Callable[[bytes], Any]]] = {
    "double": lambda data: unpack(">d", data)[0],
    "string": decode_text,
}
"""The functions that convert what a value of the reference has as bytes."""


def _value(part: ProtoField, value: Any) -> Any:  # noqa: ANN401 - of any type
    """Return what a column has for the value of a field."""
    decoded = _DECODED.get(str(part.of))
    if value is None or decoded is None:
        return list(value) if part.repeated else value
    return [decoded(one) for one in value] if part.repeated else decoded(value)


def _column(part: ProtoField, of: Callable[[RowData], object]) -> SourceColumn:
    return SourceColumn(
        part.name, TYPES[str(part.of)], read_part(lambda value: _value(part, getattr(value, part.name)), of)
    )


_frame = attrgetter("item.value")
_message = attrgetter("record")

FRAMES: Final = SourceTable(
    (
        *SHARED,
        SourceColumn("revision", pa.string(), lambda row: row.revision),
        *(
            _column(part, read_part(lambda frame: frame.header, _frame))
            for part in proto_fields(HEKA_HEADER)
            if not part.deprecated and part.name != "hmac"
        ),
        SourceColumn("signer", pa.string(), read_part(lambda frame: decode_text(frame.signer), _frame)),
        RAW,
    ),
)
"""One row for each frame or run of bytes that is none; `signer` is the verified signer, if keys are given."""


def _rows(row: RowData) -> Iterable[RowData]:
    """Return the row of the one message that a frame holds."""
    frame: HekaFrame | None = row.item.value
    return (row if frame is None else evolve(row, index=0, record=frame.message),)


FIELDS: Final = pa.list_(
    pa.struct(
        [
            (part.name, pa.list_(kind) if part.repeated else kind)
            for part in proto_fields(HEKA_FIELD)
            for kind in (TYPES[str(part.of)],)
        ]
    )
)


def _field(field: DynamicField) -> dict[str, Any]:
    row = {part.name: _value(part, getattr(field, part.name)) for part in proto_fields(HEKA_FIELD)}
    return row | {"value_type": field.value_type or "STRING"}


RECORDS: Final = SourceTable(
    (
        *SHARED,
        *(_column(part, _message) for part in proto_fields(HEKA_MESSAGE) if not part.repeated),
        SourceColumn(
            "fields", FIELDS, read_part(lambda message: [_field(field) for field in message.fields], _message)
        ),
        SourceColumn("signer", pa.string(), read_part(lambda frame: decode_text(frame.signer), _frame)),
    ),
    _rows,
)
"""One row for each message; `timestamp` is in nanoseconds; a field without type is STRING: section 1."""

# --- the source ---


def _recover_by_scanner(_: Format, pieces: PieceReader, options: Options) -> Iterator[SplitPoint]:
    """Yield split points.

    The scan carries more than the position, but nothing more after most frames: heka/scan.py.
    """
    scanner = Scanner(options)
    scanner.base = pieces.position
    for piece in pieces:
        for _item in scanner.feed(piece):
            if scanner.clean:
                yield SplitPoint(scanner.here, settled=True)
    yield SplitPoint(pieces.position, settled=False)


def _stride(stored: ObjectReader, position: int, options: Options) -> int:
    """Follow a frame: a valid header, all of the message, and a separator after it. heka.md §2.1.

    An error inside such a frame does not move its end. If something else than a separator follows, the scan
    may look for frames inside it; if the bytes end, the scan must know what will follow. With Go's framing a
    complete frame always counts, with C's framing an invalid one never does.
    """
    data, at = stored.at(position, FRAME_OVERHEAD + 256)
    if len(data) - at < 2 or data[at] != RECORD_SEPARATOR:
        return 0
    through = FRAME_OVERHEAD + data[at + 1]
    if len(data) - at < through:
        return 0
    total = _frame_size(data[at : at + through], options.resync, options.max_message)
    end = position + total
    if not total or end > stored.size:
        return 0
    if options.resync == "go":
        return total
    data, at = stored.at(end, 1)
    return total if data[at : at + 1] == bytes([RECORD_SEPARATOR]) else 0


@lru_cache(maxsize=1 << 16)
def _frame_size(header: bytes, resync: str, most: int | None) -> int:
    """Return the bytes of the frame that begins with `header`; 0 if its contents decide that.

    Unsigned headers hold only a length, so few of them differ and the cache nearly always hits.
    """
    framing = RESYNC_MODES[resync]
    found = read_head(header, framing, Options(max_message=most))
    if framing.on_rejection == "within" or isinstance(found, str):
        return 0
    size: int = len(header) + found[0].message_length
    return size


def _item_case(item: Item, data: bytes, options: Options) -> ItemCase:
    """Make a case of the message of a whole frame, because peers read messages and not frames."""
    if len(data) < 2 or data[0] != RECORD_SEPARATOR or len(data) <= FRAME_OVERHEAD + data[1]:
        return ItemCase(item, data, None)
    if item.kind == "garbage" and item.cls in {"bad-separator", "truncated", None}:
        return ItemCase(item, data, None)
    message = data[FRAME_OVERHEAD + data[1] :]
    return ItemCase(item, data, case_of_bytes(formats.get("heka.message", "0.10"), message, None, options))


HEKA: Final = StreamFraming(
    formats.get("heka.stream", "0.10"), _stride, _recover_by_scanner, item_case=_item_case
)

STREAM: Final = SourceKind(
    "wireproof.heka_stream",
    {HEKA.fmt.revision: HEKA},
    FRAMES,
    RECORDS,
    facts={
        "timestamp_number": SourceColumn(
            "timestamp_number", pa.int64(), read_part(lambda frame: frame.message.timestamp, _frame)
        ),
        "records": SourceColumn("records", pa.int64(), read_part(lambda _: 1, _frame)),
    },
    timestamp_scale=(1, 1000),
)
