"""The frames around compressed blocks, vector by vector: kafka.md, sections 3 and 7."""

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


def gz(
    data: bytes = TWO, *, magic: str = "1f8b", method: int = 8, flags: int = 0, parts: bytes = b"",
    crc: int | None = None, isize: int | None = None,
) -> bytes:  # fmt: skip
    engine = zlib.compressobj(wbits=-15)
    body = engine.compress(data) + engine.flush()
    head = bytes.fromhex(magic) + bytes((method, flags)) + bytes(5) + b"\xff" + parts
    trailer = u32(zlib.crc32(data) if crc is None else crc) + u32(len(data) if isize is None else isize)
    return head + body + trailer


def gz_fhcrc(delta: int = 0) -> bytes:
    head = bytes.fromhex("1f8b0802") + bytes(5) + b"\xff"
    return gz(flags=2, parts=struct.pack("<H", (zlib.crc32(head) + delta) & 0xFFFF))


def gz_fhcrc_over(name: bytes) -> bytes:
    head = bytes.fromhex("1f8b080a") + bytes(5) + b"\xff" + name + b"\0"
    return gz(flags=0x0A, parts=name + b"\0" + struct.pack("<H", zlib.crc32(head) & 0xFFFF))


def xerial(*chunks: bytes, words: str = "0000000100000001") -> bytes:
    return b"\x82SNAPPY\0" + bytes.fromhex(words) + b"".join(struct.pack(">i", len(c)) + c for c in chunks)


def lit(data: bytes) -> bytes:
    """A raw snappy block of one literal of up to 60 bytes."""
    return bytes((len(data), len(data) - 1 << 2)) + data


def versions(words: str) -> bytes:
    return xerial(lit(TWO), words=words)


def stored(data: bytes) -> bytes:
    return u32(len(data) | 1 << 31) + data


def lz(
    *blocks: bytes, flg: int = 0x60, bd: int = 0x40, size: int | None = None, hc: int | None = None,
    end: bytes = bytes(4), magic: str = "04224d18", broken: bool = False,
) -> bytes:  # fmt: skip
    start, descriptor = (
        bytes.fromhex(magic),
        bytes((flg, bd)) + (b"" if size is None else struct.pack("<Q", size)),
    )
    if hc is None:
        hc = xxhash.xxh32_intdigest((start if broken else b"") + descriptor) >> 8 & 0xFF
    return start + descriptor + bytes((hc,)) + b"".join(blocks) + end


def zblock(data: bytes, *, last: bool = True, kind: int = 0, size: int | None = None) -> bytes:
    return ((len(data) if size is None else size) << 3 | kind << 1 | last).to_bytes(3, "little") + data


def zs(*blocks: bytes, head: str = "2012", tail: bytes = b"") -> bytes:
    return bytes.fromhex("28b52ffd" + head) + b"".join(blocks) + tail


def zsum(data: bytes) -> bytes:
    return u32(xxhash.xxh64_intdigest(data) & 0xFFFFFFFF)


HALF = xerial(lit(FIRST)) + xerial()[:15]
RUN = zs(zblock(b"a", kind=1, size=131073), head="0058")
TORN = zs(zblock(FIRST, last=False), head="2012")
X10 = lz(stored(FIRST), u32(1 << 31), stored(SECOND))
EMPTY_LAST = zs(zblock(FIRST, last=False), zblock(b""))
SUM_OK = u32(xxhash.xxh32_intdigest(TWO))
ZEROS = lz4.block.compress(bytes(600000), store_size=False)
PACKED = lz4.block.compress(LONG[:60000], store_size=False)

ACCEPTED = {
    "N14 two members": (GZIP, gz(FIRST) + gz(SECOND), TWO, []),
    "N13 garbage of 7": (GZIP, gz() + b"garbage", TWO, ["gzip-trailing-garbage"]),
    "N13 garbage of 40": (GZIP, gz() + b"garbage!" * 5, TWO, ["gzip-trailing-garbage"]),
    "N13 a torn header behind": (GZIP, gz() + gz(flags=8)[:10] + b"n" * 30, TWO, ["gzip-trailing-garbage"]),
    "N13 a wrong header CRC behind": (GZIP, gz() + gz_fhcrc(1), TWO, ["gzip-trailing-garbage"]),
    "N21 member of nothing": (GZIP, gz(b""), b"", []),
    "Z63 name and comment": (GZIP, gz(flags=0x18, parts=b"n\0c\0"), TWO, []),
    "Z63 an extra field": (GZIP, gz(flags=0x04, parts=b"\3\0abc"), TWO, []),
    "Z64 header CRC": (GZIP, gz_fhcrc(), TWO, []),
    **{f"Z64 over a name, {n}": (GZIP, gz_fhcrc_over(b"n" * n), TWO, []) for n in range(1, 9)},
    "gzip module": (GZIP, gzip.compress(LONG), LONG, []),
    "Z01 unframed": (SNAPPY, lit(TWO), TWO, []),
    "Z01 empty block": (SNAPPY, b"\0", b"", []),
    "python-snappy, unframed": (SNAPPY, snappy.compress(LONG), LONG, []),
    "Z02 little-endian": (SNAPPY, versions("0100000001000000"), TWO, ["snappy-version"]),
    "Z03": (SNAPPY, versions("0000000200000001"), TWO, ["snappy-version"]),
    "Z04": (SNAPPY, versions("0000000100000002"), TWO, ["snappy-version"]),
    "Z05": (SNAPPY, versions("0000000000000000"), TWO, ["snappy-version"]),
    "Z06 no chunk": (SNAPPY, xerial(), b"", []),
    "Z08 half a length": (SNAPPY, xerial(lit(TWO)) + b"\0\0", TWO, ["snappy-trailing-bytes"]),
    "Z11 a second header": (SNAPPY, xerial(lit(FIRST)) + xerial(lit(SECOND)), TWO, ["snappy-concatenated"]),
    "Z12 over 32 KiB": (SNAPPY, xerial(snappy.compress(LONG)), LONG, []),
    "W08 chunks": (SNAPPY, xerial(lit(FIRST), lit(SECOND)), TWO, []),
    "W09": (LZ4, lz(stored(TWO)), TWO, []),
    "Z25 content checksum": (LZ4, lz(stored(TWO), flg=0x64, end=bytes(4) + SUM_OK), TWO, []),
    "Z28 content size": (LZ4, lz(stored(TWO), flg=0x68, size=18), TWO, []),
    "Z44 wrong": (LZ4, lz(stored(TWO), flg=0x68, size=2**64 - 1), TWO, ["lz4-content-size"]),
    "Z34 4 MiB": (LZ4, lz(stored(TWO), bd=0x70), TWO, []),
    "Z37": (LZ4, lz(stored(TWO)) + b"tail", TWO, ["lz4-after-endmark"]),
    "Z38 a second frame": (LZ4, lz(stored(FIRST)) + lz(stored(SECOND)), FIRST, ["lz4-after-endmark"]),
    "X10": (LZ4, X10, FIRST, ["lz4-endmark-stored", "lz4-after-endmark"]),
    "X10 at the end": (LZ4, lz(stored(TWO), end=u32(1 << 31)), TWO, ["lz4-endmark-stored"]),
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
    "N20 nothing": (ZSTD, b"", b"", []),
    "W10": (ZSTD, zs(zblock(TWO)), TWO, []),
    "W11 no content size": (ZSTD, zs(zblock(TWO), head="0058"), TWO, []),
    "W12 two frames": (ZSTD, zs(zblock(FIRST), head="2009") + zs(zblock(SECOND), head="2009"), TWO, []),
    "X05 window log 27": (ZSTD, zs(zblock(TWO), head="0088"), TWO, []),
    "Z50 checksum": (ZSTD, zs(zblock(TWO), head="2412", tail=zsum(TWO)), TWO, []),
    "Z54 skippable first": (ZSTD, u32(0x184D2A50) + u32(3) + b"abc" + zs(zblock(TWO)), TWO, []),
    "Z55 skippable last": (ZSTD, zs(zblock(TWO)) + u32(0x184D2A5F) + u32(3) + b"abc", TWO, []),
    "Z58 empty frame": (ZSTD, zs(zblock(b""), head="2000") + zs(zblock(TWO)), TWO, []),
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


Z20 = lz(stored(TWO), flg=0x40)
WRONG_SUM = lz(stored(FIRST) + u32(xxhash.xxh32_intdigest(FIRST)), stored(SECOND) + bytes(4), flg=0x70)
GROWS = lz4.block.compress(bytes(70000), store_size=False)

REFUSED = {
    "N17 nothing": (GZIP, b"", b"", 3, "gzip[0].magic"),
    "Z60 CRC": (GZIP, gz(crc=1), TWO, 33, "gzip[0].crc"),
    "Z61 ISIZE": (GZIP, gz(isize=19), TWO, 37, "gzip[0].isize"),
    "Z62 no trailer": (GZIP, gz()[:-5], TWO, 33, "gzip[0].crc"),
    "ends inside": (GZIP, gz()[:-12], TWO[:15], 29, "gzip[0].data"),
    "Z65 zlib": (GZIP, zlib.compress(TWO), b"", 3, "gzip[0].magic"),
    "Z66 deflate": (GZIP, gz()[10:-8], b"", 3, "gzip[0].magic"),
    "X07 reserved flag": (GZIP, gz(flags=0x20), b"", 6, "gzip[0].flags"),
    "X07 in the second member": (GZIP, gz(FIRST) + gz(SECOND, flags=0x20), FIRST, 35, "gzip[1].flags"),
    "X08 method 7": (GZIP, gz(method=7), b"", 5, "gzip[0].method"),
    "X09 header CRC": (GZIP, gz_fhcrc(1), b"", 13, "gzip[0].headerCrc"),
    "a name without end": (GZIP, gz(flags=8)[:14], b"", 13, "gzip[0].fileName"),
    "second member torn": (GZIP, gz(FIRST) + gz(SECOND)[:-1], TWO, 57, "gzip[1].isize"),
    "Z26 content checksum": (LZ4, lz(stored(TWO), flg=0x64, end=bytes(8)), TWO, 36, "lz4.contentChecksum"),
    "N18 nothing, snappy": (SNAPPY, b"", b"", 3, "snappy"),
    "Z07": (SNAPPY, xerial(lit(FIRST), lit(SECOND))[:-1], FIRST, 34, "xerial.chunks[1].length"),
    "Z09": (SNAPPY, xerial() + b"\xff\xff\xff\xff", b"", 19, "xerial.chunks[0].length"),
    "X13": (SNAPPY, xerial(lit(FIRST), b""), FIRST, 34, "xerial.chunks[1].length"),
    "Z13 sNaPpY": (SNAPPY, bytes.fromhex("ff060000734e61507059") + lit(TWO), b"", 3, "snappy"),
    "claims 23 for 1": (SNAPPY, xerial(b"\x17"), b"", 23, "xerial.chunks[0].block"),
    "block past its literal": (SNAPPY, xerial(lit(FIRST)[:-1]), b"", 23, "xerial.chunks[0].block"),
    "half a second header": (SNAPPY, HALF, FIRST, 34, "xerial.chunks[1].length"),
    "N19 nothing, lz4": (LZ4, b"", b"", 3, "lz4.magic"),
    "Z20 linked": (LZ4, Z20, b"", 7, "lz4.flg"),
    "Z21": (LZ4, lz(stored(TWO), hc=0), b"", 9, "lz4.hc"),
    "Z22, Z24": (LZ4, lz(stored(TWO), broken=True), b"", 9, "lz4.hc"),
    "Z27 no content checksum": (LZ4, lz(stored(TWO), flg=0x64), TWO, 36, "lz4.contentChecksum"),
    "Z29 block checksum": (LZ4, WRONG_SUM, FIRST, 40, "lz4.blocks[1].checksum"),
    "Z30": (LZ4, lz(stored(TWO), flg=0x62), b"", 7, "lz4.flg"),
    "Z31": (LZ4, lz(stored(TWO), flg=0x61), b"", 7, "lz4.flg"),
    "Z32": (LZ4, lz(stored(TWO), flg=0x20), b"", 7, "lz4.flg"),
    "Z33": (LZ4, lz(stored(TWO), bd=0x30), b"", 8, "lz4.bd"),
    "Z35 low bits": (LZ4, lz(stored(TWO), bd=0x41), b"", 8, "lz4.bd"),
    "Z35 high bit": (LZ4, lz(stored(TWO), bd=0xC0), b"", 8, "lz4.bd"),
    "Z36": (LZ4, lz(stored(TWO), end=b""), TWO, 32, "lz4.blocks[1].length"),
    "Z39": (LZ4, lz4.block.compress(TWO, store_size=False), b"", 3, "lz4.magic"),
    "Z40": (LZ4, bytes.fromhex("02214c18") + stored(TWO), b"", 3, "lz4.magic"),
    "Z41": (LZ4, u32(0x184D2A50) + u32(3) + b"abc" + lz(stored(TWO)), b"", 3, "lz4.magic"),
    "Z43": (LZ4, lz(stored(bytes(65537))), b"", 10, "lz4.blocks[0].length"),
    "X14": (LZ4, lz(u32(len(GROWS)) + GROWS), b"", 14, "lz4.blocks[0].data"),
    "no block at all": (LZ4, lz(u32(5) + b"\xff" * 5), b"", 14, "lz4.blocks[0].data"),
    "Z51 of declared size": (ZSTD, zs(zblock(TWO), head="2412", tail=bytes(4)), b"", 30, "zstd[0].checksum"),
    "Z51 of none": (ZSTD, zs(zblock(TWO), head="0458", tail=bytes(4)), TWO, 30, "zstd[0].checksum"),
    "Z52": (ZSTD, zs(zblock(TWO))[:-3], TWO[:15], 12, "zstd[0].blocks[0].data"),
    "Z53": (ZSTD, zs(zblock(TWO)) + b"garbage", TWO, 30, "zstd[1].magic"),
    "Z53 of 3": (ZSTD, zs(zblock(TWO)) + b"gar", TWO, 30, "zstd[1].magic"),
    "X04 window log 28": (ZSTD, zs(zblock(TWO), head="0090"), b"", 8, "zstd[0].window"),
    "window over 2^27": (ZSTD, zs(zblock(TWO), head="0089"), b"", 8, "zstd[0].window"),
    "X06": (ZSTD, zs(zblock(TWO), head="210112"), b"", 8, "zstd[0].dictionaryId"),
    "X15 too small": (ZSTD, zs(zblock(TWO), head="2011"), b"", 9, "zstd[0].blocks[0].header"),
    "X15 too large": (ZSTD, zs(zblock(TWO), head="2013"), b"", 12, "zstd[0].blocks[0].data"),
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
