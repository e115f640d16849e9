"""Long garbage and zeros in Kafka's logs: the fast search ends where the reference's does, and soon."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import kafka_bytes
import logs
import pytest
from each import each

from wireproof import formats
from wireproof.kafka.columnar import garbage_search
from wireproof.kafka.suite.spark_reader import KAFKA, read_entries
from wireproof.spark.logs import spans as object_spans
from wireproof.spark.logs.columns import FRAME_COLUMNS, EntryColumns
from wireproof.spark.logs.objects import ObjectPlace
from wireproof.spark.logs.spans import ObjectSpan, split_span
from wireproof.spark.logs.split_points import find_split_points, recover_by_item
from wireproof.wire.options import DEFAULT_OPTIONS, Options

MIB = 1 << 20
ONE = logs.batch(b"one")
SMALL = Options(max_message=200)
FALSE_START = b"\0" * 8 + b"\0\0\0\x30" + b"\0" * 4


def pieces_of(rng: random.Random) -> Iterator[bytes]:
    """Bytes that a search must look at, or skip."""
    made: tuple[Callable[[], bytes], ...] = (
        lambda: bytes(rng.randrange(60)),
        lambda: rng.randbytes(rng.randrange(30)),
        lambda: ONE,
        lambda: ONE[: rng.randrange(len(ONE))],
        lambda: ONE[:-1] + bytes([ONE[-1] ^ 1]),
        lambda: kafka_bytes.message(rng.randrange(2)),
        lambda: FALSE_START + bytes([rng.randrange(4)]),
        lambda: b"\0" * 8 + rng.randrange(400).to_bytes(4, "big") + b"\0" * 4 + b"\2",
        lambda: b"\xff" * rng.randrange(9),
    )
    while True:
        yield rng.choice(made)()


def garbage_first(rng: random.Random) -> bytes:
    pieces = pieces_of(rng)
    return b"\xff" * rng.choice((1, 16, 17)) + b"".join(next(pieces) for _ in range(rng.randrange(14)))


@pytest.mark.parametrize("window", [40, 257, MIB])
@pytest.mark.parametrize("options", [DEFAULT_OPTIONS, SMALL, Options(max_message=40)])
def test_garbage_ends_and_settles_where_the_reference_ends_and_settles_it(
    window: int, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage_search, "WINDOW", window)
    rng, kinds = random.Random(window), set()
    for _ in range(400):
        data = garbage_first(rng)
        stored = logs.stored(data)
        found = garbage_search.garbage_item(stored.read, 0, len(data), options)
        wanted = next(iter(formats.scan(KAFKA.fmt, [data], options)))
        kinds.add((wanted.kind, wanted.length == len(data)))
        if found is None:
            assert wanted.kind == "tail", data.hex()
            continue
        assert found[0] == wanted, data.hex()
        points = [
            list(way(KAFKA.fmt, logs.stored(data).pieces(0), options))
            for way in (KAFKA.recover, recover_by_item)
        ]
        assert points[0][0] == points[1][0], data.hex()
    assert kinds >= {("garbage", True), ("garbage", False)}


def test_the_checksums_of_candidates_read_no_more_than_the_reference_allows() -> None:
    claim = b"\0" * 8 + b"\0\0\0\xb0" + b"\0" * 4 + b"\0"
    for count in range(0, 200, 7):
        data = b"\xff" * 17 + claim * count + ONE + bytes(300)
        wanted = next(iter(formats.scan(KAFKA.fmt, [data], SMALL)))
        assert garbage_search.garbage_item(logs.stored(data).read, 0, len(data), SMALL) == (wanted, True)


def test_a_long_candidate_is_checked_though_it_exceeds_the_window() -> None:
    entry = logs.batch(b"x" * (garbage_search.WINDOW + 5000))
    for data in (b"\xff" * 20 + entry + ONE, b"\xff" * 20 + entry[:-1] + b"?" + ONE):
        found = garbage_search.garbage_item(logs.stored(data).read, 0, len(data), DEFAULT_OPTIONS)
        assert found is not None
        assert found[0] == next(iter(formats.scan(KAFKA.fmt, [data], DEFAULT_OPTIONS)))


def rows(data: bytes) -> list[tuple[int, int]]:
    one = logs.stored(data, 4096)
    parts = read_entries(one, 0, len(data), DEFAULT_OPTIONS, FRAME_COLUMNS)
    return [
        row
        for part in parts
        for row in (
            zip(*(part.entries.column(name).to_pylist() for name in ("position", "length")), strict=True)
            if isinstance(part, EntryColumns)
            else [(part.at, part.length)]
        )
    ]


@each("filler", [b"\0", b"\xff", b"text of a log line\n", b'{"a":1}\n\0\0', b" \0"])  # fmt: skip
def test_long_garbage_is_planned_and_read_as_by_the_reference(filler: bytes) -> None:
    data = ONE * 3 + filler * (2 * MIB // len(filler)) + ONE * 2
    points = [point.at for point in find_split_points(KAFKA, logs.stored(data, 4096), DEFAULT_OPTIONS)]
    wanted = [(item.at, item.length) for item in formats.scan(KAFKA.fmt, [data], DEFAULT_OPTIONS)]
    assert rows(data) == wanted
    assert points == [at + length for at, length in wanted]


def test_the_search_keeps_no_more_than_its_windows() -> None:
    """A preallocated segment may be of any size."""
    data = ONE + bytes(24 * MIB)
    one = logs.stored(data, 4096)
    assert [point.at for point in find_split_points(KAFKA, one, DEFAULT_OPTIONS)] == [len(ONE), len(data)]
    assert max(one.file.lengths) <= garbage_search.WINDOW
    assert sum(one.file.lengths) < 1.01 * len(data)


# --- spans ---


def test_batches_in_random_garbage_are_planned_as_spans_and_read_as_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_spans, "LONG_GARBAGE", MIB)
    noise = random.Random(8).randbytes(4 * MIB)
    for at in (2 * MIB - 30, 3 * MIB + 1):
        data = ONE * 2 + noise[:at] + ONE * 3 + noise[at:] + ONE
        path = tmp_path / f"{at}.log"
        path.write_bytes(data)
        place = ObjectPlace("", str(path), path.name, len(data))
        spans = split_span(KAFKA, DEFAULT_OPTIONS, MIB, ObjectSpan(place, 0, len(data)))
        wanted = [
            (one.kind, one.at, one.length, one.cls)
            for one in logs.items(KAFKA, logs.stored(data, 4096), 0, len(data))
        ]
        assert [(one.kind, one.at, one.length) for span in spans for one in span.known] == [
            row[:3] for row in wanted if row[0] == "garbage" and row[2] >= MIB
        ]
        assert [one.start for one in spans][1:] == [one.end for one in spans][:-1]
        found = [
            (one.kind, one.at, one.length, one.cls)
            for span in spans
            for one in span.known or logs.items(KAFKA, logs.stored(data, 4096), span.start, span.end)
        ]
        assert found == wanted
