"""The numbers that codecs are most often wrong about, and bytes of the lengths that they are wrong about."""

from random import Random
from typing import Final

POWERS: Final = (6, 7, 8, 13, 14, 15, 16, 20, 21, 28, 31, 31, 32, 62, 63, 63, 64, 128, 128)
"""Where a field ends, or a varint takes one more byte, zigzag or not."""

WIDTHS: Final = (31, 63, 64, 128)
"""Bits of the integers whose largest value is an edge of its own."""

HEADERS: Final = (4, 5, 8, 12, 14, 17, 22, 26, 34, 49, 61)
"""Sizes of the heads of frames and of fields: a length that does not count them, or counts them twice."""

SIZES: Final = (1, 8, 63, 64, 65, 127, 128, 129, 200, 255)
"""Lengths of bytes; a varint of them takes one more byte from 64 or 128 on."""

FILLS: Final = (b"\x00", b"a", b"\xff", b"k", b"\xc3\xa9", b"\x01\x02\x03")


def integer(rng: Random, now: int, left: int = 0) -> int:
    """An integer in place of `now`; `left` is the number of bytes that stand behind the field."""
    power = 1 << rng.choice(POWERS)
    return rng.choice(
        (
            now + rng.choice((-1, 1)),
            rng.choice((0, 1, -1, 2, -2)),
            now ^ 1 << rng.randrange(8),
            power - 1,
            (1 << rng.choice(WIDTHS)) - 1,
            rng.choice((power, power + 1, power - 2)),
            -power + rng.choice((-1, 0, 0, 1)),
            left + rng.choice((-1, 0, 1)) if left else now + rng.choice((-2, 2)),
            now + rng.choice((-1, 1)) * rng.choice(HEADERS),
            rng.randrange(256),
        )
    )


def octets(rng: Random, now: bytes = b"") -> bytes:
    """Bytes in place of `now`."""
    match rng.randrange(6):
        case 0:
            return b""
        case 1 if now:
            at = rng.randrange(len(now))
            return now[:at] + bytes([now[at] ^ 1 << rng.randrange(8)]) + now[at + 1 :]
        case 2 if now:
            return now[: rng.randrange(len(now))]
        case 3:
            return now[:64] + rng.choice(FILLS)
        case 4:
            return rng.randbytes(rng.choice((1, 2, 4, 8, 16)))
        case _:
            size = rng.choice(SIZES)
            return (rng.choice(FILLS) * size)[:size]
