"""Fields of a protobuf message spelled otherwise: wider, packed or not, in two pieces. heka.md, section 4.

Encoders choose one spelling each, readers must know them all; M10 to M19 and M62 to M78 are of this sort.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from wireproof.cases.mutate.draft import Splice
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.parsed import Spelled
from wireproof.wire.protobuf import FIXED64, LENGTH, VARINT, packed_varints
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.writer import uvarint_bytes

MOST: Final = 16
"""Numbers of a chunk that are written apart."""

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1

NANS: Final = (0x7FF8 << 48, 0x7FF0 << 48 | 1, 0xFFF8 << 48 | 7, (1 << 64) - 1)
"""Of which each is another sequence of bits: heka.md, section 4, M73."""


def respelled(one: Spelled, rng: Random) -> Splice:
    """The same field in another spelling; with an edge of its type in its place now and then."""
    made = pick(rng, SPELLINGS[one.wire])(one, rng)
    return Splice(one.space, one.start, one.end, made)


def _key(one: Spelled, wire: int) -> bytes:
    return uvarint_bytes(one.number << 3 | wire)


def _chunk(one: Spelled, payload: bytes) -> bytes:
    return _key(one, LENGTH) + uvarint_bytes(len(payload)) + payload


def _numbers(payload: bytes) -> list[int]:
    """The varints that a payload is made of; none where it is not made of a few."""
    try:
        found = list(packed_varints(Reader(payload), ""))
    except Rejected:
        return []
    return found if len(found) <= MOST else []


def wider(value: int, rng: Random) -> bytes:
    """A varint in other bytes: of 32 bits, of 64, with a bit that a narrow reader drops, with zeros."""
    match below(rng, 6):
        case 0:
            return uvarint_bytes(value & MASK32)
        case 1:
            return uvarint_bytes((value & MASK32 ^ 1 << 31) - (1 << 31) & MASK64)
        case 2:
            return uvarint_bytes(value + (1 << pick(rng, (8, 16, 32, 63))) & MASK64)
        case 3:
            return uvarint_bytes(value << pick(rng, (7, 8, 31, 32)) & MASK64)
        case _:
            short = uvarint_bytes(value & MASK64)
            return (
                short[:-1] + bytes([short[-1] | 0x80]) + b"\x80" * below(rng, 9 - min(len(short), 8)) + b"\0"
            )


def _wide(one: Spelled, rng: Random) -> bytes:
    return _key(one, VARINT) + wider(_numbers(one.payload)[0], rng)


def _negative(one: Spelled, rng: Random) -> bytes:
    """M14, M15: -1 in five bytes and in ten."""
    return _key(one, VARINT) + uvarint_bytes(pick(rng, (MASK32, MASK64, 1 << 31)))


def _renumbered(one: Spelled, rng: Random) -> bytes:
    """Another field, mostly one that may not be there."""
    length = uvarint_bytes(len(one.payload)) if one.wire == LENGTH else b""
    return uvarint_bytes(1 + below(rng, 15) << 3 | one.wire) + length + one.payload


def _gone(_one: Spelled, _: Random) -> bytes:
    return b""


def _packed(one: Spelled, _: Random) -> bytes:
    return _chunk(one, one.payload)


def _with_chunk(one: Spelled, rng: Random) -> bytes:
    """As it stands, and packed in front of it or behind it."""
    parts = [_chunk(one, one.payload), _key(one, one.wire) + one.payload]
    return b"".join(parts[:: pick(rng, (1, -1))])


def _nan(one: Spelled, rng: Random) -> bytes:
    return _key(one, FIXED64) + pick(rng, NANS).to_bytes(8, "little")


def _apart(one: Spelled, rng: Random) -> bytes:
    """The numbers of a chunk, each behind a key of its own."""
    numbers = _numbers(one.payload)
    if len(one.payload) % 8 or (numbers and below(rng, 2)):
        plain = below(rng, 2)
        spelled = (uvarint_bytes(number) if plain else wider(number, rng) for number in numbers)
        return b"".join(_key(one, VARINT) + number for number in spelled)
    rows = (one.payload[at : at + 8] for at in range(0, len(one.payload), 8))
    return b"".join(_key(one, FIXED64) + row for row in rows)


def _halves(one: Spelled, rng: Random) -> bytes:
    """Two chunks; cut between numbers, where it is made of them."""
    numbers = _numbers(one.payload)
    if numbers:
        at = below(rng, len(numbers) + 1)
        parts = (numbers[:at], numbers[at:])
        return b"".join(_chunk(one, b"".join(map(uvarint_bytes, part))) for part in parts)
    at = below(rng, len(one.payload) + 1) & ~7
    return _chunk(one, one.payload[:at]) + _chunk(one, one.payload[at:])


def _all_wide(one: Spelled, rng: Random) -> bytes:
    return _chunk(one, b"".join(wider(number, rng) for number in _numbers(one.payload)))


def _and_one(one: Spelled, rng: Random) -> bytes:
    """The chunk, and a number more that stands unpacked."""
    if one.payload and not len(one.payload) % 8 and below(rng, 2):
        return _chunk(one, one.payload) + _key(one, FIXED64) + one.payload[:8]
    return _chunk(one, one.payload) + _key(one, VARINT) + pick(rng, (b"\1", b"\0", b"\x80\0"))


def _nans(one: Spelled, rng: Random) -> bytes:
    count = len(one.payload) // 8
    return _chunk(one, b"".join(pick(rng, NANS).to_bytes(8, "little") for _ in range(count)))


SPELLINGS: Final[dict[int, tuple[Callable[[Spelled, Random], bytes], ...]]] = {
    VARINT: (_wide, _wide, _negative, _packed, _with_chunk, _renumbered, _renumbered, _gone),
    FIXED64: (_packed, _with_chunk, _nan),
    LENGTH: (_apart, _apart, _halves, _all_wide, _and_one, _nans, _renumbered, _gone),
}
"""By wire type."""
