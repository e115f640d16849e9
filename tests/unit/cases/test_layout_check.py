"""The trace of each case is what the layout of its format declares."""

from collections.abc import Callable, Iterator

import pytest
from attrs import evolve
from goldens import stored_cases

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.layout_check import trace_errors
from wireproof.formats import FORMATS, Format
from wireproof.wire.layout import Layout, Number, OneOf, Part, ProtoField, Repeated

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
        case (Repeated(of=element) as entries,):
            return evolve(layout, parts=(evolve(entries, of=changed(element, change)),))
    return evolve(layout, parts=change(layout.parts))


@pytest.mark.parametrize("row", ORDERED, ids=lambda row: row.format_id)
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
