"""Snappy, read as Kafka's consumer reads it: xerial framing or one raw block. kafka.md, section 3.

cramjam only decompresses raw blocks. The path of a xerial stream is `xerial`, that of a raw block `snappy`.
"""

from struct import pack as pack_struct
from typing import Final

import cramjam

from wireproof.wire.compression.output_buffer import OutputBuffer, decompress_failed
from wireproof.wire.reader import Reader

MAGIC: Final = bytes.fromhex("82534e4150505900")
HEADER: Final = 16
WRITER_VERSIONS: Final = (1, 1)
WRITER_BLOCK_SIZE: Final = 32 * 1024

MAX_RATIO: Final = 22
"""An upper bound of the compression ratio: a copy element of 3 bytes means at most 64 bytes, 21.3 to 1."""


def decompress(reader: Reader, out: OutputBuffer) -> None:
    """Decompress the window.

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; `out` keeps the bytes decompressed before.
    """
    if not reader.left:  # N18
        raise decompress_failed(reader, "snappy", "empty")
    if not _has_xerial_header(reader):
        decompress_block(reader, out, "snappy", reader.left)
        return
    reader.enter("xerial")
    _header(reader)
    index = 0
    while reader.left >= 4:
        if _has_xerial_header(reader):  # Z11
            reader.remark("snappy-concatenated", "magic")
            _header(reader)
            continue
        reader.enter("chunks", index)
        _chunk(reader, out)
        reader.leave()
        index += 1
    if reader.left:  # Z08: fewer than 4 bytes are not a chunk length, and are ignored
        reader.remark("snappy-trailing-bytes", "trailing")
        reader.region("trailing", "garbage", reader.pos, reader.end)
    reader.leave()


def _has_xerial_header(reader: Reader) -> bool:
    """Return True for 16 bytes or more that begin with the magic; the versions do not matter (Z02 to Z05)."""
    return reader.left >= HEADER and reader.data.startswith(MAGIC, reader.pos, reader.end)


def _header(reader: Reader) -> None:
    reader.take("magic", len(MAGIC))
    at = reader.pos
    if (reader.int32("version"), reader.int32("compatibleVersion")) != WRITER_VERSIONS:
        reader.remark("snappy-version", "version", at=at)


def _chunk(reader: Reader, out: OutputBuffer) -> None:
    """Read a chunk: length and raw block. Z07, Z09, Z10, Z12, X13."""
    at = reader.pos
    length = reader.int32("length")
    reader.cover_next("length", length)
    if length <= 0:
        raise decompress_failed(reader, "length", f"length {length}", at)
    if length > reader.left:
        out.check_budget("length", length, at)
        raise decompress_failed(reader, "length", f"length {length}, {reader.left} left", at)
    decompress_block(reader, out, "block", length)


def decompress_block(reader: Reader, out: OutputBuffer, name: str, length: int) -> None:
    """Decompress one raw block. Its declared size is checked before memory is allocated (Z10).

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; `out` then gets nothing of the block.
    """
    start, stop = reader.pos, reader.pos + length
    block = memoryview(reader.data)[start:stop]
    try:
        size = cramjam.snappy.decompress_raw_len(block)
        out.check_budget(name, size, start)
        if size > MAX_RATIO * length:
            raise decompress_failed(reader, name, f"{length} bytes cannot decompress to {size}", start)
        buffer = bytearray(size)
        if size != cramjam.snappy.decompress_raw_into(block, buffer):
            raise decompress_failed(reader, name, f"does not decompress to the declared {size} bytes", start)
    except cramjam.DecompressionError as error:
        raise decompress_failed(reader, name, str(error), start) from None
    out.add(name, bytes(buffer), start)
    reader.pos = stop
    reader.region(name, "snappy-block", start, stop)


def compress(data: bytes) -> bytes:
    """Write a xerial stream as Kafka's writer does: versions 1 and 1, blocks of 32 KiB."""
    parts = [MAGIC, pack_struct(">ii", *WRITER_VERSIONS)]
    for start in range(0, len(data), WRITER_BLOCK_SIZE):
        block = compress_block(data[start : start + WRITER_BLOCK_SIZE])
        parts += [pack_struct(">i", len(block)), block]
    return b"".join(parts)


def compress_block(data: bytes) -> bytes:
    """Write one raw block."""
    return bytes(cramjam.snappy.compress_raw(data))
