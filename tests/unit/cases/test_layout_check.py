"""The trace of each case is what the layout of its format declares."""

import re
from collections.abc import Callable, Iterator
from itertools import product

from attrs import evolve
from declared_layouts import trace_errors
from each import each
from goldens import stored_cases

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.formats import FORMATS, Format
from wireproof.wire.layout import (
    Count,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Packed,
    Part,
    ProtoField,
    Repeated,
    Tagged,
    When,
    all_layouts,
)
from wireproof.wire.trace import FieldSpan

Spans = tuple[FieldSpan, ...]

DECLARED = [row for row in FORMATS.values() if row.layout is not None]

PLAIN = [
    row
    for row in DECLARED
    if row.layout is not None
    and not any(isinstance(part, ProtoField) for one in all_layouts(row.layout) for part in one.parts)
]
"""Those without a protobuf message."""

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


def edited(layout: Layout, old: Layout, new: Layout) -> Layout:
    """Return the layout with another one in the place of one that is in it."""
    if layout is old:
        return new
    return evolve(layout, parts=tuple(edited_part(part, old, new) for part in layout.parts))


def edited_part(part: Part, old: Layout, new: Layout) -> Part:
    match part:
        case Repeated(of=layout) | Nested(of=layout) | Tagged(of=layout):
            return evolve(part, of=edited(layout, old, new))
        case When(part=inner):
            return evolve(part, part=edited_part(inner, old, new))
        case Packed(of=inner):
            return evolve(part, of=edited_part(inner, old, new))
        case Octets(holds=inner) if inner is not None:
            return evolve(part, holds=edited_part(inner, old, new))
        case OneOf(layouts=layouts):
            return evolve(part, layouts={key: edited(one, old, new) for key, one in layouts.items()})
    return part


def certain(layout: Layout, found: list[Spans]) -> list[Layout]:
    """The layouts that a trace has and that are no alternatives, of which no trace says which one it has."""
    parts = [part for inner in all_layouts(layout) for part in inner.parts]
    chosen = [one for part in parts if isinstance(part, OneOf) for one in part.layouts.values()]
    tagged = [part.of for part in parts if isinstance(part, Tagged)]
    held = [part.holds for part in parts if isinstance(part, Octets) and part.holds is not None]
    maybe = [Layout("", (part,)) for part in held if isinstance(part, When)]
    unsure = {inner for one in (*chosen, *tagged, *maybe) for inner in all_layouts(one)}
    empty = Layout("", ())
    return [
        one
        for one in all_layouts(layout)
        if one not in unsure and is_noticed(edited(layout, one, empty), found)
    ]


def telling(row: Format) -> list[Spans]:
    """Traces of cases that have every field which some case has; those of other cases add nothing."""
    found: list[Spans] = []
    known: set[str] = set()
    for _, traced in traces(row):
        paths = {re.sub(r"\[\d+\]", "[]", span.path) for span in traced.spans}
        if paths - known:
            found.append(traced.spans)
            known |= paths
    return found


def is_noticed(wrong: Layout, found: list[Spans]) -> bool:
    return any(next(trace_errors(wrong, spans), None) for spans in found)


def is_joined(part: Part) -> bool:
    """Whether a part has no place of its own: its elements are in one list with those of other values."""
    return isinstance(part, Repeated) and part.joined


def wrong_layouts(layout: Layout, within: list[Layout]) -> Iterator[tuple[str, Layout]]:
    """Yield the layout with one fault in it or in a layout inside it: a part too few, too many, or moved."""
    for inner in within:
        *first, last = inner.parts
        faults = {
            "one too many": (*inner.parts, Number("more", "int8")),
            "without the first": inner.parts[1:],
            "without the last": tuple(first),
            "the last one first": inner.parts if is_joined(last) else (last, *first),
        }
        for name, parts in faults.items():
            if parts != inner.parts:
                yield f"{inner.name}: {name}", edited(layout, inner, evolve(inner, parts=parts))


@each("row", PLAIN, ids=lambda row: row.format_id)
def test_a_field_that_is_missing_or_declared_elsewhere_is_an_error(row: Format) -> None:
    found, layout = telling(row), layout_of(row)
    faults = wrong_layouts(layout, certain(layout, found))
    assert [fault for fault, wrong in faults if not is_noticed(wrong, found)] == []


@each("row", PLAIN, ids=lambda row: row.format_id)
def test_a_field_of_another_kind_is_an_error(row: Format) -> None:
    found, layout = telling(row), layout_of(row)
    for inner in certain(layout, found):
        numbers = [part for part in inner.parts if isinstance(part, Number | Length | Count)]
        for number in numbers[:1]:
            parts = tuple(evolve(one, kind="int128") if one is number else one for one in inner.parts)
            wrong = edited(layout, inner, evolve(inner, parts=parts))
            assert is_noticed(wrong, found), inner.name


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
