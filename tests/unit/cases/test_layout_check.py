"""The trace of each case is what the layout of its format declares."""

from collections.abc import Iterator

import pytest
from attrs import evolve
from goldens import stored_cases

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.layout_check import trace_errors
from wireproof.formats import FORMATS, Format
from wireproof.wire.layout import FixedPart, Layout, Number, Part, ProtoField

DECLARED = [row for row in FORMATS.values() if row.layout is not None]

ORDERED = [row for row in DECLARED if all(isinstance(part, FixedPart) for part in row.layout.parts[:2])]
"""Those that begin with two numbers."""


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


@pytest.mark.parametrize("row", ORDERED, ids=lambda row: row.format_id)
def test_a_field_that_is_declared_elsewhere_or_with_another_kind_is_an_error(row: Format) -> None:
    _, traced = next(traces(row))
    layout = layout_of(row)
    first, second, *rest = layout.parts
    assert list(trace_errors(evolve(layout, parts=(second, first, *rest)), traced.spans))
    assert list(trace_errors(evolve(layout, parts=(second, *rest)), traced.spans))
    assert list(trace_errors(evolve(layout, parts=(*layout.parts, Number("more", "int8"))), traced.spans))
    wrong = tuple(evolve(one, kind="uint32le") if one is first else one for one in layout.parts)
    assert list(trace_errors(evolve(layout, parts=wrong), traced.spans))


def protobuf_errors(*parts: Part) -> list[str]:
    """Return the errors of the smallest message by a layout of these parts."""
    bare = next(case for case, _ in traces(MESSAGE) if case.id.endswith("/message/minimal"))
    assert isinstance(bare.input, Data)
    spans = formats.decode_with_trace(MESSAGE, bare.input.data, bare.options).spans
    return list(trace_errors(Layout("Message", parts), spans))


MESSAGE = FORMATS["heka.message/0.10"]
UUID = ProtoField("uuid", 1, "bytes", required=True)
TIMESTAMP = ProtoField("timestamp", 2, "int64", required=True)


def test_protobuf_fields_may_have_any_order_but_not_another_type_or_label() -> None:
    assert protobuf_errors(UUID, TIMESTAMP) == protobuf_errors(TIMESTAMP, UUID) == []
    assert protobuf_errors(UUID) == ["timestamp.key at 18: not declared", "timestamp at 19: not declared"]
    assert protobuf_errors(UUID, evolve(TIMESTAMP, of="double")) == [
        "timestamp at 19: uvarint, declared uint64le"
    ]
    assert protobuf_errors(UUID, TIMESTAMP, ProtoField("type", 3, "string")) == []
    assert protobuf_errors(UUID, TIMESTAMP, ProtoField("type", 3, "string", required=True)) == [
        ".type: missing"
    ]
