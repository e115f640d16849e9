"""Check of a trace against the layout of its format: every field is declared, in its place and with its kind.

The codecs are written by hand where a layout would be slower or harder to read. This check, run on every
case, is the reason to believe that what is derived from a layout holds for its codec.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
    Packed,
    Part,
    Repeated,
    Tagged,
    When,
    Zero,
)
from wireproof.wire.trace import FieldSpan

_INDEX: Final = re.compile(r"\[\d+\]")

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
    """Return the fields of a layout by path; an index in a path is `[]`."""
    nullable = {part.of for part in layout.parts if isinstance(part, Length) and part.null is not None}
    found: dict[str, DeclaredField] = {}
    for order, part in enumerate(layout.parts):
        rows = {path: _placed(row, path, prefix, order) for path, row in _inner(part, prefix).items()}
        if row := _leaf(part):
            required = row.required and part.name not in nullable
            rows[f"{prefix}{part.name}"] = evolve(row, order=(order,), required=required)
        _merge(found, rows)
    return found


def _placed(row: DeclaredField, path: str, prefix: str, order: int) -> DeclaredField:
    """Return the row of a field inside the part `order`: its place counts if it has the scope of the part."""
    if row.order is None or "." in path.removeprefix(prefix):
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
    """Yield what a trace of accepted bytes has that its layout does not declare, one line each."""
    declared = declared_fields(layout)
    scopes: dict[tuple[str, str], dict[str, FieldSpan]] = {("", ""): {}} if spans else {}
    for span in spans:
        path = _INDEX.sub("[]", span.path)
        if _FRAMES.search(path):
            continue
        row = declared.get(path)
        if row is None:
            yield f"{span.path} at {span.at}: not declared"
            continue
        yield from _field_errors(span, row)
        scope, _, name = span.path.rpartition(".")
        scopes.setdefault((span.space, scope), {})[name] = span
    inner = _first_fields(scopes)
    for (space, scope), fields in scopes.items():
        yield from _order_errors(scope, {**inner.get((space, scope), {}), **fields}, declared)
        yield from _missing(scope, fields, declared)


def _first_fields(
    scopes: Mapping[tuple[str, str], Mapping[str, FieldSpan]],
) -> dict[tuple[str, str], dict[str, FieldSpan]]:
    """Return, for each scope, the first field inside each of its parts that has fields of its own."""
    found: dict[tuple[str, str], dict[str, FieldSpan]] = {}
    for (space, scope), fields in scopes.items():
        outer, _, name = _LAST_INDEX.sub("", scope).rpartition(".")
        if scope:
            first = min(fields.values(), key=lambda span: span.start)
            found.setdefault((space, outer), {}).setdefault(name, first)
    return found


def _field_errors(span: FieldSpan, row: DeclaredField) -> Iterator[str]:
    if span.type not in row.types:
        yield f"{span.path} at {span.at}: {span.type}, declared {', '.join(sorted(row.types))}"
    if span.cover is not None and span.cover.kind != row.cover:
        yield f"{span.path} at {span.at}: a {span.cover.kind}, declared {row.cover or 'as none'}"


def _order_errors(
    scope: str, fields: Mapping[str, FieldSpan], declared: Mapping[str, DeclaredField]
) -> Iterator[str]:
    prefix = f"{_INDEX.sub('[]', scope)}." if scope else ""
    rows = ((span, declared.get(f"{prefix}{name}")) for name, span in fields.items())
    placed = sorted(
        ((span.start, span.end), row.order) for span, row in rows if row is not None and row.order is not None
    )
    places = [order for _, order in placed]
    if places != sorted(places):
        yield f"{scope}: its fields are in another order"


def _missing(
    scope: str, fields: Mapping[str, FieldSpan], declared: Mapping[str, DeclaredField]
) -> Iterator[str]:
    prefix = f"{_INDEX.sub('[]', scope)}." if scope else ""
    for path, row in declared.items():
        head, _, name = path.rpartition(".")
        if row.required and f"{head}." == (prefix or ".") and name not in fields:
            yield f"{scope}.{name}: missing"
