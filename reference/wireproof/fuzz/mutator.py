"""The mutations that libFuzzer uses: edits that know the format, then a fix-up of lengths and checksums.

One input in several is mutated by libFuzzer itself, which has the dictionary and remembers what the code has
compared. Without the fix-up, no such input would get past a checksum.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from wireproof.cases.mutate import Keys
from wireproof.formats import Format
from wireproof.fuzz.uninstrumented import uninstrumented_modules

LIBFUZZER_ONE_IN: Final = 8
"""One input in this many is mutated by libFuzzer itself."""

LibFuzzerMutation = Callable[[bytes, int], bytes]
"""Returns a mutation of some bytes, of at most a number of bytes."""


class Mutator:
    """The custom mutator and crossover of libFuzzer.

    Apart from libFuzzer's own mutation, the results depend on the arguments alone.
    """

    def __init__(self, fmt: Format, native: LibFuzzerMutation, keys: Keys | None = None) -> None:
        """Mutate inputs of `fmt`, and sign them with `keys`; `native` is libFuzzer's own mutation."""
        copy = uninstrumented_modules()
        self._mutators = copy.mutate
        self._fmt = copy.formats.FORMATS[fmt.format_id]
        self._native = native
        self._keys = keys or None

    def mutate(self, data: bytes, max_size: int, seed: int) -> bytes:
        """Return a mutation of `data`."""
        rng = Random(seed)  # noqa: S311 - libFuzzer's seed, so that a run can be repeated
        if not rng.randrange(LIBFUZZER_ONE_IN):
            mutation: bytes = self._mutators.repair(
                self._fmt, self._native(data, max_size)[:max_size], self._keys
            )
        else:
            mutation = self._mutators.mutate(self._fmt, data, rng, max_size, keys=self._keys)
        return mutation[:max_size]

    def crossover(self, one: bytes, two: bytes, max_size: int, seed: int) -> bytes:
        """Return an input that combines both."""
        mutation: bytes = self._mutators.crossover(self._fmt, one, two, Random(seed), max_size)  # noqa: S311 - as above
        return mutation
