"""The fields of some bytes as lines of text, for `explain`, the terminal and the HTML report.

All offsets come from the trace of the decode.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen

from wireproof.formats import TracedDecode
from wireproof.wire.rejection import Position
from wireproof.wire.trace import FieldSpan

WIDEST: Final = 48
"""Characters of a value; longer values are cut, and their length is shown."""


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
    layout: TracedDecode, mark: Position | None = None, notes: Mapping[str, str] | None = None
) -> Iterator[FieldLine]:
    """Yield the tree of a layout in the order of the bytes.

    `mark` is the position to point at; `notes` are what values mean, by the path of the field.
    """
    marked = innermost(layout.spans, mark)
    for line, span in lines_with_spans(layout):
        if span is None:
            yield line
        else:
            yield evolve(line, marked=span is marked, note=(notes or {}).get(span.path, ""))


def lines_with_spans(layout: TracedDecode) -> Iterator[tuple[FieldLine, FieldSpan | None]]:
    """Yield the lines of a tree, each with its field; headings and the refusal have none."""
    ends: dict[tuple[str, int], int] = {}  # of each region, by its space and its first byte
    for span in layout.spans:
        key = (span.space, span.start)
        ends[key] = max(ends.get(key, 0), span.end)

    def order(span: FieldSpan) -> tuple[int, ...]:
        """Sort decompressed data after the fields of its region, and outer spans first."""
        key: list[int] = []
        space = ""
        for step in (int(step) for step in span.space.split(">") if step):
            key += (ends.get((space, step), step), -1, 0)
            space += f"{step}>"
        return (*key, span.start, int(span.end > span.start), -span.end)

    above: tuple[str, ...] = ()
    for span in sorted(layout.spans, key=order):
        path = tuple(span.path.split("."))
        for depth, name in enumerate(path[:-1]):
            if path[: depth + 1] != above[: depth + 1]:
                yield FieldLine(depth, "", -1, name), None
        above = path
        size, value, cover = span.end - span.start, _short(span.value), ""
        if (about := span.cover) is not None:
            reach = f"{about.start}..{about.end - 1}" if about.end > about.start else "nothing"
            cover = f"{about.kind} of {reach}"
        yield FieldLine(len(path) - 1, str(span.at), size, path[-1], span.type, value, cover), span
    if (refused := layout.rejected) is not None:
        words = "refused", refused.cls, refused.path, refused.text
        yield FieldLine(0, str(refused.at), -1, *words, marked=True), None


def _short(value: Any) -> str:  # noqa: ANN401 - whatever a field decodes to
    is_bytes = isinstance(value, bytes | bytearray)
    text = "null" if value is None else (value[:WIDEST].hex() or "(empty)") if is_bytes else str(value)
    length = f" ({len(value)} bytes)" if is_bytes else ""
    return text if len(text) <= WIDEST else f"{text[:WIDEST]}…{length}"


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


def by_path(spans: Sequence[FieldSpan], path: str) -> FieldSpan | None:
    """Return the span of a field of a value; None if nothing like it was read.

    A field without bytes of its own stands where its length or its delta does, or else at the beginning of
    what it is a part of: `records[0].value` at `records[0].valueLength` if it is null.
    """
    while path:
        found = [span for span in spans if span.path.startswith(path)]
        if found:
            return next((span for span in found if span.path == path), found[0])
        step = re.search(r"\.?[^.\[\]]+$|\[(\d+)\]$", path)  # its last one: a name or an index
        outer = path[: step.start()] if step else ""
        if step and step[1] in ("0", "1") and outer.endswith("]"):  # a pair in JSON has named parts in bytes
            path = f"{outer}.{('key', 'value')[int(step[1])]}"
        else:
            path = outer
    return None
