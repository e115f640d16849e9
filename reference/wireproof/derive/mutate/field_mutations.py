"""Mutations of fields on the wire, found by the trace, also of Protobuf: bytes that no encoder writes."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Final

from wireproof.derive.edit_bytes import encode_field, name_of, size_kind
from wireproof.derive.mutate.decode_trace import DecodeTrace, Element, EncodedField
from wireproof.derive.mutate.draws import below, boundary_bytes, boundary_integer, pick, pick_early
from wireproof.derive.mutate.splice import Splice
from wireproof.formats import Format
from wireproof.schema.layout import Number, all_layouts, present
from wireproof.wire.protobuf import FIXED64, LENGTH_DELIMITED, VARINT, read_packed_varints
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan
from wireproof.wire.writer import encode_uvarint

MAX_CODE: Final = 32
"""The upper limit for drawn codes of kinds, states and flags; most formats define fewer."""


def edit_field(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Return the splices of one edit of a field or list element; none if the trace has no fields."""
    targets = (
        parent.integers,
        parent.numbers,
        parent.octets,
        parent.elements,
        parent.elements,
        parent.lengths,
        parent.varints,
        _limited(parent),
    )
    edits = (
        replace_number,
        zero_number,
        replace_bytes,
        edit_elements,
        edit_elements,
        remove_covered_bytes,
        lengthen_varint,
        reach_limit,
    )
    kinds = [edit for edit, found in zip(edits, targets, strict=True) if found]
    return pick(rng, kinds)(parent, rng) if kinds else []


def replace_number(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Replace an integer by a boundary value of its type or of the structure."""
    covering = [span for span in parent.integers if span.cover is not None]
    span = pick_early(rng, covering if covering and not below(rng, 4) else parent.integers)
    if span.cover is not None and not below(rng, 6):
        # The negative length that makes a reader loop: it points back to the start of the element.
        enclosing = (one for one in parent.elements if one.space == span.space)
        starts = [one.start for one in enclosing if one.start <= span.start < one.end]
        if made := _set(span, max(starts, default=0) - span.cover.start):
            return made
    remaining = len(parent.spaces[span.space]) - span.end
    for _ in range(3):
        if made := _set(span, _other_number(span, rng, remaining)):
            return made
    return [Splice(span.space, span.start, span.end, rng.randbytes(span.end - span.start), span.path)]


@cache
def _greatest(row: Format) -> Mapping[str, int]:
    """Return the greatest number of each field of a format that has a limit below that of its type."""
    parts = (part for layout in all_layouts(row.layout) for part in layout.parts)
    numbers = (part for part in map(present, parts) if isinstance(part, Number))
    return {part.name: part.most for part in numbers if part.most is not None}


def _limited(parent: DecodeTrace) -> list[tuple[FieldSpan, int]]:
    """Return the numbers that have such a limit, each with it."""
    greatest = _greatest(parent.row)
    names = ((span, name_of(span)) for span in parent.integers if greatest)
    return [(span, greatest[name]) for span, name in names if name in greatest]


def _set(span: FieldSpan, value: int) -> list[Splice]:
    """Return the splice that gives a field a number; none if it does not fit. The field is not fixed up."""
    new = encode_field(span, value)
    return [] if new is None else [Splice(span.space, span.start, span.end, new, span.path)]


def reach_limit(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Replace a number by the greatest that its field allows, or by one more."""
    span, greatest = pick(rng, _limited(parent))
    return _set(span, greatest + below(rng, 2))


def replace_code(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Replace a kind, a state, a flag or the attributes by a small number; none if there is no such field."""
    codes = [span for span in parent.integers if span.type == "uint8" or span.path.endswith("attributes")]
    if not codes:
        return []
    return _set(pick_early(rng, codes), below(rng, MAX_CODE))


def zero_number(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Set a number to 0, as in a field that was never set.

    Draw its name first, so that the fields of many records do not dominate.
    """
    return _set(pick(rng, pick(rng, parent.numbers)), 0)


def lengthen_varint(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Encode a varint in more bytes: a few more, the most that 32 or 64 bits allow, or one more than that.

    See kafka.md §4.
    """
    span = pick_early(rng, parent.varints)
    old = parent.spaces[span.space][span.start : span.end]
    size = pick(rng, (5, 6, 6, 10, 11)) if below(rng, 3) else len(old) + pick(rng, (1, 2, 3))
    last = pick(rng, (b"\0", b"\0", b"\0", b"\1"))
    new = old[:-1] + bytes([old[-1] | 0x80]) + b"\x80" * (size - len(old) - 1) + last
    return [Splice(span.space, span.start, span.end, new, span.path)]


def _other_number(span: FieldSpan, rng: Random, remaining: int) -> int:
    """Return another number: mostly a small error for a length or a count, any number for other fields."""
    if span.cover is not None and below(rng, 2):
        beyond = 1 << pick(rng, (8, 16, 32))  # no change for a reader that keeps only so many bits
        return int(span.value) + pick(rng, (-1, 1, -int(span.value), -int(span.value) - 1, beyond))
    if span.path.endswith(".key") and below(rng, 2):  # another field with the same wire type
        return (1 + below(rng, 15)) << 3 | int(span.value) & 7
    if span.type == "uint8" and below(rng, 2):  # mostly the code of a small enumeration
        return below(rng, MAX_CODE)
    return boundary_integer(rng, int(span.value), remaining)


def replace_bytes(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Replace the bytes of a field; its lengths are fixed up."""
    span = pick(rng, parent.octets)
    old = parent.spaces[span.space][span.start : span.end]
    return [Splice(span.space, span.start, span.end, boundary_bytes(rng, old))]


def remove_covered_bytes(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Remove all or the end of the bytes that a length covers; the length is fixed up."""
    span = pick(rng, parent.lengths)
    assert span.cover is not None
    start, end = span.cover.start, span.cover.end
    kept = start if below(rng, 2) else start + below(rng, end - start)
    return [Splice(span.space, kept, end, b"")]


def edit_elements(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Remove, duplicate or swap elements of a list; mostly the count is adjusted."""
    move = below(rng, 8)
    swaps = move > 4 or (move == 4 and parent.fields)
    lists = (swaps and parent.several) or parent.lists
    # For protobuf prefer the outer lists, whose order matters most to readers.
    evenly = not parent.fields and below(rng, 2)
    list_path = pick(rng, pick(rng, lists) if evenly else pick_early(rng, lists))
    elements = [one for one in parent.elements if one.many == list_path]
    if swaps:
        one = elements[0] if below(rng, 2) else pick(rng, elements)  # readers depend most on the first one
        candidates = [other for other in elements if other.space == one.space]
        other = pick(rng, [each for each in candidates if each != one] or candidates)
        data = parent.spaces[one.space]
        return [
            Splice(one.space, one.start, one.end, data[other.start : other.end]),
            Splice(one.space, other.start, other.end, data[one.start : one.end]),
        ]
    if move == 4:
        return remove_elements(parent, elements)
    one = pick(rng, elements)
    times = 2 * (move % 2)
    new = parent.spaces[one.space][one.start : one.end] * times
    others = adjust_counts_and_companions(parent, one, times) if below(rng, 8) else []
    return [Splice(one.space, one.start, one.end, new), *others]


def reencode_protobuf_fields(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Encode one or two protobuf fields in another way; the lengths around them are fixed up."""
    numeric = [one for one in parent.fields if one.numbers]
    fields = numeric if numeric and below(rng, 4) else parent.fields
    splices = []
    for _ in range(pick(rng, (1, 1, 2))):
        field = pick_early(rng, fields)
        new = pick(rng, FIELD_VARIANTS[field.wire])(field, rng)
        splices.append(Splice(field.space, field.start, field.end, new))
    return splices


def adjust_counts_and_companions(parent: DecodeTrace, one: Element, times: int) -> list[Splice]:
    """Return the splices that adjust counts and companions after an element is removed or duplicated."""
    if not times:
        return remove_elements(parent, [one])[1:]
    splices = adjust_counts(parent, one.many, times - 1)
    for other in parent.companions(one):
        # The unchanged copy comes first, because it refers to the first of the two elements. The splice also
        # replaces the first field of the companion; otherwise a length that ends where the companion begins
        # would grow to cover the copy.
        data, place = parent.spaces[other.space], (other.space, other.start)
        end = next(span.end for span in parent.spans if (span.space, span.start) == place)
        copied = data[other.start : other.end] + data[other.start : end]
        splices.append(Splice(other.space, other.start, end, copied))
    return splices


def remove_elements(parent: DecodeTrace, gone: Sequence[Element]) -> list[Splice]:
    """Return the splices that remove elements of one list and their companions, and adjust the counts."""
    companions = (other for one in gone for other in parent.companions(one))
    removed = [Splice(one.space, one.start, one.end, b"") for one in (*gone, *companions)]
    return [*removed, *adjust_counts(parent, gone[0].many, -len(gone))]


def adjust_counts(parent: DecodeTrace, many: str, step: int) -> list[Splice]:
    """Return the splices that add `step` to the counts of a list."""
    made = ((span, encode_field(span, int(span.value) + step)) for span in parent.counts(many))
    return [Splice(span.space, span.start, span.end, new) for span, new in made if new is not None]


def replace_count(parent: DecodeTrace, rng: Random) -> list[Splice]:
    """Replace a count by a wrong one; without counts, replace any number."""
    counts = [span for span in parent.integers if size_kind(span, parent.row.layout) == "count"]
    if not counts:
        return replace_number(parent, rng) if parent.integers else []
    span = pick(rng, counts)
    return _set(span, int(span.value) + pick(rng, (-1, 1, 2, -int(span.value) - 1, 1 << 20)))


MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1


def _key(field: EncodedField, wire: int) -> bytes:
    return encode_uvarint(field.number << 3 | wire)


def _length_delimited(field: EncodedField, payload: bytes) -> bytes:
    return _key(field, LENGTH_DELIMITED) + encode_uvarint(len(payload)) + payload


def _numbers(payload: bytes) -> list[int]:
    """Return the varints of a packed array; none if the payload is not one or has too many."""
    try:
        numbers = list(read_packed_varints(Reader(payload), ""))
    except Rejected:
        return []
    return numbers if len(numbers) <= 16 else []


def varint_variant(value: int, rng: Random) -> bytes:
    """Return another varint: truncated to 32 bits, sign-extended, with high bits set, shifted or overlong."""
    match below(rng, 6):
        case 0:
            return encode_uvarint(value & MASK32)
        case 1:
            return encode_uvarint((value & MASK32 ^ 1 << 31) - (1 << 31) & MASK64)
        case 2:
            return encode_uvarint(value + (1 << pick(rng, (8, 16, 32, 63))) & MASK64)
        case 3:
            return encode_uvarint(value << pick(rng, (7, 8, 31, 32)) & MASK64)
        case _:
            *first, last = encode_uvarint(value & MASK64)
            more = b"\x80" * below(rng, 8 - min(len(first), 7))
            return bytes([*first, last | 0x80]) + more + b"\0"


def _renumbered(field: EncodedField, rng: Random) -> bytes:
    """Change the field number; most other fields are not allowed there."""
    length = encode_uvarint(len(field.payload)) if field.wire == LENGTH_DELIMITED else b""
    return encode_uvarint(1 + below(rng, 15) << 3 | field.wire) + length + field.payload


def _packed_and_unpacked(field: EncodedField, rng: Random) -> bytes:
    """Encode the field twice: once unchanged, and once packed, before or after it."""
    parts = [_length_delimited(field, field.payload), _key(field, field.wire) + field.payload]
    return b"".join(parts[:: pick(rng, (1, -1))])


def _unpacked(field: EncodedField, rng: Random) -> bytes:
    """Encode a packed array unpacked: each number with its own key."""
    numbers = _numbers(field.payload)
    if len(field.payload) % 8 or (numbers and below(rng, 2)):
        shortest = below(rng, 2)
        varints = (encode_uvarint(number) if shortest else varint_variant(number, rng) for number in numbers)
        return b"".join(_key(field, VARINT) + number for number in varints)
    doubles = (field.payload[at : at + 8] for at in range(0, len(field.payload), 8))
    return b"".join(_key(field, FIXED64) + double for double in doubles)


def _split(field: EncodedField, rng: Random) -> bytes:
    numbers = _numbers(field.payload)
    if numbers:
        at = below(rng, len(numbers) + 1)
        parts = (numbers[:at], numbers[at:])
        return b"".join(_length_delimited(field, b"".join(map(encode_uvarint, part))) for part in parts)
    at = below(rng, len(field.payload) + 1) & ~7
    return _length_delimited(field, field.payload[:at]) + _length_delimited(field, field.payload[at:])


def _one_more(field: EncodedField, rng: Random) -> bytes:
    """Append an unpacked number to a packed array."""
    if field.payload and not len(field.payload) % 8 and below(rng, 2):
        return _length_delimited(field, field.payload) + _key(field, FIXED64) + field.payload[:8]
    one = pick(rng, (b"\1", b"\0", b"\x80\0"))
    return _length_delimited(field, field.payload) + _key(field, VARINT) + one


def _nans(rng: Random, count: int) -> bytes:
    """Return NaNs with different bits: heka.md, section 4, M73."""
    nans = 0x7FF8 << 48, 0x7FF0 << 48 | 1, 0xFFF8 << 48 | 7, MASK64
    return b"".join(pick(rng, nans).to_bytes(8, "little") for _ in range(count))


_VARIANTS: Final[dict[str, Callable[[EncodedField, Random], bytes]]] = {
    "wider": lambda field, rng: _key(field, VARINT) + varint_variant(_numbers(field.payload)[0], rng),
    # -1 in five or ten bytes (M14, M15), or 2^31
    "negative": lambda field, rng: _key(field, VARINT) + encode_uvarint(pick(rng, (MASK32, MASK64, 1 << 31))),
    "removed": lambda _field, _: b"",
    "packed": lambda field, _: _length_delimited(field, field.payload),
    "nan": lambda field, rng: _key(field, FIXED64) + _nans(rng, 1),
    "nans": lambda field, rng: _length_delimited(field, _nans(rng, len(field.payload) // 8)),
    "all wider": lambda field, rng: _length_delimited(
        field, b"".join(varint_variant(number, rng) for number in _numbers(field.payload))
    ),
    "both": _packed_and_unpacked,
    "renumbered": _renumbered,
    "unpacked": _unpacked,
    "split": _split,
    "one more": _one_more,
}

_NAMES: Final = {
    VARINT: ("wider", "wider", "negative", "packed", "both", "renumbered", "renumbered", "removed"),
    FIXED64: ("packed", "both", "nan"),
    LENGTH_DELIMITED: (
        "unpacked", "unpacked", "split", "all wider", "one more", "nans", "renumbered", "removed"
    ),
}  # fmt: skip

FIELD_VARIANTS: Final = {wire: tuple(_VARIANTS[name] for name in names) for wire, names in _NAMES.items()}
"""Wire type to functions that encode a field."""
