"""Open an input to look at: a file, a pipe or standard input; a compressed one is decompressed first.

What cannot be read at any position is copied to a temporary file, up to a limit.
"""

import os
import select
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

from attrs import frozen

from wireproof.cases.byte_source import ByteSource, BytesSource, FileSource
from wireproof.cases.detect_format import COMPRESSED_KINDS, looks_like
from wireproof.files import NOT_INHERITED, NOT_WAITING
from wireproof.positioned_reads import read_at

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
    descriptor = os.open(path, os.O_RDONLY | NOT_INHERITED | NOT_WAITING)
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
    if sys.platform == "win32":  # there select takes sockets alone, and no pipe has a path that can be opened
        return os.read(stream.fileno(), COPY_BYTES)
    ready, _, _ = select.select([stream], [], [], None if begun else wait)
    return os.read(stream.fileno(), COPY_BYTES) if ready else b""


@contextmanager
def _unpacked(file: BinaryIO) -> Iterator[OpenInput]:
    kind = _compression(read_at(file.fileno(), SIGNATURE_BYTES, 0))
    if not kind:
        yield OpenInput(FileSource.of(file))
        return
    from wireproof.runner import compressed_files  # noqa: PLC0415 - few inputs need these libraries

    file.seek(0)
    with tempfile.TemporaryFile() as copy, compressed_files.UNPACKERS[kind](file) as packed:
        read = packed.read1 if hasattr(packed, "read1") else packed.read
        target = cast("BinaryIO", copy)
        what = f"what is compressed with {kind}"
        stopped = _copy(lambda: read(COPY_BYTES), target, what, compressed_files.FAILURES)
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
        stopped = f"{what} is damaged or cut: {size} bytes were read ({_first_line(error)})"
    file.flush()
    return stopped


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
