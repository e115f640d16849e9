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
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import cramjam
import xxhash
import zstandard
from attrs import frozen

from wireproof.inspect.detect_format import COMPRESSED_KINDS, SIGNATURE_BYTES, looks_like
from wireproof.wire.byte_source import ByteSource, BytesSource, FileSource, read_at
from wireproof.wire.checksums import lz4_header_checksum
from wireproof.wire.compression import lz4

MAX_COPIED: Final = 2 << 30
"""Bytes of a pipe or of a decompressed file that are read: Kafka's largest segment has no more."""

COPY_BYTES: Final = 1 << 16

FIRST_WAIT: Final = 2.0
"""Seconds for which a named pipe may have no writer."""

Pieces = Iterator[bytes]
"""The bytes of an input, one piece after another; an empty piece is not the end."""


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
    # A pipe without a writer would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb", buffering=0) as raw:  # noqa: PTH123 - a descriptor
        file = cast("BinaryIO", raw)
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        with _unpacked(file) if is_file else open_stream(file, FIRST_WAIT) as found:
            yield found


@contextmanager
def open_stream(stream: BinaryIO, wait: float | None = None) -> Iterator[OpenInput]:
    """Open a pipe: copy it to a temporary file first; `wait` is how long to wait for its first bytes."""

    def read() -> bytes:
        ready, _, _ = select.select([stream], [], [], None if file.tell() else wait)
        return os.read(stream.fileno(), COPY_BYTES) if ready else b""

    with tempfile.TemporaryFile() as copy:
        file = cast("BinaryIO", copy)
        stopped = _copy(iter(read, b""), file, "the input")
        with _unpacked(file) as found:
            yield OpenInput(found.source, found.packed, found.stopped or stopped)


@contextmanager
def _unpacked(file: BinaryIO) -> Iterator[OpenInput]:
    kind = _compression(read_at(file.fileno(), SIGNATURE_BYTES, 0))
    if not kind:
        yield OpenInput(FileSource.of(file))
        return
    file.seek(0)
    with tempfile.TemporaryFile() as copy:
        target = cast("BinaryIO", copy)
        stopped = _copy(UNPACKERS[kind](file), target, f"what is compressed with {kind}")
        yield OpenInput(FileSource.of(target), kind, stopped)


def _compression(head: bytes) -> str:
    like = looks_like(head[:SIGNATURE_BYTES])
    return like if like in COMPRESSED_KINDS else ""


def _copy(pieces: Pieces, file: BinaryIO, what: str) -> str:
    """Copy to a file up to the limit; return why the copy is not whole."""
    size, stopped = 0, ""
    try:
        for piece in pieces:
            file.write(piece)
            size += len(piece)
            if size >= MAX_COPIED:
                stopped = f"{what} is larger than {MAX_COPIED} bytes; the rest is not read"
                break
    except FAILURES as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        stopped = f"{what} is damaged or cut: {size} bytes were read ({first})"
    file.flush()
    return stopped


# --- framed files ---
#
# Read files of the LZ4 frame format and of the framing format of snappy, block by block. The functions raise
# `EOFError` where the end cuts a frame, and `OSError` for damage.
#
# cramjam decompresses whole inputs only, so each block is given to it as a short file of its own. Sources:
# the LZ4 Frame Format Description (lz4/doc/lz4_Frame_format.md) and the Snappy framing format
# (framing_format.txt of google/snappy).


HISTORY_BYTES: Final = 1 << 16
"""Bytes that a block of LZ4 may refer to in the blocks before it; no block has fewer at most."""

SNAPPY_BEGINNING: Final = b"\xff\x06\x00\x00sNaPpY"
MAX_SNAPPY_CHUNK: Final = 76_490 + 4
"""The most bytes of a chunk of data: the compressed form of 65,536 bytes, and the checksum."""


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


def lz4_pieces(file: BinaryIO) -> Pieces:
    """Yield the decompressed blocks of a file of LZ4 frames."""
    while begun := file.read(1):
        magic = _number(begun + _taken(file, 3))
        if 0x184D2A50 <= magic < 0x184D2A60:  # a frame for users' data
            _skip(file, _number(_taken(file, 4)))
            continue
        if magic != lz4.MAGIC:
            raise OSError(f"{magic:08x} begins no LZ4 frame")
        descriptor = _taken(file, 2)
        flags, sizes = descriptor
        if flags & lz4.VERSION_BITS != lz4.VERSION_1:
            raise OSError(f"FLG {flags:02x} is not of version 1")
        if flags & 0x01:
            raise OSError("the frame needs a dictionary")
        if flags & lz4.CONTENT_SIZE:
            descriptor += _taken(file, 8)
        if _number(_taken(file, 1)) != lz4_header_checksum(descriptor):
            raise OSError("the checksum of the frame header does not match")
        yield from _frame_pieces(file, flags, sizes)


def _frame_pieces(file: BinaryIO, flags: int, sizes: int) -> Pieces:
    """Yield the blocks of a frame up to its end mark; `sizes` is its byte BD, which has their size."""
    content, history = xxhash.xxh32(), b""
    most = 1 << 8 + 2 * (sizes >> 4)
    linked = bytes((lz4.VERSION_1, sizes))  # the descriptor of a frame without optional fields
    begin = lz4.MAGIC.to_bytes(4, "little") + linked + bytes((lz4_header_checksum(linked),))
    while word := _number(head := _taken(file, 4)):
        length = word & ~lz4.STORED_FLAG
        if length > most:
            raise OSError(f"a block of {length} bytes, and {most} are allowed")
        block = _taken(file, length)
        if flags & lz4.BLOCK_CHECKSUM and _number(_taken(file, 4)) != xxhash.xxh32(block).intdigest():
            raise OSError("the checksum of a block does not match")
        if not word & lz4.STORED_FLAG:  # in a frame of its own, after the bytes before it as a stored block
            before = (len(history) | lz4.STORED_FLAG).to_bytes(4, "little") + history if history else b""
            alone = begin + before + head + block + lz4.END_MARK
            block = _decompress(cramjam.lz4.decompress, alone)[len(history) :]
        content.update(block)
        yield block
        if not flags & lz4.INDEPENDENT:
            history = (history + block)[-HISTORY_BYTES:]
    if flags & lz4.CONTENT_CHECKSUM and _number(_taken(file, 4)) != content.intdigest():
        raise OSError("the checksum of the content does not match")


def snappy_pieces(file: BinaryIO) -> Pieces:
    """Yield the decompressed chunks of a file of framed snappy."""
    while kind := file.read(1):
        head = kind + _taken(file, 3)
        length = _number(head[1:])
        if kind[0] < 2:  # data, compressed or not
            if length > MAX_SNAPPY_CHUNK:
                raise OSError(f"a chunk of {length} bytes, and {MAX_SNAPPY_CHUNK} are allowed")
            yield _decompress(cramjam.snappy.decompress, SNAPPY_BEGINNING + head + _taken(file, length))
        elif 0x80 <= kind[0] < 0xFF:
            _skip(file, length)
        elif head + _taken(file, min(length, len(SNAPPY_BEGINNING))) != SNAPPY_BEGINNING:
            raise OSError(f"a chunk of type {kind.hex()}, which may not be skipped")


# --- compressed files ---


MAX_WINDOW: Final = 128 << 20
"""Memory for the window of zstd."""


def _zstd_pieces(file: BinaryIO) -> Pieces:
    """Yield what frames of zstd have; the library's own reader takes a cut frame as the end."""
    frame, rest = None, b""
    while packed := rest or file.read(512):  # few bytes: a block of 4 may give 128 KiB
        if frame is None:
            frame = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
        yield frame.decompress(packed)
        rest = frame.unused_data if frame.eof else b""
        frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError("the end cuts a frame")


def _library_pieces(unpack: Callable[[BinaryIO], Any], file: BinaryIO) -> Pieces:
    with unpack(file) as unpacked:
        yield from iter(lambda: unpacked.read1(COPY_BYTES), b"")


UNPACKERS: Final[dict[str, Callable[[BinaryIO], Pieces]]] = {
    "gzip": partial(_library_pieces, lambda file: gzip.GzipFile(fileobj=file)),
    "bzip2": partial(_library_pieces, bz2.BZ2File),
    "xz": partial(_library_pieces, lzma.LZMAFile),
    "zstd": _zstd_pieces,
    "lz4": lz4_pieces,
    "framed snappy": snappy_pieces,
}
"""The compressions of whole files that are opened, by the name of their signature."""

FAILURES: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
