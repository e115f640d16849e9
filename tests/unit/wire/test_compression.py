"""Compressed regions as a whole: limits, damage, traces, writing."""

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
from hypothesis import settings
from hypothesis import strategies as st
from kafka_examples import WORKED
from property_profile import given

from wireproof.wire.compression import COMPRESSION_CODECS, compress, decompress_block, decompress_prefix
from wireproof.wire.reader import Budget, Reader, TracingReader
from wireproof.wire.rejection import REJECT_CLASSES, Rejected
from wireproof.wire.trace import Cover


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


def test_hekas_w10_is_one_raw_block() -> None:
    """heka.md, section 8, W10, and the plain message of W1."""
    reader = Reader(bytes.fromhex("1e0208161f144c0a10101112131415161718191a1b1c1d2e2f1001"), pos=5)
    inner = decompress_block(reader, "message")
    assert inner.data == bytes.fromhex("0a10101112131415161718191a1b1c1d2e2f1001")
    assert (inner.space, reader.left, reader.remarks) == ("5>", 0, [])
    with pytest.raises(Rejected, match=r"^decompress-failed at 0, message\.snappy:"):
        decompress_block(Reader(inner.data), "message")


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


# --- damage ---

SMALL: Final = {
    GZIP: gzip.compress(TWO * 3, mtime=0),
    SNAPPY: compress(SNAPPY, TWO * 3),
    LZ4: lz4.frame.compress(
        TWO * 3, block_linked=False, block_checksum=True, content_checksum=True, store_size=True
    ),
    ZSTD: zstandard.ZstdCompressor(write_checksum=True).compress(TWO * 3),
}
CHECKED: Final = (GZIP, ZSTD)
"""The codecs whose checksum of the content is verified: a change there is seen, or changes nothing."""


@each("codec", SMALL)
def test_every_truncation_keeps_a_prefix(codec: int) -> None:
    whole = SMALL[codec]
    assert decompress(Reader(whole), "records", codec).data == TWO * 3
    for end in range(len(whole)):
        inner, torn = decompress_prefix(Reader(whole, end=end), "records", codec)
        assert (TWO * 3).startswith(inner.data)
        if torn is None:  # snappy ends with any chunk and ignores half a length; zstd may have no frame
            assert (codec == SNAPPY and 16 <= end < 20) or (codec == ZSTD and end == 0)
        else:
            assert torn.cls == "decompress-failed"


@each("codec", SMALL)
def test_every_flip_of_a_bit_gives_a_value_or_a_refusal(codec: int) -> None:
    whole = SMALL[codec]
    for bit in range(len(whole) * 8):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        reader = TracingReader(bytes(changed), budget=Budget(1 << 16))
        inner, torn = decompress_prefix(reader, "records", codec)
        assert reader.pos == len(whole)
        assert all(remark.path.startswith("records.") for remark in reader.remarks)
        if torn is not None:
            assert torn.cls in REJECT_CLASSES
            assert torn.detail in ("DECOMPRESS_FAILED", "RESOURCE_LIMIT")
            assert isinstance(torn.at, int)
            assert 0 <= torn.at <= len(whole)
        elif codec in CHECKED:
            assert inner.data == TWO * 3


@settings(deadline=None)  # the machine may be busy
@given(st.sampled_from(sorted(SMALL)), st.booleans(), st.integers(0, 8), st.binary(max_size=60))
def test_any_bytes_behind_any_start_of_a_frame_give_a_value_or_a_refusal(
    codec: int, kip57: bool, kept: int, tail: bytes
) -> None:
    reader = Reader(SMALL[codec][:kept] + tail, budget=Budget(1 << 16))
    inner, torn = decompress_prefix(reader, "records", codec, kip57=kip57)
    assert len(inner.data) <= 1 << 16
    assert torn is None or torn.cls in ("decompress-failed", "limit-exceeded")


# --- the trace ---


@each("codec", SMALL)
def test_the_spans_of_a_frame_are_contiguous(codec: int) -> None:
    data = b"head" + SMALL[codec]
    reader = TracingReader(data, pos=4)
    decompress(reader, "records", codec)
    (outer,) = [span for span in reader.spans if span.path == "records"]
    assert (outer.type, outer.start, outer.end) == (COMPRESSION_CODECS[codec].name, 4, len(data))
    parts = sorted((span.start, span.end) for span in reader.spans if span is not outer)
    assert [start for start, _ in parts] == [4, *(end for _, end in parts[:-1])]
    assert parts[-1][1] == len(data)
    assert all(span.path.startswith("records.") for span in reader.spans if span is not outer)


def test_checksums_and_lengths_say_what_they_cover() -> None:
    reader = TracingReader(SMALL[LZ4])
    decompress(reader, "records", LZ4)
    covers = {span.path: (span.value, span.cover) for span in reader.spans if span.cover}
    value, hc = covers["records.lz4.hc"]
    assert hc == Cover("xxh32-hc", 4, 14)
    assert value == xxhash.xxh32_intdigest(SMALL[LZ4][4:14]) >> 8 & 0xFF
    value, length = covers["records.lz4.blocks[0].length"]
    assert length is not None
    assert value == length.end - length.start + length.bias
    value, checksum = covers["records.lz4.blocks[0].checksum"]
    assert checksum == Cover("xxh32", length.start, length.end)
    assert value == xxhash.xxh32_intdigest(SMALL[LZ4][length.start : length.end])


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


def test_headers_are_those_of_kafkas_writer() -> None:
    written = {row.example: row.data[61:] for row in WORKED}
    assert compress(GZIP, TWO) == written["E05"]
    assert compress(SNAPPY, TWO) == written["E06"]
    assert compress(LZ4, TWO) == written["E08"]
    assert compress(LZ4, TWO)[:7] == bytes.fromhex("04224d18604082")
    assert compress(LZ4, TWO, kip57=True)[:7] == bytes.fromhex("04224d1860401a")
    assert compress(GZIP, TWO, kip57=True) == compress(GZIP, TWO)
    frame = zstandard.get_frame_parameters(compress(ZSTD, LONG))
    assert frame.content_size == zstandard.CONTENTSIZE_UNKNOWN
    assert (frame.has_checksum, frame.dict_id) == (False, 0)
