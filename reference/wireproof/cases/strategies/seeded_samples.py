"""Reproducible samples for property checks: a value, its encoding, a nearly valid encoding and options.

Hypothesis draws each sample from its own block of bytes of a seeded generator (`fuzz_one_input`). So sample n
of a seed does not depend on the samples before it or on their number. It also does not depend on the imported
modules, from which Hypothesis's own search would take constants.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count
from random import Random
from typing import Any, Final, TypeVar

from attrs import frozen
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.cases.strategies import option_strategy, values
from wireproof.cases.strategies.nearly_valid_bytes import nearly_valid_encodings, written
from wireproof.formats import Format
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

T = TypeVar("T")

BLOCK_SIZE: Final = 4096
"""The size of the first block of bytes for a sample; a large sample needs more."""

SETTINGS: Final = settings(
    phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


@frozen
class PropertySample:
    """One sample for a property check.

    Attributes:
        value: an instance of the value class of the format.
        data: its encoding under `options`.
        damaged: an encoding of the value after one or two edits.
        options: the codec options of the request.
        seed: for cuts, splits into chunks and edits, which do not use Hypothesis.
    """

    value: Any
    data: bytes
    damaged: bytes
    options: Options
    seed: int


@st.composite
def samples(draw: DrawFn, fmt: Format) -> PropertySample:
    """Draw a sample of a format."""
    value = draw(values(fmt.name, fmt.revision))
    damaged = draw(nearly_valid_encodings(fmt, st.just(value)))
    options = draw(option_strategy(fmt, value))
    seed = draw(st.integers(0, (1 << 32) - 1))
    try:
        writer = Writer()
        fmt.encode(writer, value, options)
        data = bytes(writer.data)
    except Rejected:  # a limit, or a signer without a key
        data = written(fmt, value)
    return PropertySample(value, data, damaged, options, seed)


def iter_samples(fmt: Format, seed: int) -> Iterator[PropertySample]:
    """Yield the samples of a format and a seed, without end."""
    draw = sample_drawer(fmt)
    for number in count():
        yield from draw(f"{fmt.format_id} {seed} {number}")


@lru_cache(maxsize=64)
def sample_drawer(fmt: Format) -> Callable[[str], list[PropertySample]]:
    """Return a function that draws the sample of a format for a name, as a list of at most one."""
    return seeded_drawer(samples(fmt))


def seeded_drawer(strategy: SearchStrategy[T]) -> Callable[[str], list[T]]:
    """Return a function that draws an example of a strategy for a name.

    The same name always gives the same example. The function returns a list of it, or an empty list if it is
    too large.
    """
    examples: list[T] = []

    @SETTINGS
    @given(strategy)
    def collect(sample: T) -> None:
        examples.append(sample)

    def draw(name: str) -> list[T]:
        examples.clear()
        size = BLOCK_SIZE
        while not examples and size <= BLOCK_SIZE << 4:
            source = Random(f"{name} {size}")  # noqa: S311 - examples, not secrets
            handle: Any = collect  # Hypothesis adds the attribute `hypothesis`, which the type does not have
            handle.hypothesis.fuzz_one_input(source.randbytes(size))
            size <<= 2
        return list(examples)

    return draw
