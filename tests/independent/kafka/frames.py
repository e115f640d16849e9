"""Unpack the compressed regions of Kafka's entries, by the frames of kafka.md §3 and RFC 1952.

Blocks are unpacked by zlib, zstandard and cramjam; what stands around them is read here.
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Final

import cramjam
import lz4.block
import xxhash
import zstandard

MOST: Final = 1 << 27
"""Bytes that a region may unpack to here."""

XERIAL: Final = bytes.fromhex("82534e4150505900")
LZ4_MAGIC: Final = b"\x04\x22\x4d\x18"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
LZ4_SIZES: Final = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}


class FrameError(Exception):
    """A region that cannot be unpacked: the class of the refusal, and the position in the region."""

    def __init__(self, cls: str, at: int) -> None:
        super().__init__(f"{cls} at {at}")
        self.cls, self.at = cls, at


def failed(at: int) -> FrameError:
    return FrameError("decompress-failed", at)


def ungzip(data: bytes, _: int) -> bytes:
    """Return the content of all members; bytes behind them that begin none are ignored (§3.1)."""
    out, at = bytearray(), 0
    while True:
        content, at = _member(data, at)
        out += content
        if data[at : at + 2] != b"\x1f\x8b":
            return bytes(out)


def _member(data: bytes, begin: int) -> tuple[bytes, int]:
    """Return the content of a member, and where it ends."""
    at = _gzip_header(data, begin)
    inflate = zlib.decompressobj(-15)
    try:
        content = inflate.decompress(data[at:], MOST)
    except zlib.error:
        raise failed(at) from None
    if not inflate.eof:
        raise failed(len(data))
    at = len(data) - len(inflate.unused_data)
    if len(data) - at < 8:
        raise failed(at)
    crc, size = struct.unpack_from("<II", data, at)
    if crc != zlib.crc32(content):
        raise failed(at)
    if size != len(content) & 0xFFFFFFFF:
        raise failed(at + 4)
    return content, at + 8


def _gzip_header(data: bytes, begin: int) -> int:
    """Return where the header of a member ends."""
    if data[begin : begin + 2] != b"\x1f\x8b":
        raise failed(begin)
    if len(data) - begin < 10:
        raise failed(len(data))
    method, flags = data[begin + 2], data[begin + 3]
    if method != 8 or flags & 0xE0:
        raise failed(begin + (2 if method != 8 else 3))
    at = begin + 10
    if flags & 4:
        at += 2 + int(struct.unpack_from("<H", data, at)[0])
    for bit in (8, 16):
        if flags & bit:
            at = data.index(b"\0", at) + 1
    if flags & 2:
        if struct.unpack_from("<H", data, at)[0] != zlib.crc32(data[begin:at]) & 0xFFFF:
            raise failed(at)
        at += 2
    return at


def unsnappy(data: bytes, _: int) -> bytes:
    """Return the blocks behind xerial's header, or those of a raw block (§3.2)."""
    if len(data) < 16 or not data.startswith(XERIAL):
        return _snappy(data, 0)
    out, at = bytearray(), 16
    while len(data) - at >= 4:
        if data[at : at + 8] == XERIAL:
            at += 16
            continue
        (size,) = struct.unpack_from(">i", data, at)
        if size <= 0 or size > len(data) - at - 4:
            raise failed(at)
        out += _snappy(data[at + 4 : at + 4 + size], at + 4)
        at += 4 + size
    return bytes(out)


def _snappy(block: bytes, at: int) -> bytes:
    try:
        if cramjam.snappy.decompress_raw_len(block) > MOST:
            raise FrameError("limit-exceeded", at)
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError:
        raise failed(at) from None


def unlz4(data: bytes, magic: int) -> bytes:
    """Return the blocks of the first frame (§3.3); the header byte of v0 is not looked at (§2.3)."""
    if data[:4] != LZ4_MAGIC:
        raise failed(0)
    flg, bd = data[4], data[5]
    if flg >> 6 != 1 or not flg & 0x20 or flg & 3:
        raise failed(4)
    if bd & 0x8F or bd >> 4 not in LZ4_SIZES:
        raise failed(5)
    at = 6 + (8 if flg & 8 else 0)
    if magic and data[at] != xxhash.xxh32(data[4:at]).intdigest() >> 8 & 0xFF:
        raise failed(at)
    content, at = _lz4_blocks(data, at + 1, LZ4_SIZES[bd >> 4], has_checksums=bool(flg & 0x10))
    if flg & 4:
        _lz4_checksum(data, at, content)
    return content


def _lz4_blocks(data: bytes, at: int, most: int, *, has_checksums: bool) -> tuple[bytes, int]:
    """Return the content of the blocks, and the position behind the EndMark."""
    out = bytearray()
    while True:
        if len(data) - at < 4:
            raise failed(len(data))
        (word,) = struct.unpack_from("<I", data, at)
        size = word & 0x7FFFFFFF
        if not size:
            return bytes(out), at + 4
        if size > most:
            raise failed(at)
        block, end = data[at + 4 : at + 4 + size], at + 4 + size
        if len(block) < size:
            raise failed(len(data))
        if has_checksums and struct.unpack_from("<I", data, end)[0] != xxhash.xxh32(block).intdigest():
            raise failed(end)
        out += block if word >> 31 else _lz4_block(block, most, at + 4)
        at = end + (4 if has_checksums else 0)


def _lz4_checksum(data: bytes, at: int, content: bytes) -> None:
    if len(data) - at < 4:
        raise failed(len(data))
    if struct.unpack_from("<I", data, at)[0] != xxhash.xxh32(content).intdigest():
        raise failed(at)


def _lz4_block(block: bytes, most: int, at: int) -> bytes:
    try:
        return bytes(lz4.block.decompress(block, uncompressed_size=most))
    except lz4.block.LZ4BlockError:
        raise failed(at) from None


def unzstd(data: bytes, _: int) -> bytes:
    """Return the content of all frames: RFC 8878."""
    out, at = bytearray(), 0
    while at < len(data):
        end = _zstd_end(data, at)
        if data[at : at + 4] == ZSTD_MAGIC:
            try:
                out += _read_zstd(data[at:end])
            except zstandard.ZstdError:
                raise failed(end - 4 if data[at + 4] & 4 else at) from None
        at = end
    return bytes(out)


def _read_zstd(frame: bytes) -> bytes:
    """Return the content of a frame, up to what a region may unpack to."""
    with zstandard.ZstdDecompressor(max_window_size=MOST).stream_reader(frame) as reader:
        return bytes(reader.read(MOST))


def _zstd_end(data: bytes, at: int) -> int:
    """Return where a frame ends: a block has no more than the window or 128 KiB."""
    if data[at + 1 : at + 4] == b"\x2a\x4d\x18" and data[at] >> 4 == 5:  # a skippable frame
        end = at + 8 + int(struct.unpack_from("<I", data, at + 4)[0])
        if end > len(data):
            raise failed(at)
        return end
    if data[at : at + 4] != ZSTD_MAGIC:
        raise failed(at)
    place, window = _zstd_header(data, at + 4)
    while True:
        word = int.from_bytes(data[place : place + 3], "little")
        kind, length = word >> 1 & 3, word >> 3
        if length > min(window, 1 << 17):
            raise failed(place)
        stored = 1 if kind == 1 else length
        if place + 3 + stored > len(data):
            raise failed(place + 3)
        place += 3 + stored
        if word & 1:
            return place + (4 if data[at + 4] & 4 else 0)


def _zstd_header(data: bytes, at: int) -> tuple[int, int]:
    """Return where the header of a frame ends, and its window, of at most 128 MiB; no dictionary is known."""
    descriptor, place = data[at], at + 1
    single, window = descriptor & 0x20, MOST
    if not single:
        window = (1 << 10 + (data[place] >> 3)) // 8 * (8 + (data[place] & 7))
        place += 1
    if window > MOST:
        raise failed(place - 1)
    ident = (0, 1, 2, 4)[descriptor & 3]
    if any(data[place : place + ident]):
        raise failed(place)
    place += ident
    size = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    if single:
        window = int.from_bytes(data[place : place + size], "little") + (256 if size == 2 else 0)
    return place + size, window


CODECS: Final[Mapping[int, Callable[[bytes, int], bytes]]] = {1: ungzip, 2: unsnappy, 3: unlz4, 4: unzstd}
