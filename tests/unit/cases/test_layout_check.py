"""The trace of each case is what the layout of its format declares, and agrees with bytes and value."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from attrs import evolve
from declared_layouts import trace_errors
from each import each
from goldens import load, stored_cases
from layout_check import layout_errors

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.formats import FORMATS, Format
from wireproof.wire.layout import (
    Layout,
    Number,
    OneOf,
    Part,
    Repeated,
)
from wireproof.wire.reader import TracingReader

DECLARED = [row for row in FORMATS.values() if row.layout is not None]


ORDERED = [row for row in DECLARED if row.name.startswith("kafka.") or row.format_id == "heka.stream/0.10"]
"""Those whose fields have one order; that of protobuf fields is free."""


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


@each("row", DECLARED, ids=lambda row: row.format_id)
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
        case (Repeated(of=element) as entries,):
            return evolve(layout, parts=(evolve(entries, of=changed(element, change)),))
    return evolve(layout, parts=change(layout.parts))


@each(
    "row, change",
    product(
        ORDERED,
        [
            lambda parts: (parts[1], parts[0], *parts[2:]),
            lambda parts: parts[1:],
            lambda parts: (*parts, Number("more", "int8")),
            lambda parts: (evolve(parts[0], kind="uint32le"), *parts[1:]),
        ],
    ),
)
def test_a_field_that_is_declared_elsewhere_or_with_another_kind_is_an_error(
    row: Format, change: Callable[[tuple[Part, ...]], tuple[Part, ...]]
) -> None:
    traced = next(traced for _, traced in traces(row) if traced.spans)
    assert list(trace_errors(changed(layout_of(row), change), traced.spans))


# --- traces beside bytes and values ---


@pytest.mark.sweeps
def test_the_trace_of_every_golden_case_agrees_with_its_bytes_and_its_value() -> None:
    wrong = [(case.id, said) for case in load().cases for said in layout_errors(case)]
    assert wrong == []


def test_a_checksum_over_other_bytes_and_a_length_of_nothing_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cover = TracingReader.cover

    def spoilt(self: TracingReader, name: str, *words: Any) -> None:
        cover(self, name, *words)
        last = max(n for n, span in enumerate(self.spans) if span.cover)
        found = self.spans[last].cover
        assert found is not None
        self.spans[last] = evolve(self.spans[last], cover=evolve(found, start=found.start + 1))

    monkeypatch.setattr(TracingReader, "cover", spoilt)
    monkeypatch.setattr(TracingReader, "cover_declared_length", lambda *_: None)
    for name, said in (
        ("v0/message/key-and-value", "is no crc32"),
        ("v2/batch/one-record", "covers nothing"),
    ):
        assert any(said in line for line in layout_errors(load().by_id[f"kafka.batch/{name}"])), said
