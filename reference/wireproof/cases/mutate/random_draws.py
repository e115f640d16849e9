"""Fast random draws, with one call of the generator each. `randrange` and `choice` take four times as long.

A mutation of a small input spends most of its time on draws. Numbers above 2^53 are not drawn evenly, which
does not matter here.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

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
