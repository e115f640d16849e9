"""The numbers that codecs are most often wrong about, and bytes of the lengths that they are wrong about."""

from collections.abc import Callable
from random import Random
from typing import Final

from wireproof.cases.mutate.draws import below, pick

POWERS: Final = (6, 7, 8, 13, 14, 15, 16, 20, 21, 28, 31, 31, 32, 62, 63, 63, 64, 128, 128)
"""Where a field ends, or a varint takes one more byte, zigzag or not."""

WIDTHS: Final = (31, 63, 64, 128)
"""Bits of the integers whose largest value is an edge of its own."""

NARROW: Final = (8, 16, 31, 32)
"""Bits that a reader keeps who keeps too few: beyond them the same number stands."""

HEADERS: Final = (4, 5, 8, 12, 14, 17, 22, 26, 34, 49, 61)
"""Sizes of the heads of frames and of fields: a length that does not count them, or counts them twice, or
nothing but them; a reader that adds one to a length below 0 does not move at all."""

SIZES: Final = (1, 8, 63, 64, 65, 127, 128, 129, 200, 255)
"""Lengths of bytes; a varint of them takes one more byte from 64 or 128 on."""

FILLS: Final = (b"\x00", b"a", b"\xff", b"k", b"\xc3\xa9", b"\xf0\x9f\x98\x80", b"\x01\x02\x03")


_INTEGERS: Final[tuple[Callable[[Random, int, int], int], ...]] = (
    lambda rng, now, _: now + pick(rng, (-1, 1)),
    lambda rng, *_: pick(rng, (0, 1, -1, 2, -2)),
    lambda rng, now, _: now ^ 1 << below(rng, 8),
    lambda rng, *_: (1 << pick(rng, POWERS)) - 1,
    lambda rng, *_: (1 << pick(rng, WIDTHS)) - 1,
    lambda rng, *_: (1 << pick(rng, POWERS)) + pick(rng, (0, 1, -2)),
    lambda rng, *_: pick(rng, (-1, 0, 0, 1)) - (1 << pick(rng, POWERS)),
    lambda rng, now, left: left + pick(rng, (-1, 0, 1)) if left else now + pick(rng, (-2, 2)),
    lambda rng, now, _: now + pick(rng, (-1, 1)) * pick(rng, HEADERS),
    lambda rng, *_: pick(rng, (-1, 1)) * pick(rng, HEADERS) + pick(rng, (-1, 0, 0, 1)),
    lambda rng, now, _: now + pick(rng, (-1, 1)) * (1 << pick(rng, NARROW)),
    lambda rng, *_: below(rng, 256),
)
"""What may stand in place of a number: what is beside it, an edge of a type, an edge of the structure."""


def integer(rng: Random, now: int, left: int = 0) -> int:
    """An integer in place of `now`; `left` is the number of bytes that stand behind the field."""
    return pick(rng, _INTEGERS)(rng, now, left)


def octets(rng: Random, now: bytes = b"") -> bytes:
    """Bytes in place of `now`."""
    match below(rng, 7):
        case 0:
            return b""
        case 1 if now:
            at = below(rng, len(now))
            return now[:at] + bytes([now[at] ^ 1 << below(rng, 8)]) + now[at + 1 :]
        case 2 if now:
            return now[: below(rng, len(now))]
        case 3:
            return now[:64] + pick(rng, FILLS)
        case 4:
            return rng.randbytes(pick(rng, (1, 2, 4, 8, 16)))
        case _:
            size = pick(rng, SIZES)
            return (pick(rng, FILLS) * size)[:size]
