"""Zstandard frames, read as Kafka's consumer reads them: kafka.md, section 3, column zstd; RFC 8878.

This module reads the frames and passes one block at a time to zstandard, so that no call returns more than
128 KiB. The path of a frame is `zstd[n]`, that of its blocks `zstd[n].blocks[m]`.
"""

from typing import Final

import zstandard
from attrs import frozen

from wireproof.wire.compression.output_buffer import OutputBuffer, decompress_failed
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

MAGIC: Final = 0xFD2F_B528
SKIPPABLE: Final = range(0x184D_2A50, 0x184D_2A60)

MAX_WINDOW: Final = 1 << 27
MAX_BLOCK: Final = 128 * 1024
ONE_STEP_SIZE: Final = 16 * 1024
"""Size of Kafka's output buffer. A frame that declares no more content than this is decoded in one step: if
it has a defect, none of its content is delivered."""

# Frame header descriptor: RFC 8878, section 3.1.1.1.1
SINGLE_SEGMENT: Final = 0x20
RESERVED: Final = 0x08
CHECKSUM: Final = 0x04
DICTIONARY_ID: Final = {0: "", 1: "uint8", 2: "uint16le", 3: "uint32le"}
CONTENT_SIZE: Final = {0: "", 1: "uint16le", 2: "uint32le", 3: "uint64le"}

RAW, RLE, COMPRESSED = range(3)


@frozen
class FrameHeader:
    """The header of a frame.

    Attributes:
        checksum: True if a checksum follows the last block.
        window: size of the window in bytes.
        content_size: the declared size of the content in bytes, or None.
        size_at: position of the content size.
    """

    checksum: bool
    window: int
    content_size: int | None
    size_at: int


def decompress(reader: Reader, out: OutputBuffer) -> None:
    """Decompress all frames of the window; an empty window has no content (N20).

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; `out` keeps the bytes decompressed before.
    """
    engine, index = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW), 0
    while reader.left:
        reader.enter("zstd", index)
        start = reader.pos
        magic = reader.uint32le("magic")
        if magic in SKIPPABLE:  # Z54, Z55
            length = reader.uint32le("length")
            reader.cover("length", "length", reader.pos, reader.pos + length)
            reader.take("skipped", length)
        elif magic == MAGIC:
            _frame(reader, out, engine, start)
        else:  # Z53
            raise decompress_failed(reader, "magic", "not a zstd frame", start)
        reader.leave()
        index += 1


def _frame(reader: Reader, out: OutputBuffer, engine: zstandard.ZstdDecompressor, start: int) -> None:
    """Read one frame after its magic. W11, W12, Z50 to Z52, Z58, X15."""
    header = _header(reader, out)
    stream = _Frame(reader, out, engine, header)
    index, last = 0, False
    try:
        stream.decode("header", start, reader.pos, start)
        while not last:
            reader.enter("blocks", index)
            last = _block(reader, stream, header)
            reader.leave()
            index += 1
        stream.check_size()
        if header.checksum:
            at = reader.pos
            reader.uint32le("checksum")
            stream.decode("checksum", at, reader.pos, at)
    except Rejected as rejected:
        if not rejected.detail:  # the frame is cut: Kafka then delivers what came before the cut
            stream.flush()
        raise
    stream.flush()


def _header(reader: Reader, out: OutputBuffer) -> FrameHeader:
    """Read a frame header: RFC 8878, section 3.1.1.1.

    Kafka's limits: a window log of at most 27 (X04, X05), no dictionary (X06).
    """
    at = reader.pos
    flags = reader.uint8("descriptor")
    if flags & RESERVED:
        raise decompress_failed(reader, "descriptor", "reserved bit set", at)
    window_at, window = reader.pos, 0
    if not flags & SINGLE_SEGMENT:
        code = reader.uint8("window")
        window = (1 << 10 + (code >> 3)) * (8 + (code & 7)) // 8
    dictionary_at = reader.pos
    if _optional_integer(reader, "dictionaryId", DICTIONARY_ID[flags & 3]):
        raise decompress_failed(reader, "dictionaryId", "needs a dictionary", dictionary_at)
    size_at = reader.pos
    kind = "uint8" if flags & SINGLE_SEGMENT and not flags >> 6 else CONTENT_SIZE[flags >> 6]
    size = _optional_integer(reader, "contentSize", kind)
    if size is not None and kind == "uint16le":
        size += 256
    if flags & SINGLE_SEGMENT:
        window_at, window = size_at, size or 0
    if window > MAX_WINDOW:
        raise decompress_failed(
            reader, "window", f"window of {window} bytes, {MAX_WINDOW} allowed", window_at
        )
    out.check_budget("contentSize", size or 0, size_at)
    return FrameHeader(bool(flags & CHECKSUM), window, size, size_at)


def _optional_integer(reader: Reader, name: str, kind: str) -> int | None:
    """Read an integer with the primitive `kind`; None if `kind` is empty."""
    if not kind:
        return None
    value: int = getattr(reader, kind)(name)
    return value


def _block(reader: Reader, stream: "_Frame", header: FrameHeader) -> bool:
    """Read a block, and return True if it is the last one: RFC 8878, section 3.1.1.2.

    Its header has 1 bit for the last block, 2 bits for the type and 21 bits for the size.
    """
    start = reader.pos
    word = int.from_bytes(reader.take("header", 3), "little")
    kind, size = word >> 1 & 3, word >> 3
    if kind > COMPRESSED:
        raise decompress_failed(reader, "header", "reserved block type", start)
    if size > min(header.window, MAX_BLOCK):
        raise decompress_failed(reader, "header", f"block of {size} bytes, window of {header.window}", start)
    if kind == COMPRESSED and not size:
        reader.remark("zstd-empty-packed-block", "header", at=start)
    data, stored = reader.pos, 1 if kind == RLE else size
    if stored > reader.left:  # Z52: of a raw block that is cut, the bytes before the cut are delivered
        stream.decode("data", start, reader.end, data)
    reader.skip("data", stored)
    reader.region("data", ("stored", "rle", "zstd-block")[kind], data, reader.pos)
    stream.decode("data", start, reader.pos, data)
    return bool(word & 1)


class _Frame:
    """Decodes one frame with zstandard; passes output on at once, but of a small frame only all together."""

    __slots__ = ("_engine", "_header", "_out", "_pending", "_reader", "_size", "_small")

    def __init__(
        self, reader: Reader, out: OutputBuffer, engine: zstandard.ZstdDecompressor, header: FrameHeader
    ) -> None:
        self._reader, self._out, self._header = reader, out, header
        self._engine = engine.decompressobj()
        self._small = header.content_size is not None and header.content_size <= ONE_STEP_SIZE
        self._pending = bytearray()
        self._size = 0

    def decode(self, name: str, start: int, stop: int, at: int) -> None:
        """Decode the bytes `start` to `stop`; report a defect in the field `name` at `at`."""
        try:
            piece = self._engine.decompress(self._reader.data[start:stop])
        except zstandard.ZstdError as error:
            raise decompress_failed(self._reader, name, str(error), at) from None
        self._size += len(piece)
        if not self._small:
            self._out.add(name, piece, at)
            return
        self._pending += piece
        if self._size > (declared := self._header.content_size or 0):
            raise decompress_failed(self._reader, name, f"more than the {declared} bytes declared", at)

    def check_size(self) -> None:
        """Compare the output with the declared size: zstandard does not after an empty last block."""
        if self._header.content_size not in (None, self._size):
            text = f"{self._size} bytes, {self._header.content_size} declared"
            raise decompress_failed(self._reader, "contentSize", text, self._header.size_at)

    def flush(self) -> None:
        """Pass on the output of a small frame."""
        self._out.add("contentSize", self._pending, self._reader.pos)
        self._pending = bytearray()


def compress(data: bytes) -> bytes:
    """Write one frame as Kafka's writer does: level 3, streamed and so without content size, no checksum."""
    engine = zstandard.ZstdCompressor(level=3, write_content_size=False).compressobj()
    return engine.compress(data) + engine.flush()
