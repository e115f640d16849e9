"""Random draws, and the numbers and sizes of bytes for which codecs most often have bugs.

A draw is one call of the generator; `randrange` and `choice` take four times as long, and a mutation of a
small input spends most of its time on draws. Numbers above 2^53 are not drawn evenly, which does not matter.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")


def below(rng: Random, top: int) -> int:
    """Return an integer from 0 to `top - 1`."""
    return int(rng.random() * top)


def pick(rng: Random, items: Sequence[T]) -> T:
    """Return an element of a sequence that is not empty."""
    return items[int(rng.random() * len(items))]


def pick_early(rng: Random, items: Sequence[T]) -> T:
    """Return an element of a sequence that is not empty, biased towards the front.

    The first fields matter most, because the others depend on them.
    """
    return items[int(min(rng.random(), rng.random()) * len(items))]


POWERS: Final = (6, 7, 8, 13, 14, 15, 16, 20, 21, 28, 31, 31, 32, 62, 63, 63, 64, 128, 128)
"""Powers of 2 at which a field is full or a varint takes one more byte, with or without zigzag."""

HEADER_SIZES: Final = (4, 5, 8, 12, 14, 17, 22, 26, 34, 49, 61)
"""Sizes of the headers of frames and fields.

A wrong length may omit the header, count it twice or consist of it alone. A negative length of this size
makes a reader that adds the size of the header loop.
"""

EDGE_SIZES: Final = (0, 1, 2, 63, 64, 65, 127, 128, 129, 8192)
"""Sizes of lists, texts and bytes: none, one, several; a varint takes one more byte at 64 (with zigzag), 128
and 8192."""

MAX_SIZE: Final = 10_240
"""Largest input in bytes that is fuzzed: a list of 129 messages of Iggy fits, and one text of 8,192 bytes.

Of a longer one, its beginning is used.
"""

LONG_LISTS: Final = EDGE_SIZES[3:-1]
"""Sizes for lists in mutations."""


def edge_numbers(low: int, high: int) -> list[int]:
    """Return the numbers from `low` to `high` at which codecs most often have bugs, the smallest first."""
    powers = [1 << power for power in sorted({*POWERS, *range(6, 64, 7), *range(7, 64, 7)})]
    steps = [number for step in powers for number in (step - 1, step, -step, -step - 1)]
    found = {0, 1, -1, 2, *steps, (1 << 53) + 1, low, high}  # what a double does not keep, too
    return sorted((number for number in found if low <= number <= high), key=lambda one: (abs(one), one < 0))


FILLS: Final = (b"\x00", b"a", b"\xff", b"k", b"\xc3\xa9", b"\xf0\x9f\x98\x80", b"\x01\x02\x03")


_INTEGERS: Final[tuple[Callable[[Random, int, int], int], ...]] = (
    lambda rng, now, _: now + pick(rng, (-1, 1)),
    lambda rng, *_: pick(rng, (0, 1, -1, 2, -2)),
    lambda rng, now, _: now ^ 1 << below(rng, 8),
    lambda rng, *_: (1 << pick(rng, POWERS)) - 1,
    lambda rng, *_: (1 << pick(rng, (31, 63, 64, 128))) - 1,
    lambda rng, *_: (1 << pick(rng, POWERS)) + pick(rng, (0, 1, -2)),
    lambda rng, *_: pick(rng, (-1, 0, 0, 1)) - (1 << pick(rng, POWERS)),
    lambda rng, now, left: left + pick(rng, (-1, 0, 1)) if left else now + pick(rng, (-2, 2)),
    lambda rng, now, _: now + pick(rng, (-1, 1)) * pick(rng, HEADER_SIZES),
    lambda rng, *_: pick(rng, (-1, 1)) * pick(rng, HEADER_SIZES) + pick(rng, (-1, 0, 0, 1)),
    # no change for a reader that truncates numbers
    lambda rng, now, _: now + pick(rng, (-1, 1)) * (1 << pick(rng, (8, 16, 31, 32))),
    lambda rng, *_: below(rng, 256),
)
"""Replacements for a number: a neighbour, a boundary value of a type or of the structure."""


def boundary_integer(rng: Random, now: int, left: int = 0) -> int:
    """Return a replacement for the integer `now`. `left`: the number of bytes after the field."""
    return pick(rng, _INTEGERS)(rng, now, left)


def boundary_bytes(rng: Random, now: bytes = b"") -> bytes:
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
            size = pick(rng, (1, 8, 63, 64, 65, 127, 128, 129, 200, 255))  # mutations are small as a whole
            return (pick(rng, FILLS) * size)[:size]
