"""What libFuzzer is given in place of its own mutations: edits that know the format, then repair.

One in so many children is libFuzzer's own, for it remembers what was compared with what and has the
dictionary; lengths and checksums are mended behind it, or nothing behind them would be reached.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from wireproof.cases.mutate import Keys
from wireproof.formats import Format
from wireproof.fuzz.aside import aside

OWN: Final = 8
"""One child in so many is libFuzzer's."""

Native = Callable[[bytes, int], bytes]


class Mutator:
    """The two calls that atheris asks for; functions of their arguments but for libFuzzer's part."""

    def __init__(self, row: Format, native: Native, keys: Keys | None = None) -> None:
        """Mutate inputs of `row`, signed with `keys`; `native` is libFuzzer's own mutation."""
        copy = aside()
        self._mutators = copy.mutate
        self._row = copy.formats.FORMATS[row.joined]
        self._native = native
        self._keys = keys or None

    def mutate(self, data: bytes, max_size: int, seed: int) -> bytes:
        """A child of `data`."""
        rng = Random(seed)  # noqa: S311 - libFuzzer's seed, so that a run can be repeated
        if not rng.randrange(OWN):
            made: bytes = self._mutators.repair(
                self._row, self._native(data, max_size)[:max_size], self._keys
            )
        else:
            made = self._mutators.mutate(self._row, data, rng, max_size, keys=self._keys)
        return made[:max_size]

    def cross(self, one: bytes, two: bytes, max_size: int, seed: int) -> bytes:
        """A child of both."""
        made: bytes = self._mutators.crossover(self._row, one, two, Random(seed), max_size)  # noqa: S311 - as above
        return made
