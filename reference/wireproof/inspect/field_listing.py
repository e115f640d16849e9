"""The fields of some bytes as lines of text, for `explain`, the terminal and the HTML report.

All offsets come from the trace of the decode.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen

from wireproof.formats import TracedDecode
from wireproof.wire.rejection import Position
from wireproof.wire.text import octets
from wireproof.wire.trace import Cover, FieldSpan

WIDEST: Final = 48
"""Characters of a value; longer values are cut, and their length is shown."""

NO_NOTES: Final[Mapping[str, str]] = {}


@frozen
class FieldLine:
    """One line of a tree: a field, or the heading of those below it (`size` -1).

    Attributes:
        depth: steps from the root of the value.
        at: its position; empty for a heading.
        size: its bytes.
        name: the last part of its path.
        type, value, cover: as in the trace, as text.
        marked: True if the marked position is in it.
        note: what the value means, if it is stored in a short form.
    """

    depth: int
    at: str
    size: int
    name: str
    type: str = ""
    value: str = ""
    cover: str = ""
    marked: bool = False
    note: str = ""

    def __str__(self) -> str:
        size = "" if self.size < 0 else str(self.size)
        head = f"{'>' if self.marked else ' '} {self.at:>9} {size:>6}  {'  ' * self.depth}{self.name}"
        note = f"= {self.note}" if self.note else ""
        return "  ".join(part for part in (head, self.type, self.value, note, self.cover) if part)


def field_lines(
    layout: TracedDecode, mark: Position | None = None, notes: Mapping[str, str] = NO_NOTES
) -> Iterator[FieldLine]:
    """Yield the tree of a layout in the order of the bytes.

    `mark` is the position to point at; `notes` are what values mean, by the path of the field.
    """
    marked = innermost(layout.spans, mark)
    for line, span in lines_with_spans(layout):
        if span is None:
            yield line
        else:
            yield evolve(line, marked=span is marked, note=notes.get(span.path, ""))


def text_notes(spans: Sequence[FieldSpan]) -> dict[str, str]:
    notes = {}
    for span in spans:
        if isinstance(span.value, bytes | bytearray) and span.value:
            shown = octets(bytes(span.value), WIDEST)
            if shown[0] in "'\"":
                notes[span.path] = shown
    return notes


def lines_with_spans(layout: TracedDecode) -> Iterator[tuple[FieldLine, FieldSpan | None]]:
    """Yield the lines of a tree, each with its field; headings and the refusal have none."""
    ends: dict[tuple[str, int], int] = {}  # of each region, by its space and its first byte
    for span in layout.spans:
        key = (span.space, span.start)
        ends[key] = max(ends.get(key, 0), span.end)
    above: tuple[str, ...] = ()
    for span in sorted(layout.spans, key=lambda span: _order(span, ends)):
        path = tuple(span.path.split("."))
        for depth, name in enumerate(path[:-1]):
            if path[: depth + 1] != above[: depth + 1]:
                yield FieldLine(depth, "", -1, name), None
        above = path
        size, value, cover = span.end - span.start, short_field_value(span.value), cover_text(span.cover)
        yield FieldLine(len(path) - 1, str(span.at), size, path[-1], span.type, value, cover), span
    if layout.rejected is not None:
        refused = layout.rejected
        text = FieldLine(
            0, str(refused.at), -1, "refused", refused.cls, refused.path, refused.text, marked=True
        )
        yield text, None


def _order(span: FieldSpan, ends: Mapping[tuple[str, int], int]) -> tuple[int, ...]:
    """Return the sort key of a span: decompressed data after the fields of its region, outer spans first."""
    key: list[int] = []
    space = ""
    for step in (int(step) for step in span.space.split(">") if step):
        key += (ends.get((space, step), step), -1, 0)
        space += f"{step}>"
    return (*key, span.start, int(span.end > span.start), -span.end)


def short_field_value(value: Any) -> str:  # noqa: ANN401 - whatever a field decodes to
    match value:
        case None:
            return "null"
        case bytes() | bytearray():
            text = value[:WIDEST].hex() or "(empty)"
        case _:
            text = str(value)
    length = f" ({len(value)} bytes)" if isinstance(value, bytes | bytearray) else ""
    return text if len(text) <= WIDEST else f"{text[:WIDEST]}…{length}"


def cover_text(cover: Cover | None) -> str:
    """Describe the bytes or items that a length, count or checksum is about."""
    if cover is None:
        return ""
    return f"{cover.kind} of " + (f"{cover.start}..{cover.end - 1}" if cover.end > cover.start else "nothing")


def innermost(spans: Sequence[FieldSpan], at: Position | None) -> FieldSpan | None:
    """Return the smallest span that contains the position; None if no field does."""
    if at is None:
        return None
    space, _, offset = str(at).rpartition(">")
    space = f"{space}>" if space else ""
    if not offset.isdecimal():
        return None
    here = [span for span in spans if span.space == space and span.start <= int(offset) < span.end]
    return min(here, key=lambda span: span.end - span.start, default=None)


_LAST_STEP: Final = re.compile(r"\.?[^.\[\]]+$|\[(\d+)\]$")
"""The last step of a path: a name or an index."""


def by_path(spans: Sequence[FieldSpan], path: str) -> FieldSpan | None:
    """Return the span of a field of a value; None if nothing like it was read.

    A field without bytes of its own stands where its length or its delta does, or else at the beginning of
    what it is a part of: `records[0].value` at `records[0].valueLength` if it is null.
    """
    while path:
        found = [span for span in spans if span.path.startswith(path)]
        if found:
            return next((span for span in found if span.path == path), found[0])
        step = _LAST_STEP.search(path)
        outer = path[: step.start()] if step else ""
        if step and step[1] in ("0", "1") and outer.endswith("]"):  # a pair in JSON has named parts in bytes
            path = f"{outer}.{('key', 'value')[int(step[1])]}"
        else:
            path = outer
    return None
