"""Mutations of bytes that ignore the format, as a generic fuzzer makes them."""

from random import Random
from typing import Final

from wireproof.cases.mutate.draws import below, boundary_integer, pick
from wireproof.cases.mutate.splice import Splice

WIDTHS: Final = (1, 2, 4, 8)


def random_splice(
    rng: Random, data: bytes, space: str = "", start: int = 0, end: int | None = None
) -> Splice:
    """Return one random edit between `start` and `end` of the bytes of a space."""
    stop = len(data) if end is None else end
    at = start + below(rng, stop - start) if stop > start else start
    match below(rng, 7):
        case 0 | 1 if at < stop:
            return Splice(space, at, at + 1, bytes([data[at] ^ 1 << below(rng, 8)]))
        case 2 if at < stop:
            return Splice(space, at, at + 1, bytes([pick(rng, (0, 1, 0x7F, 0x80, 0xFF, below(rng, 256)))]))
        case 3 if at < stop:
            return Splice(space, at, min(at + pick(rng, WIDTHS), stop), b"")
        case 4 if at < stop:
            width = min(pick(rng, WIDTHS), stop - at)
            order = pick(rng, ("big", "little"))
            now = int.from_bytes(data[at : at + width], "big" if order == "big" else "little")
            new = boundary_integer(rng, now, len(data) - at - width) & (1 << 8 * width) - 1
            return Splice(space, at, at + width, new.to_bytes(width, "big" if order == "big" else "little"))
        case 5 if at < stop:
            source = start + below(rng, stop - start)
            return Splice(space, at, at, data[source : source + pick(rng, (1, 4, 16))])
        case _:
            return Splice(space, at, at, rng.randbytes(pick(rng, (1, 1, 2, 4))))


def mutate_bytes(rng: Random, data: bytes) -> bytes:
    """Apply one to three random edits to bytes."""
    for _ in range(pick(rng, (1, 1, 2, 3))):
        splice = random_splice(rng, data)
        data = data[: splice.start] + splice.new + data[splice.end :]
    return data
