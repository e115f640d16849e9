"""The trace of each case is what the layout of its format declares."""

from collections.abc import Callable, Iterator

import pytest
from attrs import evolve
from goldens import stored_cases

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.layout_check import trace_errors
from wireproof.formats import FORMATS, Format
from wireproof.wire.layout import Layout, Number, OneOf, Part, Repeated

DECLARED = [row for row in FORMATS.values() if row.layout is not None]


def traces(row: Format) -> Iterator[tuple[Case, formats.TracedDecode]]:
    """Yield the accepted cases of a format with their traces."""
    for case in stored_cases(row.name):
        if (
            case.format_id == row.format_id
            and isinstance(case.input, Data)
            and isinstance(case.expect, Accept)
        ):
            yield case, formats.decode_with_trace(row, case.input.data, case.options)


def layout_of(row: Format) -> Layout:
    assert row.layout is not None
    return row.layout


@pytest.mark.parametrize("row", DECLARED, ids=lambda row: row.format_id)
def test_the_trace_of_every_accepted_case_is_declared(row: Format) -> None:
    found = list(traces(row))
    assert found
    errors = {case.id: list(trace_errors(layout_of(row), traced.spans)) for case, traced in found}
    assert {name: lines for name, lines in errors.items() if lines} == {}


def changed(layout: Layout, change: Callable[[tuple[Part, ...]], tuple[Part, ...]]) -> Layout:
    """The layout with other parts; of a list of entries, each kind of entry with other parts."""
    match layout.parts:
        case (Repeated(of=Layout(parts=(OneOf() as one,)) as element) as entries,):
            layouts = {number: changed(of, change) for number, of in one.layouts.items()}
            return evolve(
                layout,
                parts=(evolve(entries, of=evolve(element, parts=(evolve(one, layouts=layouts),))),),
            )
    return evolve(layout, parts=change(layout.parts))


@pytest.mark.parametrize("row", DECLARED, ids=lambda row: row.format_id)
@pytest.mark.parametrize(
    "change",
    [
        lambda parts: (parts[1], parts[0], *parts[2:]),
        lambda parts: parts[1:],
        lambda parts: (*parts, Number("more", "int8")),
        lambda parts: (evolve(parts[0], kind="uint32le"), *parts[1:]),
    ],
    ids=["order", "undeclared", "missing", "kind"],
)
def test_a_field_that_is_declared_elsewhere_or_with_another_kind_is_an_error(
    row: Format, change: Callable[[tuple[Part, ...]], tuple[Part, ...]]
) -> None:
    traced = next(traced for _, traced in traces(row) if traced.spans)
    assert list(trace_errors(changed(layout_of(row), change), traced.spans))
