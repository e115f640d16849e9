"""The listing of Iggy's segments: a row for each record, and for each message in them. iggy.md §5 to §7."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import define

from wireproof.family import EntryListing, Format
from wireproof.iggy.headers import key_bytes
from wireproof.iggy.log import REVISIONS, first_offset, last_offset, timestamp
from wireproof.wire.json_values import Json
from wireproof.wire.scan_items import Item
from wireproof.wire.text import counted, instant, octets
from wireproof.wire.trace import FieldSpan

PER_SECOND: Final = 1_000_000
"""Timestamps are in microseconds: §5."""

COLUMNS: Final = (
    "firstOffset", "lastOffset", "messages", "timestamp", "payloadBytes", "headers", "id", "state",
    "partitionId", "producerId", "checksum",
)  # fmt: skip
"""The names of the cells; a cell that the revision does not have is null."""


def messages_of(record: Any) -> Sequence[Any]:  # noqa: ANN401 - a record of any revision
    """Return the messages of a batch, or the record itself if it is a message."""
    messages: Sequence[Any] = getattr(record, "messages", (record,))
    return messages


def _cells(item: Item, _: bytes) -> tuple[Any, ...]:
    record = item.value
    messages = messages_of(record)
    checksum = getattr(record, "batch_checksum", getattr(record, "checksum", None))
    producer = getattr(record, "producer", None)
    return (
        first_offset(record), last_offset(record), len(messages), timestamp(record),
        sum(len(one.payload) for one in messages),
        sum(len(one.headers) for one in messages if isinstance(one.headers, tuple)),
        getattr(record, "id", None), getattr(record, "state", None), getattr(record, "partition_id", None),
        None if producer is None else producer.producer_id, checksum,
    )  # fmt: skip


HEADING: Final = (
    f"{'offsets':>21} {'messages':>8} {'time':27} {'payload':>9} {'headers':>7} {'checksum':>18}  what"
)


def _line(cells: tuple[Any, ...]) -> str:
    first, last, count, time, payload, headers, identifier, state, partition, producer, checksum = cells
    what = [f"id {identifier:x}"] if identifier is not None else []
    what += [str(state)] if state not in (None, "available") else []
    what += [f"partition {partition}"] if partition is not None else []
    what += [f"producer {producer}"] if producer is not None else []
    shown, offsets = "-" if checksum is None else f"{checksum:x}", f"{first}..{last}"
    return (
        f"{offsets:>21} {count:>8} {instant(time, PER_SECOND, 6):27} {payload:>9} {headers:>7} "
        f"{shown:>18}  {', '.join(what)}"
    )


RECORD_COLUMNS: Final = ("offset", "timestamp", "originTimestamp", "id", "headers", "payload")


def _records(item: Item) -> Iterator[tuple[Any, ...]]:
    batch_time = timestamp(item.value)
    for one in messages_of(item.value):
        headers = (
            tuple((key_bytes(key), value.kind, value.value) for key, value in one.headers)
            if isinstance(one.headers, tuple)
            else one.headers
        )
        time = getattr(one, "timestamp", batch_time)
        yield one.offset, time, getattr(one, "origin_timestamp", None), one.id, headers, one.payload


def _record_line(cells: tuple[Any, ...]) -> str:
    offset, time, origin, identifier, headers, payload = cells
    parts = [f"offset {offset}", instant(time, PER_SECOND, 6)]
    if origin is not None:
        parts.append(f"origin {instant(origin, PER_SECOND, 6)}")
    parts += [f"id {identifier:x}", f"payload {octets(payload)}"]
    if isinstance(headers, bytes):
        parts.append(f"headers (no map of keys and values) {octets(headers)}")
    elif headers:
        parts.append(
            "headers " + ", ".join(f"{octets(key)}: {kind} {octets(data)}" for key, kind, data in headers)
        )
    return "  ".join(parts)


@define
class SegmentTotals:
    """The counts of a segment."""

    records: int = 0
    messages: int = 0
    payload: int = 0
    offsets: tuple[int, int] | None = None
    times: tuple[int, int] | None = None

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add the next records."""
        for cells in rows:
            first, last, count, time, payload, *_ = cells
            self.records += 1
            self.messages += count
            self.payload += payload
            begin, end = self.offsets or (first, last)
            self.offsets = begin, max(last, end)
            low, high = self.times or (time, time)
            self.times = min(low, time), max(high, time)

    def json(self) -> dict[str, Json]:
        """Return the counts, each under its name."""
        offsets, times = self.offsets or (None, None), self.times or (None, None)
        return {
            "records": self.records,
            "messages": self.messages,
            "payloadBytes": self.payload,
            "firstOffset": offsets[0],
            "lastOffset": offsets[1],
            "firstTimestamp": times[0],
            "lastTimestamp": times[1],
        }

    def lines(self) -> Iterator[str]:
        """Yield the counts as lines."""
        if self.offsets is None or self.times is None:
            return
        messages = counted(self.messages, "message", grouped=False)
        records = counted(self.records, "record", grouped=False)
        yield f"{messages} in {records}, {counted(self.payload, 'byte', grouped=False)} of payload"
        yield f"offsets {self.offsets[0]} to {self.offsets[1]}, next {self.offsets[1] + 1}"
        yield f"times {' to '.join(instant(one, PER_SECOND, 6) for one in self.times)}"


def _notes(spans: Sequence[FieldSpan]) -> Mapping[str, str]:
    """Return the timestamps as dates; deltas of a batch are added to its base."""
    values = {span.path: span.value for span in spans if isinstance(span.value, int)}
    notes = {}
    for path, value in values.items():
        head, _, name = path.rpartition(".")
        batch = head.rpartition("messages[")[0]
        if name.endswith("timestamp") and value:
            notes[path] = instant(value, PER_SECOND, 6)
        elif name == "offset_delta" and f"{batch}base_offset" in values:
            notes[path] = f"offset {values[f'{batch}base_offset'] + value}"
        elif name == "timestamp_delta" and f"{batch}origin_timestamp" in values:
            notes[path] = instant(values[f"{batch}origin_timestamp"] + value, PER_SECOND, 6)
    return notes


def _head_offsets(fmt: Format, head: bytes) -> tuple[int | None, int | None] | None:
    """Return the first offset of a record, which every revision has at one position; None if it is cut."""
    at = REVISIONS[fmt.revision].first_offset_at
    return (int.from_bytes(head[at : at + 8], "little"), None) if len(head) >= at + 8 else None


LISTING: Final = EntryListing(
    unit="record",
    units="records",
    columns=COLUMNS,
    cells=_cells,
    heading=HEADING,
    line=_line,
    record_columns=RECORD_COLUMNS,
    records=_records,
    record_line=_record_line,
    totals=SegmentTotals,
    offsets=lambda cells: (cells[0], cells[1]),
    allocated=True,
    head_offsets=_head_offsets,
    notes=_notes,
    row_records=lambda cells: int(cells[2]),
    times=lambda cells: (cells[3], cells[3]),
    ticks=PER_SECOND,
)
