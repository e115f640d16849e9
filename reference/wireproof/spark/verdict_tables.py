"""The tables of scans and campaigns: combined verdicts, damaged places, signatures, samples and objects.

A scan writes:

    OUT/plan.json            the arguments and the spans; written first
    OUT/frames/<span>.parquet    one row for each item, with the verdict of every implementation
    OUT/spans/<span>.json    the span's part of the other tables; written last, so it commits the span
    OUT/{signatures,samples,matrix,positions,damage,files,run}.parquet    at the end, from the spans alone
    OUT/skipped.parquet    the objects that are not read, and the reasons

Every file is written under another name and then renamed, so it is complete or absent; a span that is scanned
again writes the same bytes.

No I/O happens here. Merging is associative and commutative, so the tables do not depend on the order and
number of the spans.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import asdict, astuple, define, field, frozen

from wireproof.cases.log_survey import mismatch_remarks
from wireproof.fuzz.findings import finding_name
from wireproof.runner.signature import Signature
from wireproof.spark.item_cases import ItemCase, ItemVerdict
from wireproof.wire.scan_items import Item

# --- the matrix ---

SIGNATURE_PARTS: Final = ("implementation", "format", "op", "kind", "class", "path")
"""The parts of a signature, in its order."""

SIGNATURE: Final = [(name, pa.string()) for name in (*SIGNATURE_PARTS, "finding")]
"""A signature, and the name that `promote` and the findings of fuzzers use for it."""

MATRIX: Final = pa.schema(
    [
        ("answers", pa.list_(pa.struct(SIGNATURE))),
        ("count", pa.int64()),
        ("bytes", pa.int64()),
        ("object", pa.string()),
        ("position", pa.int64()),
    ]
)
"""One row for all items that have the same verdict from every implementation.

`object` and `position` are those of the first item. In a campaign an item is a case, its position is its
number, and `object` is empty.
"""

POSITIONS: Final = pa.schema(
    [
        ("object", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("implementation", pa.string()),
        ("verdict", pa.string()),
        ("count", pa.int64()),
    ]
)
"""Verdicts by the place where an item begins; `start` to `end` is a stretch of an object."""

STRETCHES: Final = 128
"""An object is shown in about that many stretches; the bytes of a stretch are a power of two."""

MIN_STRETCH: Final = 64 * 1024

Vector = tuple[Signature, ...]
"""The verdicts of the implementations; the reference is first if it is one of them."""


def stretch_bytes(size: int) -> int:
    """Return the bytes of a stretch of an object of `size` bytes."""
    return max(MIN_STRETCH, 1 << max(0, -(-size // STRETCHES) - 1).bit_length())


@frozen
class VectorTotal:
    """Items with one vector: their number, their bytes, and (object, position) of the first."""

    count: int
    weight: int
    first: tuple[str, int]

    def plus(self, other: "VectorTotal") -> "VectorTotal":
        """Return the sum of both."""
        return VectorTotal(self.count + other.count, self.weight + other.weight, min(self.first, other.first))


@define
class VerdictVectors:
    """The totals by vector, and the counts by place.

    Attributes:
        width: bytes of a stretch.
        sums: by vector.
        places: numbers of items by (start of the stretch, implementation, verdict).
    """

    width: int = MIN_STRETCH
    sums: dict[Vector, VectorTotal] = field(factory=dict)
    places: dict[tuple[int, str, str], int] = field(factory=dict)

    def add(self, vector: Vector, total: VectorTotal) -> None:
        """Add items to the total of a vector."""
        before = self.sums.get(vector)
        self.sums[vector] = total if before is None else before.plus(total)

    def put(self, position: int, signature: Signature, count: int = 1) -> None:
        """Count items at the place of one of them."""
        key = (position - position % self.width, signature.implementation, signature.kind)
        self.places[key] = self.places.get(key, 0) + count

    def dump(self) -> dict[str, Any]:
        """Return the JSON form, sorted."""
        return {
            "vectors": [
                [list(map(astuple, vector)), total.count, total.weight, list(total.first)]
                for vector, total in sorted(self.sums.items(), key=lambda pair: pair[0])
            ],
            "places": [[*key, self.places[key]] for key in sorted(self.places)],
            "width": self.width,
        }


# --- the whole ---


def matrix_rows(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of `MATRIX` over all spans."""
    whole = VerdictVectors()
    for part in parts:
        for vector, count, weight, first in part["vectors"]:
            whole.add(tuple(Signature(*one) for one in vector), VectorTotal(count, weight, tuple(first)))
    return [
        {
            "answers": list(map(signature_columns, vector)), "count": one.count, "bytes": one.weight,
            "object": one.first[0], "position": one.first[1],
        }
        for vector, one in sorted(whole.sums.items(), key=lambda pair: pair[0])
    ]  # fmt: skip


def signature_columns(signature: Signature) -> dict[str, str]:
    """Return the columns of `SIGNATURE`."""
    return {**dict(zip(SIGNATURE_PARTS, astuple(signature), strict=True)), "finding": finding_name(signature)}


def position_rows(parts: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows of `POSITIONS` over all spans, from pairs (object, part)."""
    total: dict[tuple[str, int, int, str, str], int] = {}
    for name, part in parts:
        for start, implementation, verdict, count in part["places"]:
            key = (name, start, start + part["width"], implementation, verdict)
            total[key] = total.get(key, 0) + count
    return [dict(zip(POSITIONS.names, (*key, total[key]), strict=True)) for key in sorted(total)]


# --- damaged places ---
#
# No checksum covers offsets and leader epochs of Kafka's batches, but in a segment they rise. The first and
# the last ones of each span are stored, so that the order between two spans of an object can be checked at
# the end.

MAX_PLACES: Final = 1000
"""Places that are listed for a span; the others are only counted."""

OFFSET_ORDER: Final = "offsets-not-monotonic"
EPOCH_ORDER: Final = "leader-epoch-order"

SEGMENT: Final = re.compile(r"\d{20}\.log(\.gz|\.bz2|\.zst|\.lz4)?")
"""The name of a segment, whose entries belong to one partition; other objects may mix partitions."""

DAMAGE: Final = pa.schema(
    [("path", pa.string()), ("position", pa.int64()), ("length", pa.int64()), ("class", pa.string())]
)
"""One row for each place."""


@define
class SpanDamage:
    """The damaged places of a span.

    Attributes:
        places: position, length and class of the first places.
        count: of all places.
        begins: first offset, leader epoch, position and length of the first batch; None if there is none.
        ends: last offset and leader epoch of the last batch; None if there is none.
    """

    places: list[list[Any]] = field(factory=list)
    count: int = 0
    begins: list[int] | None = None
    ends: list[int] | None = None

    def add(self, position: int, length: int, cls: str) -> None:
        """Add a place."""
        self.count += 1
        if len(self.places) < MAX_PLACES:
            self.places.append([position, length, cls])

    def add_item(self, item: Item) -> None:
        """Add the errors of an item."""
        if item.kind == "garbage":
            self.add(item.at, item.length, item.cls or "other")
        for cls in dict.fromkeys(remark.cls for remark in item.remarks if remark.cls in mismatch_remarks()):
            self.add(item.at, item.length, cls)

    def add_entry(self, item: Item, order: tuple[int, int, int]) -> None:
        """Add the errors in the order of an entry, by its first and last offset and its leader epoch."""
        self.add_batches(*(np.array([number], np.int64) for number in (*order, item.at, item.length)))

    def add_batches(self, first: Any, last: Any, epoch: Any, position: Any, length: Any) -> None:  # noqa: ANN401 - arrays
        """Add the batches that are out of order; each array has one element for each batch."""
        if not first.size:
            return
        if self.begins is None:
            self.begins = [int(first[0]), int(epoch[0]), int(position[0]), int(length[0])]
            self.ends = [int(first[0]) - 1, int(epoch[0])]
        assert self.ends is not None, "set together with `begins`"
        lasts = np.concatenate([[self.ends[0]], last])
        epochs = np.concatenate([[self.ends[1]], epoch])
        for cls, wrong in (
            (OFFSET_ORDER, first <= lasts[:-1]),
            (EPOCH_ORDER, (epoch < epochs[:-1]) | (epoch < -1)),
        ):
            for row in np.flatnonzero(wrong).tolist():
                self.add(int(position[row]), int(length[row]), cls)
        self.ends = [int(lasts[-1]), int(epochs[-1])]

    def dump(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"places": self.places, "count": self.count, "begins": self.begins, "ends": self.ends}


def is_segment(name: str) -> bool:
    """Return whether an object has the name of a segment."""
    return SEGMENT.fullmatch(Path(name).name) is not None


def damage_across_spans(spans: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the places of all spans, with their objects, and the entries out of order between two spans."""
    before: dict[str, list[int]] = {}
    for name, damage in spans:
        begins, last = damage["begins"], before.get(name)
        if begins and last:
            if begins[0] <= last[0]:
                yield name, [begins[2], begins[3], OFFSET_ORDER]
            if begins[1] < last[1]:
                yield name, [begins[2], begins[3], EPOCH_ORDER]
        yield from ((name, place) for place in damage["places"])
        if damage["ends"]:
            before[name] = damage["ends"]


def damage_rows(spans: Iterable[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows of the table of damage."""
    return [
        {"path": name, "position": at, "length": length, "class": cls}
        for name, (at, length, cls) in damage_across_spans(spans)
    ]


# --- spans ---

VERDICTS: Final = pa.list_(
    pa.struct(
        [("adapter", pa.string()), ("verdict", pa.string()), ("class", pa.string()), ("cluster", pa.string())]
    )
)

FRAMES: Final = pa.schema(
    [
        ("path", pa.string()),
        ("position", pa.int64()),
        ("length", pa.int64()),
        ("format", pa.string()),
        ("kind", pa.string()),
        ("fault", pa.string()),
        ("remarks", pa.list_(pa.string())),
        ("verdicts", VERDICTS),
    ]
)
"""One row for each item. `kind`, `fault` and `remarks` are of the reference, `verdicts` of the adapters."""

SIGNATURES: Final = pa.schema([*SIGNATURE, ("count", pa.int64()), ("bytes", pa.int64())])

SAMPLES: Final = pa.schema(
    [
        *SIGNATURE,
        ("object", pa.string()),
        ("position", pa.int64()),
        ("length", pa.int64()),
        ("codec_format", pa.string()),
        ("raw", pa.binary()),
    ]
)
"""The smallest items of each signature that is a finding.

`codec_format` is the format as which adapters were asked about `raw`.
"""

FILES: Final = pa.schema(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("bytes_read", pa.int64()),
        *(
            (name, pa.int64())
            for name in ("frames", "frame_bytes", "garbage", "garbage_bytes", "tails", "tail_bytes")
        ),
        ("damaged_places", pa.int64()),
        ("fault", pa.string()),
    ]
)
"""The bytes of each object.

The bytes of frames, garbage and tails add up to `bytes_read`, which equals `size` for an object that is not
compressed.
"""

SKIPPED: Final = pa.schema([("path", pa.string()), ("size", pa.int64()), ("reason", pa.string())])
"""The objects that are not read, and the reasons."""

RUN: Final = pa.schema(
    [
        ("version", pa.string()),
        ("source", pa.string()),
        ("options", pa.list_(pa.string())),
        ("adapters", pa.list_(pa.string())),
        ("spans", pa.int64()),
        ("objects", pa.int64()),
        ("bytes", pa.int64()),
    ]
)
"""The arguments, in one row; it does not depend on when or how often the scan was run."""

MAX_SAMPLE_BYTES: Final = 1024 * 1024
"""The greatest sample, in bytes; longer items are counted but not stored."""


@frozen
class ItemSample:
    """An item that has a signature."""

    signature: Signature
    object: str
    position: int
    length: int
    codec_format: str
    raw: str

    @property
    def order(self) -> tuple[Any, ...]:
        """Return the sort key: the smallest first, and always the same ones."""
        return self.length, self.raw, self.object, self.position


@define
class SpanResult:
    """The results of one span.

    Attributes:
        most: the number of samples that are stored for a signature.
        counts, weights: items and bytes by signature.
        kinds: items and bytes by kind.
        samples: by signature.
        vectors: the combined verdicts, and their places.
        damages: the damaged places.
        fault: the error of the decompression of the object, if any.
    """

    most: int
    counts: Counter[Signature] = field(factory=Counter)
    weights: Counter[Signature] = field(factory=Counter)
    kinds: dict[str, list[int]] = field(
        factory=lambda: {kind: [0, 0] for kind in ("frame", "garbage", "tail")}
    )
    samples: dict[Signature, list[ItemSample]] = field(factory=dict)
    vectors: VerdictVectors = field(factory=VerdictVectors)
    damages: SpanDamage = field(factory=SpanDamage)
    fault: str | None = None

    def count(self, judged: ItemVerdict, item: Item, number: int = 1, weight: int | None = None) -> None:
        """Count an item, or several equal ones, for a signature."""
        self.counts[judged.signature] += number
        self.weights[judged.signature] += item.length if weight is None else weight

    def account(self, kind: str, number: int, weight: int) -> None:
        """Count items and bytes of a kind."""
        self.kinds[kind][0] += number
        self.kinds[kind][1] += weight

    def sample(self, judged: ItemVerdict, item_case: ItemCase, name: str) -> None:
        """Store the item if it is among the smallest of a finding."""
        item, data, case = item_case.item, item_case.data, item_case.case
        if not judged.finding or len(data) > MAX_SAMPLE_BYTES or len(data) != item.length:
            return
        codec_format = case.format_id if case else ""
        held = self.samples.setdefault(judged.signature, [])
        held.append(ItemSample(judged.signature, name, item.at, item.length, codec_format, data.hex()))
        held.sort(key=lambda sample: sample.order)
        del held[self.most :]

    def dump(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "signatures": [
                [*astuple(signature), self.counts[signature], self.weights[signature]]
                for signature in sorted(self.counts)
            ],
            "kinds": self.kinds,
            "samples": [asdict(sample) for key in sorted(self.samples) for sample in self.samples[key]],
            "fault": self.fault,
            "damages": self.damages.dump(),
            **self.vectors.dump(),
        }


# --- the whole ---


def merge_signatures(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the counts by signature over all spans."""
    total: Counter[tuple[str, ...]] = Counter()
    weight: Counter[tuple[str, ...]] = Counter()
    for part in parts:
        for *names, count, size in part["signatures"]:
            total[tuple(names)] += count
            weight[tuple(names)] += size
    return [
        {**signature_columns(Signature(*key)), "count": total[key], "bytes": weight[key]}
        for key in sorted(total)
    ]


def merge_samples(parts: Iterable[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the smallest samples of each signature over all spans."""
    held: dict[Signature, list[ItemSample]] = {}
    for part in parts:
        for row in part["samples"]:
            sample = ItemSample(**{**row, "signature": Signature(**row["signature"])})
            held.setdefault(sample.signature, []).append(sample)
    chosen = (sample for key in sorted(held) for sample in sorted(held[key], key=attrgetter("order"))[:most])
    return [
        {
            **signature_columns(sample.signature),
            "object": sample.object,
            "position": sample.position,
            "length": sample.length,
            "codec_format": sample.codec_format,
            "raw": bytes.fromhex(sample.raw),
        }
        for sample in chosen
    ]


def merge_files(spans: Iterable[tuple[str, int, bool, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield the row of each object, from (path, size, compressed, part) by span.

    Raises:
        AssertionError: the bytes of an object that is not compressed do not add up to its size.
    """
    rows: dict[str, dict[str, Any]] = {}
    is_compressed: dict[str, bool] = {}
    for path, size, compressed, part in spans:
        row = rows.setdefault(
            path, dict.fromkeys(FILES.names, 0) | {"path": path, "size": size, "fault": None}
        )
        is_compressed[path] = compressed
        for kind, (number, weight) in part["kinds"].items():
            row[f"{kind}s" if kind != "garbage" else kind] += number
            row[f"{kind}_bytes"] += weight
            row["bytes_read"] += weight
        row["damaged_places"] += part["damages"]["count"]
        row["fault"] = row["fault"] or part["fault"]
    for path, row in sorted(rows.items()):
        complete = is_compressed[path] or row["bytes_read"] == row["size"]
        assert complete, f"{path}: {row['bytes_read']} of {row['size']} bytes"
        yield row
