"""Scan one span: read it, ask the adapters about its items, write its verdict rows and commit it."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import define, field

from wireproof.files import replace_file
from wireproof.spark import damage_places, job_files, read_span
from wireproof.spark.adapter_session import AdapterSession
from wireproof.spark.columns import ColumnsOrItem
from wireproof.spark.item_cases import ItemCase
from wireproof.spark.object_reader import ObjectReader
from wireproof.spark.object_spans import COMPRESSED_WEIGHT
from wireproof.spark.scan_plan import ScanPlan
from wireproof.spark.scan_tables import FRAMES, SpanResult
from wireproof.spark.source_settings import SourceSettings
from wireproof.spark.verdict_matrix import VerdictVectors, stretch_bytes
from wireproof.spark.verdict_rows import VerdictRows
from wireproof.wire.scan_items import Item

MAX_ITEMS: Final = 512
"""The greatest number of items that are sent and judged together."""

MAX_BYTES: Final = 1024 * 1024
"""Bytes of items that are collected before they are sent: their values take many times as much memory."""

GROUPS_AHEAD: Final = 1
"""Groups of items that the adapters work on while the items before them are judged."""

ROW_GROUP: Final = 65536
"""The smallest number of rows in a row group, except for the last one."""


def scan_span(plan: ScanPlan, number: int) -> None:
    """Read, judge and write one span, then commit it.

    Raises:
        SourceError: an object is gone, or shorter than it was when it was planned.
    """
    span, source = plan.spans[number], plan.source
    file = plan.out / "frames" / f"{number:06}.parquet"
    size = span.place.size * (COMPRESSED_WEIGHT if span.place.compression else 1)
    part = SpanResult(plan.most, vectors=VerdictVectors(stretch_bytes(size)))

    def write(new: Path) -> None:
        with ExitStack() as stack:
            writer = stack.enter_context(pq.ParquetWriter(new, FRAMES, compression=job_files.COMPRESSION))
            opened = read_span.open_span(span, source.max_unpacked)
            stored, start, end, part.fault = stack.enter_context(opened)
            benches = [stack.enter_context(AdapterSession(spec)) for spec in plan.adapters]
            parts = span.known or _parts(benches, source, stored, start, end)
            checked = read_span.check_coverage(parts, stored, start, end)
            for table in _row_groups(_verdicts(checked, benches, VerdictRows(source, stored, part))):
                writer.write_table(table)

    replace_file(file, write, durable=False)
    job_files.save_json(plan.commit_file(number), part.dump())


def _row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Combine batches to row groups, because many small ones cost more than their contents."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROW_GROUP:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _parts(
    benches: list[AdapterSession], source: SourceSettings, stored: ObjectReader, start: int, end: int
) -> Iterable[ColumnsOrItem]:
    """Return the parts of a span: items if adapters are asked, else rows of columns if possible."""
    fast = source.framing.fast
    if fast is None or benches:
        return source.framing.items(source.framing, stored, start, end, source.options)
    return fast.columns(stored, start, end, source.options, damage_places.is_segment(stored.display_name))


def _verdicts(
    parts: Iterable[ColumnsOrItem], benches: list[AdapterSession], rows: VerdictRows
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a span. The adapters work on items while the next items are read."""
    pending = _PendingItems(benches, rows)
    for part in parts:
        if isinstance(part, Item):
            yield from pending.add(rows.item_case(part))
        else:
            yield from pending.finish()
            yield rows.of_columns(part.entries)
    yield from pending.finish()


@define
class _PendingItems:
    """The items that are collected, and those that the adapters are working on.

    Attributes:
        benches: the adapters.
        rows: makes the rows.
        items, size: collected, not sent yet; `size` is in bytes.
        sent: groups of items that the adapters were asked about.
    """

    benches: list[AdapterSession]
    rows: VerdictRows
    items: list[ItemCase] = field(factory=list)
    size: int = 0
    sent: deque[list[ItemCase]] = field(factory=deque)

    def add(self, item: ItemCase) -> Iterator[pa.RecordBatch]:
        """Collect an item, and yield the rows of groups that must be judged now."""
        self.items.append(item)
        self.size += len(item.data)
        if len(self.items) >= MAX_ITEMS or self.size >= MAX_BYTES:
            self._send()
        yield from self._judge(GROUPS_AHEAD if self.benches else 0)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Send the collected items, and yield all rows."""
        if self.items:
            self._send()
        yield from self._judge(0)

    def _send(self) -> None:
        for bench in self.benches:
            bench.submit(self.items)
        self.sent.append(self.items)
        self.items, self.size = [], 0

    def _judge(self, ahead: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the oldest groups, until `ahead` groups are left."""
        while len(self.sent) > ahead:
            yield self.rows.of_items(self.sent.popleft(), self.benches)
