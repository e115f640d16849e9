"""The trace of each case is what the layout of its format declares, and agrees with bytes and value.

Some codecs are written by hand, where a layout would be slower or harder to read. That every case agrees is
the reason to believe that what is derived from a layout holds for its codec.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

import pytest
from attrs import evolve, frozen
from each import each
from goldens import load, stored_cases
from layout_check import layout_errors

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.formats import FORMATS, Format
from wireproof.wire.compression import COMPRESSION_CODECS
from wireproof.wire.layout import (
    Checksum,
    Count,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    OtherFields,
    Packed,
    Part,
    ProtoField,
    Repeated,
    Tagged,
    When,
    Zero,
)
from wireproof.wire.protobuf import FIXED32, FIXED64, LENGTH_DELIMITED, START_GROUP, VARINT
from wireproof.wire.reader import TracingReader
from wireproof.wire.trace import FieldSpan

IGNORED: Final = "ignored"
"""The type of a span of bytes that a reader skips, with a remark or because nobody reads them."""

PACKED_TYPES: Final = frozenset({IGNORED, *(codec.name for codec in COMPRESSION_CODECS.values())})

_PROTO_TYPES: Final = {
    VARINT: "uvarint", FIXED64: "uint64le", LENGTH_DELIMITED: "bytes", START_GROUP: "group",
    FIXED32: "uint32le",
}  # fmt: skip
"""The type of the span of a payload, by wire type."""

_ALSO: Final = {"uint128le": ("bytes",)}
"""The type of a second span that a reader records for a primitive."""

_FRAMES: Final = re.compile(r"\.(gzip|lz4|zstd|xerial|snappy|trailing)(\[\])?(\.|$)")
"""Fields of compressed data: their layout is that of the compression format, not of the message format."""


@frozen
class Declared:
    """A field, or a part that has fields, as a layout declares it.

    Attributes:
        types: the types that its span may have; none for a part whose fields have paths that begin with its.
        cover: what it is of other bytes: a length, a count or a checksum; empty for other fields.
        is_required: whether each element of its scope has it.
        is_placed: whether it has one place among the fields of its scope.
    """

    types: frozenset[str] = frozenset()
    cover: str = ""
    is_required: bool = False
    is_placed: bool = True


Alternative = dict[str, Declared]
"""The fields directly inside of one path by their names, in the order of the wire."""

_Field = tuple[str, FieldSpan, bool]
"""The name of a field in its scope, its span, and whether this is its own and not that of a field inside."""

Scopes = dict[str, list[Alternative]]
"""By path, with `[]` for an index: what may be there, one alternative for each layout."""


def scopes_of(layout: Layout) -> Scopes:
    """Return what a layout declares."""
    scopes: Scopes = {}
    _add(scopes, "", layout, _opened(scopes, ""))
    return scopes


def _opened(scopes: Scopes, path: str) -> Alternative:
    scopes.setdefault(path, []).append({})
    return scopes[path][-1]


def _add(scopes: Scopes, path: str, layout: Layout, own: Alternative, *, optional: bool = False) -> None:
    """Add the parts of a layout to the fields of its scope, and what is inside them to other scopes."""
    nullable = {part.of for part in layout.parts if isinstance(part, Length) and part.null is not None}
    for part in layout.parts:
        if row := _leaf(part):
            required = row.is_required and not optional and part.name not in nullable
            _put(own, part.name, evolve(row, is_required=required))
        _add_inner(scopes, path, part, own, optional=optional)


def _put(own: Alternative, name: str, row: Declared) -> None:
    """Add a field; one that is there already, of another choice, has the types of both."""
    known = own.get(name)
    own[name] = row if known is None else evolve(row, types=known.types | row.types, is_required=False)


def _leaf(part: Part) -> Declared | None:  # noqa: PLR0911 - one arm for each kind
    """Return what is declared of the span of a part itself; None for a part without a span."""
    match part:
        case When(part=inner):
            row = _leaf(inner)
            return None if row is None else evolve(row, is_required=False)
        case Packed():
            return Declared(PACKED_TYPES)
        case Octets(read_as=read_as):
            return Declared(frozenset({"bytes", read_as}), is_required=True)
        case Zero(kind=kind):
            return Declared(frozenset({kind or "bytes"}), is_required=True)
        case Checksum(kind=kind, algorithm=algorithm):
            return Declared(_types(kind), algorithm.label, is_required=True)
        case Length(kind=kind) | Count(kind=kind):
            return Declared(_types(kind), "length" if isinstance(part, Length) else "count", is_required=True)
        case Number(kind=kind):
            return Declared(_types(kind), is_required=True)
    return None


def _add_inner(  # noqa: C901 - one arm for each kind
    scopes: Scopes, path: str, part: Part, own: Alternative, *, optional: bool
) -> None:
    """Add the fields inside a part."""
    head = f"{path}." if path else ""
    match part:
        case When(part=inner):
            _add_inner(scopes, path, inner, own, optional=True)
        case Packed(of=inner):
            _add(scopes, path, Layout("", (inner,)), own, optional=optional)
        case Octets(holds=inner) if inner is not None:
            _add_held(scopes, path, inner, own)
        case Nested(of=layout, inline=inline) if inline or not part.name:
            _add(scopes, path, layout, own, optional=optional)
        case Tagged(of=layout):
            inside: Alternative = {}
            _add(scopes, path, layout, inside, optional=True)
            own |= {name: evolve(one, is_placed=False) for name, one in inside.items()}
        case Repeated(name=name, of=Layout(parts=(OneOf(name="", layouts=layouts),))):
            _add_inside(scopes, f"{head}{name}[]", own, [*layouts.values()])
        case Repeated(name=name, of=layout, joined=True):
            outside = path.rpartition(".")[0]
            for outer in scopes[outside]:
                _put(outer, name, Declared(is_placed=False))
            _add_inside(scopes, f"{outside}.{name}[]".lstrip("."), {}, [layout])
        case Repeated(name=name, of=layout):
            _add_inside(scopes, f"{head}{name}[]", own, [layout])
        case OneOf(name=name, layouts=layouts):
            _add_inside(scopes, f"{head}{name}", own, [*layouts.values()])
        case Nested(name=name, of=layout):
            _add_inside(scopes, f"{head}{name}", own, [layout])
        case ProtoField() | OtherFields():
            _add_proto(scopes, f"{head}{part.name}", part, own)


def _add_held(scopes: Scopes, path: str, part: Part, own: Alternative) -> None:
    """Add what is inside of bytes; none of it is required, for a reader may stop there."""
    held: Scopes = {path: [own]}
    before = dict(own)
    _add(held, path, Layout("", (part,)), own, optional=True)
    for name, alternatives in held.items():
        for one in alternatives:
            one |= {
                key: evolve(row, is_required=row.is_required and key in before) for key, row in one.items()
            }
        scopes.setdefault(name, []).extend(one for one in alternatives if one is not own)


def _types(kind: str) -> frozenset[str]:
    return frozenset({kind, *_ALSO.get(kind, ())})


def _add_inside(scopes: Scopes, path: str, own: Alternative, layouts: Sequence[Layout]) -> None:
    """Add layouts of which each element has one; a later part of the same elements goes on with it."""
    name = path.rpartition(".")[2].removesuffix("[]")
    known = scopes.get(path, []) if name in own else []
    own.setdefault(name, Declared())
    for layout in layouts:
        for alternative in known or [_opened(scopes, path)]:
            _add(scopes, path, layout, alternative)


def _add_proto(scopes: Scopes, path: str, part: ProtoField | OtherFields, own: Alternative) -> None:
    """Add a field of protobuf: its key, its length, and its payload or what is in it."""
    name = path.rpartition(".")[2]
    key = Declared(frozenset({"uvarint"}), is_placed=False)
    _opened(scopes, path).update(key=key, length=Declared(key.types, "length", is_placed=False))
    own[name] = Declared(is_placed=False)
    if isinstance(part, OtherFields):
        own[name] = Declared(frozenset(_PROTO_TYPES.values()), is_placed=False)
        return
    element = "[]" if part.repeated and not part.packable else ""
    if isinstance(part.of, Layout):
        if not element:  # its key and its length stand beside its fields
            _add(scopes, path, part.of, scopes[path][-1])
        else:
            _add(scopes, f"{path}[]", part.of, _opened(scopes, f"{path}[]"))
        return
    packed = part.packable and VARINT in part.wires  # then the payload is a list of numbers, with a span each
    types = frozenset(_PROTO_TYPES[wire] for wire in part.wires[: 1 if packed else None])
    own[f"{name}{element}"] = Declared(types, part.cover or "", part.required, is_placed=False)


def trace_errors(layout: Layout, spans: Sequence[FieldSpan]) -> Iterator[str]:
    """Yield what a trace of accepted bytes has that its layout does not declare, one line for each scope.

    Bytes that a reader skips need no declaration.
    """
    scopes = scopes_of(layout)
    found: dict[str, list[_Field]] = {"": []} if spans else {}
    for span in spans:
        if _FRAMES.search(_general(span.path)):
            continue
        scope, _, name = span.path.rpartition(".")
        declared = any(_general(name) in one for one in scopes.get(_general(scope), ()))
        if span.type == IGNORED and not declared:
            continue
        found.setdefault(scope, []).append((_general(name), span, True))
        outer, _, part = scope.rpartition(".")
        if scope:
            found.setdefault(outer, []).append((_general(part).removesuffix("[]"), span, False))
    for scope, fields in found.items():
        wrong = [next(_errors(fields, one), "") for one in scopes.get(_general(scope), ())]
        if "" not in wrong:
            yield f"{scope or 'the whole'}: {'; '.join(wrong) or 'not declared'}"


def _general(path: str) -> str:
    """Return a path with `[]` for each index, and without the number of an unknown field of protobuf."""
    return re.sub(r"#\d+", "#", re.sub(r"\[\d+\]", "[]", path))


def _errors(fields: Sequence[_Field], declared: Mapping[str, Declared]) -> Iterator[str]:
    """Yield what is wrong with the fields of a scope, if it has one of its layouts."""
    places = {name: place for place, name in enumerate(declared)}
    order: dict[str, dict[str, tuple[int, int]]] = {}
    for name, span, is_own in fields:
        row = declared.get(name)
        if row is None:
            yield f"{span.path} at {span.at}: not declared"
            return
        if is_own and row.types:
            if span.type not in row.types:
                yield f"{span.path} at {span.at}: {span.type}, declared {', '.join(sorted(row.types))}"
            if span.cover is not None and span.cover.kind != row.cover:
                yield f"{span.path} at {span.at}: a {span.cover.kind}, declared {row.cover or 'as none'}"
        if row.is_placed:
            first = order.setdefault(span.space, {}).setdefault(name, (span.start, span.end))
            order[span.space][name] = min(first, (span.start, span.end))
    for names in order.values():
        seen = [places[name] for name in sorted(names, key=names.__getitem__)]
        if seen != sorted(seen):
            yield "fields are in another order"
    there = {name for name, *_ in fields}
    yield from (f"{name}: missing" for name, row in declared.items() if row.is_required and name not in there)


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
