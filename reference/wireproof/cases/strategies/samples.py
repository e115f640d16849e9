"""What one example of a property is drawn with: a value, its bytes, bytes with one field off, options.

Examples are drawn by Hypothesis from bytes that a seeded generator gives (`fuzz_one_input`), one example
from one block of bytes: example n of a seed is the same whatever was drawn before it, how many are
wanted, and whichever modules happen to be imported, from which Hypothesis's own search takes constants.
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
from wireproof.cases.strategies.damaged import damaged_of, written
from wireproof.formats import Format
from wireproof.heka.stream import Stream
from wireproof.kafka.values import Log
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.rejected import Rejected
from wireproof.wire.writer import Writer

T = TypeVar("T")

KEYS: Final = {"test_0": b"zero", "test_1": b"testkey", "_1": b"noname", "test_127": b""}
"""Keys of the signers that the strategy of frames names: heka.md, section 4."""

BYTES: Final = 4096
"""Bytes that one example is drawn from at first; a large one wants more."""

SETTINGS: Final = settings(
    phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


@frozen
class Sample:
    """One example.

    Attributes:
        value: in the row's class.
        data: its encoding under `options`.
        damaged: an encoding with one named field replaced, resealed or not.
        options: what the codec is asked for beside the bytes.
        seed: of cuts, pieces and edits, which need no Hypothesis.
    """

    value: Any
    data: bytes
    damaged: bytes
    options: Options
    seed: int


@st.composite
def samples(draw: DrawFn, row: Format) -> Sample:
    """Samples of a row."""
    value = draw(values(row.name, row.revision))
    damaged = draw(damaged_of(row, st.just(value)))
    options = draw(OPTIONS.get(row.name, _plain)(value))
    seed = draw(st.integers(0, (1 << 32) - 1))
    try:
        writer = Writer()
        row.encode(writer, value, options)
        data = bytes(writer.data)
    except Rejected:  # a limit, or a signer whose key is not there
        data = written(row, value)
    return Sample(value, data, damaged, options, seed)


def _plain(_value: Any) -> SearchStrategy[Options]:  # noqa: ANN401 - a value of any row
    return st.just(DEFAULT)


def _produced(_value: Any) -> SearchStrategy[Options]:  # noqa: ANN401 - as above
    return st.sampled_from([*[DEFAULT] * 5, Options(profile="produce")])


def _fetched(value: Log) -> SearchStrategy[Options]:
    """A fetch from an offset, or of committed records only: kafka.md §1.9."""
    offsets = [getattr(one, "base_offset", getattr(one, "offset", 0)) for one in value.batches]
    producers = [one.producer_id for one in value.batches if hasattr(one, "producer_id")]
    fetched = [Options(fetch_offset=max(offset + 1, 0)) for offset in offsets[:1]]
    aborted = tuple(zip(producers, offsets, strict=False))
    committed = [Options(isolation="read_committed", aborted=aborted)]
    return st.sampled_from([*[DEFAULT] * 8, *fetched, *committed])


def _verified(value: Stream) -> SearchStrategy[Options]:
    """With keys or without, in any resync; at the very size of a message, or one byte below it."""
    keys = st.sampled_from([None, KEYS])
    resync: SearchStrategy[Any] = st.sampled_from(["strict", "go", "c"])
    sizes = [one.header.message_length for one in value.frames]
    most = st.sampled_from([None, None, None, *(size - less for size in sizes[:1] for less in (0, 1))])
    return st.builds(Options, keys=keys, resync=resync, max_message=most)


OPTIONS: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {
    "kafka.batch": _produced,
    "kafka.log": _fetched,
    "iggy.send": _produced,
    "heka.message": lambda _: st.sampled_from([DEFAULT, DEFAULT, Options(compression="snappy")]),
    "heka.stream": _verified,
}
"""By the name of a format, the options that go with a value; of the others, none but the default's."""


def drawn(row: Format, seed: int) -> Iterator[Sample]:
    """The examples of a row and a seed, without end."""
    draw = drawer(row)
    for number in count():
        yield from draw(f"{row.joined} {seed} {number}")


@lru_cache(maxsize=64)
def drawer(row: Format) -> Callable[[str], list[Sample]]:
    """What draws the example of a row that a text names: the same one, whatever was drawn before."""
    return drawing(samples(row))


def drawing(strategy: SearchStrategy[T]) -> Callable[[str], list[T]]:
    """What draws the example of a strategy that a text names, in a list; of too large a one, none."""
    found: list[T] = []

    @SETTINGS
    @given(strategy)
    def collect(sample: T) -> None:
        found.append(sample)

    def draw(name: str) -> list[T]:
        found.clear()
        size = BYTES
        while not found and size <= BYTES << 4:
            source = Random(f"{name} {size}")  # noqa: S311 - examples, not secrets
            handle: Any = collect  # Hypothesis adds its `hypothesis` where no type tells of it
            handle.hypothesis.fuzz_one_input(source.randbytes(size))
            size <<= 2
        return list(found)

    return draw
