"""Readers of compressed files, by the kind that their signature shows."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Final, Self

import zstandard
from attrs import define, field

from wireproof.runner.framed_files import FRAME_FILES

MAX_WINDOW: Final = 128 << 20
"""Memory for the window of zstd."""

ZSTD_STEP: Final = 512
"""Compressed bytes that are taken at a time: a block of 4 bytes may give 128 KiB."""


@define
class ZstdFrames:
    """Reads the frames of zstd, one after another; the library's own reader takes a cut frame as the end."""

    file: BinaryIO
    _frame: Any = field(default=None, init=False)
    _rest: bytes = field(default=b"", init=False)

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the file open."""

    def read(self, _: int) -> bytes:
        """Return the next bytes, empty at the end.

        Raises:
            EOFError: the end cuts a frame.
        """
        while packed := self._rest or self.file.read(ZSTD_STEP):
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
            data: bytes = self._frame.decompress(packed)
            self._rest = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
            if data:
                return data
        if self._frame is not None:
            raise EOFError("the end cuts a frame")
        return b""


UNPACKERS: Final[dict[str, Callable[[BinaryIO], Any]]] = {
    "gzip": lambda file: gzip.GzipFile(fileobj=file),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": ZstdFrames,
    **FRAME_FILES,
}
"""The compressions of whole files that are opened, by the name of their signature."""

FAILURES: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
