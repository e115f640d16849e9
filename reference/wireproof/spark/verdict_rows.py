"""Read and judge spans of objects: the rows of the table `frames`, one for each entry.

There are two ways: one item at a time with the verdicts of the adapters, or many entries at once from the
columns of a fast decoder if no adapter is asked. Both make the same rows. The rows of a span depend only on
the span: adapters start anew for each, because questions of one must not influence the answers in another.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from re import search
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import astuple, define, field, frozen

from wireproof.inspect.detect_format import mismatch_remarks
from wireproof.judge.signature import Signature
from wireproof.spark.errors import LostObjectError
from wireproof.spark.item_cases import (
    REFERENCE,
    AdapterSession,
    ItemCase,
    ItemVerdict,
    adapter_session,
    make_item_case,
)
from wireproof.spark.logs import sources
from wireproof.spark.logs.columns import (
    FRAME_COLUMNS,
    HEADER_BYTES,
    MAX_BATCH_ROWS,
    TEXT_LIST,
    ColumnsOrItem,
    EntryColumns,
    RowData,
    empty_lists,
)
from wireproof.spark.logs.objects import ObjectReader
from wireproof.spark.logs.sources import SourceSettings
from wireproof.spark.logs.spans import ObjectSpan, check_coverage, open_span
from wireproof.spark.logs.split_points import scan_items
from wireproof.spark.table_columns import (
    EPOCH_ORDER,
    FRAMES,
    OFFSET_ORDER,
    SEGMENT,
    SIGNATURE_PARTS,
    VERDICTS,
    schema_of,
)
from wireproof.wire.scan_items import Item

MAX_ASKED_BYTES: Final = 8 * 1024 * 1024
"""The greatest item, in bytes, about which adapters are asked."""

MAX_ITEMS: Final = 512
"""The greatest number of items that are sent and judged together."""

MAX_BYTES: Final = 1024 * 1024
"""Bytes of items that are collected before they are sent: their values take many times as much memory."""

GROUPS_AHEAD: Final = 1
"""Groups of items that the adapters work on while the items before them are judged."""

FRAMES_SCHEMA: Final = schema_of(FRAMES)

LARGEST: Final = 2**63 - 1


@frozen
class ScanSettings:
    """What a task must know beside its spans: the source and its options, and the adapters."""

    name: str
    options: Mapping[str, str]
    adapters: tuple[str, ...]

    @property
    def source(self) -> SourceSettings:
        """Return the settings of the source."""
        return sources.parse(self.name, self.options)


def read_tasks(
    settings: ScanSettings, tasks: Sequence[Sequence[ObjectSpan]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the tasks whose numbers are in some Arrow batches, for `mapInArrow`.

    The rows of small objects are sent together, because each batch has a fixed cost here and in Spark.
    """
    source, waiting, count = settings.source, list[pa.RecordBatch](), 0
    for batch in batches:
        for number in batch.column(0).to_pylist():
            for span in tasks[number]:
                for rows in span_rows(source, settings.adapters, span):
                    waiting.append(rows)
                    count += rows.num_rows
                    if count >= MAX_BATCH_ROWS:
                        yield from _joined(waiting)
                        waiting, count = [], 0
    yield from _joined(waiting)


def _joined(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    whole: list[pa.RecordBatch] = pa.Table.from_batches(batches, FRAMES_SCHEMA).combine_chunks().to_batches()
    return whole


def span_rows(source: SourceSettings, adapters: Sequence[str], span: ObjectSpan) -> Iterator[pa.RecordBatch]:
    """Read and judge one span; the last row of an object that was lost meanwhile says why."""
    try:
        with ExitStack() as stack:
            stored, start, end, fault = stack.enter_context(open_span(span, source.max_unpacked))
            sessions = [stack.enter_context(adapter_session(spec)) for spec in adapters]
            rows, fast = _Rows(source, stored, span.start, sessions), source.framing.fast
            parts: Iterable[ColumnsOrItem] = span.known
            if not parts and fast and not sessions:
                names = (*FRAME_COLUMNS, *fast.facts)
                parts = fast.columns(stored, start, end, source.options, names)
            elif not parts:
                parts = scan_items(source.framing, stored, start, end, source.options)
            yield from rows.all(parts, start, end)
            if fault is not None:
                yield rows.bare("stopped", end, fault)
    except LostObjectError as error:
        lost = ObjectReader(None, span.place.display_name, 0)
        yield _Rows(source, lost, span.start, []).bare("lost", 0, error.reason)


FACTS: Final = ("first_offset", "last_offset", "timestamp_number", "leader_epoch", "codec", "records")
"""The facts of an entry's header: a column of the source's own table has them under another name."""


def _as_number(value: Any) -> Any:  # noqa: ANN401 - a cell of any type
    """Return a number as the table holds it; None if it is too large."""
    if value is None or isinstance(value, str):
        return value
    return int(value) if -LARGEST - 1 <= value <= LARGEST else None


@define
class _Rows:
    """Makes the rows of one span.

    Attributes:
        source: the settings of the source.
        stored: the object.
        span: the byte at which the span begins.
        sessions: the adapters.
        ends: last offset and leader epoch of the last batch; None before the first one.
        waiting, size: the items that are collected, not sent yet, and their bytes.
        sent: groups of items that the adapters were asked about.
    """

    source: SourceSettings
    stored: ObjectReader
    span: int
    sessions: Sequence[AdapterSession]
    ends: tuple[int, int] | None = None
    waiting: list[ItemCase] = field(factory=list)
    size: int = 0
    sent: deque[list[ItemCase]] = field(factory=deque)

    def all(self, parts: Iterable[ColumnsOrItem], start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a span. The adapters work on items while the next items are read."""
        for part in check_coverage(parts, self.stored, start, end):
            if isinstance(part, Item):
                self.waiting.append(self._item_case(part))
                self.size += len(self.waiting[-1].data)
                if len(self.waiting) >= MAX_ITEMS or self.size >= MAX_BYTES:
                    self._send()
                yield from self._judge(GROUPS_AHEAD if self.sessions else 0)
            else:
                yield from self._rest()
                yield self._of_columns(part)
        yield from self._rest()

    def bare(self, kind: str, position: int, fault: str) -> pa.RecordBatch:
        """Return a row that has no bytes."""
        row = {**self._place, "position": position, "length": 0, "kind": kind, "fault": fault}
        row |= {"format": self.source.framing.fmt.format_id, "remarks": [], "damage": [], "verdicts": []}
        return pa.RecordBatch.from_pylist([row], schema=FRAMES_SCHEMA)

    @property
    def _place(self) -> dict[str, Any]:
        """Return what all rows of the span have in common."""
        path = self.stored.display_name
        found = search(self.source.kind.partition, path) if self.source.kind.partition else None
        topic, partition = (found["topic"], int(found["partition"])) if found else (None, None)
        return {"path": path, "topic": topic, "partition": partition, "span": self.span}

    def _rest(self) -> Iterator[pa.RecordBatch]:
        """Send the collected items, and yield all rows."""
        if self.waiting:
            self._send()
        yield from self._judge(0)

    def _send(self) -> None:
        for session in self.sessions:
            session.submit(self.waiting)
        self.sent.append(self.waiting)
        self.waiting, self.size = [], 0

    def _judge(self, ahead: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the oldest groups, until `ahead` groups are left."""
        while len(self.sent) > ahead:
            items = self.sent.popleft()
            answers = [session.collect() for session in self.sessions]
            rows = [
                self._row(item, [found for answer in answers if (found := answer[number])])
                for number, item in enumerate(items)
            ]
            batch = pa.RecordBatch.from_pylist(rows, schema=FRAMES_SCHEMA)
            yield self._completed(dict(zip(batch.schema.names, batch.columns, strict=True)))

    def _item_case(self, item: Item) -> ItemCase:
        """Make a case of an item; of an item that is too large, only the beginning is read."""
        if item.kind == "tail":
            return ItemCase(item, b"", None)
        length = item.length if item.length <= MAX_ASKED_BYTES else HEADER_BYTES
        held, at = self.stored.at(item.at, length)  # of a store many items come with one request
        data = held[at : at + length]
        if len(data) == item.length:
            return make_item_case(self.source.framing, item, data, self.source.options)
        return ItemCase(item, data, None)

    def _row(self, item_case: ItemCase, verdicts: Sequence[ItemVerdict]) -> dict[str, Any]:
        item, fmt, facts = item_case.item, self._format(item_case), dict.fromkeys(FACTS)
        if not verdicts and item.kind != "tail" and item.length > MAX_ASKED_BYTES:
            names = (Signature(one.spec, fmt, "decode", "not-run", "too-large", "") for one in self.sessions)
            verdicts = [ItemVerdict(name, "", finding=False) for name in names]
        if item.kind == "frame":
            head = RowData(self.stored, item, item_case.data[:HEADER_BYTES], self.source.framing.fmt.revision)
            facts |= {name: _as_number(column.read(head)) for name, column in self.source.kind.facts.items()}
        return {
            **facts,
            "position": item.at,
            "length": item.length,
            "format": fmt,
            "kind": item.kind,
            "fault": item.cls,
            "remarks": [remark.cls for remark in item.remarks],
            "verdicts": verdict_rows(verdicts),
        }

    def _format(self, item_case: ItemCase) -> str:
        """Return the format as which adapters are asked about the item, or would be if it were smaller."""
        if item_case.case:
            return item_case.case.format_id
        framing = self.source.framing
        if framing.fast is not None and item_case.item.kind == "frame":
            return framing.fast.entry_format(item_case.data) or framing.fmt.format_id
        return framing.fmt.format_id

    def _of_columns(self, part: EntryColumns) -> pa.RecordBatch:
        """Return the rows of entries that have `FRAME_COLUMNS` and the columns of their facts."""
        entries, fast = part.entries, self.source.framing.fast
        assert fast is not None, "which returns columns"
        is_frame = pc.equal(entries.column("kind"), "frame")
        columns = {name: entries.column(name) for name in FRAME_COLUMNS[:5]}
        columns |= {
            name: pc.if_else(is_frame, column.values(part).cast(column.type), pa.scalar(None, column.type))
            for name, column in self.source.kind.facts.items()
        }
        columns["format"] = pa.array(fast.formats).take(entries.column("magic"))
        columns["verdicts"] = empty_lists(entries.num_rows, VERDICTS)
        return self._completed(columns)

    def _completed(self, columns: dict[str, pa.Array]) -> pa.RecordBatch:
        """Return rows with their place, damage, time and finding."""
        count = len(columns["position"])
        columns |= {name: pa.repeat(pa.scalar(value), count) for name, value in self._place.items()}
        columns["damage"] = self._damage(columns)
        names: list[str | None] = [None] * count
        for row in _true(pc.equal(columns["kind"], "garbage")):
            fmt, cls = (columns[name][row].as_py() for name in ("format", "fault"))
            names[row] = _finding(Signature(REFERENCE, fmt, "scan", "garbage", cls or "", ""))
        columns["finding"] = pa.array(names, pa.string())
        if "timestamp_number" in columns:
            columns["timestamp"] = self._times(columns["timestamp_number"])
        arrays = [
            _of_type(columns[column.name], column.type) if column.name in columns
            else pa.nulls(count, column.type)
            for column in FRAMES_SCHEMA
        ]  # fmt: skip
        return pa.RecordBatch.from_arrays(arrays, schema=FRAMES_SCHEMA)

    def _times(self, numbers: pa.Array) -> pa.Array:
        """Return times from numbers of the format, null for what is no time."""
        times, per = self.source.kind.timestamp_scale
        year_10000 = 253_402_300_800_000_000  # microseconds, from which on Spark shows no time
        high = min((year_10000 * per - 1) // times, LARGEST)
        valid = pc.and_(pc.greater_equal(numbers, 0), pc.less_equal(numbers, high))
        kept = pc.if_else(valid, numbers, pa.scalar(None, pa.int64()))
        return pc.divide(pc.multiply(kept, times), per).cast(pa.timestamp("us", tz="UTC"))

    def _damage(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the classes of damage of each row."""
        found: dict[int, list[str]] = {}
        for row in _true(pc.equal(columns["kind"], "garbage")):
            found[row] = [columns["fault"][row].as_py() or "other"]
        for row in _true(pc.greater(pc.list_value_length(columns["remarks"]), 0)):
            classes = mismatch_remarks().intersection(columns["remarks"][row].as_py())
            found.setdefault(row, []).extend(sorted(classes))
        # Offsets rise in an object that has the name of a segment.
        if "leader_epoch" in columns and search(SEGMENT, self.stored.display_name):
            rows = np.array(_true(columns["leader_epoch"].is_valid()), np.int64)
            numbers = (
                columns[name].take(pa.array(rows)).to_numpy().astype(np.int64)
                for name in ("first_offset", "last_offset", "leader_epoch")
            )
            for cls, wrong in self._out_of_order(*numbers):
                for row in rows[wrong].tolist():
                    found.setdefault(row, []).append(cls)
        count = len(columns["kind"])
        if not any(found.values()):
            return empty_lists(count, TEXT_LIST)
        return pa.array([found.get(row, []) for row in range(count)], TEXT_LIST)

    def _out_of_order(self, first: Any, last: Any, epoch: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - arrays
        """Return which of some consecutive batches are out of order, by class."""
        if not first.size:
            return []
        before = self.ends or (int(first[0]) - 1, int(epoch[0]))
        lasts, epochs = np.concatenate([[before[0]], last]), np.concatenate([[before[1]], epoch])
        self.ends = int(lasts[-1]), int(epochs[-1])
        return [
            (OFFSET_ORDER, first <= lasts[:-1]),
            (EPOCH_ORDER, (epoch < epochs[:-1]) | (epoch < -1)),
        ]


def _of_type(array: pa.Array, kind: pa.DataType) -> pa.Array:
    return array if array.type == kind else array.cast(kind)


def _true(flags: pa.Array) -> list[int]:
    """Return the rows of which something is true."""
    rows: list[int] = np.flatnonzero(flags.to_numpy(zero_copy_only=False)).tolist()
    return rows


@lru_cache(maxsize=1024)
def _finding(signature: Signature) -> str:
    """Return the name of a finding."""
    from wireproof.fuzz.findings import finding_name  # noqa: PLC0415 - most tasks find nothing

    return finding_name(signature)


def verdict_rows(verdicts: Iterable[ItemVerdict]) -> list[dict[str, Any]]:
    """Return the elements of the column `verdicts`."""
    return [
        {
            **dict(zip(SIGNATURE_PARTS, astuple(found.signature), strict=True)),
            "cluster": found.cluster or None,
            "finding": _finding(found.signature) if found.finding else None,
        }
        for found in verdicts
    ]
