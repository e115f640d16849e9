"""Which format unknown bytes are: every row of `FORMATS` is tried, the best fit first.

A row that accepts all the bytes beats one that accepts a part, which beats one that refuses; among
refusals one that comes after the frame's own magic and lengths (`KNOWN`) beats the others, and then the
one that understood most fields is nearest. An accepted JSON text or a framed stream says
more than a few bytes that happen to parse, so fields that were read count last.
"""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from wireproof.formats import FORMATS, Format, Layout, layout
from wireproof.wire.classes import RejectClass
from wireproof.wire.options import DEFAULT, Options

KNOWN: Final[frozenset[RejectClass]] = frozenset(
    {
        "crc-mismatch", "auth-failed", "decompress-failed", "count-mismatch", "bad-control", "unknown-codec",
        "bad-offset", "not-permitted", "limit-exceeded",
    }
)  # fmt: skip
"""What is refused so was known for its format first: other bytes hardly get that far."""


@frozen
class Fit:
    """A row and what it made of the bytes."""

    row: Format
    layout: Layout

    @property
    def rank(self) -> tuple[int, int, int]:
        """Higher is better: accepted, bytes consumed or known by its refusal, fields read."""
        decoded = self.layout.decoded
        if decoded is not None and decoded.consumed:
            return (1, decoded.consumed, len(self.layout.spans))
        rejected = self.layout.rejected
        return (0, int(rejected is not None and rejected.cls in KNOWN), len(self.layout.spans))


def fits(data: bytes, rows: Sequence[Format] = (), options: Options = DEFAULT) -> list[Fit]:
    """Every row (or those given) with its layout of `data`, the best fit first."""
    found = [Fit(row, layout(row, data, options)) for row in rows or FORMATS.values()]
    return sorted(found, key=lambda fit: fit.rank, reverse=True)
