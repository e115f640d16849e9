"""What libFuzzer is given in place of its own mutations: edits that know the format, then repair.

One in so many children is libFuzzer's own, for it remembers what was compared with what and has the
dictionary; lengths and checksums are mended behind it, or nothing behind them would be reached.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from wireproof.cases.mutate import Keys, crossover, mutate, repair
from wireproof.formats import Format

OWN: Final = 8
"""One child in so many is libFuzzer's."""

Native = Callable[[bytes, int], bytes]


class Mutator:
    """The two calls that atheris asks for; functions of their arguments but for libFuzzer's part."""

    def __init__(self, row: Format, native: Native, keys: Keys | None = None) -> None:
        """Mutate inputs of `row`, signed with `keys`; `native` is libFuzzer's own mutation."""
        self._row = row
        self._native = native
        self._keys = keys or None

    def mutate(self, data: bytes, max_size: int, seed: int) -> bytes:
        """A child of `data`."""
        rng = Random(seed)  # noqa: S311 - libFuzzer's seed, so that a run can be repeated
        if not rng.randrange(OWN):
            return repair(self._row, self._native(data, max_size)[:max_size], self._keys)[:max_size]
        return mutate(self._row, data, rng, max_size, keys=self._keys)

    def cross(self, one: bytes, two: bytes, max_size: int, seed: int) -> bytes:
        """A child of both."""
        return crossover(self._row, one, two, Random(seed), max_size)  # noqa: S311 - as above
