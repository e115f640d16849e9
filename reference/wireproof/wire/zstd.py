"""Zstandard frames as Kafka's consumer reads them: kafka.md, section 3, column zstd; layout of RFC 8878.

The frames are walked here; zstandard is given one block at a time, so that no call gives more than
128 KiB. Each frame stands under `zstd[n]`, its blocks under `zstd[n].blocks[m]`.
"""

from typing import Final

import zstandard
from attrs import frozen

from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.unpacking import Unpacking, failed

MAGIC: Final = 0xFD2F_B528
SKIPPABLE: Final = range(0x184D_2A50, 0x184D_2A60)

MOST_WINDOW: Final = 1 << 27
MOST_BLOCK: Final = 128 * 1024
UNIT: Final = 16 * 1024
"""Kafka's output buffer: a frame that declares no more is decoded in one step, so none of it comes before
a defect in it."""

# Frame header descriptor: RFC 8878, section 3.1.1.1.1
SINGLE_SEGMENT: Final = 0x20
RESERVED: Final = 0x08
CHECKSUM: Final = 0x04
DICTIONARY_ID: Final = {0: "", 1: "uint8", 2: "uint16le", 3: "uint32le"}
CONTENT_SIZE: Final = {0: "", 1: "uint16le", 2: "uint32le", 3: "uint64le"}

RAW, RLE, COMPRESSED = range(3)


@frozen
class Header:
    """What a frame's header says: `window` and `content_size` in bytes, None where it does not tell."""

    checksum: bool
    window: int
    content_size: int | None
    size_at: int


def unpack(reader: Reader, out: Unpacking) -> None:
    """Unpack every frame of the window; no frame at all gives nothing (N20).

    Raises:
        Rejected: `decompress-failed`, `limit-exceeded`; what was unpacked before stays in `out`.
    """
    engine, index = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW), 0
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
            raise failed(reader, "magic", "no zstd frame", start)
        reader.leave()
        index += 1


def _frame(reader: Reader, out: Unpacking, engine: zstandard.ZstdDecompressor, start: int) -> None:
    """One frame behind its magic number. W11, W12, Z50 to Z52, Z58, X15."""
    header = _header(reader, out)
    stream = _Frame(reader, out, engine, header)
    try:
        stream.give("header", start, reader.pos, start)
        _blocks(reader, stream, header)
    except Rejected as refused:
        if not refused.detail:  # the bytes ran out: a torn frame is streamed, whatever size it declares
            stream.settle()
        raise
    stream.settle()


def _blocks(reader: Reader, stream: "_Frame", header: Header) -> None:
    """The blocks up to the last, and the checksum."""
    index, last = 0, False
    while not last:
        reader.enter("blocks", index)
        last = _block(reader, stream, header)
        reader.leave()
        index += 1
    stream.measure(header)
    if header.checksum:
        at = reader.pos
        reader.uint32le("checksum")
        stream.give("checksum", at, reader.pos, at)


def _header(reader: Reader, out: Unpacking) -> Header:
    """RFC 8878, section 3.1.1.1, and Kafka's limits: window log 27 (X04, X05), no dictionary (X06)."""
    at = reader.pos
    flags = reader.uint8("descriptor")
    if flags & RESERVED:
        raise failed(reader, "descriptor", "reserved bit set", at)
    window_at, window = reader.pos, 0
    if not flags & SINGLE_SEGMENT:
        code = reader.uint8("window")
        window = (1 << 10 + (code >> 3)) * (8 + (code & 7)) // 8
    dictionary_at = reader.pos
    if _sized(reader, "dictionaryId", DICTIONARY_ID[flags & 3]):
        raise failed(reader, "dictionaryId", "wants a dictionary", dictionary_at)
    size_at = reader.pos
    kind = "uint8" if flags & SINGLE_SEGMENT and not flags >> 6 else CONTENT_SIZE[flags >> 6]
    size = _sized(reader, "contentSize", kind)
    if size is not None and kind == "uint16le":
        size += 256
    if flags & SINGLE_SEGMENT:
        window_at, window = size_at, size or 0
    if window > MOST_WINDOW:
        raise failed(reader, "window", f"window of {window} bytes, {MOST_WINDOW} allowed", window_at)
    out.announce("contentSize", size or 0, size_at)
    return Header(bool(flags & CHECKSUM), window, size, size_at)


def _sized(reader: Reader, name: str, kind: str) -> int | None:
    """An integer of the primitive `kind`, or None for none."""
    if not kind:
        return None
    value: int = getattr(reader, kind)(name)
    return value


def _block(reader: Reader, stream: "_Frame", header: Header) -> bool:
    """RFC 8878, section 3.1.1.2: 1 bit last, 2 bits type, 21 bits size. Whether it was the last."""
    start = reader.pos
    word = int.from_bytes(reader.take("header", 3), "little")
    kind, size = word >> 1 & 3, word >> 3
    if kind > COMPRESSED:
        raise failed(reader, "header", "reserved block type", start)
    if size > min(header.window, MOST_BLOCK):
        raise failed(reader, "header", f"block of {size} bytes, window of {header.window}", start)
    if kind == COMPRESSED and not size:
        reader.remark("zstd-empty-packed-block", "header", at=start)
    data, stored = reader.pos, 1 if kind == RLE else size
    if stored > reader.left:  # Z52: a raw block gives what there is of it
        stream.give("data", start, reader.end, data)
    reader.skip("data", stored)
    reader.region("data", ("stored", "rle", "zstd-block")[kind], data, reader.pos)
    stream.give("data", start, reader.pos, data)
    return bool(word & 1)


class _Frame:
    """Hands one frame's bytes to zstandard, and what comes out on: at once, or a small frame as one unit."""

    __slots__ = ("_engine", "_given", "_held", "_most", "_out", "_reader", "_unit")

    def __init__(
        self, reader: Reader, out: Unpacking, engine: zstandard.ZstdDecompressor, header: Header
    ) -> None:
        self._reader = reader
        self._out = out
        self._engine = engine.decompressobj()
        self._most = header.content_size or 0
        self._unit = header.content_size is not None and header.content_size <= UNIT
        self._held = bytearray()
        self._given = 0

    def give(self, name: str, start: int, stop: int, at: int) -> None:
        """Decode the bytes `start` to `stop`; a defect is one of the field `name` at `at`."""
        try:
            piece = self._engine.decompress(self._reader.data[start:stop])
        except zstandard.ZstdError as error:
            raise failed(self._reader, name, str(error), at) from None
        self._given += len(piece)
        if not self._unit:
            self._out.add(name, piece, at)
            return
        self._held += piece
        if self._given > self._most:
            raise failed(self._reader, name, f"more than the {self._most} bytes declared", at)

    def measure(self, header: Header) -> None:
        """Hold all that came out against the declared size: zstandard omits it behind an empty last block."""
        if header.content_size not in (None, self._given):
            text = f"{self._given} bytes, {header.content_size} declared"
            raise failed(self._reader, "contentSize", text, header.size_at)

    def settle(self) -> None:
        """Pass on what was held for a whole frame."""
        self._out.add("contentSize", self._held, self._reader.pos)
        self._held = bytearray()


def pack(data: bytes) -> bytes:
    """One frame as Kafka's writer makes it: level 3, streamed, so without content size, no checksum."""
    engine = zstandard.ZstdCompressor(level=3, write_content_size=False).compressobj()
    return engine.compress(data) + engine.flush()
