"""Count the combined verdicts of all implementations: the rows of the matrix and their places.

No I/O happens here. Merging is associative and commutative, so the tables do not depend on the order and
number of the spans.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa
from attrs import astuple, define, field, frozen

from wireproof.fuzz.findings import finding_name
from wireproof.runner.signature import Signature

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
