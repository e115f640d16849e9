"""Check of a trace against the layout of its format: every field is declared, in its place and with its kind.

The codecs are written by hand where a layout would be slower or harder to read. This check, run on every
case, is the reason to believe that what is derived from a layout holds for its codec.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

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
from wireproof.wire.trace import FieldSpan

_INDEX: Final = re.compile(r"\[\d+\]")
"""The index of an element: `records[3]`."""

_UNKNOWN: Final = re.compile(r"(?<=#)\d+")
"""The number of an unknown field of protobuf: `#15`."""

_PROTO_TYPES: Final = {
    VARINT: "uvarint", FIXED64: "uint64le", LENGTH_DELIMITED: "bytes", START_GROUP: "group",
    FIXED32: "uint32le",
}  # fmt: skip
"""The type of the span of a payload, by wire type."""

_SELECTOR: Final = re.compile(r"\[(\w+)=\d+\]")
"""The name of a number that selects a layout, in a path of `declared_fields`."""

IGNORED: Final = "ignored"
"""The type of a span of bytes that a reader skips, with a remark or because nobody reads them."""

PACKED_TYPES: Final = frozenset({IGNORED, *(codec.name for codec in COMPRESSION_CODECS.values())})

_FRAMES: Final = re.compile(r"\.(gzip|lz4|zstd|xerial|snappy|trailing)(\[\])?(\.|$)")
"""Fields of compressed data: their layout is that of the compression format, not of the message format."""


@frozen
class DeclaredField:
    """A field as a layout declares it.

    Attributes:
        types: the types that its span may have.
        cover: what it is of other bytes: a length, a count or a checksum; empty for other fields.
        order: its place among the fields of its scope; None if alternatives have it in several places.
        required: whether each element of its scope has it.
    """

    types: frozenset[str]
    cover: str = ""
    order: int | None = 0
    required: bool = True


def declared_fields(layout: Layout, prefix: str = "") -> dict[str, DeclaredField]:
    """Return the fields of a layout by path.

    An index in a path is `[]`. Of an element that has one of several layouts it is `[magic=2]`, with the
    number that selects the layout.
    """
    nullable = {part.of for part in layout.parts if isinstance(part, Length) and part.null is not None}
    orders = {name: order for order, name in enumerate(dict.fromkeys(part.name for part in layout.parts))}
    found: dict[str, DeclaredField] = {}
    for part in layout.parts:
        rows = _inner(part, prefix)
        if row := _leaf(part):
            required = row.required and part.name not in nullable
            rows[f"{prefix}{part.name}"] = evolve(row, order=orders[part.name], required=required)
        _merge(found, rows)
    return found


def _merge(found: dict[str, DeclaredField], rows: Mapping[str, DeclaredField]) -> None:
    """Add the fields of another alternative; a field that both have is required by neither."""
    for path, row in rows.items():
        known = found.get(path, row)
        found[path] = evolve(
            row,
            types=known.types | row.types,
            cover=known.cover or row.cover,
            order=row.order if known.order == row.order else None,
            required=path not in found and row.required,
        )


def _leaf(part: Part) -> DeclaredField | None:
    """Return what is declared of the span of a part itself; None for a part without a span."""
    match part:
        case When(part=inner):
            row = _leaf(inner)
            return None if row is None else evolve(row, required=False)
        case Octets():
            return DeclaredField(frozenset({"bytes"}))
        case Zero(kind=kind):
            return DeclaredField(frozenset({kind or "bytes"}))
        case Packed():
            return DeclaredField(PACKED_TYPES, required=False)
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return DeclaredField(frozenset({kind}), _cover(part))
    return None


def _cover(part: Part) -> str:
    match part:
        case Checksum(algorithm=algorithm):
            return algorithm.label
        case Length():
            return "length"
        case Count():
            return "count"
    return ""


def _inner(part: Part, prefix: str) -> dict[str, DeclaredField]:  # noqa: C901, PLR0911 - one arm for each kind
    """Return the fields inside a part."""
    scope = f"{prefix}{part.name}." if part.name else prefix
    match part:
        case Octets(holds=inner) if inner is not None:
            return _optional(declared_fields(Layout("", (inner,)), prefix))
        case Repeated(of=Layout(parts=(OneOf(name="", number=name, number_at=int(), layouts=layouts),))):
            return {
                path: row
                for number, layout in layouts.items()
                for path, row in declared_fields(layout, f"{prefix}{part.name}[{name}={number}].").items()
            }
        case Repeated(of=layout):
            return declared_fields(layout, f"{prefix}{part.name}[].")
        case Nested(of=layout):
            return declared_fields(layout, scope)
        case Packed(of=inner):
            return declared_fields(Layout("", (inner,)), prefix)
        case When(part=inner):
            return _optional(_inner(inner, prefix))
        case Tagged(of=layout):
            rows = _optional(declared_fields(layout, prefix))
            return {path: evolve(row, order=None) for path, row in rows.items()}
        case ProtoField():
            return _proto_rows(part, f"{prefix}{part.name}")
        case OtherFields(name=name):
            types = frozenset(_PROTO_TYPES.values())
            return _payload_rows(f"{prefix}{name}", DeclaredField(types, order=None, required=False))
        case OneOf(layouts=layouts):
            found: dict[str, DeclaredField] = {}
            for layout in layouts.values():
                _merge(found, declared_fields(layout, scope))
            return _optional(found)
    return {}


def _proto_rows(part: ProtoField, path: str) -> dict[str, DeclaredField]:
    """Return the fields of a protobuf field: its key, its length, and its payload or what is in it."""
    element = f"{path}[]" if part.repeated and not part.packable else path
    if isinstance(part.of, Layout):
        inner = declared_fields(part.of, f"{element}.")
        return inner | _payload_rows(path, None)
    packed = part.packable and VARINT in part.wires  # then the payload is a list of numbers, with a span each
    types = frozenset(_PROTO_TYPES[wire] for wire in part.wires[: 1 if packed else None])
    row = DeclaredField(types, part.cover or "", order=None, required=part.required)
    return {**_payload_rows(path, None), element: row}


def _payload_rows(path: str, payload: DeclaredField | None) -> dict[str, DeclaredField]:
    """Return the key and the length of a protobuf field, and its payload if it has a span."""
    key = DeclaredField(frozenset({"uvarint"}), order=None, required=False)
    rows = {f"{path}.key": key, f"{path}.length": evolve(key, cover="length")}
    return rows if payload is None else {path: payload, **rows}


def _optional(rows: Mapping[str, DeclaredField]) -> dict[str, DeclaredField]:
    return {path: evolve(row, required=False) for path, row in rows.items()}


def trace_errors(layout: Layout, spans: Sequence[FieldSpan]) -> Iterator[str]:
    """Yield what a trace of accepted bytes has that its layout does not declare, one line each.

    Bytes that a reader skips need no declaration.
    """
    declared = declared_fields(layout)
    own = [span for span in spans if not _FRAMES.search(_INDEX.sub("[]", span.path))]
    general = _GeneralPaths.of(declared, own)
    scopes: dict[tuple[str, str], dict[str, FieldSpan]] = {}
    for span in own:
        path = general.path(span.path)
        if span.type == IGNORED and path not in declared:
            continue
        row = declared.get(path)
        if row is None:
            yield f"{span.path} at {span.at}: not declared"
            continue
        yield from _field_errors(span, row)
        scopes.setdefault((span.space, span.path.rpartition(".")[0]), {})[span.path.rpartition(".")[2]] = span
    for (_, scope), fields in scopes.items():
        yield from _order_errors(scope, fields, declared, general)
    for scope in {scope for _, scope in scopes}:
        names = {name for (_, other), fields in scopes.items() if other == scope for name in fields}
        yield from _missing_errors(scope, names, declared, general)


@frozen
class _GeneralPaths:
    """Paths of a trace as layouts have them.

    Attributes:
        numbers: the number that selects its layout, such as `[magic=2]`, by the path of an element.
    """

    numbers: Mapping[str, str]

    @classmethod
    def of(cls, declared: Iterable[str], spans: Iterable[FieldSpan]) -> "_GeneralPaths":
        """Return the general paths of a trace."""
        names = {name for path in declared for name in _SELECTOR.findall(path)}
        numbers = (
            (element, f"[{name}={span.value}]")
            for span in spans
            for element, _, name in [span.path.rpartition(".")]
            if name in names
        )
        return cls(dict(numbers))

    def path(self, path: str) -> str:
        """Return the path with `[]`, or the number that selects a layout, for each index."""
        known = _INDEX.sub(lambda found: self.numbers.get(path[: found.end()], "[]"), path)
        return _UNKNOWN.sub("", known)


def _field_errors(span: FieldSpan, row: DeclaredField) -> Iterator[str]:
    if span.type not in row.types:
        yield f"{span.path} at {span.at}: {span.type}, declared {', '.join(sorted(row.types))}"
    if span.cover is not None and span.cover.kind != row.cover:
        yield f"{span.path} at {span.at}: a {span.cover.kind}, declared {row.cover or 'as none'}"


def _order_errors(
    scope: str, fields: Mapping[str, FieldSpan], declared: Mapping[str, DeclaredField], general: _GeneralPaths
) -> Iterator[str]:
    """Yield a line if the fields of one scope in one space are in another order."""
    ordered = sorted(fields.values(), key=lambda span: (span.start, span.end))
    orders = [declared[general.path(span.path)].order for span in ordered]
    places = [order for order in orders if order is not None]
    if places != sorted(places):
        yield f"{scope}: its fields are in another order"


def _missing_errors(
    scope: str, names: Container[str], declared: Mapping[str, DeclaredField], general: _GeneralPaths
) -> Iterator[str]:
    """Yield the fields of one scope that are missing; compression can put some of them in another space."""
    prefix = f"{general.path(scope)}." if scope else ""
    for path, row in declared.items():
        head, _, name = path.rpartition(".")
        if row.required and f"{head}." == (prefix or ".") and name not in names:
            yield f"{scope}.{name}: missing"
