"""Compressed regions as a whole: limits, and what other libraries read of what is written."""

import gzip
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Final

import lz4.block
import lz4.frame
import pytest
import snappy
import xxhash
import zstandard
from each import each

from wireproof.wire.compression import compress, decompress_prefix
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import Rejected


def decompress(reader: Reader, name: str, codec: int, *, kip57: bool = False) -> Reader:
    """A reader of what a sound region unpacks to."""
    inner, torn = decompress_prefix(reader, name, codec, kip57=kip57)
    if torn is not None:
        raise torn
    return inner


GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4

TWO: Final = bytes.fromhex("100000000261023100100002020262023200")
"""The two records of E05 to E09."""


@each("codec", [-1, 0, 5, 6, 7])
def test_a_codec_that_is_none_is_refused_by_name(codec: int) -> None:
    with pytest.raises(Rejected) as caught:
        decompress(Reader(b"abc"), "records", codec)
    assert (caught.value.cls, caught.value.detail, caught.value.path) == (
        "unknown-codec",
        "UNKNOWN_CODEC",
        "records",
    )
    with pytest.raises(Rejected, match="invalid-value"):
        compress(codec, b"abc")


# --- limits ---

GIB: Final = 1 << 30
MIB: Final = 1 << 20


def gzip_bomb() -> bytes:
    engine, zeros = zlib.compressobj(wbits=-15), bytes(MIB)
    parts = [engine.compress(zeros) + engine.flush(zlib.Z_FULL_FLUSH) for _ in range(2)]
    return bytes.fromhex("1f8b08000000000000ff") + parts[0] + parts[1] * (GIB // MIB - 1)


def lz4_bomb(code: int) -> bytes:
    size = 1 << 8 + 2 * code
    block = lz4.block.compress(bytes(size), store_size=False)
    descriptor = bytes((0x60, code << 4))
    head = b"\x04\x22\x4d\x18" + descriptor + bytes((xxhash.xxh32_intdigest(descriptor) >> 8 & 0xFF,))
    return head + (struct.pack("<I", len(block)) + block) * (GIB // size)


def zstd_bomb(head: str) -> bytes:
    run = (131072 << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    return bytes.fromhex("28b52ffd" + head) + run * (GIB // 131072)


def xerial_bomb() -> bytes:
    block = snappy.compress(bytes(MIB))
    return b"\x82SNAPPY\0\0\0\0\1\0\0\0\1" + (struct.pack(">i", len(block)) + block) * 100


@each(
    "codec, make",
    [
        (GZIP, gzip_bomb),
        (SNAPPY, xerial_bomb),
        (SNAPPY, lambda: b"\x80\x80\x80\x80\x04" + bytes(100)),
        (LZ4, lambda: lz4_bomb(4)),
        (LZ4, lambda: lz4_bomb(7)),
        (ZSTD, lambda: zstd_bomb("0058")),
        (ZSTD, lambda: zstd_bomb("0088")),
        (ZSTD, lambda: zstd_bomb("8058" + "00000040")),
    ],
)
def test_a_bomb_costs_no_more_than_its_budget(codec: int, make: Callable[[], bytes]) -> None:
    data, budget = make(), Budget(3 * MIB)
    reader = Reader(data, budget=budget)
    tracemalloc.start()
    try:
        inner, torn = decompress_prefix(reader, "records", codec)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert torn is not None
    assert (torn.cls, torn.detail) == ("limit-exceeded", "RESOURCE_LIMIT")
    assert len(inner.data) + budget.left == 3 * MIB
    assert not any(inner.data)
    # Twice the budget (the buffer and the bytes made of it) and one block of the largest size.
    assert peak < 2 * 3 * MIB + 4 * MIB + MIB


def test_a_snappy_block_that_cannot_hold_what_it_claims_costs_nothing() -> None:
    claims = b"\x80\x80\x80\x10" + bytes(100_000)  # 32 MiB
    tracemalloc.start()
    try:
        with pytest.raises(Rejected, match="cannot decompress to 33554432"):
            decompress(Reader(claims), "records", SNAPPY)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000


def test_a_budget_is_shared_by_all_the_regions_of_one_decode() -> None:
    budget = Budget(40)
    for left in (22, 4):
        decompress(Reader(compress(ZSTD, TWO), budget=budget), "records", ZSTD)
        assert budget.left == left
    with pytest.raises(Rejected, match="limit-exceeded"):
        decompress(Reader(compress(ZSTD, TWO), budget=budget), "records", ZSTD)


# --- writing ---

LONG: Final = bytes(range(256)) * 1000


def xerial(data: bytes) -> bytes:
    """A reader of xerial streams for the test: section 3."""
    assert data[:16] == bytes.fromhex("82534e41505059000000000100000001")
    data, out = data[16:], []
    while data:
        length = int.from_bytes(data[:4], "big")
        out.append(snappy.decompress(data[4 : 4 + length]))
        assert len(out[-1]) <= 32768
        data = data[4 + length :]
    return b"".join(out)


@pytest.mark.parametrize("plain", [b"", b"a", TWO, LONG, snappy.compress(LONG)])
@pytest.mark.parametrize(
    ("codec", "theirs"),
    [
        (GZIP, gzip.decompress),
        (SNAPPY, xerial),
        (LZ4, lz4.frame.decompress),
        (ZSTD, lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
    ],
)
def test_others_read_what_is_written_and_so_do_we(
    codec: int, theirs: Callable[[bytes], bytes], plain: bytes
) -> None:
    written = compress(codec, plain)
    assert theirs(written) == plain
    reader = Reader(written)
    assert decompress(reader, "records", codec).data == plain
    assert reader.remarks == []
