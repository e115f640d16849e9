"""Hex dump of the bytes around a fault, with the field marked: two lines of a report."""

from typing import Final

from attrs import frozen

from wireproof import formats
from wireproof.cases.case import Case, Chunks, Data
from wireproof.formats import TracedDecode
from wireproof.inspect.detect_format import layout_of_damaged
from wireproof.inspect.field_listing import by_path, innermost
from wireproof.wire.rejection import Position
from wireproof.wire.trace import FieldSpan

ROW: Final = 16
"""Bytes of an excerpt."""


@frozen
class Excerpt:
    """A row of bytes and, below it, a caret with the name of the field."""

    bytes: str
    caret: str


def data_of(case: Case) -> bytes | None:
    """Return the bytes of a case; an encode has none before it is run."""
    match case.input:
        case Data(data):
            return data
        case Chunks(chunks):
            return b"".join(chunks)
        case _:
            return None


def layout_of(case: Case) -> TracedDecode | None:
    """Return the reference's layout of a case's bytes; None for an encode or an unknown format."""
    data, row = data_of(case), formats.FORMATS.get(case.format_id)
    return None if data is None or row is None else layout_of_damaged(row, data, case.effective_options)


def excerpt_of(case: Case, at: Position | None, path: str = "", twin: Case | None = None) -> Excerpt | None:
    """Return the bytes around a position or the field `path`; None if neither is known."""
    data, layout = data_of(case), layout_of(case)
    if not data or layout is None:
        return None
    here = innermost(layout.spans, at)
    span = here or by_path(layout.spans, path)
    start, end = wire_range(span, at)
    if not 0 <= start < len(data):
        return None
    row, column = _row(data, start, min(end, len(data)))
    name = span.path if span is not None else path
    parts = [name or f"byte {start}"]
    if here is None and span is not None and not span.path.startswith(path):
        parts.append(f"{path} has no bytes of its own")
    if span is not None and span.space:
        parts.append(f"in the bytes unpacked from here, at {span.at}")
    other = data_of(twin) if twin is not None else None
    if other is not None and start < len(other) and other[start] != data[start]:
        parts.append(f"the accepted twin has {other[start]:02x}")
    return Excerpt(row, " " * column + "^^ " + "; ".join(parts))


def wire_range(span: FieldSpan | None, at: Position | None) -> tuple[int, int]:
    """Return the range of wire bytes to mark; for decompressed bytes, the start of their region."""
    if span is not None and not span.space:
        return span.start, max(span.end, span.start + 1)
    place = span.at if span is not None else at
    outer = str(place).split(">")[0]
    return (int(outer), int(outer) + 1) if outer.isdecimal() else (-1, -1)


def _row(data: bytes, start: int, end: int) -> tuple[str, int]:
    """Return one row of hex with bars around the field, and the column of its first byte."""
    first = start - start % ROW
    if end - first > ROW and end - start <= ROW:
        first = max(0, end - ROW)
    text = f"{first:04x} "
    column = 0
    for at in range(first, min(first + ROW, len(data))):
        text += "│" if at in (start, end) else " "
        column = len(text) if at == start else column
        text += f"{data[at]:02x}"
    stop = min(first + ROW, len(data))
    return text + ("│" if end == stop else " …" if stop < len(data) else ""), column
