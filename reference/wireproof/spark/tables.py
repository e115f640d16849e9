"""The tables of a scan: their schemas, the part of each span, and how the parts are put together.

    OUT/plan.json            what was asked, and the spans; written first
    OUT/frames/<span>.parquet    one row an item, with what every implementation makes of it
    OUT/spans/<span>.json    what the other tables need of a span; written last, so that it commits the span
    OUT/{signatures,samples,matrix,positions,damage,files,run}.parquet    at the end, from the spans alone
    OUT/skipped.parquet    the objects that are not read, and why

Every file is written under another name and then renamed: it is there whole or not at all, and a span that is
read again writes the same bytes.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import asdict, astuple, define, field, frozen

from wireproof.files import replace, replace_text
from wireproof.spark.damages import Damages
from wireproof.spark.judging import Judged, Seen
from wireproof.spark.vectors import SIGNATURE, Vectors, named
from wireproof.trial.signature import Signature
from wireproof.wire.items import Item

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
"""One row an item. `kind`, `fault`, `remarks` are the reference's verdict; `verdicts` are the adapters'."""

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
"""The smallest items of each signature that is a finding. `codec_format`: what `raw` was asked as."""

FILES: Final = pa.schema(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("read", pa.int64()),
        *(
            (name, pa.int64())
            for name in ("frames", "frame_bytes", "garbage", "garbage_bytes", "tails", "tail_bytes")
        ),
        ("damaged", pa.int64()),
        ("fault", pa.string()),
    ]
)
"""The account: frame, garbage and tail bytes are `read`, which of what is not packed is `size`."""

SKIPPED: Final = pa.schema([("path", pa.string()), ("size", pa.int64()), ("why", pa.string())])
"""The objects that are not read."""

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
"""The manifest, in one row: nothing in it depends on when or how often the scan was run."""

SAMPLE_MOST: Final = 1024 * 1024
"""Bytes of a sample; what is longer is counted and not kept."""

COMPRESSION: Final = "zstd"


def write_table(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    """A small table."""
    table = pa.Table.from_pylist(rows, schema=schema)
    replace(path, lambda new: pq.write_table(table, new, compression=COMPRESSION), durable=False)


@frozen
class Sample:
    """An item that shows a signature."""

    signature: Signature
    object: str
    position: int
    length: int
    codec_format: str
    raw: str

    @property
    def order(self) -> tuple[Any, ...]:
        """The smallest first, and always the same ones."""
        return self.length, self.raw, self.object, self.position


@define
class Part:
    """What is gathered of one span.

    Attributes:
        most: samples of a signature that are kept.
        counts, weights: items and bytes by signature.
        kinds: items and bytes by kind.
        samples: by signature.
        vectors: what the implementations say together, and where.
        damages: what is not sound, place by place.
        fault: what became of the compression around the object.
    """

    most: int
    counts: Counter[Signature] = field(factory=Counter)
    weights: Counter[Signature] = field(factory=Counter)
    kinds: dict[str, list[int]] = field(
        factory=lambda: {kind: [0, 0] for kind in ("frame", "garbage", "tail")}
    )
    samples: dict[Signature, list[Sample]] = field(factory=dict)
    vectors: Vectors = field(factory=Vectors)
    damages: Damages = field(factory=Damages)
    fault: str | None = None

    def count(self, judged: Judged, item: Item, number: int = 1, weight: int | None = None) -> None:
        """Count an item, or several alike, under a signature."""
        self.counts[judged.signature] += number
        self.weights[judged.signature] += item.length if weight is None else weight

    def account(self, kind: str, number: int, weight: int) -> None:
        """Count bytes."""
        self.kinds[kind][0] += number
        self.kinds[kind][1] += weight

    def sample(self, judged: Judged, one: Seen, shown: str) -> None:
        """Keep the item if it is among the smallest of a finding."""
        if not judged.finding or len(one.data) > SAMPLE_MOST or len(one.data) != one.item.length:
            return
        asked = one.case.joined if one.case else ""
        held = self.samples.setdefault(judged.signature, [])
        held.append(Sample(judged.signature, shown, one.item.at, one.item.length, asked, one.data.hex()))
        held.sort(key=lambda sample: sample.order)
        del held[self.most :]

    def dump(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "signatures": [[*astuple(s), self.counts[s], self.weights[s]] for s in sorted(self.counts)],
            "kinds": self.kinds,
            "samples": [asdict(one) for key in sorted(self.samples) for one in self.samples[key]],
            "fault": self.fault,
            "damages": self.damages.dump(),
            **self.vectors.dump(),
        }


# --- the whole ---


def signatures(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The histogram over all spans."""
    total: Counter[tuple[str, ...]] = Counter()
    weight: Counter[tuple[str, ...]] = Counter()
    for part in parts:
        for *names, count, size in part["signatures"]:
            total[tuple(names)] += count
            weight[tuple(names)] += size
    return [{**named(Signature(*key)), "count": total[key], "bytes": weight[key]} for key in sorted(total)]


def samples(parts: Iterable[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The smallest of each signature over all spans."""
    held: dict[Signature, list[Sample]] = {}
    for part in parts:
        for row in part["samples"]:
            one = Sample(**{**row, "signature": Signature(**row["signature"])})
            held.setdefault(one.signature, []).append(one)
    chosen = (one for key in sorted(held) for one in sorted(held[key], key=lambda s: s.order)[:most])
    return [
        {
            **named(one.signature),
            "object": one.object,
            "position": one.position,
            "length": one.length,
            "codec_format": one.codec_format,
            "raw": bytes.fromhex(one.raw),
        }
        for one in chosen
    ]


def files(spans: Iterable[tuple[str, int, bool, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """The account of each object, of (path, size, packed, part) by span.

    Raises:
        AssertionError: the bytes of an object that is not packed are not its size.
    """
    rows: dict[str, dict[str, Any]] = {}
    packed: dict[str, bool] = {}
    for path, size, inside, part in spans:
        row = rows.setdefault(
            path, dict.fromkeys(FILES.names, 0) | {"path": path, "size": size, "fault": None}
        )
        packed[path] = inside
        for kind, (number, weight) in part["kinds"].items():
            row[f"{kind}s" if kind != "garbage" else kind] += number
            row[f"{kind}_bytes"] += weight
            row["read"] += weight
        row["damaged"] += part["damages"]["count"]
        row["fault"] = row["fault"] or part["fault"]
    for path, row in sorted(rows.items()):
        assert packed[path] or row["read"] == row["size"], f"{path}: {row['read']} of {row['size']} bytes"
        yield row


def load(path: Path) -> dict[str, Any]:
    """A JSON file that `save` wrote."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def save(path: Path, page: dict[str, Any]) -> None:
    """A JSON file, whole or not at all."""
    text = json.dumps(page, indent=None, sort_keys=True) + "\n"
    replace_text(path, text, durable=False)
