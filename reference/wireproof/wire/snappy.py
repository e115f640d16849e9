"""Snappy as Kafka's consumer reads it: xerial framing, or one raw block. kafka.md, section 3, column snappy.

Only the raw blocks are cramjam's. A xerial stream stands under `xerial`, a raw block under `snappy`.
"""

from struct import pack as pack_struct
from typing import Final

import cramjam

from wireproof.wire.reader import Reader
from wireproof.wire.unpacking import Unpacking, failed

MAGIC: Final = bytes.fromhex("82534e4150505900")
HEADER: Final = 16
WRITTEN_VERSIONS: Final = (1, 1)
BLOCK: Final = 32 * 1024

MOST_RATIO: Final = 22
"""A raw block grows by at most 64 bytes for a copy of 3: 21.3 to 1. More cannot be in it."""


def unpack(reader: Reader, out: Unpacking) -> None:
    """Unpack the window.

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; what was unpacked before stays in `out`.
    """
    if not reader.left:  # N18
        raise failed(reader, "snappy", "empty")
    if not _framed(reader):
        start = reader.pos
        unpack_block(reader, out, "snappy", reader.left)
        reader.remark("snappy-unframed", "snappy", at=start)
        return
    reader.enter("xerial")
    _header(reader)
    index = 0
    while reader.left >= 4:
        if _framed(reader):  # Z11
            reader.remark("snappy-concatenated", "magic")
            _header(reader)
            continue
        reader.enter("chunks", index)
        _chunk(reader, out)
        reader.leave()
        index += 1
    if reader.left:  # Z08: fewer than 4 bytes are no chunk length, and are ignored
        reader.remark("snappy-trailing-bytes", "trailing")
        reader.region("trailing", "garbage", reader.pos, reader.end)
    reader.leave()


def _framed(reader: Reader) -> bool:
    """Only the 8 bytes of the prefix are compared, in 16 bytes or more (Z02 to Z05)."""
    return reader.left >= HEADER and reader.data.startswith(MAGIC, reader.pos, reader.end)


def _header(reader: Reader) -> None:
    reader.take("magic", len(MAGIC))
    at = reader.pos
    if (reader.int32("version"), reader.int32("compatibleVersion")) != WRITTEN_VERSIONS:
        reader.remark("snappy-version", "version", at=at)


def _chunk(reader: Reader, out: Unpacking) -> None:
    """Length and raw block. Z07, Z09, Z10, Z12, X13."""
    at = reader.pos
    length = reader.int32("length")
    if length <= 0:
        raise failed(reader, "length", f"length {length}", at)
    if length > reader.left:
        out.announce("length", length, at)
        raise failed(reader, "length", f"length {length}, {reader.left} left", at)
    reader.cover("length", "length", reader.pos, reader.pos + length)
    unpack_block(reader, out, "block", length)


def unpack_block(reader: Reader, out: Unpacking, name: str, length: int) -> None:
    """One raw block. The length that it declares is checked before anything is allocated for it (Z10).

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; a block gives all or nothing.
    """
    start, stop = reader.pos, reader.pos + length
    block = memoryview(reader.data)[start:stop]
    try:
        size = cramjam.snappy.decompress_raw_len(block)
        out.announce(name, size, start)
        if size > MOST_RATIO * length:
            raise failed(reader, name, f"{length} bytes cannot give {size}", start)
        buffer = bytearray(size)
        if size != cramjam.snappy.decompress_raw_into(block, buffer):
            raise failed(reader, name, f"gave other than the declared {size} bytes", start)
    except cramjam.DecompressionError as error:
        raise failed(reader, name, str(error), start) from None
    out.add(name, bytes(buffer), start)
    reader.pos = stop
    reader.region(name, "snappy-block", start, stop)


def pack(data: bytes) -> bytes:
    """A xerial stream as Kafka's writer makes it: versions 1 and 1, blocks of 32 KiB."""
    parts = [MAGIC, pack_struct(">ii", *WRITTEN_VERSIONS)]
    for start in range(0, len(data), BLOCK):
        block = pack_block(data[start : start + BLOCK])
        parts += [pack_struct(">i", len(block)), block]
    return b"".join(parts)


def pack_block(data: bytes) -> bytes:
    """One raw block."""
    return bytes(cramjam.snappy.compress_raw(data))
