"""Open an input to look at: a file, a pipe or standard input; a compressed one is decompressed first.

What cannot be read at any position is copied to a temporary file, up to a limit.
"""

import bz2
import gzip
import lzma
import os
import select
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Self, cast

import cramjam
import xxhash
import zstandard
from attrs import define, field, frozen

from wireproof.inspect.detect_format import COMPRESSED_KINDS, looks_like
from wireproof.wire.byte_source import ByteSource, BytesSource, FileSource, read_at
from wireproof.wire.checksums import lz4_header_checksum
from wireproof.wire.compression import lz4

MAX_COPIED: Final = 2 << 30
"""Bytes of a pipe or of a decompressed file that are read: Kafka's largest segment has no more."""

COPY_BYTES: Final = 1 << 16

FIRST_WAIT: Final = 2.0
"""Seconds for which a named pipe may have no writer."""

SIGNATURE_BYTES: Final = 64


@frozen
class OpenInput:
    """An input.

    Attributes:
        source: its bytes.
        packed: the compression of the file; empty if it has none.
        stopped: why not all bytes were read; empty if they were.
        folder: the name of the folder of the file; empty if it is no file.
        path: of the file whose bytes these are; None if they are of none, or were decompressed.
    """

    source: ByteSource
    packed: str = ""
    stopped: str = ""
    folder: str = ""
    path: Path | None = None


@contextmanager
def open_bytes(data: bytes) -> Iterator[OpenInput]:
    """Open bytes in memory, which are decompressed if they are compressed."""
    with tempfile.TemporaryFile() as file:
        if _compression(data) == "":
            yield OpenInput(BytesSource(data))
            return
        file.write(data)
        file.flush()
        with _unpacked(cast("BinaryIO", file)) as found:
            yield found


@contextmanager
def open_path(path: Path) -> Iterator[OpenInput]:
    """Open a file or a pipe; raises `OSError` if that fails.

    A pipe that nobody writes to is empty.
    """
    descriptor = os.open(
        path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    )  # a pipe without a writer would block
    with open(descriptor, "rb", buffering=0) as raw:  # noqa: PTH123 - a descriptor
        file = cast("BinaryIO", raw)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            with _unpacked(file) as found:
                yield found
        else:
            with open_stream(file, FIRST_WAIT) as found:
                yield found


@contextmanager
def open_stream(stream: BinaryIO, wait: float | None = None) -> Iterator[OpenInput]:
    """Open a pipe: copy it to a temporary file first; `wait` is how long to wait for its first bytes."""
    with tempfile.TemporaryFile() as copy:
        file = cast("BinaryIO", copy)
        stopped = _copy(lambda: _read_pipe(stream, wait=wait, begun=file.tell() > 0), file, "the input")
        with _unpacked(file) as found:
            yield OpenInput(found.source, found.packed, found.stopped or stopped)


def _read_pipe(stream: BinaryIO, *, wait: float | None, begun: bool) -> bytes:
    """Read the next bytes of a pipe, and wait for them; none if nobody begins to write."""
    ready, _, _ = select.select([stream], [], [], None if begun else wait)
    return os.read(stream.fileno(), COPY_BYTES) if ready else b""


@contextmanager
def _unpacked(file: BinaryIO) -> Iterator[OpenInput]:
    kind = _compression(read_at(file.fileno(), SIGNATURE_BYTES, 0))
    if not kind:
        yield OpenInput(FileSource.of(file))
        return

    file.seek(0)
    with tempfile.TemporaryFile() as copy, UNPACKERS[kind](file) as packed:
        read = packed.read1 if hasattr(packed, "read1") else packed.read
        target = cast("BinaryIO", copy)
        what = f"what is compressed with {kind}"
        stopped = _copy(lambda: read(COPY_BYTES), target, what, FAILURES)
        yield OpenInput(FileSource.of(target), kind, stopped)


def _compression(head: bytes) -> str:
    like = looks_like(head[:SIGNATURE_BYTES])
    return like if like in COMPRESSED_KINDS else ""


def _copy(
    read: Callable[[], bytes], file: BinaryIO, what: str, failures: tuple[type[Exception], ...] = (OSError,)
) -> str:
    """Copy to a file up to the limit; return why the copy is not whole."""
    size, stopped = 0, ""
    try:
        while piece := read():
            file.write(piece)
            size += len(piece)
            if size >= MAX_COPIED:
                stopped = f"{what} is larger than {MAX_COPIED} bytes; the rest is not read"
                break
    except failures as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        stopped = f"{what} is damaged or cut: {size} bytes were read ({first})"
    file.flush()
    return stopped


# --- framed files ---
#
# Read files of the LZ4 frame format and of the framing format of snappy, block by block.
#
# cramjam decompresses whole inputs only, so each block is given to it as a short file of its own. Sources:
# the LZ4 Frame Format Description (lz4/doc/lz4_Frame_format.md) and the Snappy framing format
# (framing_format.txt of google/snappy).


HISTORY_BYTES: Final = 1 << 16
"""Bytes that a block of LZ4 may refer to in the blocks before it; no block has fewer at most."""

SKIPPABLE: Final = range(0x184D2A50, 0x184D2A60)
"""The magics of frames for users' data."""

LINKED_FLAGS: Final = lz4.VERSION_1
"""The flags of a frame whose blocks are linked, without optional fields."""

DICTIONARY_FLAG: Final = 0x01

SNAPPY_BEGINNING: Final = b"\xff\x06\x00\x00sNaPpY"
SNAPPY_DATA: Final = (0x00, 0x01)
"""The types of chunks with data: compressed and not compressed."""

SNAPPY_SKIPPABLE: Final = range(0x80, 0xFF)
MAX_SNAPPY_CHUNK: Final = 76_490 + 4
"""The most bytes of a chunk of data: the compressed form of 65,536 bytes, and the checksum."""


@define
class BlockReader:
    """Returns the decompressed blocks of a file, one after another.

    Attributes:
        file: the compressed file.
        blocks: yields the blocks; raises `EOFError` where the end cuts one, and `OSError` for damage.
    """

    file: BinaryIO
    blocks: Iterator[bytes]

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the file open."""

    def read(self, _: int) -> bytes:
        """Return the next bytes, empty at the end."""
        return next((block for block in self.blocks if block), b"")


def lz4_file(file: BinaryIO) -> BlockReader:
    """Return the reader of a file of LZ4 frames."""
    return BlockReader(file, _lz4_blocks(file))


def snappy_file(file: BinaryIO) -> BlockReader:
    """Return the reader of a file of framed snappy."""
    return BlockReader(file, _snappy_blocks(file))


def _taken(file: BinaryIO, length: int) -> bytes:
    """Return exactly `length` bytes; raises `EOFError` if there are fewer."""
    parts = []
    while length:
        if not (part := file.read(length)):
            raise EOFError("the end cuts a frame")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _skip(file: BinaryIO, length: int) -> None:
    """Pass over bytes in pieces; raises `EOFError` if there are fewer."""
    while length:
        length -= len(_taken(file, min(length, HISTORY_BYTES)))


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _decompress(decompress: Callable[[bytes], object], data: bytes) -> bytes:
    try:
        return bytes(decompress(data))  # type: ignore[call-overload, no-any-return] # a buffer of cramjam
    except cramjam.DecompressionError as error:
        raise OSError(str(error)) from error


# --- LZ4 ---


@frozen
class _FrameHeader:
    """The flags of a frame, and its byte BD, which has the size of the blocks."""

    flags: int
    sizes: int

    def has(self, flag: int) -> bool:
        return bool(self.flags & flag)


def _lz4_blocks(file: BinaryIO) -> Iterator[bytes]:
    while begun := file.read(1):
        magic = _number(begun + _taken(file, 3))
        if magic in SKIPPABLE:
            _skip(file, _number(_taken(file, 4)))
        elif magic == lz4.MAGIC:
            descriptor = _taken(file, 2)
            header = _FrameHeader(descriptor[0], descriptor[1])
            if header.flags & lz4.VERSION_BITS != lz4.VERSION_1:
                raise OSError(f"FLG {header.flags:02x} is not of version 1")
            if header.has(DICTIONARY_FLAG):
                raise OSError("the frame needs a dictionary")
            if header.has(lz4.CONTENT_SIZE):
                descriptor += _taken(file, 8)
            if _number(_taken(file, 1)) != lz4_header_checksum(descriptor):
                raise OSError("the checksum of the frame header does not match")
            yield from _frame_blocks(file, header)
        else:
            raise OSError(f"{magic:08x} begins no LZ4 frame")


def _frame_blocks(file: BinaryIO, header: _FrameHeader) -> Iterator[bytes]:
    """Yield the blocks of a frame up to its end mark."""
    content, history = xxhash.xxh32(), b""
    most = 1 << 8 + 2 * (header.sizes >> 4)
    while word := _number(head := _taken(file, 4)):
        length = word & ~lz4.STORED_FLAG
        if length > most:
            raise OSError(f"a block of {length} bytes, and {most} are allowed")
        data = _taken(file, length)
        if header.has(lz4.BLOCK_CHECKSUM) and _number(_taken(file, 4)) != xxhash.xxh32(data).intdigest():
            raise OSError("the checksum of a block does not match")
        block = data if word & lz4.STORED_FLAG else _lz4_block(head + data, header, history)
        content.update(block)
        yield block
        if not header.has(lz4.INDEPENDENT):
            history = (history + block)[-HISTORY_BYTES:]
    if header.has(lz4.CONTENT_CHECKSUM) and _number(_taken(file, 4)) != content.intdigest():
        raise OSError("the checksum of the content does not match")


def _lz4_block(block: bytes, header: _FrameHeader, history: bytes) -> bytes:
    """Decompress a block in a frame of its own, after the bytes before it as a stored block."""
    descriptor = bytes((LINKED_FLAGS, header.sizes))
    before = (len(history) | lz4.STORED_FLAG).to_bytes(4, "little") + history if history else b""
    begin = lz4.MAGIC.to_bytes(4, "little") + descriptor + bytes((lz4_header_checksum(descriptor),))
    return _decompress(cramjam.lz4.decompress, begin + before + block + lz4.END_MARK)[len(history) :]


# --- snappy ---


def _snappy_blocks(file: BinaryIO) -> Iterator[bytes]:
    while kind := file.read(1):
        head = kind + _taken(file, 3)
        length = _number(head[1:])
        if kind[0] in SNAPPY_DATA:
            if length > MAX_SNAPPY_CHUNK:
                raise OSError(f"a chunk of {length} bytes, and {MAX_SNAPPY_CHUNK} are allowed")
            yield _decompress(cramjam.snappy.decompress, SNAPPY_BEGINNING + head + _taken(file, length))
        elif kind[0] in SNAPPY_SKIPPABLE:
            _skip(file, length)
        elif head + _taken(file, min(length, len(SNAPPY_BEGINNING))) != SNAPPY_BEGINNING:
            raise OSError(f"a chunk of type {kind.hex()}, which may not be skipped")


FRAME_FILES: Final[dict[str, Callable[[BinaryIO], BlockReader]]] = {
    "lz4": lz4_file,
    "framed snappy": snappy_file,
}
"""The readers by the name of the signature of a file."""


# --- compressed files ---


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
