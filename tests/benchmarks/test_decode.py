"""How fast the reference decodes beside kafka-python: at least 0.4 of its speed is the target."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest
from kafka.record.memory_records import MemoryRecords

from wireproof import formats
from wireproof.derive.mutate.encodings import written
from wireproof.formats import FORMATS
from wireproof.kafka.values import Record, RecordBatch

ROUNDS = 40
V2 = FORMATS["kafka.batch/v2"]
SHAPES = pytest.mark.parametrize(
    ("count", "size", "calls"), [(1000, 100, 3), (10, 10, 200)], ids=["1000x100", "10x10"]
)


def batch_of(count: int, size: int) -> bytes:
    records = tuple(Record(0, index, index, b"key", b"v" * size, ()) for index in range(count))
    base = 1_700_000_000_000
    return written(V2, RecordBatch(0, 0, 2, 0, count - 1, base, base + count - 1, -1, -1, -1, records))


def by_kafka_python(data: bytes) -> int:
    """As its consumer reads: every batch checked, every record made, with its offset and timestamp."""
    records, seen = MemoryRecords(data), 0
    while records.has_next():
        batch = records.next_batch()
        assert batch.validate_crc()
        seen += sum(1 for _ in batch)
    return seen


def interleaved(benchmark: Any, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Print the speed of `ours` over that of `theirs`: the median of the ratios of neighbouring rounds.

    Both are timed in turn within one run, so that a slow minute of the machine slows both. The benchmark
    itself times `ours`; the ratio stands in `extra_info` too.
    """
    ratios: list[float] = []
    ours(), theirs()  # both warm
    for number in range(ROUNDS):  # in turn first, for what comes second finds other caches
        if number % 2:
            other, mine = _seconds(theirs), _seconds(ours)
        else:
            mine, other = _seconds(ours), _seconds(theirs)
        ratios.append(other / mine)
    ratio = median(ratios)
    benchmark.extra_info["ratio"] = round(ratio, 3)
    benchmark.pedantic(ours, rounds=3)
    print(f"\n{benchmark.name}: {ratio:.3f} of the other's speed")  # noqa: T201 - what a benchmark is for


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@SHAPES
def test_the_reference_beside_kafka_python(benchmark: Any, count: int, size: int, calls: int) -> None:
    data = batch_of(count, size)
    assert by_kafka_python(data) == len(formats.decode(V2, data).value.records) == count

    def ours() -> None:
        for _ in range(calls):
            formats.decode(V2, data)

    def theirs() -> None:
        for _ in range(calls):
            by_kafka_python(data)

    interleaved(benchmark, ours, theirs)
