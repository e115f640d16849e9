"""Hostile bytes are refused, never crash, and cost no more work or memory than their length."""

import gzip
import tracemalloc
from collections.abc import Callable

from each import each
from kafka_bytes import LOG, PLAIN, V2, batch, message, record, refused, wrapper
from work_counter import growth

from wireproof import formats
from wireproof.kafka.scan import CRC_BYTES_PER_BYTE

HEADER = "0000 00 026b 0276"


@each("pattern", [b"\0", b"\1", b"\0\0\1\0", b"\0\0\0\x0e\0\0\0\0\0", b"\0" * 9 + b"\1\0\0"])
def test_a_scan_of_nothing_but_beginnings_of_entries_is_linear(pattern: bytes) -> None:
    start = bytes(8) + b"\xff" * 9

    def scanning(count: int) -> Callable[[], object]:
        data = start + pattern * (count // len(pattern))
        return lambda: list(formats.scan(LOG, [data], formats.Options(max_message=1 << 12)))

    assert growth(scanning, 3000) < 1.2
    assert CRC_BYTES_PER_BYTE < 64


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


def test_a_deeply_nested_wrapper_is_refused_at_its_first_inner_one() -> None:
    data = message(1)
    for _ in range(300):
        data = wrapper(1, data)
    assert refused(formats.get("kafka.batch", "v1"), data).cls == "bad-nesting"


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
