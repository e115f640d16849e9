"""What still comes out of a compressed object that is cut or damaged: all that its decompressor gave before.

Arrow's streams give nothing of the last piece once they fail. These take the bytes in small pieces, so that
nothing is lost of an object that is cut, and little in front of a damaged place.
"""

import bz2
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import zstandard

STEP: Final = 256
"""Compressed bytes that are taken at a time: so many may be lost in front of a damaged place."""

DECOMPRESSORS: Final[dict[str, Callable[[], Any]]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "bz2": bz2.BZ2Decompressor,
    "zstd": lambda: zstandard.ZstdDecompressor().decompressobj(),
}

FAILURES: Final = (zlib.error, zstandard.ZstdError, OSError, EOFError, RuntimeError)


def salvaged(chunks: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """What comes out of the compressed bytes, up to the first that no decompressor takes; nothing of lz4."""
    if compression not in DECOMPRESSORS:
        return
    one = DECOMPRESSORS[compression]()
    try:
        for chunk in chunks:
            for at in range(0, len(chunk), STEP):
                rest = chunk[at : at + STEP]
                while rest:
                    yield one.decompress(rest)
                    rest = one.unused_data if one.eof else b""
                    one = DECOMPRESSORS[compression]() if one.eof else one
    except FAILURES:
        return
