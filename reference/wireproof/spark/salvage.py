"""Decompress as much as possible of a compressed object that is cut or damaged.

Arrow's streams lose the whole last piece if they fail. These functions decompress small pieces, so that
nothing is lost of an object that is cut, and little before a damaged place.
"""

import bz2
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import zstandard

STEP_BYTES: Final = 256
"""Compressed bytes that are taken at a time; up to that many may be lost before a damaged place."""

DECOMPRESSORS: Final[dict[str, Callable[[], Any]]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "bz2": bz2.BZ2Decompressor,
    "zstd": lambda: zstandard.ZstdDecompressor().decompressobj(),
}

FAILURES: Final = (zlib.error, zstandard.ZstdError, OSError, EOFError, RuntimeError)


def salvage_bytes(chunks: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """Yield the decompressed bytes up to the first place that cannot be decompressed; nothing for lz4."""
    if compression not in DECOMPRESSORS:
        return
    decompressor = DECOMPRESSORS[compression]()
    try:
        for chunk in chunks:
            for at in range(0, len(chunk), STEP_BYTES):
                rest = chunk[at : at + STEP_BYTES]
                while rest:
                    yield decompressor.decompress(rest)
                    rest = decompressor.unused_data if decompressor.eof else b""
                    decompressor = DECOMPRESSORS[compression]() if decompressor.eof else decompressor
    except FAILURES:
        return
