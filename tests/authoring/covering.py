"""Covering arrays of strength two: few rows in which every two values of every two factors meet.

Forty lines of our own rather than allpairspy: the rows must be the same wherever the cases are written, and a
pair that cannot be needs no filter here, because each table of factors has only what is legal together.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

Choice = tuple[str, int]
"""A factor, and the place of one of its values."""


def covering(factors: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return rows, each with a value for every factor, so that any two values of two factors share a row."""
    open_pairs = {
        frozenset(((one, first), (other, second)))
        for one, other in combinations(factors, 2)
        for first in range(len(factors[one]))
        for second in range(len(factors[other]))
    }
    rows: list[dict[str, Any]] = []
    while open_pairs:
        row = dict(min(tuple(sorted(pair)) for pair in open_pairs))
        for name in factors:
            if name not in row:
                row[name] = _best(name, len(factors[name]), row, open_pairs)
        open_pairs -= {frozenset(pair) for pair in combinations(row.items(), 2)}
        rows.append({name: factors[name][row[name]] for name in factors})
    return rows


def _best(name: str, size: int, row: Mapping[str, int], open_pairs: set[frozenset[Choice]]) -> int:
    """Return the value of a factor that closes the most pairs with what a row has; the first of equals."""

    def closed(value: int) -> int:
        return sum(frozenset(((name, value), choice)) in open_pairs for choice in row.items())

    return max(range(size), key=closed)
