"""How fast the fast decoders are, on one core: `python tests/benchmarks/columnar_speed.py [PART…]`.

Verdicts (checksum and walk of all records) beside aiokafka's C extension, beside the bare CRC-32C over the
same bytes, and beside the reference; Arrow columns beside verdicts; compressed batches beside the
decompression library alone; the framing of Heka's streams beside the reference.

The bare checksum is google-crc32c's, which wants each batch as `bytes` of its own; that of the package
`crc32c`, which looks at the buffer where it is, and slicing by eight in numba are shown without a bar.
"""

import random
import zlib
from collections.abc import Callable

import click
import cramjam
import deflate
import numpy as np
import zstandard
from aiokafka.record.memory_records import MemoryRecords
from beside import MIB, Way, best, conditions, of_process, told
from crc32c import crc32c as in_place
from google_crc32c import value as crc32c
from zlib_ng import zlib_ng

from wireproof import formats
from wireproof.columnar import basic_kernels
from wireproof.columnar.decompress import Arena, decompress_region
from wireproof.derive.mutate.encodings import written
from wireproof.formats import FORMATS
from wireproof.heka.columnar import heka_scan_steps
from wireproof.kafka import columnar
from wireproof.kafka.columnar.columns import clean_records
from wireproof.kafka.columnar.entry_scan import scan_steps
from wireproof.kafka.values import Record, RecordBatch

V2 = FORMATS["kafka.batch/v2"]
LOG = FORMATS["kafka.log/mixed"]
HEKA = FORMATS["heka.stream/0.10"]
T = 1_700_000_000_000
WORDS = [(at * 2_654_435_761 % (1 << 56)).to_bytes(7) for at in range(1000)]  # so that values compress
DISTINCT = 8
"""Batches that are made; a segment holds them in turn."""

MOST = 64 * MIB
"""Decompressed bytes of a batch."""

SIZES = {28: "40-byte records", 100: "100-byte values", 1000: "1000-byte values"}
BARE = {28: 0.2, 100: 0.3}
ARROW = {28: 0.3, 100: 0.5}
GZIP_KIB = (64, 16, 8)
"""KiB of records in a batch: the smaller it is, the more the tables of each deflated block weigh."""

CODECS = {1: ("gzip", 1.3), 2: ("snappy", 0.6), 3: ("lz4", 0.6), 4: ("zstd", 0.8)}


def batch_of(rng: random.Random, size: int, codec: int, total: int = 64 * 1024) -> bytes:
    count = total // (size + 12)
    records = tuple(
        Record(0, at, at, b"k%d" % (at % 1000), b"".join(rng.choices(WORDS, k=size // 7 + 1))[:size], ())
        for at in range(count)
    )
    return written(V2, RecordBatch(0, 0, 2, codec, count - 1, T, T + count - 1, -1, -1, -1, records))


def segment(size: int, mib: int, codec: int = 0, kib: int = 64) -> bytes:
    """About so many MiB of records (before they are packed) with values of `size` bytes, `kib` in a batch."""
    rng = random.Random(7)
    pool = [batch_of(rng, size, codec, kib * 1024) for _ in range(DISTINCT)]
    return b"".join(pool[at % DISTINCT] for at in range(mib * 1024 // kib))


def spans(data: bytes) -> list[tuple[int, int]]:
    """Where each batch begins and ends; none of them went to the reference."""
    frames = columnar.scan(data)
    assert frames.reference_share == 0
    ends = frames.position + frames.length
    return list(zip(frames.position.tolist(), ends.tolist(), strict=True))


def ratios(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of each, all warm."""
    made: dict[str, Way] = {name: of_process(call) for name, call in ways.items()}
    for call in ways.values():
        call()
    return {name: cost.seconds for name, cost in best(made, rounds).items()}


def checksums(mib: int, rounds: int) -> None:
    for size, name in SIZES.items():
        data = segment(size, mib)
        whole, view = spans(data), memoryview(data)
        wire = np.frombuffer(data, np.uint8)
        first, last = (np.array(ends, np.uint64) for ends in zip(*whole, strict=True))
        arrays = wire, first + np.uint64(21), last, np.zeros(first.size, np.uint64)
        took = ratios(
            {
                "ours": lambda data=data: columnar.scan(data),
                "google-crc32c": lambda data=data, whole=whole: [crc32c(data[a + 21 : b]) for a, b in whole],
                "crc32c": lambda view=view, whole=whole: [in_place(view[a + 21 : b]) for a, b in whole],
                "numba": lambda arrays=arrays: basic_kernels.crc_ranges(basic_kernels.CRC32C, *arrays),
            },
            rounds,
        )
        told(f"verdicts, {name}: MiB/s", len(data) / MIB / took["ours"])
        told(f"verdicts / CRC-32C of google-crc32c, {name}", took["google-crc32c"] / took["ours"],
             least=BARE.get(size))  # fmt: skip
        for other in ("crc32c", "numba"):
            told(f"verdicts / CRC-32C of {other}, {name}", took[other] / took["ours"])


def record_counts(data: bytes) -> list[int]:
    return [clean_records(step.block).num_rows for step in scan_steps(data, keep=True) if step.block]


def columns(mib: int, rounds: int) -> None:
    for size, name in SIZES.items():
        data = segment(size, mib)
        assert sum(record_counts(data)) == columnar.scan(data).records.sum()
        took = ratios(
            {
                "verdicts": lambda data=data: columnar.scan(data),
                "columns": lambda data=data: record_counts(data),
            },
            rounds,
        )
        told(f"Arrow columns / verdicts, {name}", took["verdicts"] / took["columns"], least=ARROW.get(size))


def aiokafka(mib: int, rounds: int) -> None:
    data = segment(100, max(1, mib // 8))

    def theirs() -> int:
        records, seen = MemoryRecords(data), 0
        while records.has_next():
            batch = records.next_batch()
            assert batch.validate_crc()
            seen += sum(1 for _ in batch)
        return seen

    assert theirs() == columnar.scan(data).records.sum()
    took = ratios({"ours": lambda: columnar.scan(data), "theirs": theirs}, rounds)
    told("verdicts / aiokafka (Cython), 100-byte values", took["theirs"] / took["ours"], least=4)


def _snappy(region: bytes) -> None:
    """Chunk after chunk of a xerial stream."""
    at = 16
    while at < len(region):
        length = int.from_bytes(region[at : at + 4])
        cramjam.snappy.decompress_raw(region[at + 4 : at + 4 + length])
        at += 4 + length


LIBRARY: dict[int, Callable[[bytes], object]] = {
    1: lambda region: zlib.decompress(region, 31),
    2: _snappy,
    3: cramjam.lz4.decompress,
    4: lambda region: zstandard.ZstdDecompressor().decompressobj().decompress(region),
}


def compressed(mib: int, rounds: int) -> None:
    arena = Arena.of(0)
    for codec, (name, bar) in CODECS.items():
        data = segment(100, mib, codec)
        regions = [data[start + 61 : stop] for start, stop in spans(data)]
        took = ratios(
            {
                "ours": lambda data=data: columnar.scan(data),
                "regions": lambda regions=regions, codec=codec: [
                    decompress_region(region, codec, MOST, arena) for region in regions
                ],
                "bare": lambda regions=regions, bare=LIBRARY[codec]: [bare(region) for region in regions],
            },
            rounds,
        )
        told(f"verdicts / bare decompression, {name}", took["bare"] / took["ours"], least=bar)
        told(f"decompression with all checks / bare decompression, {name}", took["bare"] / took["regions"],
             least=2 if codec == 1 else None)  # fmt: skip


def gzip(mib: int, rounds: int) -> None:
    """Decompression with all checks, and that of each library alone, beside bare zlib, by size of batch."""
    arena = Arena.of(0)
    for kib in GZIP_KIB:
        data = segment(100, mib, 1, kib)
        regions = [data[start + 61 : stop] for start, stop in spans(data)]
        sized = [(region, int.from_bytes(region[-4:], "little")) for region in regions]
        took = ratios(
            {
                "zlib": lambda regions=regions: [zlib.decompress(region, 31) for region in regions],
                "zlib-ng": lambda sized=sized: [zlib_ng.decompress(one, 31, size) for one, size in sized],
                "libdeflate": lambda sized=sized: [deflate.gzip_decompress(one, size) for one, size in sized],
                "ours": lambda regions=regions: [decompress_region(one, 1, MOST, arena) for one in regions],
            },
            rounds,
        )
        told(f"gzip, batches of {kib} KiB: decompression with all checks / zlib", took["zlib"] / took["ours"],
             least=2)  # fmt: skip
        for name in ("zlib-ng", "libdeflate"):
            told(f"gzip, batches of {kib} KiB: {name} alone / zlib", took["zlib"] / took[name])


def reference(mib: int, rounds: int) -> None:
    data = segment(100, max(1, mib // 32))
    ours, theirs = (lambda: columnar.scan(data)), (lambda: sum(1 for _ in formats.scan(LOG, [data])))
    assert len(ours()) == theirs()
    took = ratios({"ours": ours, "theirs": theirs}, rounds)
    told("verdicts / the reference, 100-byte values", took["theirs"] / took["ours"])


def heka(mib: int, rounds: int) -> None:
    body = b"\x0a\x10" + bytes(16) + b"\x10\x01\x1a\x03abc" + b"\x32\xc8\x01" + b"x" * 200
    head = b"\x08" + bytes((len(body) & 0x7F | 0x80, len(body) >> 7))
    data = (b"\x1e" + bytes((len(head),)) + head + b"\x1f" + body) * (mib * 100)
    assert sum(step.position.size for step in heka_scan_steps(data)) == mib * 100
    theirs = lambda: sum(1 for _ in formats.scan(HEKA, [data]))  # noqa: E731 - as ours
    took = ratios({"ours": lambda: list(heka_scan_steps(data)), "theirs": theirs}, rounds)
    told("Heka's framing / the reference", took["theirs"] / took["ours"])


PARTS: dict[str, Callable[[int, int], None]] = {
    part.__name__: part for part in (aiokafka, checksums, columns, compressed, gzip, reference, heka)
}


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@click.option("--mib", default=16, help="of records in a segment")
@click.option("--rounds", default=40, help="of which the best is kept")
def main(*, parts: tuple[str, ...], mib: int, rounds: int) -> None:
    """Print each ratio beside its bar."""
    conditions()
    for part in parts or PARTS:
        PARTS[part](mib, rounds)


if __name__ == "__main__":
    main()
