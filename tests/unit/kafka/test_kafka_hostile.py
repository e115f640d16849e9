"""Hostile bytes are refused, never crash, and cost no more work or memory than their length."""

import gzip
import random
import tracemalloc
from collections.abc import Callable

from each import each
from kafka_bytes import LOG, PLAIN, SECOND, V2, batch, message, record, refused, wrapper
from kafka_examples import WORKED
from work_counter import growth

from wireproof import formats
from wireproof.kafka.scan import CRC_BYTES_PER_BYTE
from wireproof.wire.rejection import Rejected

HEADER = "0000 00 026b 0276"
SAMPLES = [row.data for row in WORKED]


def tried(row: formats.Format, data: bytes) -> formats.Decoded | None:
    """Return the answer of `row` to `data`; any exception but `Rejected` fails the test."""
    try:
        return formats.decode(row, data)
    except Rejected:
        return None


@each("data", SAMPLES)
def test_a_prefix_of_an_entry_is_truncated_and_a_prefix_of_a_log_a_shorter_log(data: bytes) -> None:
    whole = formats.decode(LOG, data).value.batches
    row = formats.get("kafka.batch", f"v{whole[0].magic}")
    size = formats.decode(row, data).consumed
    for cut in range(0, size, 1 if size < 120 else 7):
        assert refused(row, data[:cut]).cls == "truncated"
        assert formats.decode(LOG, data[:cut]).value.batches == ()
    assert formats.decode(LOG, data + data[: size - 1]).value.batches == whole


@each("data", SAMPLES[:4])
def test_every_flip_under_the_checksum_is_a_mismatch(data: bytes) -> None:
    for place in range(17, len(data)):
        for bit in range(8):
            bad = bytearray(data)
            bad[place] ^= 1 << bit
            assert refused(V2, bytes(bad)).cls == "crc-mismatch"


def test_damage_that_is_sealed_again_is_answered_by_a_value_or_a_refusal() -> None:
    chance = random.Random(7)
    for _ in range(1500):
        records = bytearray(PLAIN + record(f"{HEADER}02 0268 0278") + SECOND)
        for _ in range(chance.randint(1, 3)):
            records[chance.randrange(len(records))] = chance.choice([0, 1, 2, 0x7F, 0x80, 0xFF])
        fields = {"attributes": chance.choice([0, 0, 0x20, 0x48])}
        body = bytes(records)
        if chance.random() < 0.3:
            body, fields["attributes"] = gzip.compress(body), fields["attributes"] | 1
        data = batch(body, chance.choice([1, 2, 3, 3, 3]), **fields)
        found = tried(V2, data)
        assert found is None or found.consumed == len(data)


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
