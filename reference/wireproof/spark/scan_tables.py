"""The tables of a scan: their schemas, the result of each span, and how the results are merged.

    OUT/plan.json            the arguments and the spans; written first
    OUT/frames/<span>.parquet    one row for each item, with the verdict of every implementation
    OUT/spans/<span>.json    the span's part of the other tables; written last, so it commits the span
    OUT/{signatures,samples,matrix,positions,damage,files,run}.parquet    at the end, from the spans alone
    OUT/skipped.parquet    the objects that are not read, and the reasons

Every file is written under another name and then renamed, so it is complete or absent; a span that is scanned
again writes the same bytes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa
from attrs import asdict, astuple, define, field, frozen

from wireproof.runner.signature import Signature
from wireproof.spark.damage_places import SpanDamage
from wireproof.spark.item_cases import ItemCase, ItemVerdict
from wireproof.spark.verdict_matrix import SIGNATURE, VerdictVectors, signature_columns
from wireproof.wire.scan_items import Item

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
