"""Compress bytes in other frames of their codec: optional parts, other blocks, two frames, wrong checksums.

A writer needs one kind of frame; a reader must accept all valid ones and refuse the invalid ones: kafka.md,
section 3. The content does not change, so only the handling of the frame can be wrong.

An edit of a compressed stream changes its bytes, or puts the same content in another kind of frame.
"""

import zlib
from collections.abc import Callable, Sequence
from random import Random
from struct import pack
from typing import Final

import zstandard

from wireproof.derive.mutate.decode_trace import DecodeTrace
from wireproof.derive.mutate.draws import below, pick
from wireproof.derive.mutate.splice import REGION_ENCODERS, Splice, random_splice, recompress_lz4
from wireproof.wire.checksums import crc32, lz4_header_checksum, xxh32
from wireproof.wire.compression import gzip, lz4, snappy, zstd
from wireproof.wire.trace import FieldSpan

_Frame = Callable[[bytes, Random, str, Sequence[int]], bytes]
"""Compresses data with one faulty part. The last argument has positions where blocks may end."""

SKIPPABLE_FRAME: Final = pack("<II", zstd.SKIPPABLE[0], 3) + b"abc"
"""A skippable frame, the same in LZ4 and zstd."""


def compress_variant(codec: str, data: bytes, rng: Random, ends: Sequence[int] = ()) -> bytes:
    """Compress `data` in a random kind of frame with at most one faulty part.

    Blocks often end where elements of `data` do, at one of `ends`, so that a reader that loses a block loses
    complete elements.
    """
    frame = FRAME_WRITERS[codec]
    match below(rng, 8):
        case 0:
            cut = _cut(data, rng, ends)
            return frame(data[:cut], rng, "", ()) + frame(data[cut:], rng, "", ())
        case 1:
            first = frame(data, rng, "", ends)
            no_frames = b"\0garbag", b"\0", b"abc", b"\0" * 8
            return first + pick(rng, (*no_frames, SKIPPABLE_FRAME, frame(b"", rng, "", ())))
        case 2:
            return pick(rng, (SKIPPABLE_FRAME, frame(b"", rng, "", ()))) + frame(data, rng, "", ends)
        case _:
            return frame(data, rng, pick(rng, FRAME_FAULTS[codec]), ends)


def _cut(data: bytes, rng: Random, ends: Sequence[int]) -> int:
    return pick(rng, ends) if ends and below(rng, 2) else below(rng, len(data) + 1)


def _flipped_if(faulty: bool, value: int, rng: Random, bits: int = 32) -> int:
    """Return the number; if `faulty`, with a random bit flipped."""
    return value ^ 1 << below(rng, bits) if faulty else value


def _random_flags(flags: tuple[int, ...], rng: Random) -> int:
    return sum(flag for flag in flags if not below(rng, 3))


def _gzip(data: bytes, rng: Random, fault: str, _: Sequence[int]) -> bytes:
    flags = _random_flags((gzip.FHCRC, gzip.FEXTRA, gzip.FNAME, gzip.FCOMMENT), rng)
    flags = _flipped_if(fault == "flags", flags | gzip.FHCRC if fault == "header crc" else flags, rng, 8)
    method = gzip.DEFLATE - (fault == "method")
    header = pack("<HBBIBB", gzip.MAGIC, method, flags, 0, 0, 255)
    header += b"\2\0ab" if flags & gzip.FEXTRA else b""
    header += b"n\0" * (flags & (gzip.FNAME | gzip.FCOMMENT)).bit_count()
    if flags & gzip.FHCRC:
        header += pack("<H", _flipped_if(fault == "header crc", crc32(header) & 0xFFFF, rng, 16))
    engine = zlib.compressobj(pick(rng, (0, 1, 9)), wbits=-zlib.MAX_WBITS)
    body = engine.compress(data) + engine.flush()
    checksum = _flipped_if(fault == "crc", crc32(data), rng)
    return header + body + pack("<II", checksum, _flipped_if(fault == "size", len(data), rng))


def _lz4(data: bytes, rng: Random, fault: str, ends: Sequence[int]) -> bytes:
    odd_flags = {
        "content size": lz4.CONTENT_SIZE,
        "content checksum": lz4.CONTENT_CHECKSUM,
        "block checksum": lz4.BLOCK_CHECKSUM,
    }
    flags = lz4.VERSION_1 | lz4.INDEPENDENT * (fault != "linked") | odd_flags.get(fault, 0)
    flags |= _random_flags((lz4.BLOCK_CHECKSUM, lz4.CONTENT_SIZE, lz4.CONTENT_CHECKSUM), rng)
    flags = _flipped_if(fault == "flags", flags, rng, 8)
    sizes = _flipped_if(fault == "sizes", pick(rng, range(lz4.MIN_SIZE_CODE, 8)) << 4, rng, 8)
    descriptor = bytes((flags, sizes))
    if flags & lz4.CONTENT_SIZE:
        descriptor += pack("<Q", _flipped_if(fault == "content size", len(data), rng))
    magic = lz4.MAGIC.to_bytes(4, "little")
    hashed = magic + descriptor if fault == "kip57" else descriptor
    header_checksum = _flipped_if(fault == "header checksum", lz4_header_checksum(hashed), rng, 8)
    pieces = _pieces(data, _cut(data, rng, ends), rng, empty=fault == "empty block")
    blocks = b"".join(_lz4_block(piece, flags, rng, fault) for piece in pieces)
    end = {"stored end": pack("<I", lz4.STORED_FLAG), "no end": b""}.get(fault, lz4.END_MARK)
    frame = magic + descriptor + bytes((header_checksum,)) + blocks + end
    if not flags & lz4.CONTENT_CHECKSUM:
        return frame
    return frame + pack("<I", _flipped_if(fault == "content checksum", xxh32(data), rng))


def _lz4_block(piece: bytes, flags: int, rng: Random, fault: str) -> bytes:
    """Return a stored or compressed block. Some readers take an empty stored block for the EndMark (X10)."""
    if below(rng, 2) or not piece:
        block = pack("<I", len(piece) | lz4.STORED_FLAG) + piece
    else:
        block = lz4.compress(piece)[7 : -len(lz4.END_MARK)]  # behind magic, FLG, BD and HC
    if not flags & lz4.BLOCK_CHECKSUM:
        return block
    return block + pack("<I", _flipped_if(fault == "block checksum", xxh32(block[4:]), rng))


def _pieces(data: bytes, cut: int, rng: Random, *, empty: bool) -> tuple[bytes, ...]:
    """Split the data into one or two blocks; if `empty`, into two with an empty one between them."""
    if empty:
        return data[:cut], b"", data[cut:]
    return (data,) if not 0 < cut < len(data) else pick(rng, ((data,), (data[:cut], data[cut:])))


def _snappy(data: bytes, rng: Random, fault: str, ends: Sequence[int]) -> bytes:
    if fault == "raw":
        return snappy.compress_block(data)
    versions = pack(">ii", *snappy.WRITER_VERSIONS)
    if fault == "versions":
        versions = pick(rng, (pack("<ii", 1, 1), pack(">ii", 2, 1), pack(">ii", 1, 2), bytes(8)))
    pieces = _pieces(data, _cut(data, rng, ends), rng, empty=fault in ("empty block", "empty chunk"))
    blocks = [snappy.compress_block(piece) if piece or fault != "empty chunk" else b"" for piece in pieces]
    frame = b"".join(pack(">I", _flipped_if(fault == "length", len(block), rng)) + block for block in blocks)
    return snappy.MAGIC + versions + frame


def _zstd(data: bytes, rng: Random, fault: str, _: Sequence[int]) -> bytes:
    if fault in ("window", "descriptor", "content size"):
        # A frame of one raw block, with a window around the largest that Kafka accepts.
        last = pack("<I", len(data) << 3 | zstd.RAW << 1 | 1)[:3]
        if fault == "content size":
            header = bytes((zstd.SINGLE_SEGMENT, _flipped_if(bool(below(rng, 2)), len(data) & 0xFF, rng, 8)))
        else:
            window = pick(rng, (17, 27, 27, 28)) if fault == "window" else 17
            header = bytes((_flipped_if(fault == "descriptor", 0, rng, 8), window - 10 << 3))
        return pack("<I", zstd.MAGIC) + header + last + data
    size, checksum = bool(below(rng, 2)), fault == "checksum" or not below(rng, 3)
    frame = zstandard.ZstdCompressor(write_content_size=size, write_checksum=checksum).compress(data)
    return frame[:-1] + bytes((frame[-1] ^ 1 << below(rng, 8),)) if fault == "checksum" else frame


FRAME_WRITERS: Final[dict[str, _Frame]] = {
    "gzip": _gzip,
    "lz4": _lz4,
    "snappy": _snappy,
    "zstd": _zstd,
}
"""Name of a codec in traces to its function."""

FRAME_FAULTS: Final[dict[str, tuple[str, ...]]] = {
    "gzip": ("", "header crc", "crc", "size", "method", "flags"),
    "lz4": (
        "", "linked", "flags", "sizes", "content size", "content checksum", "block checksum",
        "header checksum", "kip57", "empty block", "stored end", "no end",
    ),
    "snappy": ("", "raw", "versions", "empty block", "empty chunk", "length"),
    "zstd": ("", "checksum", "window", "descriptor", "content size"),
}  # fmt: skip
"""Name of a codec to the possible faults of a frame; the empty fault is a valid frame."""


def compressed_regions(trace: DecodeTrace) -> list[FieldSpan]:
    """Return the spans of the compressed streams, base64 included."""
    return [span for span in trace.spans if span.type in REGION_ENCODERS]


def edit_stream(trace: DecodeTrace, rng: Random) -> list[Splice]:
    """Return an edit of a compressed stream; without one, of any bytes."""
    regions = compressed_regions(trace)
    if not regions:
        return [random_splice(rng, trace.data)]
    region = pick(rng, regions)
    frame = compress_otherwise(trace, region, rng) if below(rng, 2) else None
    if frame is not None:
        return [Splice(region.space, region.start, region.end, frame)]
    return [random_splice(rng, trace.spaces[region.space], region.space, region.start, region.end)]


def compress_otherwise(trace: DecodeTrace, region: FieldSpan, rng: Random) -> bytes | None:
    """Compress the content of a region in another kind of frame.

    Return None if the region was not decompressed or cannot be compressed.
    """
    space = f"{region.space}{region.start}>"
    data = trace.spaces.get(space)
    if data is None or region.type not in FRAME_WRITERS:
        return None
    other = recompress_lz4(trace, region) if not below(rng, 4) else None
    if other is not None:
        return other
    ends = [element.end for element in trace.elements if element.space == space and element.end < len(data)]
    return compress_variant(region.type, data, rng, ends)
