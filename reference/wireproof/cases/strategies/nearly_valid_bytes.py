"""A Hypothesis strategy for bytes that are nearly valid: encoded values with one or two edits.

An edit changes one of these, found in the trace of a decode, on the wire or inside a compressed region:

- a field: an integer is off by one, has a flipped bit or is a boundary value; bytes are longer, shorter or
  replaced;
- an element of a list: removed, duplicated or exchanged with another one;
- a compressed stream: truncated, with a flipped bit or, for LZ4, with another header checksum.

Afterwards all, some or none of the lengths and checksums are fixed up, and the changed regions are compressed
again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.cases.edit_bytes import SIZE_COVERS, encode_field
from wireproof.cases.mutate import json_mutations
from wireproof.cases.mutate.boundary_values import HEADER_SIZES
from wireproof.cases.mutate.decode_trace import INTEGER_TYPES, DecodeTrace, trace_of
from wireproof.cases.mutate.field_mutations import adjust_counts_and_companions, remove_elements
from wireproof.cases.mutate.least import written
from wireproof.cases.mutate.splice import REGION_ENCODERS, Splice, apply_splices, recompress_lz4
from wireproof.formats import Format
from wireproof.wire.trace import FieldSpan

__all__ = ["nearly_valid_encodings", "written"]

BOUNDARY_VALUES: Final = (
    0,
    1,
    -1,
    -2,
    127,
    128,
    255,
    32767,
    65535,
    (1 << 31) - 1,
    -(1 << 31),
    (1 << 32) - 1,
    -(1 << 63),
)
"""Boundary values of lengths, counts and deltas."""

REPAIRS: Final = ((True, True), (True, True), (True, True), (False, True), (False, False))
"""The repairs to draw from, as (lengths, checksums). `apply_splices` repairs lengths only with checksums."""

MAX_TRIES: Final = 3
"""The most numbers to draw for a field until one fits its type."""

MAX_CODE: Final = 32
"""The upper limit for drawn codes of kinds, states and flags; most formats define fewer."""

_EDIT_KINDS: Final = (*["element"] * 3, "stream", *["measure"] * 3, *["code"] * 2, *["field"] * 3)
"""The kinds of edits, repeated by weight."""

T = TypeVar("T")

_INDEX: Final = re.compile(r"\[\d+\]")


def _is_measure(span: FieldSpan) -> bool:
    """Return whether the field is a length or a count, by its cover or by its name."""
    covers = span.cover is not None and span.cover.kind in SIZE_COVERS
    return span.type in INTEGER_TYPES and (covers or span.path.lower().endswith(("length", "count", "_len")))


def _is_protobuf_key(span: FieldSpan) -> bool:
    """Return whether the field is the key of a protobuf field."""
    return span.type == "uvarint" and span.path.endswith(".key")


_FIELD_KINDS: Final[Mapping[str, Callable[[FieldSpan], bool]]] = {
    "measure": _is_measure,
    "code": lambda span: _is_protobuf_key(span) or span.type == "uint8" or span.path.endswith("attributes"),
}
"""The kinds of fields that are edited more often than their share of all fields."""


@st.composite
def nearly_valid_encodings(draw: DrawFn, fmt: Format, values: SearchStrategy[Any]) -> bytes:
    """Draw one of `values`, encode it and apply one or two edits."""
    encoded_value = trace_of(fmt, written(fmt, draw(values)))
    if not encoded_value.spans:
        return encoded_value.data + draw(_SHORT_BYTES)
    if ".json." in fmt.name and _below(draw, 2):
        return json_mutations.mutate_json(draw(_RANDOMS), encoded_value.data) or encoded_value.data
    splices = [splice for _ in range(_pick(draw, (1, 1, 1, 2))) for splice in _edit(draw, encoded_value)]
    lengths, sums = _pick(draw, REPAIRS)
    data = apply_splices(encoded_value, splices, lengths=lengths, sums=sums)
    return data if _below(draw, 12) else data[: _below(draw, len(data) + 1)]


_SHORT_BYTES: Final = st.binary(max_size=16)

_RANDOMS: Final = st.randoms(use_true_random=False)
"""The random generators for edits of JSON. Hypothesis controls and shrinks their draws."""


def _below(draw: DrawFn, top: int) -> int:
    return draw(st.integers(0, top - 1))


def _pick(draw: DrawFn, choices: Sequence[T]) -> T:
    """Draw one of `choices`. A strategy for each choice would cost more than the rest of an edit."""
    return choices[_below(draw, len(choices))]


def _edit(draw: DrawFn, encoded_value: DecodeTrace) -> list[Splice]:
    """Draw an edit of a random kind; if the format has nothing of that kind, an edit of any field."""
    kind = _pick(draw, _EDIT_KINDS)
    if kind == "element" and encoded_value.elements:
        return _element(draw, encoded_value)
    if kind == "stream" and (
        regions := [span for span in encoded_value.spans if span.type in REGION_ENCODERS]
    ):
        return _stream(draw, encoded_value, _pick(draw, regions))
    spans = [span for span in encoded_value.spans if _FIELD_KINDS[kind](span)] if kind in _FIELD_KINDS else []
    return _field(draw, encoded_value, _span(draw, spans or encoded_value.spans))


# --- fields ---


def _span(draw: DrawFn, spans: Sequence[FieldSpan]) -> FieldSpan:
    """Draw the name of a field and then a field of that name, so that fields of records do not dominate."""
    by_name: dict[str, list[FieldSpan]] = {}
    for span in spans:
        by_name.setdefault(_INDEX.sub("", span.path), []).append(span)
    return _pick(draw, _pick(draw, list(by_name.values())))


def _field(draw: DrawFn, encoded_value: DecodeTrace, span: FieldSpan) -> list[Splice]:
    """Replace the bytes of a field. Its own value may be excluded from the repairs."""
    data = encoded_value.spaces[span.space]
    new = _other_bytes(draw, span, data[span.start : span.end], len(data) - span.end)
    return [Splice(span.space, span.start, span.end, new, _pick(draw, (span.path, span.path, "")))]


def _other_bytes(draw: DrawFn, span: FieldSpan, old: bytes, remaining: int) -> bytes:
    """Draw other bytes for a field: an integer if it has an integer type, else any bytes."""
    if span.type in INTEGER_TYPES:
        for _ in range(MAX_TRIES):
            new = encode_field(span, _number(draw, span, remaining))
            if new is not None:
                return new
    flipped = _flipped(old, _below(draw, max(len(old) * 8, 1)))
    return _pick(
        draw, (flipped, flipped, b"", b"", old[:-1], old + b"\0", bytes(len(old)), draw(_SHORT_BYTES))
    )


def _number(draw: DrawFn, span: FieldSpan, remaining: int) -> int:
    """Draw a number that is a likely error for this kind of field, or any boundary value."""
    old = int(span.value)
    if _below(draw, 4):
        if _is_measure(span):
            return _pick(draw, (old - 1, old + 1, 0, -1, remaining + 1))
        if span.type == "uint8":  # mostly the code of a small enumeration
            return _below(draw, MAX_CODE)
        if _is_protobuf_key(span):  # another field with the same wire type
            return (1 + _below(draw, 15)) << 3 | old & 7
        if span.path.endswith("attributes"):
            return old ^ 1 << _below(draw, 8)
    nearby = (old - 1, old + 1, old - 2, old + 2, -old, -old - 2, remaining - 1, remaining, remaining + 1)
    off_by_header = old + _pick(draw, HEADER_SIZES) * _pick(draw, (-1, 1))
    return _pick(draw, (*nearby, off_by_header, old ^ 1 << _below(draw, 8), *BOUNDARY_VALUES))


def _flipped(old: bytes, bit: int) -> bytes:
    if not old:
        return b"\xff"
    data = bytearray(old)
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


# --- elements ---


def _element(draw: DrawFn, encoded_value: DecodeTrace) -> list[Splice]:
    """Draw a list and then edit its elements: remove one or all, duplicate one or swap two."""
    list_path = _pick(draw, _pick(draw, encoded_value.lists))
    elements = [element for element in encoded_value.elements if element.many == list_path]
    chosen = _pick(draw, elements)
    data = encoded_value.spaces[chosen.space]
    times = _pick(draw, (0, 1, 2, 2))
    if times == 1:
        chosen = _pick(draw, (chosen, elements[0]))  # readers depend most on the first element
        data = encoded_value.spaces[chosen.space]
        other = _pick(draw, [element for element in elements if element.space == chosen.space])
        return [
            Splice(chosen.space, chosen.start, chosen.end, data[other.start : other.end]),
            Splice(chosen.space, other.start, other.end, data[chosen.start : chosen.end]),
        ]
    if not times and _below(draw, 2):
        return remove_elements(encoded_value, elements)
    counted = adjust_counts_and_companions(encoded_value, chosen, times) if _below(draw, 2) else []
    return [Splice(chosen.space, chosen.start, chosen.end, data[chosen.start : chosen.end] * times), *counted]


# --- compressed streams ---


def _stream(draw: DrawFn, encoded_value: DecodeTrace, region: FieldSpan) -> list[Splice]:
    """Flip a bit of a compressed stream or truncate it, or give LZ4 the other kind of header checksum."""
    old = encoded_value.spaces[region.space][region.start : region.end]
    other = recompress_lz4(encoded_value, region)
    match _below(draw, 3):
        case 0 if other is not None:
            new = other
        case 1:
            new = old[: _below(draw, len(old) + 1)]
        case _:
            new = _flipped(old, _below(draw, max(len(old) * 8, 1)))
    return [Splice(region.space, region.start, region.end, new)]
