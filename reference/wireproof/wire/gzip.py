"""gzip members, as Kafka's consumer reads them: kafka.md, section 3, column gzip; layout of RFC 1952.

Only DEFLATE itself is zlib's. Each member stands under `gzip[n]`.
"""

import zlib
from struct import pack as pack_struct
from typing import Final

from wireproof.wire.checksums import crc32
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.unpacking import Unpacking, failed

MAGIC: Final = 0x8B1F
DEFLATE: Final = 8

FHCRC: Final = 0x02
FEXTRA: Final = 0x04
FNAME: Final = 0x08
FCOMMENT: Final = 0x10
RESERVED: Final = 0xE0

TRAILER: Final = 8
LEAST_MORE: Final = 18
"""Bytes behind a trailer up to which Java does not even look for a next header (10 + 8): garbage."""

INPUT: Final = 8 * 1024
OUTPUT: Final = 16 * 1024
"""Kafka's buffers. What one inflate call of this size gave before a defect in it is lost, there as here."""


def unpack(reader: Reader, out: Unpacking) -> None:
    """Unpack every member of the window, several being one stream (N14).

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; what was unpacked before stays in `out`.
    """
    index = 0
    while True:
        reader.enter("gzip", index)
        _header(reader)
        _member(reader, out)
        reader.leave()
        index += 1
        if not _another(reader):
            break
    if reader.left:  # N13: Java 17 ignores what is no member
        reader.remark("gzip-trailing-garbage", "trailing")
        reader.region("trailing", "garbage", reader.pos, reader.end)


def _another(reader: Reader) -> bool:
    """Whether a next member begins here. A header that does not hold is garbage, not an error (N13)."""
    if reader.left <= LEAST_MORE:
        return False
    probe = Reader(reader.data, pos=reader.pos, end=reader.end)
    try:
        _header(probe)
    except Rejected:
        return False
    return True


def _header(reader: Reader) -> None:
    """RFC 1952, section 2.3. Z63, Z64, Z65, Z66, X07, X08, X09."""
    start = reader.pos
    if reader.uint16le("magic") != MAGIC:
        raise failed(reader, "magic", "no gzip member", start)
    if (method := reader.uint8("method")) != DEFLATE:
        raise failed(reader, "method", f"method {method}", reader.pos - 1)
    flags = reader.uint8("flags")
    if flags & RESERVED:
        reader.remark("gzip-reserved-flags", "flags", at=reader.pos - 1)
    reader.uint32le("mtime")
    reader.uint8("extraFlags")
    reader.uint8("os")
    if flags & FEXTRA:
        length = reader.uint16le("extraLength")
        reader.take("extra", length)
    if flags & FNAME:
        _text(reader, "fileName")
    if flags & FCOMMENT:
        _text(reader, "comment")
    if flags & FHCRC:
        want = crc32(memoryview(reader.data)[start : reader.pos]) & 0xFFFF
        if reader.uint16le("headerCrc") != want:
            raise failed(reader, "headerCrc", f"want {want:#06x}", reader.pos - 2)


def _text(reader: Reader, name: str) -> None:
    """A text up to its zero byte; without one it runs past the window."""
    stop = reader.data.find(b"\0", reader.pos, reader.end)
    reader.take(name, (stop if stop >= 0 else reader.end) + 1 - reader.pos)


def _member(reader: Reader, out: Unpacking) -> None:
    """The deflated data and its trailer, which is looked at only behind the data (Z60, Z61, Z62)."""
    start, before = reader.pos, out.size
    crc = _inflate(reader, out)
    at = reader.pos
    if reader.uint32le("crc") != crc:
        raise failed(reader, "crc", f"want {crc:#010x}", at)
    size = out.size - before & 0xFFFF_FFFF
    if reader.uint32le("isize") != size:
        raise failed(reader, "isize", f"want {size}", at + 4)
    reader.cover("isize", "isize", start, at)


def _inflate(reader: Reader, out: Unpacking) -> int:
    """Inflate to the end of the deflated data, piece by piece; the CRC-32 of what came out."""
    engine, crc = zlib.decompressobj(-zlib.MAX_WBITS), 0
    start = pos = reader.pos
    view = memoryview(reader.data)
    while not engine.eof:
        chunk: bytes | memoryview = engine.unconsumed_tail
        if not chunk:
            chunk = view[pos : min(pos + INPUT, reader.end)]
            pos += len(chunk)
        try:
            piece = engine.decompress(chunk, OUTPUT)
        except zlib.error as error:
            raise failed(reader, "data", str(error), start) from None
        out.add("data", piece, start)
        crc = crc32(piece, crc)
        if not (piece or chunk or engine.eof):
            raise failed(reader, "data", "ends inside the deflated data", pos)
    reader.pos = pos - len(engine.unused_data)
    reader.region("data", "deflate", start, reader.pos)
    return crc


def pack(data: bytes) -> bytes:
    """One member as Kafka's writer makes it: default level, no name, time 0, operating system unknown."""
    engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    head = bytes.fromhex("1f8b08000000000000ff")
    return (
        head
        + engine.compress(data)
        + engine.flush()
        + pack_struct("<II", crc32(data), len(data) & 0xFFFF_FFFF)
    )
