"""Work of the reference grows as its input and what it unpacks do: counted at two sizes, not timed.

Seconds are measured in `tests/benchmarks`.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any, SupportsIndex

import kafka_bytes
import logs
import pytest
from attrs import evolve
from work_counter import steps

from wireproof import formats
from wireproof.derive.mutate.encodings import sample
from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

LOG = FORMATS["kafka.log/mixed"]
BATCH = FORMATS["kafka.batch/v2"]
STREAM = FORMATS["heka.stream/0.10"]
JSON = FORMATS["iggy.json.send/0.10"]


def _noted(count: int) -> bytes:
    """A log of batches of which each leaves remarks: §4 drops bits of a delta in every one of them."""
    body = bytes.fromhex("00008080808070010100")
    return kafka_bytes.batch(logs.varint(len(body)) + body) * count


def _group(depth: int) -> bytes:
    return b"\x1b" * depth + b"\x1c" * depth


def _nested_gzip(depth: int) -> bytes:
    data = kafka_bytes.PLAIN
    for _ in range(depth):
        data = zlib.compress(data, wbits=31)
    return data


def _members(count: int) -> bytes:
    return zlib.compress(b"", wbits=31) * count


LEAST_RECORD = bytes([12, 0, 0, 0, 1, 1, 0])
CLAIMS_THE_REST = kafka_bytes.record("0000 00 feffff07", 63)
EMPTY_ZSTD = bytes.fromhex("28b52ffd2000010000")

HOSTILE: dict[str, tuple[Format, Callable[[int], bytes]]] = {
    "a log of remarks": (LOG, lambda n: _noted(n // 2)),
    "a log of zeros": (LOG, bytes),
    "beginnings of entries": (LOG, lambda n: kafka_bytes.batch()[:17] * n),
    "sizes at every byte": (LOG, lambda n: bytes(8) + b"\xff" * 9 + b"\1" * n),
    "sizes of zeros": (LOG, lambda n: bytes(8) + b"\xff" * 9 + b"\0\0\0\x0e\0\0\0\0\0" * n),
    "entries with a wrong checksum": (LOG, lambda n: (kafka_bytes.batch()[:-1] + b"\xff") * n),
    "members of gzip": (BATCH, lambda n: kafka_bytes.batch(_members(n), attributes=1)),
    "gzip in gzip": (BATCH, lambda n: kafka_bytes.batch(_nested_gzip(n // 10), attributes=1)),
    "blocks of lz4": (BATCH, lambda n: kafka_bytes.batch(_lz4(n), attributes=3)),
    "chunks of snappy": (BATCH, lambda n: kafka_bytes.batch(_xerial(n), attributes=2)),
    "frames of zstd": (BATCH, lambda n: kafka_bytes.batch(EMPTY_ZSTD * n, attributes=4)),
    "a count of 2^31 - 1 over few records": (
        BATCH, lambda n: kafka_bytes.batch(LEAST_RECORD * n, (1 << 31) - 1),
    ),
    "records that all claim the rest": (BATCH, lambda n: kafka_bytes.batch(CLAIMS_THE_REST * n, n)),
    "a wrapper of zeros": (LOG, lambda n: kafka_bytes.wrapper(1, bytes(20 * n))),
    "separators": (STREAM, lambda n: b"\x1e" * n),
    "frames in frames": (STREAM, lambda n: b"\x1e\x02\x08\x7f\x1f" * n),
    "groups in groups": (FORMATS["heka.message/0.10"], _group),
    "brackets": (JSON, lambda n: b"[" * n),
    "braces": (JSON, lambda n: b'{"a":' * n),
    "digits": (JSON, lambda n: b'{"messages":[{"id":' + b"9" * n),
    "an exponent": (JSON, lambda n: b'{"messages":[{"id":1e' + b"9" * n + b"}]}"),
    "zeros of a fraction": (JSON, lambda n: b"0." + b"0" * n + b"x"),
    "quotes, escaped, without an end": (JSON, lambda n: b'"' + b'\\"' * n),
    "backslashes": (JSON, lambda n: b'"' + b"\\" * n),
    "blanks": (JSON, lambda n: b" " * n),
    "commas and blanks": (JSON, lambda n: b"[" + b" ," * n),
    "numbers": (JSON, lambda n: b"[" + b"0," * n),
    "surrogates": (JSON, lambda n: b'"' + b"\\ud83d" * n + b'"'),
    "names that nobody knows": (JSON, lambda n: b"{" + b'"a":0,' * n + b'"a":0}'),
    "escapes": (JSON, lambda n: b'{"' + b"\\u0041" * n + b'":0}'),
    "headers of one key": (
        FORMATS["iggy.headers/0.9"],
        lambda n: b"\2\1\0\0\0a\2\1\0\0\0b" * n,
    ),
}  # fmt: skip
"""By name: the format, and bytes in proportion to a number."""


def _lz4(count: int) -> bytes:
    return bytes.fromhex("04224d18604082") + b"\x01\0\0\x80a" * count + bytes(4)


def _xerial(count: int) -> bytes:
    return bytes.fromhex("82534e41505059000000000100000001") + b"\0\0\0\x03\x01\0a" * count


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
    "wrappers": (LOG, lambda n: kafka_bytes.wrapper(1, kafka_bytes.message(1, None, bytes(9000))) * n),
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
