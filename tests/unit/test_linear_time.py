"""Work of the reference grows as its input and what it unpacks do: counted at two sizes, not timed.

Seconds are measured in `tests/benchmarks`.
"""

import gzip
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any, SupportsIndex

import hostile_kafka_bytes
import kafka_bytes
import pytest
from attrs import evolve
from growing_inputs import BATCH, HOSTILE, LOG, STREAM
from work_counter import steps

from wireproof import formats
from wireproof.cases.mutate.encodings import sample
from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

Path = tuple[str | int, ...]


TWICE = 2.1
"""The permitted cost of twice the input: a little more than twice the work, far less than four times."""


class Watched(bytes):
    """Bytes that add up the length of every part that is taken out of them."""

    copied = 0

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        part = super().__getitem__(key)
        if isinstance(part, bytes):
            self.copied += len(part)
        return part


def lines(call: Callable[[], object]) -> int:
    """The work of `call`; a refusal is an end like any other."""

    def ended() -> None:
        with suppress(Rejected):
            call()

    return steps(ended)


def work(call: Callable[[bytes], object], data: bytes) -> int:
    """The steps of `call` over `data`, and the bytes of it that are copied."""
    watched = Watched(data)
    return lines(lambda: call(watched)) + watched.copied


# --- every list of every format, grown ---


def _lists(tree: Any, path: Path = ()) -> Iterator[Path]:
    """The lists in a value that are not of fixed length."""
    match tree:
        case dict():
            for name, part in tree.items():
                yield from _lists(part, (*path, name))
        case [first, *_]:
            if not (path[-2:-1] == ("headers",) or path[-1:] == ("0",)):  # a header is a pair
                yield path
            yield from _lists(first, (*path, 0))


def _at(tree: Any, path: Path) -> Any:
    for part in path:
        tree = tree[part]
    return tree


def _grown(tree: Any, path: Path, count: int) -> Any:
    """The value with `count` elements in the list at `path`; a key of a header comes once."""
    tree = deepcopy(tree)
    some = _at(tree, path)
    some[:] = [deepcopy(some[index % len(some)]) for index in range(count)]
    if path[-1] == "headers" and isinstance(some[0], list):
        for index, pair in enumerate(some):
            pair[0] = _keyed(pair[0], f"{index:08x}")
    return tree


def _keyed(key: Any, text: str) -> Any:
    return {"kind": "raw", "value": text} if isinstance(key, dict) else text.encode().hex()


def _value(row: Format) -> Any:
    return to_json(formats.decode(row, sample(row)).value)


PLACES = [(row, path) for row in FORMATS.values() for path in _lists(_value(row))]


def _encoded(row: Format, path: Path, count: int) -> bytes | None:
    """The bytes of the grown value; None where counts in it must fit one another."""
    try:
        return formats.encode(row, _grown(_value(row), path, count))
    except Rejected:
        return None


@pytest.mark.parametrize(("row", "path"), PLACES, ids=lambda part: getattr(part, "format_id", str(part)))
def test_twice_the_elements_cost_twice_the_work(row: Format, path: Path) -> None:
    values = [_grown(_value(row), path, count) for count in COUNTS]
    once, twice = (lines(lambda value=value: formats.encode(row, value)) for value in values)
    assert twice < TWICE * once, "encode"
    data = [_encoded(row, path, count) for count in COUNTS]
    for name, call in _readers(row):
        once, twice = (work(call, one) if one else 1 for one in data)
        assert twice < TWICE * once, name


COUNTS = (12, 24)
"""Elements at the two sizes."""


def _readers(row: Format) -> Iterator[tuple[str, Callable[[bytes], object]]]:
    yield "decode", lambda data: formats.decode(row, data)
    yield "layout", lambda data: formats.decode_with_trace(row, data)
    if row.scan:
        yield "scan", lambda data: list(formats.scan(row, [data]))
        yield (
            "scan in pieces",
            lambda data: list(formats.scan(row, [data[n : n + 50] for n in range(0, len(data), 50)])),
        )


# --- what was seen to cost the square of its size, and what might ---


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_cost_work_in_proportion(name: str) -> None:
    row, make = HOSTILE[name]
    for reader, call in _readers(row):
        once, twice = (work(call, make(count)) for count in (150, 300))
        assert twice < TWICE * once + SLACK, reader


SLACK = 200
"""Lines that a single refusal may take more."""


@pytest.mark.parametrize(
    "wrong",
    ["0" * 2000, [7] * 2000, [{}] * 2000, {str(n): 0 for n in range(2000)}],
    ids=["a text", "numbers", "objects", "an object"],
)
def test_what_is_no_list_of_records_is_refused_at_its_first_element(wrong: Any) -> None:
    value = {**_value(BATCH), "records": wrong}
    lines(lambda: formats.encode(BATCH, value))  # what is made once for a class
    assert lines(lambda: formats.encode(BATCH, value)) < 1000


def _packed_stream(frames: int) -> bytes:
    value = {"frames": _value(STREAM)["frames"][:1] * frames}
    return formats.encode(STREAM, value, Options(compression="snappy"))


BOMBS: dict[str, tuple[Format, Callable[[int], bytes]]] = {
    "batches": (LOG, lambda n: kafka_bytes.batch(gzip.compress(PAIR * 500), 1000, attributes=1) * n),
    "wrappers": (LOG, lambda n: hostile_kafka_bytes.wrapper(hostile_kafka_bytes.message(bytes(9000))) * n),
    "frames of Heka": (STREAM, _packed_stream),
}
PAIR = kafka_bytes.PLAIN + kafka_bytes.SECOND


@pytest.mark.parametrize("name", BOMBS)
def test_all_that_one_decode_unpacks_counts_together(name: str) -> None:
    row, make = BOMBS[name]
    options = Options(compression="snappy") if row is STREAM else Options()
    least = next(most for most in range(50, 20_000, 50) if _fits(row, make(1), options, most))
    assert _fits(row, make(3), options, 3 * least)
    assert not _fits(row, make(3), options, 2 * least)


def _fits(row: Format, data: bytes, options: Options, most: int) -> bool:
    """A decode that may decompress `most` bytes reads it all; otherwise it refuses it for its size."""
    try:
        return formats.decode(row, data, evolve(options, max_output=most)).consumed == len(data)
    except Rejected as refused:
        if refused.cls != "limit-exceeded":
            raise
        return False
