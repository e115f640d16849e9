"""Mutators of every format behind one interface; pure, and a function of their arguments alone.

They know a format by its row alone: by the layout trace (which bytes a length, count or checksum speaks
of, what was unpacked from where) and by its values. Design, section 2, "The layout trace".
"""

from random import Random

from wireproof.cases.mutate import raw, valued
from wireproof.cases.mutate.dictionary import dictionary
from wireproof.cases.mutate.draws import below
from wireproof.cases.mutate.least import seed
from wireproof.cases.mutate.parsed import parsed
from wireproof.cases.mutate.repairing import repair
from wireproof.cases.mutate.schedule import AWARE, Mutated, mutated
from wireproof.cases.mutate.signing import Keys
from wireproof.formats import Format


def mutate(row: Format, data: bytes, rng: Random, max_size: int, *, keys: Keys | None = None) -> bytes:
    """A child of `data`: an edit of a field, or of bytes with lengths and checksums repaired.

    Args:
        row: what the bytes are.
        data: any bytes; such that say nothing are mostly left for the least encoding of the format.
        rng: all that is drawn.
        max_size: bytes of the child at most.
        keys: of signers, as `Options.keys` has them: with them most children are signed again.
    """
    return mutated(row, data, rng, max_size, keys=keys).data


def crossover(row: Format, one: bytes, two: bytes, rng: Random, max_size: int) -> bytes:
    """A child of both: a part of the value of `two` in that of `one`, or their bytes joined and repaired."""
    first, second = parsed(row, one), parsed(row, two)
    if first.value is not None and second.value is not None and below(rng, 4):
        made = valued.crossed(row, first, second, rng)
        if made is not None:
            return made[:max_size]
    if not below(rng, 3):
        return (one + two)[:max_size]
    joined = one[: below(rng, len(one) + 1)] + two[below(rng, len(two) + 1) :]
    return repair(row, joined[:max_size])[:max_size]


__all__ = [
    "AWARE",
    "Keys",
    "Mutated",
    "crossover",
    "dictionary",
    "mutate",
    "mutated",
    "raw",
    "repair",
    "seed",
]
