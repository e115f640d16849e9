"""The layout of damaged bytes, as far as it can be told: what `explain` and the reports show.

A reader stops at the first fault; a person wants to see what lies behind it. Where a checksum is wrong the
bytes are read again as if it were right, and where they are cut as if zeros followed. The fault that is
reported stays the first one, and fields keep the values that stand there.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import evolve

from wireproof.cases.damage import Damaged, resealed
from wireproof.formats import Format, Layout, layout
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.trace import Span

PADDING: Final = 1 << 16
"""Zeros that stand for what was cut off."""

CHECKS: Final = 4
"""Readings at most: one for each wrong checksum inside another."""


def autopsy(row: Format, data: bytes, options: Options = DEFAULT) -> Layout:
    """The layout of `data`, with the fields behind the fault that it is refused for."""
    seen = layout(row, data, options)
    if seen.rejected is None or seen.rejected.cls not in ("crc-mismatch", "truncated"):
        return seen
    padded = data + bytes(PADDING) if seen.rejected.cls == "truncated" else data
    readings = [seen.spans, *_further(row, padded, options)]
    return evolve(seen, spans=_merged(readings, len(data)))


def _further(row: Format, data: bytes, options: Options) -> Iterator[tuple[Span, ...]]:
    """The fields of `data`, then those of the same bytes once one checksum more is made to fit."""
    for _ in range(CHECKS):
        again = layout(row, data, options)
        yield again.spans
        if again.rejected is None or again.rejected.cls != "crc-mismatch":
            break
        data = resealed(Damaged(data, again.spans), lengths=False).data


def _merged(readings: Sequence[tuple[Span, ...]], size: int) -> tuple[Span, ...]:
    """Each field as the first reading has it, if it lies inside the bytes that there are."""
    found: dict[tuple[str, int, str], Span] = {}
    for spans in readings:
        for span in spans:
            if span.space or span.end <= size:
                found.setdefault((span.space, span.start, span.path), span)
    return tuple(found.values())
