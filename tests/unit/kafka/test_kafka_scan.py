"""Scans of Kafka's logs: every byte in an item, entries found behind damage, hostile bytes at little cost."""

import gzip
import itertools
import re
import tracemalloc
from collections.abc import Iterable
from random import Random

import logs
import pytest
from each import each
from kafka_bytes import LOG, PLAIN, V2, batch, message, record, refused
from work_counter import steps

from wireproof import formats
from wireproof.kafka import scan
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.scan_items import Item

# --- every byte goes to a frame, to garbage or to the tail: architecture.md#verdicts ---


GOOD = batch()
OLD = message(1, offset=1)


def items(chunks: Iterable[bytes], **options: object) -> list[Item]:
    return list(formats.scan(LOG, chunks, formats.Options(**options)))  # type: ignore[arg-type] # by name


def shape(chunks: Iterable[bytes], **options: object) -> list[tuple[str, int, int, str | None]]:
    return [(item.kind, item.at, item.length, item.cls) for item in items(chunks, **options)]


def test_the_largest_size_is_an_option() -> None:
    assert shape([GOOD + OLD], max_message=len(OLD) - 12) == [
        ("garbage", 0, 70, "limit-exceeded"),
        ("frame", 70, len(OLD), None),
    ]


def test_a_stream_without_end_is_scanned_as_it_comes() -> None:
    endless = itertools.chain.from_iterable(itertools.repeat([GOOD[:30], GOOD[30:] + bytes(30)]))
    found = list(itertools.islice(formats.scan(LOG, endless, formats.Options()), 6))
    assert [(item.kind, item.length) for item in found] == [("frame", 70), ("garbage", 30)] * 3


# --- the search for entries inside the bytes that a damaged size claims ---


EVERY_SIZE = re.compile(
    rb"(?<=\0\0\0[\x0e-\xff].{4}|\0\0[^\0].{5}|\0[^\0].{6}|[\x01-\x7f].{7})[\0-\2]", re.DOTALL
)


def length(data: bytes) -> int:
    return scan.damaged_length(data, len(data), DEFAULT_OPTIONS)


@each("highest", [0, 1, 5, 255, 256, 257, 300, 511, 512, 700, 0x0400, 0x1234, 0x7FFF, 0xFFFF])
def test_the_pattern_finds_exactly_the_sizes_up_to_its_limit(highest: int) -> None:
    rng = Random(highest)
    near = [
        *(highest + step for step in (-257, -256, -1, 0, 1, 256)),
        *(rng.randrange(1 << 15) for _ in range(60)),
    ]
    sizes = [max(one, 0) << 16 | rng.randrange(1 << 16) for one in near] + [0, 13, 14, 255, 256, 65535]
    for size in (one % (1 << 32) for one in sizes):
        data = b"........" + size.to_bytes(4) + b"\xff...\1"
        found = scan.size_and_magic(highest).search(data, 16) is not None
        wanted = EVERY_SIZE.search(data, 16) is not None and size >> 16 <= highest
        assert found == wanted, hex(size)


def test_an_entry_in_noise_is_found_where_a_damaged_size_swallowed_it() -> None:
    rng = Random(3)
    for before in (90, 5_000, 70_000, 200_000):
        damaged = (0).to_bytes(8) + (1 << 20).to_bytes(4) + rng.randbytes(4) + b"\2" + rng.randbytes(before)
        entries = logs.batch(rng.randbytes(300), 10) + logs.batch(b"after", 11)
        assert length(damaged + entries) == len(damaged)


@pytest.mark.parametrize("byte", [b"\1", b"\2"])
def test_bytes_that_may_be_a_size_everywhere_take_few_steps(byte: bytes) -> None:
    data = byte * (1 << 20)
    assert length(data) == 0
    assert steps(lambda: length(data)) < len(data) // 8


def test_entries_that_claim_more_than_there_is_do_not_use_up_the_search() -> None:
    claims = b"".join(batch()[:8] + size.to_bytes(4) + batch()[12:] for size in [1 << 25, 900_000] * 100)
    found = shape([GOOD + bytes(20) + claims + GOOD])
    assert found == [
        ("frame", 0, 70, None),
        ("garbage", 70, 20 + len(claims), "bad-length"),
        ("frame", 90 + len(claims), 70, None),
    ]


# --- hostile bytes cost no more work or memory than their length ---


HEADER = "0000 00 026b 0276"


def test_lengths_are_compared_with_the_available_bytes_before_anything_is_allocated() -> None:
    top = "feffffff0f"
    rows = [
        batch(b"\xfe\xff\xff\xff\x0f" + PLAIN),
        batch(record(f"000000 {top} 6b 0276 00")),
        batch(record(f"{HEADER} {top}")),
        batch(gzip.compress(b"\xfe\xff\xff\xff\x0f"), attributes=1),
        batch(b"", (1 << 31) - 1),
    ]
    tracemalloc.start()
    try:
        for data in rows:
            assert refused(V2, data).cls in ("length-past-end", "count-mismatch")
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_scan_holds_one_entry_and_one_chunk() -> None:
    chunk = bytes(1 << 16)
    tracemalloc.start()
    try:
        stream = (chunk for _ in range(40))
        (item,) = formats.scan(LOG, stream, formats.Options())
        assert (item.kind, item.length) == ("garbage", 40 << 16)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
