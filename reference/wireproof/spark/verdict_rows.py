"""Make the verdict rows of a scan, and count them in the result of the span.

There are two ways: one item at a time with the verdicts of the adapters, or many accepted entries at once
from the columns of the kernels if no adapter is asked.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import evolve, frozen

from wireproof.cases.log_survey import mismatch_remarks
from wireproof.runner.signature import Signature
from wireproof.spark import verdict_tables
from wireproof.spark.columns import FRAME_COLUMNS, HEADER_BYTES
from wireproof.spark.item_cases import (
    AdapterSession,
    ItemCase,
    ItemVerdict,
    make_item_case,
    reference_verdict,
)
from wireproof.spark.objects import ObjectReader
from wireproof.spark.sources import SourceSettings
from wireproof.spark.verdict_tables import FRAMES, SpanResult, VectorTotal
from wireproof.wire.scan_items import Item

MAX_ASKED_BYTES: Final = 8 * 1024 * 1024
"""The greatest item, in bytes, about which adapters are asked."""


@frozen
class VerdictRows:
    """Makes the rows of a span.

    Attributes:
        source: the settings of the source.
        stored: the object.
        part: the result of the span, in which every row is counted.
    """

    source: SourceSettings
    stored: ObjectReader
    part: SpanResult

    # --- items ---

    def item_case(self, item: Item) -> ItemCase:
        """Make a case of an item; of an item that is too large, only the beginning is read."""
        length = item.length if item.length <= MAX_ASKED_BYTES else HEADER_BYTES
        data = self.stored.read(item.at, length) if item.kind != "tail" else b""
        if item.kind != "tail" and len(data) == item.length:
            return make_item_case(self.source.framing, item, data, self.source.options)
        return ItemCase(item, data, None)

    def of_items(self, items: list[ItemCase], benches: list[AdapterSession]) -> pa.RecordBatch:
        """Return the rows of items that were submitted to `benches`, with the verdicts."""
        answers = [bench.collect() for bench in benches]
        rows = []
        for number, item_case in enumerate(items):
            ours = reference_verdict(self._format(item_case), item_case.item)
            theirs = [judged for answer in answers if (judged := answer[number])]
            verdicts = theirs or _too_large(item_case, benches, ours)
            self._count(item_case, (ours, *verdicts))
            rows.append(self._row(item_case, verdicts))
        return pa.RecordBatch.from_pylist(rows, schema=FRAMES)

    def _row(self, item_case: ItemCase, verdicts: Sequence[ItemVerdict]) -> dict[str, Any]:
        item = item_case.item
        return {
            "path": self.stored.display_name,
            "position": item.at,
            "length": item.length,
            "format": self._format(item_case),
            "kind": item.kind,
            "fault": item.cls,
            "remarks": [remark.cls for remark in item.remarks],
            "verdicts": [
                {
                    "adapter": judged.adapter,
                    "verdict": judged.verdict,
                    "class": judged.cls or None,
                    "cluster": judged.cluster or None,
                }
                for judged in verdicts
            ],
        }

    def _count(self, item_case: ItemCase, verdicts: Sequence[ItemVerdict]) -> None:
        """Count an item, and keep it as a sample if it is one."""
        item, part, name = item_case.item, self.part, self.stored.display_name
        part.damages.add_item(item)
        fast = self.source.framing.fast
        in_order = fast is not None and item.kind == "frame" and verdict_tables.is_segment(name)
        if fast is not None and in_order and (order := fast.order_of(item_case.data)) is not None:
            part.damages.add_entry(item, order)
        part.account(item.kind, 1, item.length)
        for judged in verdicts:
            part.count(judged, item)
            part.sample(judged, item_case, name)
            part.vectors.put(item.at, judged.signature)
        vector = tuple(judged.signature for judged in verdicts)
        part.vectors.add(vector, VectorTotal(1, item.length, (name, item.at)))

    def _format(self, item_case: ItemCase) -> str:
        """Return the format as which adapters are asked about the item, or would be if it were smaller."""
        if item_case.case:
            return item_case.case.format_id
        framing = self.source.framing
        if framing.fast is not None and item_case.item.kind == "frame":
            return framing.fast.entry_format(item_case.data) or framing.fmt.format_id
        return framing.fmt.format_id

    @property
    def _entry_formats(self) -> tuple[str, ...]:
        """Return the formats of entries, by the number in the column `magic`."""
        assert self.source.framing.fast is not None, "which returns columns"
        return self.source.framing.fast.formats

    # --- columns ---

    def of_columns(self, entries: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of entries that have `FRAME_COLUMNS`; only refused ones are handled one by one."""
        self._count_damage(entries)
        self._count_accepted(entries)
        fault = entries.column("fault")
        if fault.null_count < entries.num_rows:
            for row in entries.filter(fault.is_valid()).to_pylist():
                item = Item(row["kind"], row["position"], row["length"], cls=row["fault"])
                item_case = self.item_case(item)
                self._count(item_case, (reference_verdict(self._format(item_case), item),))
        size = entries.num_rows
        none = pa.array(np.zeros(size + 1, np.int32))
        verdicts = pa.ListArray.from_arrays(
            none, pa.array([], verdict_tables.VERDICTS.value_type), type=verdict_tables.VERDICTS
        )
        path = pa.repeat(pa.scalar(self.stored.display_name), size)
        fmt = pa.array(self._entry_formats).take(entries.column("magic"))
        columns = [entries.column(name) for name in FRAME_COLUMNS[:5]]
        arrays = [path, *columns[:2], fmt, *columns[2:], verdicts]
        cast = [array.cast(column.type) for array, column in zip(arrays, FRAMES, strict=True)]
        return pa.RecordBatch.from_arrays(cast, schema=FRAMES)

    def _count_accepted(self, entries: pa.RecordBatch) -> None:
        accepted = entries.column("fault").is_null().to_numpy(zero_copy_only=False)
        magic, length, position = (
            entries.column(name).to_numpy() for name in ("magic", "length", "position")
        )
        for number, name in enumerate(self._entry_formats):
            rows = accepted & (magic == number)
            if count := int(rows.sum()):
                frame, weight = Item("frame", 0, 0), int(length[rows].sum())
                judged = reference_verdict(name, frame)
                self.part.count(judged, frame, count, weight)
                self.part.account("frame", count, weight)
                self._count_places(judged.signature, position[rows], weight)

    def _count_places(
        self, signature: Signature, position: "np.ndarray[Any, np.dtype[np.int64]]", weight: int
    ) -> None:
        """Count items with one verdict, each at its place."""
        vectors = self.part.vectors
        starts, counts = np.unique(position - position % vectors.width, return_counts=True)
        for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
            vectors.put(start, signature, count)
        first = self.stored.display_name, int(position.min())
        vectors.add((signature,), VectorTotal(len(position), weight, first))

    def _count_damage(self, entries: pa.RecordBatch) -> None:
        """Count the damage of entries that are accepted."""
        found = self.part.damages
        remarked = entries.filter(pc.greater(pc.list_value_length(entries.column("remarks")), 0))
        for row in remarked.select(["position", "length", "remarks"]).to_pylist():
            for cls in sorted(mismatch_remarks().intersection(row["remarks"])):
                found.add(row["position"], row["length"], cls)
        if "offset" in entries.schema.names:
            is_batch = pc.and_(pc.equal(entries.column("magic"), 2), pc.is_null(entries.column("fault")))
            batches = entries.filter(is_batch)
            names = ("offset", "last_offset", "leader_epoch", "position", "length")
            found.add_batches(*(batches.column(name).to_numpy(zero_copy_only=False) for name in names))


def _too_large(item_case: ItemCase, benches: list[AdapterSession], ours: ItemVerdict) -> list[ItemVerdict]:
    """Return the verdicts on an item that is too large to ask the adapters about it."""
    item = item_case.item
    if item.kind == "tail" or item.length <= MAX_ASKED_BYTES:
        return []
    cls = f"{item.length} bytes"
    signature = evolve(ours.signature, op="decode", kind="not-run", cls="too-large")
    return [
        ItemVerdict(
            bench.spec, "not-run", cls, "", evolve(signature, implementation=bench.spec), finding=False
        )
        for bench in benches
    ]
