"""The frames around compressed blocks, where no vector of kafka.md §7 has them: golden cases have those."""

import gzip
import struct
import zlib
from typing import Final

import lz4.block
import lz4.frame
import pytest
import snappy
import xxhash
import zstandard
from each import each

from wireproof.wire.compression import decompress_prefix
from wireproof.wire.reader import Budget, Reader

TWO: Final = bytes.fromhex("100000000261023100100002020262023200")
"""The two records of E05 to E09."""
FIRST, SECOND = TWO[:9], TWO[9:]
LONG: Final = bytes(range(256)) * 300
"""More than one block of 64 KiB."""

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


# --- builders: every field by name, none of them ours ---


def gz(data: bytes = TWO, *, flags: int = 0) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    body = engine.compress(data) + engine.flush()
    head = bytes((0x1F, 0x8B, 8, flags)) + bytes(5) + b"\xff"
    return head + body + u32(zlib.crc32(data)) + u32(len(data))


def xerial(*chunks: bytes) -> bytes:
    words = bytes.fromhex("0000000100000001")
    return b"\x82SNAPPY\0" + words + b"".join(struct.pack(">i", len(c)) + c for c in chunks)


def lit(data: bytes) -> bytes:
    """A raw snappy block of one literal of up to 60 bytes."""
    return bytes((len(data), len(data) - 1 << 2)) + data


def stored(data: bytes) -> bytes:
    return u32(len(data) | 1 << 31) + data


def lz(*blocks: bytes, bd: int = 0x40, hc: int | None = None, broken: bool = False) -> bytes:
    magic, descriptor = bytes.fromhex("04224d18"), bytes((0x60, bd))
    if hc is None:
        hc = xxhash.xxh32_intdigest((magic if broken else b"") + descriptor) >> 8 & 0xFF
    return magic + descriptor + bytes((hc,)) + b"".join(blocks) + bytes(4)


def zblock(data: bytes, *, last: bool = True, kind: int = 0, size: int | None = None) -> bytes:
    return ((len(data) if size is None else size) << 3 | kind << 1 | last).to_bytes(3, "little") + data


def zs(*blocks: bytes, head: str = "2012") -> bytes:
    return bytes.fromhex("28b52ffd" + head) + b"".join(blocks)


HALF = xerial(lit(FIRST)) + xerial()[:15]
RUN = zs(zblock(b"a", kind=1, size=131073), head="0058")
TORN = zs(zblock(FIRST, last=False), head="2012")
EMPTY_LAST = zs(zblock(FIRST, last=False), zblock(b""))
ZEROS = lz4.block.compress(bytes(600000), store_size=False)
PACKED = lz4.block.compress(LONG[:60000], store_size=False)

ACCEPTED = {
    "garbage of 40": (GZIP, gz() + b"garbage!" * 5, TWO, ["gzip-trailing-garbage"]),
    "a torn header behind": (GZIP, gz() + gz(flags=8)[:10] + b"n" * 30, TWO, ["gzip-trailing-garbage"]),
    "gzip module": (GZIP, gzip.compress(LONG), LONG, []),
    "python-snappy, unframed": (SNAPPY, snappy.compress(LONG), LONG, []),
    "a packed block": (LZ4, lz(u32(len(PACKED)) + PACKED), LONG[:60000], []),
    "254 to 1": (LZ4, lz(u32(len(ZEROS)) + ZEROS, bd=0x60), bytes(600000), []),
    "lz4.frame, every flag": (
        LZ4,
        lz4.frame.compress(
            LONG, block_linked=False, block_checksum=True, content_checksum=True, store_size=True,
            block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        ),
        LONG,
        [],
    ),
    "a run": (ZSTD, zs(zblock(b"a", kind=1, size=18)), b"a" * 18, []),
    "a packed block of 0": (ZSTD, zs(zblock(b"", kind=2), head="0058"), b"", ["zstd-empty-packed-block"]),
    "a dictionary id of 0": (ZSTD, zs(zblock(TWO), head="210012"), TWO, []),
    "zstandard": (ZSTD, zstandard.ZstdCompressor(write_checksum=True).compress(LONG), LONG, []),
    "zstandard, 2-byte size": (ZSTD, zstandard.compress(LONG[:300]), LONG[:300], []),
}  # fmt: skip


def prefix(
    codec: int, data: bytes, *, kip57: bool = False, budget: int = 1 << 20
) -> tuple[bytes, tuple[str, int | str, str, str] | None, list[str]]:
    reader = Reader(b"..." + data, pos=3, budget=Budget(budget))
    inner, torn = decompress_prefix(reader, "records", codec, kip57=kip57)
    assert (reader.left, inner.space, inner.scope, reader.scope) == (0, "3>", None, None)
    said = None if torn is None else (torn.cls, torn.at, torn.path, torn.detail)
    return inner.data, said, [remark.cls for remark in reader.remarks]


@each("vector", ACCEPTED)
def test_the_frame_is_taken(vector: str) -> None:
    codec, data, wanted, remarks = ACCEPTED[vector]
    assert prefix(codec, data) == (wanted, None, remarks)


REFUSED = {
    "ends inside": (GZIP, gz()[:-12], TWO[:15], 29, "gzip[0].data"),
    "a name without end": (GZIP, gz(flags=8)[:14], b"", 13, "gzip[0].fileName"),
    "second member torn": (GZIP, gz(FIRST) + gz(SECOND)[:-1], TWO, 57, "gzip[1].isize"),
    "claims 23 for 1": (SNAPPY, xerial(b"\x17"), b"", 23, "xerial.chunks[0].block"),
    "block past its literal": (SNAPPY, xerial(lit(FIRST)[:-1]), b"", 23, "xerial.chunks[0].block"),
    "half a second header": (SNAPPY, HALF, FIRST, 34, "xerial.chunks[1].length"),
    "no block at all": (LZ4, lz(u32(5) + b"\xff" * 5), b"", 14, "lz4.blocks[0].data"),
    "window over 2^27": (ZSTD, zs(zblock(TWO), head="0089"), b"", 8, "zstd[0].window"),
    "X15 empty last block": (ZSTD, EMPTY_LAST, b"", 8, "zstd[0].contentSize"),
    "reserved bit": (ZSTD, zs(zblock(TWO), head="2812"), b"", 7, "zstd[0].descriptor"),
    "block type 3": (ZSTD, zs(zblock(TWO, kind=3)), b"", 9, "zstd[0].blocks[0].header"),
    "run over 128 KiB": (ZSTD, RUN, b"", 9, "zstd[0].blocks[0].header"),
    "skippable past the end": (ZSTD, u32(0x184D2A50) + u32(9) + b"abc", b"", 11, "zstd[0].skipped"),
    "second block missing": (ZSTD, TORN, FIRST, 21, "zstd[0].blocks[1].header"),
}  # fmt: skip


@each("vector", REFUSED)
def test_the_frame_is_refused_behind_what_came_before(vector: str) -> None:
    codec, data, before, at, path = REFUSED[vector]
    wanted = ("decompress-failed", at, f"records.{path}", "DECOMPRESS_FAILED")
    assert prefix(codec, data)[:2] == (before, wanted)


def test_v0_takes_either_header_byte_and_remarks_the_right_one() -> None:
    assert prefix(LZ4, lz(stored(TWO), broken=True), kip57=True) == (TWO, None, [])  # W37
    assert prefix(LZ4, lz(stored(TWO)), kip57=True) == (TWO, None, ["lz4-v0-hc-good"])  # Z23
    assert prefix(LZ4, lz(stored(TWO), hc=0), kip57=True) == (TWO, None, ["lz4-v0-hc-neither"])


def test_most_libraries_link_their_blocks_and_kafka_refuses_that() -> None:
    theirs = lz4.frame.compress(LONG, block_linked=True)
    assert lz4.frame.decompress(theirs) == LONG
    assert prefix(LZ4, theirs)[:2] == (b"", ("decompress-failed", 7, "records.lz4.flg", "DECOMPRESS_FAILED"))


@each("codec, data, before, path", [
        (SNAPPY, xerial(lit(TWO), b"\xff\xff\xff\xff\x07\0"), TWO, "xerial.chunks[1].block"),  # Z10
        (SNAPPY, xerial() + bytes.fromhex("7fffffff") + b"abcdef", b"", "xerial.chunks[0].length"),  # Z10
        (SNAPPY, b"\xff\xff\xff\xff\x0f\0", b"", "snappy"),
        (ZSTD, zs(zblock(TWO), head="a0" + "00000004"), b"", "zstd[0].contentSize"),
        (ZSTD, zs(zblock(TWO)) * 60000, TWO * 58254, "zstd[58254].contentSize"),
        (LZ4, lz(*[stored(LONG[:65536])] * 17), LONG[:65536] * 16, "lz4.blocks[16].data"),
    ])  # fmt: skip
def test_sizes_over_the_limit_are_refused_by_name(codec: int, data: bytes, before: bytes, path: str) -> None:
    kept, torn, _ = prefix(codec, data)
    assert torn is not None
    assert (torn[0], torn[2], torn[3]) == ("limit-exceeded", f"records.{path}", "RESOURCE_LIMIT")
    assert kept == before


def test_a_size_prefix_in_front_of_a_block_is_no_second_chance() -> None:
    """cramjam alone would read the first four bytes as a size and take the rest."""
    block = u32(40) + b"\x50bcdef"
    with pytest.raises(lz4.block.LZ4BlockError):
        lz4.block.decompress(block, uncompressed_size=65536)
    assert prefix(LZ4, lz(u32(len(block)) + block))[1] is not None
