"""The LZ4 frame, read as Kafka's consumer reads it: kafka.md, sections 2.3 and 3, column lz4.

cramjam only decompresses blocks. The path of the frame is `lz4`, that of its blocks `lz4.blocks[n]`.
"""

from struct import pack as pack_struct
from typing import Final

import cramjam
import xxhash
from attrs import frozen

from wireproof.wire.checksums import lz4_header_checksum, xxh32
from wireproof.wire.compression.output_buffer import OutputBuffer, decompress_failed
from wireproof.wire.reader import Reader

MAGIC: Final = 0x184D2204
STORED_FLAG: Final = 0x8000_0000

# FLG
VERSION_BITS: Final = 0xC0
VERSION_1: Final = 0x40
INDEPENDENT: Final = 0x20
BLOCK_CHECKSUM: Final = 0x10
CONTENT_SIZE: Final = 0x08
CONTENT_CHECKSUM: Final = 0x04
FLG_RESERVED: Final = 0x03
"""Bit 1 is reserved; bit 0 means "dictionary id", and Kafka's reader treats it as reserved (Z30, Z31)."""

# BD
BD_RESERVED: Final = 0x8F
MIN_SIZE_CODE: Final = 4

MAX_RATIO: Final = 255
"""The highest compression ratio of a block: 255 bytes for one byte."""
SLACK: Final = 64
"""Extra room for the output, so that liblz4's rules for the end of a buffer do not change the result."""

END_MARK: Final = bytes(4)


def _head(descriptor: bytes, *, kip57: bool = False) -> bytes:
    """Return a frame header: magic, `descriptor` and HC; with `kip57` HC covers the magic too, as in v0."""
    magic = MAGIC.to_bytes(4, "little")
    return magic + descriptor + bytes((lz4_header_checksum(magic + descriptor if kip57 else descriptor),))


def _block_size(code: int) -> int:
    """Return the block size of a BD code: 4 to 7 are 64 KiB, 256 KiB, 1 MiB, 4 MiB."""
    return 1 << 8 + 2 * code


def _heads(*, kip57: bool) -> tuple[tuple[int, bytes], ...]:
    plain = ((code, bytes((VERSION_1 | INDEPENDENT, code << 4))) for code in range(4, 8))
    return tuple((_block_size(code), _head(descriptor, kip57=kip57)) for code, descriptor in plain)


FRAME_HEADERS: Final = _heads(kip57=False)
"""Block size and frame header of a frame without optional fields, for each block size, smallest first."""

V0_FRAME_HEADERS: Final = _heads(kip57=True)
"""The same headers as writers of v0 messages wrote them: section 2.3."""

WRITER_DESCRIPTOR: Final = bytes((VERSION_1 | INDEPENDENT, MIN_SIZE_CODE << 4))
WRITER_BLOCK_SIZE: Final = _block_size(MIN_SIZE_CODE)


@frozen
class FrameDescriptor:
    """The header of a frame.

    Attributes:
        flags: FLG.
        max_block: the largest size of a block, in bytes.
        content_size: the declared size of the content in bytes, or None.
        size_at: position of the content size.
    """

    flags: int
    max_block: int
    content_size: int | None
    size_at: int


def decompress(reader: Reader, out: OutputBuffer, *, kip57: bool = False) -> None:
    """Decompress the first frame of the window; bytes after it are ignored (Z37, Z38).

    Args:
        reader: the compressed region.
        out: the buffer for the decompressed bytes.
        kip57: True for the region of a v0 message, whose header checksum may cover the magic too.

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; `out` keeps the bytes decompressed before.
    """
    reader.enter("lz4")
    frame = _header(reader, kip57=kip57)
    content, index = xxhash.xxh32(), 0
    while True:
        reader.enter("blocks", index)
        piece = _block(reader, out, frame)
        reader.leave()
        if piece is None:
            break
        content.update(piece)
        index += 1
    _content(reader, frame, out.size, content.intdigest())
    if reader.left:
        reader.remark("lz4-after-endmark", "trailing")
        reader.region("trailing", "garbage", reader.pos, reader.end)
    reader.leave()


def _header(reader: Reader, *, kip57: bool) -> FrameDescriptor:
    """Read magic, FLG, BD, content size and HC. Z20 to Z24, Z28, Z30 to Z35, Z39 to Z41."""
    magic_at = reader.pos
    if reader.uint32le("magic") != MAGIC:
        raise decompress_failed(reader, "magic", "not an LZ4 frame", magic_at)
    start = reader.pos
    flags, sizes = reader.uint8("flg"), reader.uint8("bd")
    for wrong, name, text in (
        (flags & FLG_RESERVED, "flg", "reserved bit set"),
        (flags & VERSION_BITS != VERSION_1, "flg", "version other than 01"),
        (not flags & INDEPENDENT, "flg", "linked blocks"),
        (sizes & BD_RESERVED, "bd", "reserved bit set"),
        (sizes >> 4 < MIN_SIZE_CODE, "bd", "block size code below 4"),
    ):
        if wrong:
            raise decompress_failed(reader, name, text, start if name == "flg" else start + 1)
    size_at = reader.pos
    size = reader.uint64le("contentSize") if flags & CONTENT_SIZE else None
    _header_checksum(reader, magic_at, start, kip57=kip57)
    return FrameDescriptor(flags, _block_size(sizes >> 4), size, size_at)


def _header_checksum(reader: Reader, magic_at: int, start: int, *, kip57: bool) -> None:
    """Read HC: section 2.3.

    v1 and v2 require the correct byte. v0 accepts any byte, and its writers computed it over the magic too.
    """
    stop = reader.pos
    correct, with_magic = (lz4_header_checksum(reader.data[at:stop]) for at in (start, magic_at))
    stored = reader.uint8("hc")
    if stored == correct or not kip57:
        reader.cover("hc", "xxh32-hc", start, stop)
    else:
        reader.cover("hc", "xxh32-hc", magic_at, stop)
    if not kip57 and stored != correct:
        raise decompress_failed(reader, "hc", f"expected {correct:#04x}", stop)
    if kip57 and stored != with_magic:
        reader.remark("lz4-v0-hc-good" if stored == correct else "lz4-v0-hc-neither", "hc", at=stop)


def _block(reader: Reader, out: OutputBuffer, frame: FrameDescriptor) -> bytes | None:
    """Read and return the next block, or None at the EndMark. Z29, Z36, Z42, Z43, X10."""
    at = reader.pos
    word = reader.uint32le("length")
    length = word & ~STORED_FLAG
    reader.cover_next("length", length, word & STORED_FLAG)
    if not length:
        if word:  # X10: an empty stored block counts as EndMark
            reader.remark("lz4-endmark-stored", "length", at=at)
        return None
    if length > frame.max_block:
        raise decompress_failed(reader, "length", f"{length} bytes in a block, {frame.max_block} allowed", at)
    start, stored = reader.pos, bool(word & STORED_FLAG)
    reader.skip("data", length)
    reader.region("data", "stored" if stored else "lz4-block", start, reader.pos)
    block = memoryview(reader.data)[start : reader.pos]
    if frame.flags & BLOCK_CHECKSUM:
        _block_checksum(reader, block, start)
    piece = bytes(block) if stored else _decompress(reader, block, frame.max_block, start)
    out.add("data", piece, start)
    return piece


def _block_checksum(reader: Reader, block: memoryview, start: int) -> None:
    """Check the checksum of a block, which covers its bytes as stored, compressed or not: Z29, W40."""
    stop, computed = reader.pos, xxh32(block)
    if reader.uint32le("checksum") != computed:
        raise decompress_failed(reader, "checksum", f"expected {computed:#010x}", stop)
    reader.cover("checksum", "xxh32", start, stop)


def _decompress(reader: Reader, block: memoryview, max_size: int, start: int) -> bytes:
    """Decompress a block, which must not become larger than the frame's block size (X14).

    cramjam gets the block in a frame of its own, with the smallest block size that does not limit the result:
    its function for bare blocks reads a block that fails a second time, as if it began with its size.
    """
    room = min(max_size, MAX_RATIO * len(block) + SLACK)
    head = next(head for size, head in FRAME_HEADERS if size >= room)
    try:
        return bytes(cramjam.lz4.decompress(b"".join((head, pack_struct("<I", len(block)), block, END_MARK))))
    except cramjam.DecompressionError as error:
        raise decompress_failed(reader, "data", str(error), start) from None


def _content(reader: Reader, frame: FrameDescriptor, size: int, checksum: int) -> None:
    """Read checksum and size of the content; only the checksum is verified: Z26, Z27, Z44.

    Kafka 4.4 passes over the checksum, and its tracker calls that a bug: KAFKA-20528.
    """
    if frame.flags & CONTENT_CHECKSUM:
        at = reader.pos
        if reader.uint32le("contentChecksum") != checksum:
            passed_over = reader.other("passed-over", "contentChecksum", checksum)
            reader.remark("lz4-content-checksum", "contentChecksum", at=at, others=(passed_over,))
            raise decompress_failed(reader, "contentChecksum", f"expected {checksum:#010x}", at)
    if frame.content_size not in (None, size):
        reader.remark("lz4-content-size", "contentSize", at=frame.size_at)


def compress(data: bytes, *, kip57: bool = False) -> bytes:
    """Write a frame as Kafka's writer does: FLG 60, BD 40, blocks of 64 KiB, stored if that is not longer."""
    parts = [_head(WRITER_DESCRIPTOR, kip57=kip57)]
    for start in range(0, len(data), WRITER_BLOCK_SIZE):
        piece = data[start : start + WRITER_BLOCK_SIZE]
        block = bytes(cramjam.lz4.compress_block(piece, store_size=False))
        small = len(block) < len(piece)
        parts += [
            pack_struct("<I", len(block) if small else len(piece) | STORED_FLAG),
            block if small else piece,
        ]
    return b"".join((*parts, END_MARK))
