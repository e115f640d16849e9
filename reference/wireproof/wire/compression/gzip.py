"""gzip members, read as Kafka's consumer reads them: kafka.md, section 3, column gzip; layout of RFC 1952.

zlib only inflates; headers and trailers are read here. The path of each member is `gzip[n]`.
"""

import zlib
from struct import pack as pack_struct
from typing import Final

from wireproof.wire.checksums import crc32
from wireproof.wire.compression.output_buffer import OutputBuffer, decompress_failed
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

MAGIC: Final = 0x8B1F
DEFLATE: Final = 8

FHCRC: Final = 0x02
FEXTRA: Final = 0x04
FNAME: Final = 0x08
FCOMMENT: Final = 0x10
RESERVED: Final = 0xE0

INPUT_CHUNK: Final = 8 * 1024
OUTPUT_CHUNK: Final = 16 * 1024
"""Sizes of Kafka's buffers. The output of an inflate call that meets a defect is lost, in Kafka and here."""


def decompress(reader: Reader, out: OutputBuffer) -> None:
    """Decompress all members of the window; several members are one stream (N14).

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; `out` keeps the bytes decompressed before.
    """
    index = 0
    while True:
        reader.enter("gzip", index)
        start = reader.pos
        flags = _header(reader)
        if flags & RESERVED:  # RFC 1952, section 2.3.1.2; X07. The JDK does not look at them.
            at, ignored = start + 3, reader.other("ignored", "flags", flags & ~RESERVED)
            reader.remark("gzip-reserved-flags", "flags", at=at, others=(ignored,))
            raise decompress_failed(reader, "flags", f"reserved bits in {flags:#04x}", at)
        _member(reader, out)
        reader.leave()
        index += 1
        if not _next_member_follows(reader):
            break
    if reader.left:  # N13: Java 17 ignores bytes that are not a member
        reader.remark("gzip-trailing-garbage", "trailing")
        reader.region("trailing", "garbage", reader.pos, reader.end)


def _next_member_follows(reader: Reader) -> bool:
    """Return True if another member begins here. An invalid header is garbage, not an error (N13)."""
    if (
        reader.left <= 18
    ):  # the size of a header and a trailer: Java does not look for a header in fewer bytes
        return False
    probe = Reader(reader.data, pos=reader.pos, end=reader.end)
    try:
        _header(probe)
    except Rejected:
        return False
    return True


def _header(reader: Reader) -> int:
    """Read the header of a member, and return its flags: RFC 1952, section 2.3. Z63 to Z66, X08, X09."""
    start = reader.pos
    if reader.uint16le("magic") != MAGIC:
        raise decompress_failed(reader, "magic", "not a gzip member", start)
    if (method := reader.uint8("method")) != DEFLATE:
        raise decompress_failed(reader, "method", f"method {method}", reader.pos - 1)
    flags = reader.uint8("flags")
    reader.uint32le("mtime")
    reader.uint8("extraFlags")
    reader.uint8("os")
    if flags & FEXTRA:
        length = reader.uint16le("extraLength")
        reader.cover_next("extraLength", length)
        reader.take("extra", length)
    if flags & FNAME:
        _read_text(reader, "fileName")
    if flags & FCOMMENT:
        _read_text(reader, "comment")
    if flags & FHCRC:
        computed = crc32(memoryview(reader.data)[start : reader.pos]) & 0xFFFF
        if reader.uint16le("headerCrc") != computed:
            raise decompress_failed(reader, "headerCrc", f"expected {computed:#06x}", reader.pos - 2)
    return flags


def _read_text(reader: Reader, name: str) -> None:
    """Read a text with its zero byte; a text without one is rejected at the end of the window."""
    stop = reader.data.find(b"\0", reader.pos, reader.end)
    reader.take(name, (stop if stop >= 0 else reader.end) + 1 - reader.pos)


def _member(reader: Reader, out: OutputBuffer) -> None:
    """Inflate the data piece by piece, then read the trailer, which is checked only now (Z60, Z61, Z62)."""
    engine, crc, before = zlib.decompressobj(-zlib.MAX_WBITS), 0, out.size
    start = pos = reader.pos
    view = memoryview(reader.data)
    while not engine.eof:
        chunk: bytes | memoryview = engine.unconsumed_tail
        if not chunk:
            chunk = view[pos : min(pos + INPUT_CHUNK, reader.end)]
            pos += len(chunk)
        try:
            piece = engine.decompress(chunk, OUTPUT_CHUNK)
        except zlib.error as error:
            raise decompress_failed(reader, "data", str(error), start) from None
        out.add("data", piece, start)
        crc = crc32(piece, crc)
        if not (piece or chunk or engine.eof):
            raise decompress_failed(reader, "data", "the deflated data is cut", pos)
    at = reader.pos = pos - len(engine.unused_data)
    reader.region("data", "deflate", start, at)
    if reader.uint32le("crc") != crc:
        raise decompress_failed(reader, "crc", f"expected {crc:#010x}", at)
    size = out.size - before & 0xFFFF_FFFF
    if reader.uint32le("isize") != size:
        raise decompress_failed(reader, "isize", f"expected {size}", at + 4)
    reader.cover("isize", "isize", start, at)


def compress(data: bytes) -> bytes:
    """Write one member as Kafka's writer does: default level, no name, time 0, unknown operating system."""
    engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    head = bytes.fromhex("1f8b08000000000000ff")
    return (
        head
        + engine.compress(data)
        + engine.flush()
        + pack_struct("<II", crc32(data), len(data) & 0xFFFF_FFFF)
    )
