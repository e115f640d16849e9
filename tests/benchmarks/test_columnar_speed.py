"""How fast the fast decoders are: beside the reference, aiokafka, the bare checksum, the bare library.

Targets, one core: verdicts (checksum and full walk) at least 4 times aiokafka's C extension on values of 100
bytes, and at least 0.3 of the bare CRC-32C over the same bytes (0.2 on records of 40 bytes); Arrow columns at
least 0.5 of the verdicts' speed (0.3 on records of 40 bytes); compressed batches at least 0.6 (snappy, lz4)
and 0.8 (gzip, zstd) of the speed of the decompression library alone. `-s` prints each ratio.
"""

import random
import zlib
from collections.abc import Callable
from typing import Any

import cramjam
import pytest
import zstandard
from aiokafka.record.memory_records import MemoryRecords
from google_crc32c import value as crc32c
from interleaving import interleaved

from wireproof import columnar, formats
from wireproof.cases.strategies.damaged import written
from wireproof.formats import FORMATS
from wireproof.kafka.values import Record, RecordBatch

V2 = FORMATS["kafka.batch/v2"]
LOG = FORMATS["kafka.log/mixed"]
T = 1_700_000_000_000
WORDS = [(at * 2_654_435_761 % (1 << 56)).to_bytes(7) for at in range(1000)]  # so that values compress


def batch_of(rng: random.Random, size: int, codec: int, total: int = 64 * 1024) -> bytes:
    count = total // (size + 12)
    records = tuple(
        Record(0, at, at, b"k%d" % (at % 1000), b"".join(rng.choices(WORDS, k=size // 7 + 1))[:size], ())
        for at in range(count)
    )
    return written(V2, RecordBatch(0, 0, 2, codec, count - 1, T, T + count - 1, -1, -1, -1, records))


def segment(size: int, codec: int = 0, batches: int = 128) -> bytes:
    """8 MiB of records with values of `size` bytes, of eight batches in turn."""
    rng = random.Random(7)
    pool = [batch_of(rng, size, codec) for _ in range(8)]
    return b"".join(pool[at % 8] for at in range(batches))


def spans(data: bytes) -> list[tuple[int, int]]:
    frames = columnar.scan(data)
    assert frames.share == 0
    ends = frames.position + frames.length
    return list(zip(frames.position.tolist(), ends.tolist(), strict=True))


SIZES = pytest.mark.parametrize("size", [28, 100, 1000], ids=["40-byte-records", "100-bytes", "1000-bytes"])


@SIZES
def test_verdicts_beside_the_bare_checksum(benchmark: Any, size: int) -> None:
    data = segment(size)
    whole = spans(data)
    bare = lambda: [crc32c(data[start + 21 : stop]) for start, stop in whole]  # noqa: E731 - as the other
    interleaved(benchmark, lambda: columnar.scan(data), bare, rounds=20)


@SIZES
def test_columns_beside_verdicts(benchmark: Any, size: int) -> None:
    data = segment(size)
    assert sum(batch.num_rows for batch in columnar.records(data)) == columnar.scan(data).records.sum()
    interleaved(benchmark, lambda: list(columnar.records(data)), lambda: columnar.scan(data), rounds=20)


def test_verdicts_beside_aiokafka(benchmark: Any) -> None:
    data = segment(100, batches=16)

    def theirs() -> int:
        records, seen = MemoryRecords(data), 0
        while records.has_next():
            batch = records.next_batch()
            assert batch.validate_crc()
            seen += sum(1 for _ in batch)
        return seen

    assert theirs() == columnar.scan(data).records.sum()
    interleaved(benchmark, lambda: columnar.scan(data), theirs, rounds=10)


def test_verdicts_beside_the_reference(benchmark: Any) -> None:
    data = segment(100, batches=4)
    assert sum(1 for _ in formats.scan(LOG, [data])) == len(columnar.scan(data)) == 4
    interleaved(benchmark, lambda: columnar.scan(data), lambda: list(formats.scan(LOG, [data])), rounds=5)


def test_heka_framing_beside_the_reference(benchmark: Any) -> None:
    uuid, payload = bytes(16), b"x" * 200
    body = b"\x0a\x10" + uuid + b"\x10\x01\x1a\x03abc" + b"\x32\xc8\x01" + payload
    head = b"\x08" + bytes((len(body) & 0x7F | 0x80, len(body) >> 7))
    data = (b"\x1e" + bytes((len(head),)) + head + b"\x1f" + body) * 2000
    row = FORMATS["heka.stream/0.10"]
    frames = columnar.scan_heka(data)
    assert (len(frames), frames.share) == (2000, 0)
    theirs = lambda: list(formats.scan(row, [data]))  # noqa: E731 - as ours
    interleaved(benchmark, lambda: columnar.scan_heka(data), theirs, rounds=5)


def _snappy(region: bytes) -> None:
    """Chunk after chunk of a xerial stream."""
    at = 16
    while at < len(region):
        length = int.from_bytes(region[at : at + 4])
        cramjam.snappy.decompress_raw(region[at + 4 : at + 4 + length])
        at += 4 + length


BARE: dict[int, Callable[[bytes], object]] = {
    1: lambda region: zlib.decompress(region, 31),
    2: _snappy,
    3: cramjam.lz4.decompress,
    4: lambda region: zstandard.ZstdDecompressor().decompressobj().decompress(region),
}


@pytest.mark.parametrize("codec", BARE, ids=["gzip", "snappy", "lz4", "zstd"])
def test_compressed_verdicts_beside_the_bare_library(benchmark: Any, codec: int) -> None:
    data = segment(100, codec)
    regions = [data[start + 61 : stop] for start, stop in spans(data)]
    bare = lambda: [BARE[codec](region) for region in regions]  # noqa: E731 - as the other
    interleaved(benchmark, lambda: columnar.scan(data), bare, rounds=10)
