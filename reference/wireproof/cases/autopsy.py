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
from wireproof.wire.reader import Budget, TracingReader
from wireproof.wire.rejected import Rejected
from wireproof.wire.trace import Span

PADDING: Final = 1 << 16
"""Zeros that stand for what was cut off."""

CHECKS: Final = 4
"""Readings at most: one for each wrong checksum inside another."""

BEYOND: Final = 64
"""Fields read of these zeros, after which a reading ends: what is told late of a field in front of them has
been told, and zeros may stand for messages without end."""


class Within(list[Span]):
    """The fields of a reading that ends where too many of them lie behind the first `size` bytes."""

    __slots__ = ("left", "size")

    def __init__(self, size: int) -> None:
        """No fields yet."""
        super().__init__()
        self.size = size
        self.left = BEYOND

    def append(self, span: Span) -> None:
        """Add a field; raises `Rejected` (`truncated`) for one too many behind the bytes."""
        if not span.space and span.start >= self.size:
            self.left -= 1
            if self.left < 0:
                raise Rejected("truncated", span.start, span.path)
        super().append(span)


def autopsy(row: Format, data: bytes, options: Options = DEFAULT) -> Layout:
    """The layout of `data`, with the fields behind the fault that it is refused for."""
    seen = layout(row, data, options)
    if seen.rejected is None or seen.rejected.cls not in ("crc-mismatch", "truncated"):
        return seen
    padded = data + bytes(PADDING) if seen.rejected.cls == "truncated" else data
    readings = [seen.spans, *_further(row, padded, len(data), options)]
    return evolve(seen, spans=_merged(readings, len(data)))


def _further(row: Format, data: bytes, size: int, options: Options) -> Iterator[tuple[Span, ...]]:
    """The fields of `data`, then those of the same bytes once one checksum more is made to fit."""
    for _ in range(CHECKS):
        spans, rejected = _read(row, data, size, options)
        yield spans
        if rejected is None or rejected.cls != "crc-mismatch":
            break
        data = resealed(Damaged(data, spans), lengths=False).data


def _read(row: Format, data: bytes, size: int, options: Options) -> tuple[tuple[Span, ...], Rejected | None]:
    """The fields of the first `size` bytes and of a little behind them, and the refusal of the whole."""
    spans = Within(size)
    reader = TracingReader(data, budget=Budget(options.max_output), spans=spans)
    try:
        row.decode(reader, options)
    except Rejected as rejected:
        return tuple(spans), rejected
    return tuple(spans), None


def _merged(readings: Sequence[tuple[Span, ...]], size: int) -> tuple[Span, ...]:
    """Each field as the first reading has it, if it lies inside the bytes that there are."""
    found: dict[tuple[str, int, str], Span] = {}
    for spans in readings:
        for span in spans:
            if span.space or span.end <= size:
                found.setdefault((span.space, span.start, span.path), span)
    return tuple(found.values())
