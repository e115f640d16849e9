"""Which format unknown bytes are: every row of `FORMATS` is tried, the best fit first.

A row that accepts all the bytes beats one that accepts a part, which beats one that refuses; among
refusals the one that understood most fields is nearest. An accepted JSON text or a framed stream says
more than a few bytes that happen to parse, so fields that were read count last.
"""

from collections.abc import Sequence

from attrs import frozen

from wireproof.formats import FORMATS, Format, Layout, layout
from wireproof.wire.options import DEFAULT, Options


@frozen
class Fit:
    """A row and what it made of the bytes."""

    row: Format
    layout: Layout

    @property
    def rank(self) -> tuple[int, int, int]:
        """Higher is better: accepted, bytes consumed, fields read."""
        decoded = self.layout.decoded
        if decoded is not None and decoded.consumed:
            return (1, decoded.consumed, len(self.layout.spans))
        return (0, 0, len(self.layout.spans))


def fits(data: bytes, rows: Sequence[Format] = (), options: Options = DEFAULT) -> list[Fit]:
    """Every row (or those given) with its layout of `data`, the best fit first."""
    found = [Fit(row, layout(row, data, options)) for row in rows or FORMATS.values()]
    return sorted(found, key=lambda fit: fit.rank, reverse=True)
