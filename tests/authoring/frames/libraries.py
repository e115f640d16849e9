"""The compression libraries: each unpacks a whole region, or raises `RefusedError`.

A region is whole if frames fill it to its end. Input is given in pieces, so that a frame that grows to gigabytes
ends at the limit. The framing of xerial has no library in Python: its blocks are cut out by hand.
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import cramjam
import lz4
import lz4.frame
import zstandard

LIMIT: Final = 64 << 20
"""The maximum of unpacked bytes."""

PIECE: Final = 1024
XERIAL: Final = b"\x82SNAPPY\x00"
XERIAL_HEADER: Final = 16


class RefusedError(Exception):
    """The library does not unpack the bytes, or not all of them."""


class UnjudgedError(Exception):
    """More comes out than is unpacked here: no answer."""


def gzip(data: bytes) -> bytes:
    """Unpack the members of a gzip file."""
    return _frames(data, lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), zlib.error)


def lz4_frames(data: bytes) -> bytes:
    """Unpack LZ4 frames."""
    return _frames(data, lz4.frame.LZ4FrameDecompressor, (RuntimeError, EOFError))


def zstd(data: bytes) -> bytes:
    """Unpack Zstandard frames."""
    return _frames(data, lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)


def _frames(data: bytes, start: Callable[[], Any], errors: Any) -> bytes:
    if not data:
        raise RefusedError("no frame")
    out = bytearray()
    while data:
        reader, place = start(), 0
        try:
            while not reader.eof and place < len(data):
                out += reader.decompress(data[place : place + PIECE])
                place += PIECE
                if len(out) > LIMIT:
                    raise UnjudgedError
        except errors as error:
            raise RefusedError(str(error)) from None
        if not reader.eof:
            raise RefusedError("the frame has no end")
        data = (reader.unused_data or b"") + data[place:]
    return bytes(out)


def snappy(data: bytes) -> bytes:
    """Unpack xerial's blocks, or a raw block where its prefix is missing."""
    if not data.startswith(XERIAL):
        return _block(data)
    if len(data) < XERIAL_HEADER:
        raise RefusedError("the header is cut")
    out, place = bytearray(), XERIAL_HEADER
    while place < len(data):
        try:
            size = struct.unpack_from(">i", data, place)[0]
        except struct.error:
            raise RefusedError("a block length is cut") from None
        place += 4 + size
        if size < 0 or place > len(data):
            raise RefusedError("a block length goes past the end")
        out += _block(data[place - size : place])
    return bytes(out)


def _block(data: bytes) -> bytes:
    try:
        if cramjam.snappy.decompress_raw_len(data) > LIMIT:
            raise UnjudgedError
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        raise RefusedError(str(error)) from None


UNPACK: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "gzip": gzip,
    "snappy": snappy,
    "lz4": lz4_frames,
    "zstd": zstd,
}
"""By codec."""

NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "gzip": ("zlib", zlib.ZLIB_RUNTIME_VERSION),
    "snappy": ("cramjam-snappy", cramjam.__version__),
    "lz4": ("liblz4", lz4.library_version_string()),
    "zstd": ("libzstd", ".".join(map(str, zstandard.ZSTD_VERSION))),
}
"""Name and version of the library of each codec."""
