"""The field map of a format: every field that a case has, and which of its values the cases exercise.

The fields come from the traces of the golden cases. A field that no case has is therefore not in the map.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from attrs import Factory, define

from wireproof.cases.case import Case, Reject
from wireproof.formats import FORMATS
from wireproof.report.field_listing import short_field_value
from wireproof.report.hexdump import layout_of
from wireproof.report.implementation_answers import Votes
from wireproof.runner.events import CaseEvent
from wireproof.runner.signature import without_indices
from wireproof.runner.summaries import shorten
from wireproof.wire.trace import FieldSpan

_SIGNED: Final = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "varint": 32, "varlong": 64}
_UNSIGNED: Final = {
    "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "uvarint": 64,
    "uint16le": 16, "uint32le": 32, "uint64le": 64, "uint128le": 128,
}  # fmt: skip
EDGES: Final[Mapping[str, frozenset[int]]] = {
    **{name: frozenset({-(1 << bits - 1), -1, 0, (1 << bits - 1) - 1}) for name, bits in _SIGNED.items()},
    **{name: frozenset({0, (1 << bits) - 1}) for name, bits in _UNSIGNED.items()},
}
"""The least and greatest values of each type, and those around 0."""

MAX_VALUES: Final = 12
"""Number of different values of a field that are kept."""


@define
class Field:
    """One field, with the cases that exercise it.

    Attributes:
        path: without indices.
        types: the types as which it was read.
        valid: accepted cases that have it.
        values: the first different values in these cases.
        edges: cases of any outcome in which it is at an edge of its type, or empty or null.
        damaged: refused cases whose refusal names the field.
        remarked: cases in which the reference makes a remark on the field.
    """

    path: str
    types: set[str] = Factory(set)
    valid: int = 0
    values: set[str] = Factory(set)
    edges: list[str] = Factory(list)
    damaged: list[str] = Factory(list)
    remarked: list[str] = Factory(list)

    @property
    def shown(self) -> list[str]:
        """Return some of its values, each in a few characters."""
        return [shorten(text, 24) for text in sorted(self.values)][:4]


def field_coverage_of(cases: Iterable[Case]) -> Sequence[Field]:
    """Return the fields of cases of one format, in the order in which they were first read."""
    fields: dict[str, Field] = {}
    for case in cases:
        _count(fields, case)
    return list(fields.values())


def failing(cases: Iterable[Case], votes: Votes) -> dict[str, list[str]]:
    """Return the implementations with a wrong answer in a field, by the path of the field."""
    found: dict[str, dict[str, None]] = {}
    for vote in (vote for case in cases for vote in votes.get(case.id, ()) if vote.fails and vote.event.path):
        found.setdefault(_own(vote.event), {})[vote.adapter] = None
    return {path: list(names) for path, names in found.items()}


def _own(event: CaseEvent) -> str:
    """Return the path of a field in its own format, also for a case that was wrapped as a stream."""
    row = FORMATS.get(event.format_id)
    lifted = f"{row.wrapped_by[2]}[]." if row is not None and row.wrapped_by else ""
    return without_indices(event.path).removeprefix(lifted)


def _count(fields: dict[str, Field], case: Case) -> None:
    layout = layout_of(case)
    if layout is None:
        return
    seen: dict[str, list[FieldSpan]] = {}
    for span in layout.spans:
        seen.setdefault(without_indices(span.path), []).append(span)
    for path, spans in seen.items():
        _counted(fields.setdefault(path, Field(path)), case, spans)
    if layout.rejected is not None and isinstance(case.expect, Reject):
        path = without_indices(layout.rejected.path)
        fields.setdefault(path, Field(path)).damaged.append(case.id)
    for path in {without_indices(one.path) for one in layout.decoded.remarks} if layout.decoded else ():
        fields.setdefault(path, Field(path)).remarked.append(case.id)


def _counted(field: Field, case: Case, spans: Sequence[FieldSpan]) -> None:
    field.types |= {span.type for span in spans}
    if not isinstance(case.expect, Reject):
        field.valid += 1
        for span in spans:
            if len(field.values) < MAX_VALUES:
                field.values.add(short_field_value(span.value))
    if any(_edge(span) for span in spans):
        field.edges.append(case.id)


def _edge(span: FieldSpan) -> bool:
    match span.value:
        case bool():
            return True
        case int():
            return span.value in EDGES.get(span.type, frozenset())
        case bytes() | bytearray() | str():
            return not span.value
        case _:
            return span.value is None
