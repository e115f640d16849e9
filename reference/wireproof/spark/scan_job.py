"""Run a scan: archives in, tables of verdicts out.

A task reads, checks and writes its spans itself; only one row for each span goes through Spark. The output of
a span depends only on the span, so a scan that was interrupted continues and gives the same tables.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import astuple, define, evolve, field, frozen

from wireproof import __version__
from wireproof.files import replace_file
from wireproof.spark import jobs, sources, verdict_tables
from wireproof.spark.columns import ColumnsOrItem
from wireproof.spark.errors import LostObjectError, SourceError
from wireproof.spark.item_cases import AdapterSession, ItemCase
from wireproof.spark.jobs import ClusterEnv
from wireproof.spark.objects import (
    EMPTY,
    UNREADABLE,
    ObjectPlace,
    ObjectReader,
    SkippedObject,
    list_objects,
    unreadable,
)
from wireproof.spark.scan_report import first_names
from wireproof.spark.sources import TASKS_PER_CORE, SourceSettings
from wireproof.spark.spans import (
    COMPRESSED_WEIGHT,
    ObjectSpan,
    check_coverage,
    group_spans,
    open_span,
    split_range,
)
from wireproof.spark.split_points import scan_items
from wireproof.spark.verdict_rows import VerdictRows
from wireproof.spark.verdict_tables import FRAMES, SpanResult, VerdictVectors, stretch_bytes
from wireproof.wire.scan_items import Item

# --- the plan: the objects, their spans, and how the spans are distributed over tasks ---

SPAN_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a span. An interruption loses up to that many for each core."""

MIN_TASK_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a task, below which starting it costs more than reading them: about a tenth of a second."""

SAMPLES: Final = 3


@frozen
class ScanPlan:
    """The plan of a scan.

    Attributes:
        name, options: of the source, as `sources.parse` takes them.
        adapters: as the registry reads them.
        spans: all of them by number, in the order of the objects' names and of their bytes.
        most: the number of samples of a signature.
        out: the folder, which every worker can write to at this path.
        skipped: the objects that are not read.
        changes: the differences from the plan that was stored before, in lines for a person.
    """

    name: str
    options: dict[str, str]
    adapters: tuple[str, ...]
    spans: dict[int, ObjectSpan]
    most: int
    out: Path
    skipped: tuple[SkippedObject, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def source(self) -> SourceSettings:
        """Return the settings of the source."""
        return sources.parse(self.name, self.options)

    @property
    def places(self) -> list[ObjectPlace]:
        """Return the objects that are read."""
        return list(dict.fromkeys(span.place for span in self.spans.values()))

    @property
    def weights(self) -> dict[int, int]:
        """Return the bytes of each span."""
        return {number: span.weight for number, span in self.spans.items()}

    @property
    def remaining(self) -> list[int]:
        """Return the spans that are not committed."""
        return jobs.remaining_spans(self)

    def commit_file(self, number: int) -> Path:
        """Return the file that commits a span."""
        return jobs.commit_file(self.out, number)

    def tasks(self, count: int) -> list[list[int]]:
        """Return the remaining spans as about `count` tasks of about the same weight, in order.

        Small tasks become fewer, down to one for each core, because the reference alone reads them in less
        time than Spark needs to start them. If adapters are asked, even a few bytes take long.
        """
        remaining = self.remaining
        total = sum(self.spans[number].weight for number in remaining)
        numbers = {id(self.spans[number]): number for number in remaining}
        if not self.adapters:
            count = min(count, max(-(-total // MIN_TASK_BYTES), count // TASKS_PER_CORE))
        grain = max(1, -(-total // max(count, 1)))
        tasks = group_spans((self.spans[number] for number in remaining), grain)
        return [[numbers[id(span)] for span in task] for task in tasks]


def plan_scan(
    name: str,
    options: dict[str, str],
    adapters: Sequence[str],
    out: Path,
    most: int = SAMPLES,
    grain: int = SPAN_BYTES,
) -> ScanPlan:
    """Return the plan of a scan of the objects as they are now, and store it in `out`.

    If `out` has a plan already, the spans of the objects that have not changed since stay as they are,
    committed or not. An object that is new, or has another size or time of change, is read whole: bytes that
    are appended to a log may complete an entry, or prove that it is damaged. Objects that are gone leave the
    tables.

    Raises:
        SourceError: `out` contains another scan.
    """
    inputs = {"source": name, "options": options, "adapters": list(adapters), "samples": most}
    inputs |= {"span_bytes": grain, "version": __version__}
    changes = list[str]()

    def renew(stored: dict[str, Any]) -> dict[str, Any]:
        page = _page(name, options, grain, stored)
        changes.extend(_changes(*(_places(each) for each in (stored, page))) if "objects" in stored else [])
        return page

    page = jobs.update_plan(out, "scan", inputs, renew)
    spans = {
        number: ObjectSpan(place, start, end, garbage)
        for place, each in zip(_places(page).values(), page["objects"], strict=True)
        for number, start, end, garbage in each["spans"]
    }
    jobs.remove_other_spans(out, spans)
    skipped = tuple(SkippedObject(*row) for row in page["skipped"])
    return ScanPlan(name, options, tuple(adapters), spans, most, out, skipped, tuple(changes))


def _page(name: str, options: dict[str, str], grain: int, stored: dict[str, Any]) -> dict[str, Any]:
    """Return the spans of all objects, those of a stored plan for unchanged objects; and what has none.

    The number of a span is never used again, so that no file of an earlier span is taken for one of its own.
    """
    source = sources.of_whole_objects(sources.parse(name, options))
    places, skipped = list_objects(source.paths, source.kind.suffixes, source.chosen)
    known = {tuple(each["place"]): each["spans"] for each in stored.get("objects", ())}
    numbers, objects = count(stored.get("next_span", 0)), list[dict[str, Any]]()
    for place in places:
        if reason := EMPTY if not place.size else "" if astuple(place) in known else unreadable(place):
            skipped.append(SkippedObject(place.display_name, place.size, reason))
            continue
        spans = known.get(astuple(place)) or [
            [next(numbers), span.start, span.end, span.garbage]
            for span in split_range(source.framing, source.options, (place, 0, place.size), grain)
        ]
        objects.append({"place": list(astuple(place)), "spans": spans})
    if not objects:
        raise SourceError("nothing to scan: every object is empty or cannot be read")
    return {
        "objects": objects,
        "next_span": next(numbers),
        "skipped": [list(astuple(each)) for each in skipped],
    }


def _places(page: dict[str, Any]) -> dict[str, ObjectPlace]:
    """Return the objects of a plan, by name."""
    places = (ObjectPlace(*each["place"]) for each in page.get("objects", ()))
    return {place.display_name: place for place in places}


def _changes(before: dict[str, ObjectPlace], now: dict[str, ObjectPlace]) -> Iterator[str]:
    """Yield a line for the objects that are new, changed and gone since the plan was stored."""
    sizes = {
        name: f"{name} ({before[name].size:,} bytes, now {now[name].size:,})"
        for name in before
        if name in now
    }
    for what, names in (
        ("new", [name for name in now if name not in before]),
        ("read again", [sizes[name] for name in sizes if before[name] != now[name]]),
        ("gone, and no longer in the tables", [name for name in before if name not in now]),
    ):
        if names:
            yield f"{what}: {len(names)} objects: {first_names(names)}"


# --- one span ---

MAX_ITEMS: Final = 512
"""The greatest number of items that are sent and judged together."""

MAX_BYTES: Final = 1024 * 1024
"""Bytes of items that are collected before they are sent: their values take many times as much memory."""

GROUPS_AHEAD: Final = 1
"""Groups of items that the adapters work on while the items before them are judged."""

ROW_GROUP: Final = 65536
"""The smallest number of rows in a row group, except for the last one."""


def scan_span(plan: ScanPlan, number: int) -> None:
    """Read, judge and write one span, then commit it; of a lost object only the reason is written."""
    span, source = plan.spans[number], plan.source
    file = plan.out / "frames" / f"{number:06}.parquet"
    size = span.place.size * (COMPRESSED_WEIGHT if span.place.compression else 1)
    part = SpanResult(plan.most, vectors=VerdictVectors(stretch_bytes(size)))

    def write(new: Path) -> None:
        with ExitStack() as stack:
            writer = stack.enter_context(pq.ParquetWriter(new, FRAMES, compression=jobs.COMPRESSION))
            opened = open_span(span, source.max_unpacked)
            stored, start, end, part.fault = stack.enter_context(opened)
            benches = [stack.enter_context(AdapterSession(spec)) for spec in plan.adapters]
            parts = span.known or _parts(benches, source, stored, start, end)
            checked = check_coverage(parts, stored, start, end)
            for table in _row_groups(_verdicts(checked, benches, VerdictRows(source, stored, part))):
                writer.write_table(table)

    try:
        replace_file(file, write, durable=False)
        page = part.dump()
    except LostObjectError as error:
        page = {LOST: error.reason}
    jobs.save_json(plan.commit_file(number), page)


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
        return scan_items(source.framing, stored, start, end, source.options)
    return fast.columns(stored, start, end, source.options, verdict_tables.is_segment(stored.display_name))


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


# --- the tables of all spans ---

LOST: Final = "lost"
"""The key of the reason in the commit of a span whose object was listed and could not be read."""


def drop_lost(plan: ScanPlan) -> ScanPlan:
    """Return the plan without the objects that tasks could not read, which it lists as skipped; store it.

    The next scan to the same folder finds them new if they are there, and reads them.
    """
    lost: dict[ObjectPlace, str] = {}
    for number, span in plan.spans.items():
        if reason := jobs.load_json(plan.commit_file(number)).get(LOST):
            lost.setdefault(span.place, f"{UNREADABLE}: {reason}")
    if not lost:
        return plan
    skipped = [*plan.skipped, *(SkippedObject(each.display_name, each.size, lost[each]) for each in lost)]
    skipped.sort(key=attrgetter("display_name"))
    page = jobs.load_json(plan.out / jobs.PLAN)
    page["objects"] = [each for each in page["objects"] if ObjectPlace(*each["place"]) not in lost]
    page["skipped"] = [list(astuple(each)) for each in skipped]
    jobs.save_json(plan.out / jobs.PLAN, page)
    spans = {number: span for number, span in plan.spans.items() if span.place not in lost}
    jobs.remove_other_spans(plan.out, spans)
    return evolve(plan, spans=spans, skipped=tuple(skipped))


def merge_scan(plan: ScanPlan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write the tables from the spans, which must all be committed; return `signatures` and `files`."""
    jobs.remove_partial_files(plan.out)
    parts = [jobs.load_json(plan.commit_file(number)) for number in plan.spans]
    placed = list(zip((span.place for span in plan.spans.values()), parts, strict=True))
    named = [(place.display_name, part) for place, part in placed]
    signatures = verdict_tables.merge_signatures(parts)
    files = list(
        verdict_tables.merge_files(
            (place.display_name, place.size, place.compression is not None, part) for place, part in placed
        )
    )
    tables = {
        "signatures": (signatures, verdict_tables.SIGNATURES),
        "samples": (verdict_tables.merge_samples(parts, plan.most), verdict_tables.SAMPLES),
        "matrix": (verdict_tables.matrix_rows(parts), verdict_tables.MATRIX),
        "positions": (verdict_tables.position_rows(named), verdict_tables.POSITIONS),
        "damage": (
            verdict_tables.damage_rows((name, part["damages"]) for name, part in named),
            verdict_tables.DAMAGE,
        ),
        "skipped": (
            [{"path": each.display_name, "size": each.size, "reason": each.reason} for each in plan.skipped],
            verdict_tables.SKIPPED,
        ),
        "files": (files, verdict_tables.FILES),
        "run": ([_manifest(plan)], verdict_tables.RUN),
    }
    for name, (rows, schema) in tables.items():
        jobs.write_table(plan.out / f"{name}.parquet", rows, schema)
    return signatures, files


def _manifest(plan: ScanPlan) -> dict[str, Any]:
    options = {key: text for key, text in plan.options.items() if key not in {"keys", "path", "paths"}}
    return {
        "version": __version__,
        "source": plan.name,
        "options": sorted(f"{key}={text}" for key, text in options.items()),
        "adapters": list(plan.adapters),
        "spans": len(plan.spans),
        "objects": len(plan.places),
        "bytes": sum(span.end - span.start for span in plan.spans.values()),
    }


# --- all of it ---


@frozen
class ScanSummary:
    """The result of a scan: its tables `signatures` and `files` in memory, and what this run did.

    Attributes:
        plan: of what was read, without the objects that were listed and could not be read.
        signatures, files: the rows of the tables.
        seconds: the duration of this run.
        spans: the spans that this run scanned.
    """

    plan: ScanPlan
    signatures: list[dict[str, Any]]
    files: list[dict[str, Any]]
    seconds: float
    spans: int


def run_scan(plan: ScanPlan, cluster: ClusterEnv | str | None, progress: jobs.Progress) -> ScanSummary:
    """Scan the remaining spans, then merge the tables.

    Args:
        plan: from `plan_scan`.
        cluster: where the scan runs; a string is the master of Spark, None is all cores of this machine.
        progress: receives the bytes done and the total bytes, a few times a second.

    Raises:
        SourceError: Java was not found.
    """
    start, remaining = time.monotonic(), plan.remaining
    if remaining:
        jobs.run_on_spark(plan, partial(scan_span, plan), cluster, progress)
    jobs.report_progress(plan, progress, jobs.TaskCounts(phase="joining the tables"))
    plan = drop_lost(plan)
    signatures, files = merge_scan(plan)
    return ScanSummary(plan, signatures, files, time.monotonic() - start, len(remaining))
