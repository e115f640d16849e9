"""Draws from a generator, by one call of it each: `randrange` and `choice` cost four times as much.

Most of what a mutation does to a small input is to draw. That numbers beyond 2^53 are not drawn evenly
matters to nobody here.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def below(rng: Random, top: int) -> int:
    """An integer from 0 to `top`, without it."""
    return int(rng.random() * top)


def pick(rng: Random, some: Sequence[T]) -> T:
    """One of `some`, which are not none."""
    return some[int(rng.random() * len(some))]


def early(rng: Random, some: Sequence[T]) -> T:
    """One of `some`, which are not none; rather one of the first, on which the others hang."""
    return some[int(min(rng.random(), rng.random()) * len(some))]
