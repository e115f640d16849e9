"""What all implementations together say of items: the rows of a matrix, and where in the archive they lie.

Pure. To merge is associative and commutative, so that the spans of a job, in whatever order and number they
are done, give the same tables.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa
from attrs import astuple, define, field, frozen

from wireproof.fuzz.findings import name_of
from wireproof.trial.signature import Signature

PARTS: Final = ("implementation", "format", "op", "kind", "class", "path")
"""Of a signature, in its order."""

SIGNATURE: Final = [(name, pa.string()) for name in (*PARTS, "finding")]
"""A signature, and the name under which `promote` and the findings of fuzzers know it."""

MATRIX: Final = pa.schema(
    [
        ("answers", pa.list_(pa.struct(SIGNATURE))),
        ("count", pa.int64()),
        ("bytes", pa.int64()),
        ("object", pa.string()),
        ("position", pa.int64()),
    ]
)
"""One row for items of which every implementation says the same; `object` and `position` are of the first.

Of a campaign an item is a case, its position is its number, and `object` is empty.
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
"""Verdicts by the place where an item begins: `start` to `end` is a stretch of an object."""

STRETCHES: Final = 128
"""An object is shown in about so many stretches, of a power of two of bytes each."""

STRETCH_LEAST: Final = 64 * 1024

Vector = tuple[Signature, ...]
"""What each implementation says, the reference first where it is one of them."""


def stretch(size: int) -> int:
    """The bytes of a stretch of an object of `size` bytes."""
    return max(STRETCH_LEAST, 1 << max(0, -(-size // STRETCHES) - 1).bit_length())


@frozen
class Sum:
    """Items of one vector: how many, their bytes, and (object, position) of the first."""

    count: int
    weight: int
    first: tuple[str, int]

    def plus(self, other: "Sum") -> "Sum":
        """Both together."""
        return Sum(self.count + other.count, self.weight + other.weight, min(self.first, other.first))


@define
class Vectors:
    """Sums by vector, and counts by place.

    Attributes:
        width: of a stretch.
        sums: by vector.
        places: items by (start of the stretch, implementation, verdict).
    """

    width: int = STRETCH_LEAST
    sums: dict[Vector, Sum] = field(factory=dict)
    places: dict[tuple[int, str, str], int] = field(factory=dict)

    def add(self, vector: Vector, one: Sum) -> None:
        """Take items in, without their place."""
        before = self.sums.get(vector)
        self.sums[vector] = one if before is None else before.plus(one)

    def put(self, position: int, one: Signature, count: int = 1) -> None:
        """Count items at the place of one of them."""
        key = (position - position % self.width, one.implementation, one.kind)
        self.places[key] = self.places.get(key, 0) + count

    def dump(self) -> dict[str, Any]:
        """As JSON, in order."""
        return {
            "vectors": [
                [list(map(astuple, vector)), one.count, one.weight, list(one.first)]
                for vector, one in sorted(self.sums.items(), key=lambda pair: pair[0])
            ],
            "places": [[*key, self.places[key]] for key in sorted(self.places)],
            "width": self.width,
        }


# --- the whole ---


def matrix(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of `MATRIX` over all spans."""
    whole = Vectors()
    for part in parts:
        for vector, count, weight, first in part["vectors"]:
            whole.add(tuple(Signature(*one) for one in vector), Sum(count, weight, tuple(first)))
    return [
        {
            "answers": list(map(named, vector)), "count": one.count, "bytes": one.weight,
            "object": one.first[0], "position": one.first[1],
        }
        for vector, one in sorted(whole.sums.items(), key=lambda pair: pair[0])
    ]  # fmt: skip


def named(one: Signature) -> dict[str, str]:
    """The columns of `SIGNATURE`."""
    return {**dict(zip(PARTS, astuple(one), strict=True)), "finding": name_of(one)}


def positions(parts: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows of `POSITIONS` over all spans, of (object, part)."""
    total: dict[tuple[str, int, int, str, str], int] = {}
    for shown, part in parts:
        for start, implementation, verdict, count in part["places"]:
            key = (shown, start, start + part["width"], implementation, verdict)
            total[key] = total.get(key, 0) + count
    return [dict(zip(POSITIONS.names, (*key, total[key]), strict=True)) for key in sorted(total)]
