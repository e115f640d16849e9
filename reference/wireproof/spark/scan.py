"""A scan: archives in, tables of verdicts out. Spans go to the tasks; verdict rows stay where they are made.

A task reads, checks and writes by itself; through Spark goes one row a span. What a span writes depends on
the span alone, so that a scan which was killed goes on where it was, and the same tables come out.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from attrs import evolve, frozen

from wireproof import __version__
from wireproof.cases.survey import MISFITS
from wireproof.columnar.spelling import spelt
from wireproof.files import replace
from wireproof.kafka.scan import MAGIC_AT
from wireproof.spark import damages, fast, reading, settings, spanwise, tables, vectors
from wireproof.spark.bench import Bench
from wireproof.spark.columns import HEAD
from wireproof.spark.errors import SourceError
from wireproof.spark.framing import KAFKA
from wireproof.spark.judging import Judged, Seen, by_reference, seen
from wireproof.spark.places import EMPTY, Place, Skipped, listed, sized
from wireproof.spark.settings import Settings
from wireproof.spark.shipping import Where
from wireproof.spark.spans import PACKED, Span, packed, split, whole
from wireproof.spark.stored import Stored
from wireproof.spark.tables import FRAMES, Part
from wireproof.spark.vectors import Sum, Vectors, stretch
from wireproof.trial.signature import Signature
from wireproof.wire.items import Item

GRAIN: Final = 64 * 1024 * 1024
"""Bytes of a span: what is lost when a scan is killed, for each core."""

ASKED: Final = 512
"""Items that are asked and judged together, at most."""

ASKED_BYTES: Final = 8 * 1024 * 1024
"""Bytes of an item that is asked, at most."""

HELD: Final = 1024 * 1024
"""Bytes of items, over which those that are held are asked: a value takes many times as much."""

AHEAD: Final = 1
"""Times as many items that the adapters have been sent while those before them are judged."""

GROUP: Final = 65536
"""Rows of a row group, at least."""

SAMPLES: Final = 3


@frozen
class Plan:
    """What is scanned, and into what.

    Attributes:
        name, options: of the source, as `settings.parse` takes them.
        adapters: as the registry reads them.
        spans: all of them; a span is named by its number.
        skipped: the objects that are not read.
        most: samples of a signature.
        out: the folder, which every worker can write to under this name.
    """

    name: str
    options: dict[str, str]
    adapters: tuple[str, ...]
    spans: tuple[Span, ...]
    most: int
    out: Path
    skipped: tuple[Skipped, ...] = ()

    @property
    def asked(self) -> Settings:
        """The settings of the source."""
        return settings.parse(self.name, self.options)

    @property
    def weights(self) -> list[int]:
        """The bytes of each span."""
        return [span.weight for span in self.spans]

    @property
    def left(self) -> list[int]:
        """The spans that are not committed."""
        return spanwise.left(self)

    def done(self, number: int) -> Path:
        """The file that commits a span."""
        return spanwise.committed(self.out, number)

    def tasks(self, count: int) -> list[list[int]]:
        """The spans that are left, as about `count` tasks of about the same weight, in order."""
        return tasks_of(self, count)

    def do(self, number: int) -> None:
        """Read, judge and write one span."""
        scan_span(self, number)


# --- the plan ---


def planned(
    name: str,
    options: dict[str, str],
    adapters: Sequence[str],
    out: Path,
    most: int = SAMPLES,
    grain: int = GRAIN,
) -> Plan:
    """The plan that stands in `out`, or a new one, written there.

    Raises:
        SourceError: `out` holds another scan, or an object is no longer what was planned.
    """
    asked = {"source": name, "options": options, "adapters": list(adapters), "samples": most, "grain": grain}
    asked["version"] = __version__
    page = spanwise.kept(out, "scan", asked, lambda: _page(name, options, grain))
    spans, skipped = map(_span, page["spans"]), (Skipped(*row) for row in page["skipped"])
    plan = Plan(name, options, tuple(adapters), tuple(spans), most, out, tuple(skipped))
    for place in {span.place for span in plan.spans}:
        if sized(place) != place.size:
            raise SourceError(
                f"{place.shown} had {place.size} bytes when {out} was planned: name another folder"
            )
    return plan


def _page(name: str, options: dict[str, str], grain: int) -> dict[str, Any]:
    """The spans of all objects, and the objects that have none."""
    asked = settings.parse(name, options)
    places, skipped = listed(asked.paths, asked.kind.suffixes)
    full = [place for place in places if place.size]
    if not full:
        raise SourceError("nothing to scan: every object is empty")
    spans = [span for one in whole(full) for span in split(asked.framing, asked.options, one, grain)]
    skipped += [Skipped(place.shown, 0, EMPTY) for place in places if not place.size]
    return {"spans": list(map(_row, spans)), "skipped": [[one.shown, one.size, one.why] for one in skipped]}


def _row(span: Span) -> list[Any]:
    place = span.place
    return [place.store, place.path, place.shown, place.size, span.start, span.end]


def _span(row: list[Any]) -> Span:
    return Span(Place(*row[:4]), *row[4:])


# --- one span ---


def scan_span(plan: Plan, number: int) -> None:
    """Read, judge and write one span."""
    spanwise.begin(plan.out, number)
    span, asked = plan.spans[number], plan.asked
    file = plan.out / "frames" / f"{number:06}.parquet"
    size = span.place.size * (PACKED if span.place.compression else 1)
    part = Part(plan.most, vectors=Vectors(stretch(size)))

    def write(new: Path) -> None:
        with ExitStack() as stack:
            writer = stack.enter_context(pq.ParquetWriter(new, FRAMES, compression=tables.COMPRESSION))
            opened = reading.opened(span, asked.max_unpacked)
            stored, start, end, part.fault = stack.enter_context(opened)
            benches = [stack.enter_context(Bench(spec, at)) for at, spec in enumerate(plan.adapters)]
            for table in _grouped(_verdicts(benches, asked, stored, start, end, part)):
                writer.write_table(table)

    replace(file, write, durable=False)
    tables.save(plan.done(number), part.dump())


def _grouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches together, as the row groups of a file: many small ones cost more than what is in them."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= GROUP:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _verdicts(
    benches: list[Bench], asked: Settings, stored: Stored, start: int, end: int, part: Part
) -> Iterator[pa.RecordBatch]:
    """The rows of a span. While items are made of the bytes, the adapters are at those before them."""
    items, held = list[Seen](), 0
    asking: deque[list[Seen]] = deque()
    ahead = AHEAD if benches else 0
    for one in reading.accounted(_parts(benches, asked, stored, start, end), stored, start, end):
        if isinstance(one, Item):
            items.append(_seen(asked, stored, one))
            held += len(items[-1].data)
        fast_rows = not isinstance(one, Item)
        if items and (fast_rows or len(items) >= ASKED or held >= HELD):
            _asked(items, benches, asking)
            items, held = [], 0
        while len(asking) > (0 if fast_rows else ahead):
            yield _judged(asking.popleft(), benches, asked, stored, part)
        if fast_rows:
            yield _fast(one, stored, asked, part)
    if items:
        _asked(items, benches, asking)
    while asking:
        yield _judged(asking.popleft(), benches, asked, stored, part)


def _parts(
    benches: list[Bench], asked: Settings, stored: Stored, start: int, end: int
) -> Iterable[fast.Rows]:
    """What a span holds: items where adapters are to be asked, else rows as far as that goes."""
    if asked.framing is not KAFKA:
        return asked.framing.items(asked.framing, stored, start, end, asked.options)
    some = stored, start, end, asked.options
    if not benches:
        return fast.rows(*some, ORDERED if damages.segment(stored.shown) else SHOWN)
    spellings = [bench.spelling for bench in benches]
    return fast.items(*some, lambda run: spelt(run, spellings, asked.options))


def _asked(items: list[Seen], benches: list[Bench], asking: deque[list[Seen]]) -> None:
    for bench in benches:
        bench.put(items)
    asking.append(items)


def _seen(asked: Settings, stored: Stored, item: Item) -> Seen:
    """An item as it is asked; of one that is too large for that the beginning."""
    length = item.length if item.length <= ASKED_BYTES else HEAD
    data = stored.read(item.at, length) if item.kind != "tail" else b""
    whole_item = item.kind != "tail" and len(data) == item.length
    return seen(asked.framing, item, data, asked.options) if whole_item else Seen(item, data, None)


def _judged(
    items: list[Seen], benches: list[Bench], asked: Settings, stored: Stored, part: Part
) -> pa.RecordBatch:
    """Items as rows, counted and sampled."""
    answers = [bench.take() for bench in benches]
    rows = []
    for number, one in enumerate(items):
        ours = by_reference(_format(one, asked), one.item)
        theirs = [answer[number] for answer in answers]
        given = [judged for judged in theirs if judged] or _too_large(one, benches, ours)
        _damaged(part, one, asked, stored)
        part.account(one.item.kind, 1, one.item.length)
        for judged in (ours, *given):
            part.count(judged, one.item)
            part.sample(judged, one, stored.shown)
        _placed(part, (ours, *given), one.item, stored)
        rows.append(
            {
                "path": stored.shown,
                "position": one.item.at,
                "length": one.item.length,
                "format": _format(one, asked),
                "kind": one.item.kind,
                "fault": one.item.cls,
                "remarks": [remark.cls for remark in one.item.remarks],
                "verdicts": [
                    {
                        "adapter": j.adapter,
                        "verdict": j.verdict,
                        "class": j.cls or None,
                        "cluster": j.cluster or None,
                    }
                    for j in given
                ],
            }
        )
    return pa.RecordBatch.from_pylist(rows, schema=FRAMES)


def _too_large(one: Seen, benches: list[Bench], ours: Judged) -> list[Judged]:
    """The verdicts on an entry that no adapter is asked about for its size."""
    if one.item.kind == "tail" or one.item.length <= ASKED_BYTES:
        return []
    cls = f"{one.item.length} bytes"
    said = evolve(ours.signature, op="decode", kind="not-run", cls="too-large")
    return [
        Judged(bench.spec, "not-run", cls, "", evolve(said, implementation=bench.spec), finding=False)
        for bench in benches
    ]


def _damaged(part: Part, one: Seen, asked: Settings, stored: Stored) -> None:
    """What of an item is not sound."""
    part.damages.item(one.item)
    if asked.framing is KAFKA and one.item.kind == "frame" and damages.segment(stored.shown):
        part.damages.batch(one.item, one.data)


def _placed(part: Part, said: Sequence[Judged], item: Item, stored: Stored) -> None:
    """What all say of one item, at its place."""
    for one in said:
        part.vectors.put(item.at, one.signature)
    first = (stored.shown, item.at)
    part.vectors.add(tuple(one.signature for one in said), Sum(1, item.length, first))


def _format(one: Seen, asked: Settings) -> str:
    """What an item was asked as, or would be if it were smaller."""
    if one.case:
        return one.case.joined
    large = asked.framing is KAFKA and one.item.kind == "frame" and len(one.data) > MAGIC_AT
    return BATCHES[one.data[MAGIC_AT]] if large else asked.framing.row.joined


SHOWN: Final = ("position", "length", "kind", "fault", "remarks", "magic")
"""Columns of `columnar.HEADS` that the table shows."""

ORDERED: Final = (*SHOWN, "offset", "last_offset", "leader_epoch")
"""With those whose order in a segment is looked at."""

BATCHES: Final = tuple(f"kafka.batch/v{magic}" for magic in range(3))


def _fast(entries: pa.RecordBatch, stored: Stored, asked: Settings, part: Part) -> pa.RecordBatch:
    """Rows of `SHOWN` as rows of the table: only what is refused is looked at one by one."""
    size, fault = entries.num_rows, entries.column("fault")
    _fast_damages(entries, part)
    magic, length = (entries.column(name).to_numpy() for name in ("magic", "length"))
    good = fault.is_null().to_numpy(zero_copy_only=False)
    for number, name in enumerate(BATCHES):
        rows = good & (magic == number)
        if count := int(rows.sum()):
            some, weight = Item("frame", 0, 0), int(length[rows].sum())
            judged = by_reference(name, some)
            part.count(judged, some, count, weight)
            part.account("frame", count, weight)
            where = entries.column("position").to_numpy()[rows]
            _strewn(part, judged.signature, where, weight, stored)
    if fault.null_count < size:
        for row in entries.filter(fault.is_valid()).to_pylist():
            _one_refused(row, stored, asked, part)
    none = pa.array(np.zeros(size + 1, np.int32))
    verdicts = pa.ListArray.from_arrays(none, pa.array([], tables.VERDICTS.value_type), type=tables.VERDICTS)
    joined = pa.array(BATCHES).take(entries.column("magic"))
    columns = [entries.column(name) for name in SHOWN[:5]]
    arrays = [pa.repeat(pa.scalar(stored.shown), size), *columns[:2], joined, *columns[2:], verdicts]
    cast = [array.cast(one.type) for array, one in zip(arrays, FRAMES, strict=True)]
    return pa.RecordBatch.from_arrays(cast, schema=FRAMES)


def _fast_damages(entries: pa.RecordBatch, part: Part) -> None:
    """What of rows that are accepted is not sound."""
    remarked = entries.filter(pc.greater(pc.list_value_length(entries.column("remarks")), 0))
    for row in remarked.select(["position", "length", "remarks"]).to_pylist():
        for cls in sorted(MISFITS.intersection(row["remarks"])):
            part.damages.add(row["position"], row["length"], cls)
    if "offset" in entries.schema.names:
        batch = pc.and_(pc.equal(entries.column("magic"), 2), pc.is_null(entries.column("fault")))
        some = entries.filter(batch)
        names = ("offset", "last_offset", "leader_epoch", "position", "length")
        part.damages.ordered(*(some.column(name).to_numpy(zero_copy_only=False) for name in names))


def _strewn(
    part: Part, one: Signature, where: "np.ndarray[Any, np.dtype[np.int64]]", weight: int, stored: Stored
) -> None:
    """Many items of one verdict, each at its place."""
    starts, counts = np.unique(where - where % part.vectors.width, return_counts=True)
    for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
        part.vectors.put(start, one, count)
    part.vectors.add((one,), Sum(len(where), weight, (stored.shown, int(where.min()))))


def _one_refused(row: dict[str, Any], stored: Stored, asked: Settings, part: Part) -> None:
    item = Item(row["kind"], row["position"], row["length"], cls=row["fault"])
    one = _seen(asked, stored, item)
    judged = by_reference(_format(one, asked), item)
    part.damages.item(item)
    part.count(judged, item)
    part.account(item.kind, 1, item.length)
    part.sample(judged, one, stored.shown)
    _placed(part, (judged,), item, stored)


# --- all of them ---


def tasks_of(plan: Plan, count: int) -> list[list[int]]:
    """The spans that are left, as about `count` tasks of about the same weight, in order."""
    left = plan.left
    total = sum(plan.spans[number].weight for number in left)
    numbers = {id(plan.spans[number]): number for number in left}
    grain = max(1, -(-total // max(count, 1)))
    return [[numbers[id(span)] for span in task] for task in packed((plan.spans[n] for n in left), grain)]


@frozen
class Summary:
    """How a scan went: the tables `signatures` and `files` in memory, and the seconds of this run."""

    signatures: list[dict[str, Any]]
    files: list[dict[str, Any]]
    seconds: float
    spans: int


def run(plan: Plan, where: Where | str | None, progress: spanwise.Progress) -> Summary:
    """Scan what is left, then put the tables together.

    Args:
        plan: as `planned` gives it.
        where: it runs; a text is the master of Spark, None all cores of this machine.
        progress: is told of bytes done and in all, a few times a second.

    Raises:
        SourceError: an object changed, or there is no Java.
    """
    began, left = time.monotonic(), plan.left
    if left:
        spanwise.on_spark(plan, where, progress)
    signatures, files = merge(plan)
    return Summary(signatures, files, time.monotonic() - began, len(left))


def merge(plan: Plan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write the tables that are made of all spans, which are committed; gives `signatures` and `files`."""
    spanwise.tidy(plan.out)
    parts = [tables.load(plan.done(number)) for number in range(len(plan.spans))]
    signatures, files = tables.signatures(parts), list(tables.files(_accounts(plan, parts)))
    tables.write_table(plan.out / "signatures.parquet", signatures, tables.SIGNATURES)
    tables.write_table(plan.out / "samples.parquet", tables.samples(parts, plan.most), tables.SAMPLES)
    tables.write_table(plan.out / "matrix.parquet", vectors.matrix(parts), vectors.MATRIX)
    tables.write_table(plan.out / "positions.parquet", _positions(plan, parts), vectors.POSITIONS)
    tables.write_table(plan.out / "damage.parquet", _damages(plan, parts), damages.DAMAGE)
    skipped = [{"path": one.shown, "size": one.size, "why": one.why} for one in plan.skipped]
    tables.write_table(plan.out / "skipped.parquet", skipped, tables.SKIPPED)
    tables.write_table(plan.out / "files.parquet", files, tables.FILES)
    tables.write_table(plan.out / "run.parquet", [_manifest(plan)], tables.RUN)
    return signatures, files


def _positions(plan: Plan, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    shown = [span.place.shown for span in plan.spans]
    return vectors.positions(list(zip(shown, parts, strict=True)))


def _damages(plan: Plan, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    shown = [span.place.shown for span in plan.spans]
    return damages.rows(zip(shown, (part["damages"] for part in parts), strict=True))


def _accounts(plan: Plan, parts: list[dict[str, Any]]) -> Iterator[tuple[str, int, bool, dict[str, Any]]]:
    for span, part in zip(plan.spans, parts, strict=True):
        yield span.place.shown, span.place.size, span.place.compression is not None, part


def _manifest(plan: Plan) -> dict[str, Any]:
    shown = {key: text for key, text in plan.options.items() if key not in {"keys", "path", "paths"}}
    return {
        "version": __version__,
        "source": plan.name,
        "options": sorted(f"{key}={text}" for key, text in shown.items()),
        "adapters": list(plan.adapters),
        "spans": len(plan.spans),
        "objects": len({span.place for span in plan.spans}),
        "bytes": sum(span.end - span.start for span in plan.spans),
    }
