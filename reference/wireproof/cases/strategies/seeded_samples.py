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

from wireproof.cases.strategies import values
from wireproof.cases.strategies.nearly_valid_bytes import nearly_valid_encodings, written
from wireproof.formats import Format
from wireproof.heka.stream import FrameStream
from wireproof.kafka.values import Log
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

T = TypeVar("T")

HMAC_KEYS: Final = {"test_0": b"zero", "test_1": b"testkey", "_1": b"noname", "test_127": b""}
"""The HMAC keys of the signers that the strategy for frames uses: heka.md, section 4."""

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
    options = draw(OPTION_STRATEGIES.get(fmt.name, _default_options)(value))
    seed = draw(st.integers(0, (1 << 32) - 1))
    try:
        writer = Writer()
        fmt.encode(writer, value, options)
        data = bytes(writer.data)
    except Rejected:  # a limit, or a signer without a key
        data = written(fmt, value)
    return PropertySample(value, data, damaged, options, seed)


def _default_options(_value: Any) -> SearchStrategy[Options]:  # noqa: ANN401 - a value of any format
    return st.just(DEFAULT_OPTIONS)


def _produce_options(_value: Any) -> SearchStrategy[Options]:  # noqa: ANN401 - as above
    return st.sampled_from([*[DEFAULT_OPTIONS] * 5, Options(profile="produce")])


def _fetch_options(value: Log) -> SearchStrategy[Options]:
    """Return a strategy for a fetch from an offset, or of committed records only: kafka.md §1.9."""
    offsets = [getattr(entry, "base_offset", getattr(entry, "offset", 0)) for entry in value.batches]
    producers = [entry.producer_id for entry in value.batches if hasattr(entry, "producer_id")]
    fetched = [Options(fetch_offset=max(offset + 1, 0)) for offset in offsets[:1]]
    aborted = tuple(zip(producers, offsets, strict=False))
    committed = [Options(isolation="read_committed", aborted=aborted)]
    return st.sampled_from([*[DEFAULT_OPTIONS] * 8, *fetched, *committed])


def _stream_options(value: FrameStream) -> SearchStrategy[Options]:
    """Return a strategy for options: keys or none, any resync, maybe a tight limit for the message size."""
    keys = st.sampled_from([None, HMAC_KEYS])
    resync: SearchStrategy[Any] = st.sampled_from(["strict", "go", "c"])
    sizes = [frame.header.message_length for frame in value.frames]
    max_message = st.sampled_from(
        [None, None, None, *(size - excess for size in sizes[:1] for excess in (0, 1))]
    )
    return st.builds(Options, keys=keys, resync=resync, max_message=max_message)


OPTION_STRATEGIES: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {
    "kafka.batch": _produce_options,
    "kafka.log": _fetch_options,
    "iggy.send": _produce_options,
    "heka.message": lambda _: st.sampled_from(
        [DEFAULT_OPTIONS, DEFAULT_OPTIONS, Options(compression="snappy")]
    ),
    "heka.stream": _stream_options,
}
"""Name of a format to the strategy for the options of a value; other formats use the default options."""


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
