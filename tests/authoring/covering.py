"""Covering arrays of strength two: few rows in which each two states of two parts stand together.

The rows become frozen cases, so that another release of a library must not choose others: `allpairspy` does not
promise that. Random numbers are taken from `Random.random` alone, whose sequence Python does promise.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from random import Random
from typing import TypeAlias

Row: TypeAlias = dict[str, str]
Pair: TypeAlias = frozenset[tuple[str, str]]

TRIES = 40
"""Rows that are tried for each that is taken."""


def covering_rows(
    parts: Mapping[str, Sequence[str]],
    allowed: Callable[[Row], bool] = lambda _: True,
    tested: Iterable[Row] = (),
) -> list[Row]:
    """Return rows, a state for each part, in which each two states that are allowed together are together.

    Args:
        parts: the states of each part.
        allowed: whether a row, of which parts may be missing, can be a case.
        tested: rows that exist: their pairs need no other row. A row may lack parts.
    """
    random, rows = Random(20261127), []
    left = {
        frozenset(pair)
        for one, other in combinations(parts, 2)
        for pair in product(
            ((one, state) for state in parts[one]), ((other, state) for state in parts[other])
        )
        if allowed(dict(pair))
    }
    for row in tested:
        left -= pairs_of(row)
    while left:
        tries = (_row(parts, allowed, left, random) for _ in range(TRIES))
        best = max((row for row in tries if row), key=lambda row: len(pairs_of(row) & left), default=None)
        if best is None:
            raise ValueError(f"no row is allowed that has {min(map(sorted, left))}")
        rows.append({name: best[name] for name in parts})
        left -= pairs_of(best)
    return rows


def pairs_of(row: Row) -> set[Pair]:
    """Return each two parts of a row with their states."""
    return {frozenset(pair) for pair in combinations(row.items(), 2)}


def _row(
    parts: Mapping[str, Sequence[str]], allowed: Callable[[Row], bool], left: set[Pair], random: Random
) -> Row | None:
    """Return a row with a pair that is left, and of the others as many as one pass over its parts finds."""
    pairs = sorted(sorted(pair) for pair in left)
    row: Row = dict(pairs[int(random.random() * len(pairs))])
    for name in sorted((name for name in parts if name not in row), key=lambda _: random.random()):
        states = [state for state in parts[name] if allowed({**row, name: state})]
        if not states:
            return None
        row[name] = max(states, key=lambda state: (_new(row, name, state, left), random.random()))
    return row


def _new(row: Row, name: str, state: str, left: set[Pair]) -> int:
    return sum(frozenset((item, (name, state))) in left for item in row.items())
