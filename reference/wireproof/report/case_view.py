"""The view of one case: its rule, its bytes, their fields, and the byte that a verdict is about.

The values are plain: the matrix packs them into its page.
"""

from collections.abc import Sequence
from json import dumps
from typing import Final, TypeAlias

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Generated, Steps, Value
from wireproof.cases.generate.recipe import recipe_json
from wireproof.report.field_listing import FieldLine, by_path, innermost, lines_with_spans
from wireproof.report.hexdump import data_of, layout_of, wire_range
from wireproof.report.step_table import step_lines
from wireproof.runner.summaries import short_expect
from wireproof.wire.rejection import Position
from wireproof.wire.trace import FieldSpan

MAX_BYTES: Final = 1024
"""Bytes of a case that are shown; more are counted."""

MAX_FIELDS: Final = 200
"""Fields of a case that are shown."""

MAX_TEXT: Final = 4000
"""Characters of a value to encode that are shown."""

Placed: TypeAlias = tuple[FieldLine, FieldSpan | None]
"""A line of a tree and the field that it shows; a heading shows none."""


@frozen
class Mark:
    """A place in a case: a line of the tree, and the wire bytes `start` to `end`; -1 if unknown."""

    line: int = -1
    start: int = -1
    end: int = -1


NO_MARK: Final = Mark()


@frozen
class CaseView:
    """A case with its bytes and their fields.

    Attributes:
        data: its bytes; for an encode, the first acceptable ones.
        text: for an encode, the value in JSON.
        tree: the fields of `data`, at most `MAX_FIELDS`, and whether there are more.
    """

    case: Case
    data: bytes
    text: str
    tree: tuple[Placed, ...]
    more: bool = False

    @property
    def want(self) -> str:
        """Return the expectation, as text."""
        return short_expect(self.case.expect)

    @property
    def lines(self) -> Sequence[FieldLine]:
        """Return the tree without its fields."""
        return [line for line, _ in self.tree]

    def mark(self, at: Position | None, path: str = "") -> Mark:
        """Return the field at a position, else the one with the path, else the refusal."""
        spans = [span for _, span in self.tree if span is not None]
        span = innermost(spans, at) or by_path(spans, path)
        start, end = wire_range(span, at)
        inside = 0 <= start < len(self.data)
        line = next((n for n, (text, own) in enumerate(self.tree) if _here(text, own, span)), -1)
        return Mark(line, *((start, min(end, len(self.data))) if inside else (-1, -1)))


def _here(line: FieldLine, own: FieldSpan | None, span: FieldSpan | None) -> bool:
    """Return True if a line shows the field or, without a field, the refusal."""
    return line.marked if span is None else own is span


def case_view_of(case: Case) -> CaseView:
    """Return everything that is shown of a case."""
    if isinstance(case.input, Generated):
        text = f"{case.input.size:,} bytes from the recipe {dumps(recipe_json(case.input.recipe), indent=1)}"
        return CaseView(case, b"", text, ())
    if isinstance(case.input, Steps):
        return CaseView(case, b"", "\n".join(step_lines(case)), ())
    if isinstance(case.input, Value):
        return _written(case, dumps(case.input.value, indent=1))
    layout = layout_of(case)
    return _made(case, data_of(case) or b"", "", [] if layout is None else list(lines_with_spans(layout)))


def _written(case: Case, text: str) -> CaseView:
    """Show an encode: the value to be written and the acceptable bytes."""
    data = case.expect.data[0] if isinstance(case.expect, Accept) and case.expect.data else b""
    tree: list[Placed] = []
    if data and case.format_id in formats.FORMATS:
        options = evolve(case.options, profile=case.profile)
        tree = list(
            lines_with_spans(formats.decode_with_trace(formats.FORMATS[case.format_id], data, options))
        )
    return _made(case, data, text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…", tree)


def _made(case: Case, data: bytes, text: str, tree: list[Placed]) -> CaseView:
    return CaseView(case, data, text, tuple(tree[:MAX_FIELDS]), len(tree) > MAX_FIELDS)
