"""The listing of Kafka's logs: a row for each batch or message, and for each record. kafka.md §1, §2."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import define, field

from wireproof.family import EntryListing, Format
from wireproof.kafka.attribute_bits import CODEC_MASK, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL, wrap64
from wireproof.kafka.batch import BATCH, BATCH_FLAGS, BATCH_NUMBERS, CODECS
from wireproof.kafka.control_types import CONTROL_TYPES
from wireproof.kafka.entry import V2
from wireproof.kafka.layouts import HEADS, MESSAGE_FLAGS, NO_TIMESTAMP
from wireproof.kafka.size_and_magic import MAGIC_AT, MIN_SIZE_BY_MAGIC, SIZE_AT
from wireproof.kafka.values import SEQUENCES, Message, Record, RecordBatch
from wireproof.wire.json_values import Json
from wireproof.wire.scan_items import Item
from wireproof.wire.text import counted, instant, octets
from wireproof.wire.trace import FieldSpan

# --- what the header of an entry says: its cells, its offsets, its records: kafka.md §1.1, §2.1 ---


COLUMNS: Final = (
    "magic", "baseOffset", "lastOffset", "count", "codec", "timestampType", "baseTimestamp", "maxTimestamp",
    "producerId", "producerEpoch", "baseSequence", "lastSequence", "transactional", "control",
    "deleteHorizon", "partitionLeaderEpoch", "crc",
)  # fmt: skip
"""The names of the cells.

`baseOffset` is that of the first message in a wrapper, null if it has none. `count` is that of the header of
a batch, and that of the messages in a wrapper; null if they were not read. `control` is the type of a control
batch.
"""

(
    MAGIC, BASE_OFFSET, LAST_OFFSET, COUNT, CODEC, TIMESTAMP_TYPE, BASE_TIMESTAMP, MAX_TIMESTAMP,
    PRODUCER, _, _, _, IS_TRANSACTIONAL, CONTROL_TYPE, HORIZON, LEADER_EPOCH, _,
) = range(len(COLUMNS))  # fmt: skip

HEADER_NAMES: Final = tuple(part.name for part in BATCH_NUMBERS)
"""The integers of a batch that the cells are made of, in the order of the wire."""

select_numbers = HEADS[V2].select(*HEADER_NAMES)
"""Select these integers from all those of a header."""

_CODEC_NAMES: Final = tuple(CODECS.get(number, str(number)) for number in range(CODEC_MASK + 1))


def header_numbers(head: bytes) -> Sequence[int]:
    numbers: Sequence[int] = select_numbers(HEADS[V2].peek(head))
    return numbers


def batch_cells(numbers: Sequence[int], control: str | None) -> tuple[Any, ...]:
    """Return the cells of a batch: §1.1, §1.2."""
    base, epoch, crc, attributes, delta, first_time, last_time, producer, generation, sequence, count = (
        numbers
    )
    horizon = attributes & DELETE_HORIZON
    return (
        2, base, wrap64(base + delta), count, _CODEC_NAMES[attributes & CODEC_MASK],
        "LogAppendTime" if attributes & LOG_APPEND_TIME else "CreateTime", first_time, last_time,
        producer, generation, sequence, -1 if sequence == -1 else (sequence + delta) % SEQUENCES,
        bool(attributes & TRANSACTIONAL), control, first_time if horizon else None, epoch, crc,
    )  # fmt: skip


def message_cells(numbers: Sequence[int], first: int | None, count: int | None) -> tuple[Any, ...]:
    """Return the cells of a message or a wrapper, from all the integers of its header: §2.1, §2.2."""
    offset, _, crc, magic, attributes, *rest = numbers
    timestamp = rest[0] if rest else NO_TIMESTAMP
    kind = ("LogAppendTime" if attributes & LOG_APPEND_TIME else "CreateTime") if magic else None
    codec = _CODEC_NAMES[attributes & CODEC_MASK]
    return (
        magic, first, offset, count, codec, kind, timestamp, timestamp,
        -1, -1, -1, -1, False, None, None, -1, crc,
    )  # fmt: skip


def offsets_and_epoch(cells: Sequence[Any]) -> tuple[int, int, int | None]:
    """Return the first and the last offset, and the leader epoch; None for a message, which has none."""
    first, last = cells[BASE_OFFSET], cells[LAST_OFFSET]
    return (last if first is None else first), last, (cells[LEADER_EPOCH] if cells[MAGIC] > 1 else None)


# --- offsets and records ---

_numbers = HEADS[V2].select("baseOffset", "lastOffsetDelta", "recordsCount")


def head_offsets(_: Format, head: bytes) -> tuple[int | None, int | None] | None:
    """Return the first and the last offset in a header; None if no entry has such a header."""
    first, last, _count = _head(head)
    return None if last is None else (first, last)


def head_records(head: bytes) -> int | None:
    """Return the number of records in a header; None for a wrapper, and if no entry has such a header."""
    return _head(head)[2]


def _head(head: bytes) -> tuple[int | None, int | None, int | None]:
    """Return first and last offset, and the number of records, as far as a header shows them.

    A message has one offset. A wrapper has that of its last message, and does not count them: §2.2.
    """
    nothing = None, None, None
    if len(head) <= MAGIC_AT + 1 or (magic := head[MAGIC_AT]) > V2:
        return nothing
    if int.from_bytes(head[SIZE_AT : SIZE_AT + 4], "big", signed=True) < MIN_SIZE_BY_MAGIC[magic]:
        return nothing
    if magic < V2:  # the byte after the magic has the codec
        offset = int.from_bytes(head[:SIZE_AT], "big", signed=True)
        return None, offset, None if head[MAGIC_AT + 1] & CODEC_MASK else 1
    if len(head) < HEADS[V2].size:
        return nothing
    base, delta, count = _numbers(HEADS[V2].peek(head))
    return base, wrap64(base + delta), count if 0 <= count <= delta + 1 else None


MAX_PRODUCERS: Final = 1 << 16
"""Producers that are counted and whose transactions are followed; a segment has far fewer."""


# --- an entry ---


def _control_name(record: Record) -> str | None:
    """Return the type of a control record; None for another record: §1.9."""
    if (control := record.control) is None:
        return None
    return CONTROL_TYPES.get(control.type, f"type {control.type}")


def item_cells(item: Item, head: bytes) -> tuple[Any, ...]:
    first: int | None
    match item.value:
        case RecordBatch(records=records):
            types = dict.fromkeys(filter(None, map(_control_name, records)))
            return batch_cells(header_numbers(head), "+".join(types) or None)
        case Message(messages=None, offset=offset):
            first, count = offset, 1
        case Message(messages=inner):
            first, count = inner[0].offset if inner else None, len(inner or ())
        case _:
            raise TypeError(f"{type(item.value).__name__} is no entry of a log")
    return message_cells(HEADS[head[MAGIC_AT]].peek(head), first, count)


HEADING: Final = (
    f"magic {'offsets':>23} {'count':>7} {'codec':6} {'first time':24} {'last time':24} "
    f"{'producer':>14} {'sequence':>13} {'epoch':>5}  what"
)

_LINE: Final = "v%d    %23s %7s %-6s %-24s %-24s %14s %13s %5s  %s"
"""The template of a line, which is filled in one step: a long log has many."""


def cells_line(cells: tuple[Any, ...]) -> str:
    """Return the cells as a line under `HEADING`."""
    (
        magic, first, last, count, codec, kind, base_time, max_time, producer, generation, sequence,
        last_sequence, transactional, control, horizon, epoch, _,
    ) = cells  # fmt: skip
    offsets = f"{'' if first is None else first}..{last}"
    first_time = max_time if kind == "LogAppendTime" else base_time
    who = f"{producer}/{generation}" if producer >= 0 else "-"
    sequences = f"{sequence}..{last_sequence}" if sequence >= 0 else "-"
    what = control or ("in a transaction" if transactional else "")
    if kind == "LogAppendTime":
        what = f"{what}, append time" if what else "append time"
    if horizon is not None:
        what = f"{what}, delete horizon" if what else "delete horizon"
    return _LINE % (
        magic, offsets, "-" if count is None else count, codec, instant(first_time), instant(max_time),
        who, sequences, epoch if magic > 1 else "-", what,
    )  # fmt: skip


def _offsets(cells: tuple[Any, ...]) -> tuple[int, int]:
    first, last = cells[BASE_OFFSET], cells[LAST_OFFSET]
    return (last if first is None or first > last else first), last


def _times(cells: tuple[Any, ...]) -> tuple[int, int] | None:
    """Return the first and the last timestamp of an entry; None if it has none. As in the totals: §1.8."""
    low, high = cells[BASE_TIMESTAMP], cells[MAX_TIMESTAMP]
    if high < 0:
        return None
    is_base = cells[TIMESTAMP_TYPE] != "LogAppendTime" and cells[HORIZON] is None
    return (min(low, high) if is_base and low >= 0 else high), high


# --- records ---

RECORD_COLUMNS: Final = (
    "offset", "offsetDelta", "timestamp", "timestampDelta", "sequence", "key", "value", "headers", "control",
)  # fmt: skip


def item_records(item: Item) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of each record: §1.3, §2.2."""
    match item.value:
        case RecordBatch(records=records, base_sequence=sequence):
            for one in records:
                yield (
                    one.offset, one.offset_delta, one.timestamp, one.timestamp_delta,
                    None if sequence < 0 else (sequence + one.offset_delta) % SEQUENCES, one.key, one.value,
                    tuple(one.headers), _control_name(one),
                )  # fmt: skip
        case Message(messages=inner) as message:
            for part in (message,) if inner is None else inner:
                yield part.offset, None, part.timestamp, None, None, part.key, part.value, (), None


def record_line(cells: tuple[Any, ...]) -> str:
    offset, delta, timestamp, time_delta, sequence, key, value, headers, control = cells
    parts = [f"offset {offset}" + ("" if delta is None else f" (+{delta})")]
    parts.append(instant(timestamp) + ("" if time_delta is None else f" ({time_delta:+d} ms)"))
    if sequence is not None:
        parts.append(f"sequence {sequence}")
    parts += [control] if control else [f"key {octets(key)}", f"value {octets(value)}"]
    if headers:
        parts.append("headers " + ", ".join(f"{octets(name)}: {octets(data)}" for name, data in headers))
    return "  ".join(parts)


# --- totals ---


@define
class LogTotals:
    """The counts of a log, and the transactions that are open at its end."""

    entries: Counter[int] = field(factory=Counter)
    codecs: Counter[str] = field(factory=Counter)
    controls: Counter[str] = field(factory=Counter)
    records: int = 0
    unread: int = 0
    offsets: tuple[int, int] | None = None
    times: tuple[int, int] | None = None
    epochs: tuple[int, int] | None = None
    producers: set[int] = field(factory=set)
    open: dict[int, int] = field(factory=dict)

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        (
            magic, _, last, count, codec, kind, base_time, max_time, producer, _, _, _, _, control, horizon,
            epoch, _,
        ) = zip(*rows, strict=True)  # fmt: skip
        self.entries.update(magic)
        self.codecs.update(codec)
        self.unread += count.count(None)
        self.records += sum(filter(None, count))
        low, high = self.offsets or _offsets(rows[0])
        self.offsets = low, max(high, *last)
        # A negative timestamp is none. A delete horizon is no time of a record, and neither is the base of a
        # batch with append time: §1.8.
        if highs := [time for time in max_time if time >= 0]:
            lows = [
                first
                for kind, first, last, other in zip(kind, base_time, max_time, horizon, strict=True)
                if first >= 0 and last >= 0 and other is None and kind != "LogAppendTime"
            ]
            low, high = self.times or (highs[0], highs[0])
            self.times = min([low, *lows]), max([high, *highs])
        if epochs := [one for one, version in zip(epoch, magic, strict=True) if version > 1]:
            self.epochs = (self.epochs or epochs)[0], epochs[-1]
        if max(producer) >= 0 or any(control):
            for cells in rows:
                self._add_producer(cells)

    def _add_producer(self, cells: tuple[Any, ...]) -> None:
        producer = cells[PRODUCER]
        if producer < 0:
            self.controls.update(filter(None, (cells[CONTROL_TYPE],)))
            return
        if len(self.producers) < MAX_PRODUCERS:
            self.producers.add(producer)
        if cells[CONTROL_TYPE]:
            self.controls[cells[CONTROL_TYPE]] += 1
            self.open.pop(producer, None)
        elif cells[IS_TRANSACTIONAL] and len(self.open) < MAX_PRODUCERS:
            self.open.setdefault(producer, cells[BASE_OFFSET])

    def json(self) -> dict[str, Json]:
        """Return the counts; what the log does not have is null."""
        offsets, times, epochs = (pair or (None, None) for pair in (self.offsets, self.times, self.epochs))
        return {
            "batches": self.entries.total(),
            "byMagic": {str(magic): count for magic, count in sorted(self.entries.items())},
            "records": self.records,
            "unreadWrappers": self.unread,
            "firstOffset": offsets[0],
            "lastOffset": offsets[1],
            "nextOffset": None if offsets[1] is None else wrap64(offsets[1] + 1),
            "firstTimestamp": times[0],
            "lastTimestamp": times[1],
            "firstLeaderEpoch": epochs[0],
            "lastLeaderEpoch": epochs[1],
            "codecs": dict(sorted(self.codecs.items())),
            "producers": len(self.producers),
            "controlBatches": dict(sorted(self.controls.items())),
            "openTransactions": {str(producer): first for producer, first in self.open.items()},
        }

    def lines(self) -> Iterator[str]:
        if self.offsets is None:
            return
        kinds = ", ".join(f"{count} of v{magic}" for magic, count in sorted(self.entries.items()))
        if self.unread:
            yield f"{self.unread} of the entries are wrappers whose messages were not read"
        batches = counted(self.entries.total(), "batch", "batches", grouped=False)
        yield f"{counted(self.records, 'record', grouped=False)} in {batches} ({kinds})"
        yield f"offsets {self.offsets[0]} to {self.offsets[1]}, next {wrap64(self.offsets[1] + 1)}"
        if self.times is not None:
            yield f"times {instant(self.times[0])} to {instant(self.times[1])}"
        if self.epochs is not None and self.epochs[1] >= 0:
            same = self.epochs[0] == self.epochs[1]
            yield f"leader epoch {self.epochs[0]}" + ("" if same else f" to {self.epochs[1]}")
        yield "codecs: " + ", ".join(f"{name} {count}" for name, count in self.codecs.most_common())
        if self.producers or self.controls:
            ends = "".join(f", {name} {count}" for name, count in sorted(self.controls.items()))
            yield f"producers with an id: {len(self.producers)}{ends}"
        if self.open:
            some = [f"producer {who} since offset {first}" for who, first in self.open.items()]
            shown = ", ".join([*some[:5], *["…"] * (len(some) > 5)])
            yield f"transactions that do not end here: {len(some)} ({shown})"


# --- notes of fields ---


_FLAGS: Final = dict(enumerate((*MESSAGE_FLAGS, BATCH_FLAGS)))
"""The named bits of the attributes by magic."""


def field_notes(spans: Sequence[FieldSpan]) -> Mapping[str, str]:
    """Return what attributes, timestamps and deltas mean, by the path of the field: §1.2, §1.8, §1.10."""
    values = {span.path: span.value for span in spans if isinstance(span.value, int)}
    found = ((path, _note(path, value, values)) for path, value in values.items())
    return {path: note for path, note in found if note}


def _note(path: str, value: int, values: Mapping[str, int]) -> str:
    head, _, name = path.rpartition(".")
    batch, _, _ = path.rpartition("records[")
    match name:
        case "attributes" if not (head.endswith("]") and batch):
            parts = []
            for flag in _FLAGS.get(values.get(f"{head}.magic".lstrip("."), -1), ()):
                number = (value & flag.mask) // (flag.mask & -flag.mask)
                if flag.codes is not None:
                    parts.append(f"{flag.name} {flag.codes.get(number, number)}")
                elif number:
                    parts.append(flag.name)
            return ", ".join(parts)
        case "baseTimestamp" | "maxTimestamp" | "timestamp" if value >= 0:
            return instant(value)
        case "offsetDelta" if (base := values.get(f"{batch}baseOffset")) is not None:
            return f"offset {wrap64(base + value)}"
        case "timestampDelta" if (base := values.get(f"{batch}baseTimestamp")) is not None:
            appended = values.get(f"{batch}attributes", 0) & LOG_APPEND_TIME
            return instant(values[f"{batch}maxTimestamp"] if appended else wrap64(base + value))
    return ""


LISTING: Final = EntryListing(
    unit="batch",
    units="batches",
    columns=COLUMNS,
    cells=item_cells,
    heading=HEADING,
    line=cells_line,
    record_columns=RECORD_COLUMNS,
    records=item_records,
    record_line=record_line,
    totals=LogTotals,
    head_bytes=BATCH.fixed_size,
    offsets=_offsets,
    allocated=True,
    fast="wireproof.kafka.suite.fast_listing:DECODER",
    headers="wireproof.kafka.suite.header_listing:HEADERS",
    head_offsets=head_offsets,
    indexed="wireproof.kafka.suite.index_files:indexed",
    meaning="wireproof.kafka.payloads.tables:record_meaning",
    notes=field_notes,
    row_records=lambda cells: cells[COUNT],
    head_records=head_records,
    times=_times,
    is_joinable=True,
)
