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

_ALSO: Final = {"uint128le": ("bytes",)}
"""The type of a second span that a reader records for a primitive."""

_LAST_INDEX: Final = re.compile(r"\[\d+\]$")

_INNERMOST: Final = re.compile(r"[^.]+\.$")

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
            A part that has the fields of another layout has no types, but a place.
        required: whether each element of its scope has it.
    """

    types: frozenset[str]
    cover: str = ""
    order: tuple[int, ...] | None = ()
    required: bool = True


_CONTAINER: Final = DeclaredField(frozenset(), required=False)
"""A part whose fields have paths that begin with its name."""


def declared_fields(layout: Layout, prefix: str = "") -> dict[str, DeclaredField]:
    """Return the fields of a layout by path.

    An index in a path is `[]`. Of an element that has one of several layouts it is `[magic=2]`, with the
    number that selects the layout.
    """
    nullable = {part.of for part in layout.parts if isinstance(part, Length) and part.null is not None}
    orders = {name: order for order, name in enumerate(dict.fromkeys(part.name for part in layout.parts))}
    found: dict[str, DeclaredField] = {}
    for part in layout.parts:
        order = orders[part.name]
        rows = {path: _placed(row, path, prefix, order) for path, row in _inner(part, prefix).items()}
        if row := _leaf(part):
            required = row.required and part.name not in nullable
            rows[f"{prefix}{part.name}"] = evolve(row, order=(order,), required=required)
        _merge(found, _continued(rows, found, f"{prefix}{part.name}[]."))
    return found


def _continued(
    rows: dict[str, DeclaredField], found: Mapping[str, DeclaredField], scope: str
) -> dict[str, DeclaredField]:
    """Return the rows of a part with their places after those of an earlier part of the same elements."""
    before = [row.order for path, row in found.items() if path.startswith(scope) and row.order]
    if not before:
        return rows
    return {path: _placed(row, path, scope, 1 + max(before)[0]) for path, row in rows.items()}


def _placed(row: DeclaredField, path: str, prefix: str, order: int) -> DeclaredField:
    """Return the row of a field inside the part `order`: its place counts if it has the scope of the part."""
    if row.order is None or not path.startswith(prefix) or "." in path.removeprefix(prefix):
        return row
    return evolve(row, order=(order, *row.order))


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
        case Octets(read_as=read_as):
            return DeclaredField(frozenset({"bytes", read_as}))
        case Zero(kind=kind):
            return DeclaredField(frozenset({kind or "bytes"}))
        case Packed():
            return DeclaredField(PACKED_TYPES, required=False)
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return DeclaredField(frozenset({kind, *_ALSO.get(kind, ())}), _cover(part))
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


def _inner(part: Part, prefix: str) -> dict[str, DeclaredField]:  # noqa: PLR0911 - one arm for each kind
    """Return the fields inside a part."""
    match part:
        case Octets(holds=inner, read_as=read_as) if inner is not None:
            rows = declared_fields(Layout("", (inner,)), prefix)
            if read_as == "bytes":  # a reader may stop inside bytes that are valid in any case
                return {path: evolve(row, required=False) for path, row in rows.items()}
            return _optional(rows, prefix)
        case Repeated(of=Layout(parts=(OneOf(name="", number=name, number_at=int(), layouts=layouts),))):
            return {
                path: row
                for number, layout in layouts.items()
                for path, row in declared_fields(layout, f"{prefix}{part.name}[{name}={number}].").items()
            }
        case Packed(of=inner):
            return declared_fields(Layout("", (inner,)), prefix)
        case When(part=inner):
            return _optional(_inner(inner, prefix), prefix)
        case Repeated(of=layout, joined=True):
            return declared_fields(layout, f"{_outside(prefix)}{part.name}[].")
        case Repeated(of=layout):
            return _inside(part, prefix, declared_fields(layout, f"{prefix}{part.name}[]."))
        case Nested(of=layout, inline=inline) if inline or not part.name:
            return declared_fields(layout, prefix)
        case Nested(of=layout):
            return _inside(part, prefix, declared_fields(layout, f"{prefix}{part.name}."))
    return _alternatives(part, prefix)


def _alternatives(part: Part, prefix: str) -> dict[str, DeclaredField]:
    """Return the fields inside a part of which each value has some."""
    match part:
        case Tagged(of=layout):
            rows = _optional(declared_fields(layout, prefix), prefix)
            return {path: evolve(row, order=None) for path, row in rows.items()}
        case ProtoField():
            return _proto_rows(part, f"{prefix}{part.name}")
        case OtherFields(name=name):
            types = frozenset(_PROTO_TYPES.values())
            return _payload_rows(f"{prefix}{name}", DeclaredField(types, order=None, required=False))
        case OneOf(layouts=layouts):
            scope = f"{prefix}{part.name}."
            rows_of_each = [declared_fields(layout, scope) for layout in layouts.values()]
            found: dict[str, DeclaredField] = {}
            for rows in rows_of_each:
                _merge(found, rows)
            common = {
                path for path in found if all(path in rows and rows[path].required for rows in rows_of_each)
            }
            return _inside(
                part, prefix, {path: evolve(row, required=path in common) for path, row in found.items()}
            )
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


def _inside(part: Part, prefix: str, rows: dict[str, DeclaredField]) -> dict[str, DeclaredField]:
    return {f"{prefix}{part.name}": _CONTAINER, **rows}


def _outside(prefix: str) -> str:
    """Return the prefix of the scope around the innermost one."""
    return _INNERMOST.sub("", prefix)


def _optional(rows: Mapping[str, DeclaredField], prefix: str) -> dict[str, DeclaredField]:
    """Return the rows with those of the scope itself optional; a scope inside it has all fields or none."""
    return {
        path: row if "." in path.removeprefix(prefix) else evolve(row, required=False)
        for path, row in rows.items()
    }


def trace_errors(layout: Layout, spans: Sequence[FieldSpan]) -> Iterator[str]:
    """Yield what a trace of accepted bytes has that its layout does not declare, one line each.

    Bytes that a reader skips need no declaration.
    """
    declared = declared_fields(layout)
    own = [span for span in spans if not _FRAMES.search(_INDEX.sub("[]", span.path))]
    general = _GeneralPaths.of(declared, own)
    scopes: dict[tuple[str, str], dict[str, FieldSpan]] = {("", ""): {}} if own else {}
    for span in own:
        path = general.path(span.path)
        if span.type == IGNORED and path not in declared:
            continue
        row = declared.get(path)
        if row is None:
            yield f"{span.path} at {span.at}: not declared"
            continue
        yield from _field_errors(span, row)
        scope, _, name = span.path.rpartition(".")
        scopes.setdefault((span.space, scope), {})[name] = span
    inner = _first_fields(scopes)
    for place, fields in scopes.items():
        yield from _order_errors(fields, inner.get(place, {}), declared, general)
    for scope in {scope for _, scope in scopes}:
        names = {name for (_, other), fields in scopes.items() if other == scope for name in fields}
        yield from _missing_errors(scope, names, declared, general)


def _first_fields(
    scopes: Mapping[tuple[str, str], Mapping[str, FieldSpan]],
) -> dict[tuple[str, str], dict[str, FieldSpan]]:
    """Return, for each scope, the first field inside each of its parts, by the path of the part."""
    found: dict[tuple[str, str], dict[str, FieldSpan]] = {}
    for (space, scope), fields in scopes.items():
        if scope:
            path = _LAST_INDEX.sub("", scope)
            first = min(fields.values(), key=lambda span: span.start)
            found.setdefault((space, path.rpartition(".")[0]), {}).setdefault(path, first)
    return found


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
    fields: Mapping[str, FieldSpan],
    inner: Mapping[str, FieldSpan],
    declared: Mapping[str, DeclaredField],
    general: _GeneralPaths,
) -> Iterator[str]:
    """Yield a line if fields of one scope and one space, or those inside its parts, are in another order."""
    rows = [(span, declared.get(general.path(span.path))) for span in fields.values()]
    rows += [(span, declared.get(general.path(path))) for path, span in inner.items()]
    placed = sorted(
        ((span.start, span.end), row.order) for span, row in rows if row is not None and row.order is not None
    )
    places = [order for _, order in placed]
    if places != sorted(places):
        yield f"{rows[0][0].path} and the fields beside it are in another order"


def _missing_errors(
    scope: str, names: Container[str], declared: Mapping[str, DeclaredField], general: _GeneralPaths
) -> Iterator[str]:
    """Yield the fields of one scope that are missing; compression can put some of them in another space."""
    prefix = f"{general.path(scope)}." if scope else ""
    for path, row in declared.items():
        head, _, name = path.rpartition(".")
        if row.required and f"{head}." == (prefix or ".") and name not in names:
            yield f"{scope}.{name}: missing"
