"""Best-effort layout of damaged bytes, which `explain` and the reports show.

A reader stops at the first fault; a person wants to see the fields after it. Where a checksum is wrong the
bytes are decoded again as if it were right, and where they are cut as if zeros followed. The reported fault
stays the first one, and fields keep their original values.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import evolve

from wireproof.cases.edit_bytes import EditedBytes, fix_up
from wireproof.formats import Format, TracedDecode, decode_with_trace, trace_with_reader
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Budget, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan

PADDING_BYTES: Final = 1 << 16
"""Zeros that replace the bytes that were cut off."""

MAX_READINGS: Final = 4
"""Maximum number of readings: one for each wrong checksum inside another."""

MAX_FIELDS_BEYOND: Final = 64
"""Fields read beyond the bytes, after which a reading stops: zeros can be endless messages."""


class BoundedSpans(list[FieldSpan]):
    """The fields of a reading that stops after too many fields beyond the first `size` bytes."""

    __slots__ = ("left", "size")

    def __init__(self, size: int) -> None:
        """Start without fields."""
        super().__init__()
        self.size = size
        self.left = MAX_FIELDS_BEYOND

    def append(self, span: FieldSpan) -> None:
        """Add a field; raises `Rejected` (`truncated`) after too many beyond the bytes."""
        if not span.space and span.start >= self.size:
            self.left -= 1
            if self.left < 0:
                raise Rejected("truncated", span.start, span.path)
        super().append(span)


def layout_of_damaged(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> TracedDecode:
    """Return the layout of `data`, with the fields after the fault for which it is rejected."""
    first = decode_with_trace(fmt, data, options)
    if first.rejected is None or first.rejected.cls not in ("crc-mismatch", "truncated"):
        return first
    padded = data + bytes(PADDING_BYTES) if first.rejected.cls == "truncated" else data
    readings = [first.spans, *_further(fmt, padded, len(data), options)]
    return evolve(first, spans=_merged(readings, len(data)))


def _further(fmt: Format, data: bytes, size: int, options: Options) -> Iterator[tuple[FieldSpan, ...]]:
    """Yield the fields of `data`, then those of the same bytes after each wrong checksum is fixed up."""
    for _ in range(MAX_READINGS):
        layout = _bounded_layout(fmt, data, size, options)
        yield layout.spans
        if layout.rejected is None or layout.rejected.cls != "crc-mismatch":
            break
        data = fix_up(EditedBytes(data, layout.spans), lengths=False).data


def _bounded_layout(fmt: Format, data: bytes, size: int, options: Options) -> TracedDecode:
    """Return the layout of the first `size` bytes and of some beyond them."""
    reader = TracingReader(data, budget=Budget(options.max_output), spans=BoundedSpans(size))
    return trace_with_reader(fmt, reader, options)


def _merged(readings: Sequence[tuple[FieldSpan, ...]], size: int) -> tuple[FieldSpan, ...]:
    """Return each field as the first reading has it, if it lies inside the real bytes."""
    found: dict[tuple[str, int, str], FieldSpan] = {}
    for spans in readings:
        for span in spans:
            if span.space or span.end <= size:
                found.setdefault((span.space, span.start, span.path), span)
    return tuple(found.values())
