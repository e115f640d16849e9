"""Other encodings of a protobuf field: longer varints, packed or not, split in two. heka.md, section 4.

An encoder uses one encoding, but a decoder must accept all: see the vectors M10 to M19 and M62 to M78.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from wireproof.cases.mutate.decode_trace import EncodedField
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.splice import Splice
from wireproof.wire.protobuf import FIXED64, LENGTH_DELIMITED, VARINT, read_packed_varints
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import encode_uvarint

MAX_NUMBERS: Final = 16
"""The most numbers of a packed array that are re-encoded."""

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1

NANS: Final = (0x7FF8 << 48, 0x7FF0 << 48 | 1, 0xFFF8 << 48 | 7, (1 << 64) - 1)
"""NaNs with different bits: heka.md, section 4, M73."""


def encode_variant(field: EncodedField, rng: Random) -> Splice:
    """Return a splice that replaces a field by another encoding, sometimes of a boundary value."""
    new = pick(rng, FIELD_VARIANTS[field.wire])(field, rng)
    return Splice(field.space, field.start, field.end, new)


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
    return numbers if len(numbers) <= MAX_NUMBERS else []


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
            shortest = encode_uvarint(value & MASK64)
            return (
                shortest[:-1]
                + bytes([shortest[-1] | 0x80])
                + b"\x80" * below(rng, 9 - min(len(shortest), 8))
                + b"\0"
            )


def _wider_number(field: EncodedField, rng: Random) -> bytes:
    return _key(field, VARINT) + varint_variant(_numbers(field.payload)[0], rng)


def _negative(field: EncodedField, rng: Random) -> bytes:
    """Replace the number by -1 in five or ten bytes (M14, M15), or by 2^31."""
    return _key(field, VARINT) + encode_uvarint(pick(rng, (MASK32, MASK64, 1 << 31)))


def _renumbered(field: EncodedField, rng: Random) -> bytes:
    """Change the field number; most other fields are not allowed there."""
    length = encode_uvarint(len(field.payload)) if field.wire == LENGTH_DELIMITED else b""
    return encode_uvarint(1 + below(rng, 15) << 3 | field.wire) + length + field.payload


def _removed(_field: EncodedField, _: Random) -> bytes:
    return b""


def _packed(field: EncodedField, _: Random) -> bytes:
    return _length_delimited(field, field.payload)


def _packed_and_unpacked(field: EncodedField, rng: Random) -> bytes:
    """Encode the field twice: once unchanged, and once packed, before or after it."""
    parts = [_length_delimited(field, field.payload), _key(field, field.wire) + field.payload]
    return b"".join(parts[:: pick(rng, (1, -1))])


def _nan(field: EncodedField, rng: Random) -> bytes:
    return _key(field, FIXED64) + pick(rng, NANS).to_bytes(8, "little")


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
    """Split a packed array into two, between numbers if possible."""
    numbers = _numbers(field.payload)
    if numbers:
        at = below(rng, len(numbers) + 1)
        parts = (numbers[:at], numbers[at:])
        return b"".join(_length_delimited(field, b"".join(map(encode_uvarint, part))) for part in parts)
    at = below(rng, len(field.payload) + 1) & ~7
    return _length_delimited(field, field.payload[:at]) + _length_delimited(field, field.payload[at:])


def _wider_numbers(field: EncodedField, rng: Random) -> bytes:
    return _length_delimited(
        field, b"".join(varint_variant(number, rng) for number in _numbers(field.payload))
    )


def _one_more(field: EncodedField, rng: Random) -> bytes:
    """Append an unpacked number to a packed array."""
    if field.payload and not len(field.payload) % 8 and below(rng, 2):
        return _length_delimited(field, field.payload) + _key(field, FIXED64) + field.payload[:8]
    return (
        _length_delimited(field, field.payload) + _key(field, VARINT) + pick(rng, (b"\1", b"\0", b"\x80\0"))
    )


def _nans(field: EncodedField, rng: Random) -> bytes:
    count = len(field.payload) // 8
    return _length_delimited(field, b"".join(pick(rng, NANS).to_bytes(8, "little") for _ in range(count)))


FIELD_VARIANTS: Final[dict[int, tuple[Callable[[EncodedField, Random], bytes], ...]]] = {
    VARINT: (
        _wider_number,
        _wider_number,
        _negative,
        _packed,
        _packed_and_unpacked,
        _renumbered,
        _renumbered,
        _removed,
    ),
    FIXED64: (_packed, _packed_and_unpacked, _nan),
    LENGTH_DELIMITED: (_unpacked, _unpacked, _split, _wider_numbers, _one_more, _nans, _renumbered, _removed),
}
"""Wire type to functions that encode a field."""
