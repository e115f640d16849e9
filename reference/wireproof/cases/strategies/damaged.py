"""Bytes that are nearly valid: an encoding damaged at named places of its layout. Design, section 2.

The place is drawn by its name in the trace, on the wire or inside a packed region: a field (an integer one
step or a bit away, at an edge of its type or of the structure; octets longer, shorter, others), an element
of a list (gone, twice, changed for another one) or a packed stream. Then what speaks of it is repaired, in
part or not, and what was packed is packed again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.cases.damage import COUNTED, encoded
from wireproof.cases.mutate import jsontext
from wireproof.cases.mutate.draft import PACKERS, Splice, drafted, repacked
from wireproof.cases.mutate.fielded import accompanied, without
from wireproof.cases.mutate.least import written
from wireproof.cases.mutate.numbers import HEADERS
from wireproof.cases.mutate.parsed import INTEGERS, Parsed, read
from wireproof.formats import Format
from wireproof.wire.trace import Span

__all__ = ["damaged_of", "written"]

EDGES: Final = (
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
"""What a length, count or delta is most often wrong by being."""

REPAIRS: Final = ((True, True), (True, True), (True, True), (False, True), (False, False))
"""Lengths and checksums made right, checksums alone, nothing."""

TRIES: Final = 3
"""Numbers that are drawn for a field before one is of its type."""

CODES: Final = 32
"""Of kinds, states and flags, most formats know fewer."""

_SORTS: Final = (*["element"] * 3, "stream", *["measure"] * 3, *["code"] * 2, *["field"] * 3)
"""Sorts of places, by how often one is damaged."""

T = TypeVar("T")

_PLACE: Final = re.compile(r"\[\d+\]")


def _measures(span: Span) -> bool:
    """Whether it is a length or a count, told or called so."""
    told = span.cover is not None and span.cover.kind in COUNTED
    return span.type in INTEGERS and (told or span.path.lower().endswith(("length", "count", "_len")))


def _names_field(span: Span) -> bool:
    """Whether it is the key of a protobuf field."""
    return span.type == "uvarint" and span.path.endswith(".key")


_NARROWED: Final[Mapping[str, Callable[[Span], bool]]] = {
    "measure": _measures,
    "code": lambda span: _names_field(span) or span.type == "uint8" or span.path.endswith("attributes"),
}
"""The sorts of fields that are damaged more often than their number says."""


@st.composite
def damaged_of(draw: DrawFn, row: Format, values: SearchStrategy[Any]) -> bytes:
    """An encoding of one of `values`, damaged in one place or two."""
    made = read(row, written(row, draw(values)))
    if not made.spans:
        return made.data + draw(_SOME)
    if ".json." in row.name and _below(draw, 2):
        return jsontext.edited(draw(_RANDOMS), made.data) or made.data
    splices = [splice for _ in range(_pick(draw, (1, 1, 1, 2))) for splice in _damage(draw, made)]
    lengths, sums = _pick(draw, REPAIRS)
    data = drafted(made, splices, lengths=lengths, sums=sums)
    return data if _below(draw, 12) else data[: _below(draw, len(data) + 1)]


_SOME: Final = st.binary(max_size=16)

_RANDOMS: Final = st.randoms(use_true_random=False)
"""What an edit of text draws from; every draw is one of Hypothesis's, and shrinks."""


def _below(draw: DrawFn, top: int) -> int:
    return draw(st.integers(0, top - 1))


def _pick(draw: DrawFn, some: Sequence[T]) -> T:
    """One of some; a strategy for each choice would cost more than all the rest of a damage."""
    return some[_below(draw, len(some))]


def _damage(draw: DrawFn, made: Parsed) -> list[Splice]:
    """At a place of some sort; where a format has none of that sort, at any field."""
    sort = _pick(draw, _SORTS)
    if sort == "element" and made.elements:
        return _element(draw, made)
    if sort == "stream" and (regions := [span for span in made.spans if span.type in PACKERS]):
        return _stream(draw, made, _pick(draw, regions))
    spans = [span for span in made.spans if _NARROWED[sort](span)] if sort in _NARROWED else []
    return _field(draw, made, _span(draw, spans or made.spans))


# --- fields ---


def _span(draw: DrawFn, spans: Sequence[Span]) -> Span:
    """A field by its name, then one of that name, so that those of many records do not hide the others."""
    named: dict[str, list[Span]] = {}
    for span in spans:
        named.setdefault(_PLACE.sub("", span.path), []).append(span)
    return _pick(draw, _pick(draw, list(named.values())))


def _field(draw: DrawFn, made: Parsed, span: Span) -> list[Splice]:
    """The field with other bytes; what speaks of it follows, or it is the one that is left wrong."""
    data = made.spaces[span.space]
    new = _another(draw, span, data[span.start : span.end], len(data) - span.end)
    return [Splice(span.space, span.start, span.end, new, _pick(draw, (span.path, span.path, "")))]


def _another(draw: DrawFn, span: Span, old: bytes, left: int) -> bytes:
    """Other bytes for a field: of its type where that holds integers, else octets."""
    if span.type in INTEGERS:
        for _ in range(TRIES):
            new = encoded(span, _number(draw, span, left))
            if new is not None:
                return new
    flipped = _flipped(old, _below(draw, max(len(old) * 8, 1)))
    return _pick(draw, (flipped, flipped, b"", b"", old[:-1], old + b"\0", bytes(len(old)), draw(_SOME)))


def _number(draw: DrawFn, span: Span, left: int) -> int:
    """A number that its sort of field is likely to be wrong by, or one of any sort."""
    now = int(span.value)
    if _below(draw, 4):
        if _measures(span):
            return _pick(draw, (now - 1, now + 1, 0, -1, left + 1))
        if span.type == "uint8":  # mostly a code out of few
            return _below(draw, CODES)
        if _names_field(span):  # another field of the same wire type
            return (1 + _below(draw, 15)) << 3 | now & 7
        if span.path.endswith("attributes"):
            return now ^ 1 << _below(draw, 8)
    near = (now - 1, now + 1, now - 2, now + 2, -now, -now - 2, left - 1, left, left + 1)
    heads = now + _pick(draw, HEADERS) * _pick(draw, (-1, 1))
    return _pick(draw, (*near, heads, now ^ 1 << _below(draw, 8), *EDGES))


def _flipped(old: bytes, bit: int) -> bytes:
    if not old:
        return b"\xff"
    data = bytearray(old)
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


# --- elements ---


def _element(draw: DrawFn, made: Parsed) -> list[Splice]:
    """An element of a list, by the name of the list first: gone, alone or all, twice, or another one."""
    many = _pick(draw, _pick(draw, made.lists))
    found = [one for one in made.elements if one.many == many]
    one = _pick(draw, found)
    data = made.spaces[one.space]
    times = _pick(draw, (0, 1, 2, 2))
    if times == 1:
        one = _pick(draw, (one, found[0]))  # what comes first is what readers rely on
        data = made.spaces[one.space]
        other = _pick(draw, [other for other in found if other.space == one.space])
        return [
            Splice(one.space, one.start, one.end, data[other.start : other.end]),
            Splice(one.space, other.start, other.end, data[one.start : one.end]),
        ]
    if not times and _below(draw, 2):
        return without(made, found)
    counted = accompanied(made, one, times) if _below(draw, 2) else []
    return [Splice(one.space, one.start, one.end, data[one.start : one.end] * times), *counted]


# --- packed streams ---


def _stream(draw: DrawFn, made: Parsed, region: Span) -> list[Splice]:
    """A packed stream with a bit flipped or its end gone; LZ4 with the other checksum of its head too."""
    old = made.spaces[region.space][region.start : region.end]
    other = repacked(made, region)
    match _below(draw, 3):
        case 0 if other is not None:
            new = other
        case 1:
            new = old[: _below(draw, len(old) + 1)]
        case _:
            new = _flipped(old, _below(draw, max(len(old) * 8, 1)))
    return [Splice(region.space, region.start, region.end, new)]
