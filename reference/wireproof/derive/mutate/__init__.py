"""Mutators for the encodings of all formats.

Every function is pure: its result depends on its arguments only, one of which is the random generator. The
mutators get their knowledge of a format from the trace of a decode (the range that a length, count or
checksum covers, the region from which bytes were decompressed) and from the decoded value.
"""

from random import Random

from wireproof.derive.mutate import value_mutations
from wireproof.derive.mutate.decode_trace import cached_trace
from wireproof.derive.mutate.dictionary import dictionary
from wireproof.derive.mutate.draws import below
from wireproof.derive.mutate.encodings import seed
from wireproof.derive.mutate.mutation_mix import mutate
from wireproof.derive.mutate.mutation_rules import Keys
from wireproof.derive.mutate.splice import repair
from wireproof.formats import Format


def crossover(fmt: Format, one: bytes, two: bytes, rng: Random, max_size: int) -> bytes:
    """Combine two inputs: put a part of one value into the other, or join and fix up their bytes."""
    first, second = cached_trace(fmt, one), cached_trace(fmt, two)
    if first.value is not None and second.value is not None and below(rng, 4):
        child = value_mutations.cross_values(fmt, first, second, rng)
        if child is not None:
            return child[:max_size]
    if not below(rng, 3):
        return (one + two)[:max_size]
    joined = one[: below(rng, len(one) + 1)] + two[below(rng, len(two) + 1) :]
    return repair(fmt, joined[:max_size])[:max_size]


__all__ = [
    "Keys",
    "crossover",
    "dictionary",
    "mutate",
    "repair",
    "seed",
]
