"""Kafka readers with a bug in compressed regions that a real one had: bugs.toml.

The name of a mutant is that of the first entry that it repeats.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

import cramjam
import zstandard
from attrs import evolve

from tests.mutants.base import ReferenceCodec
from tests.mutants.kafka_bytes import take_memory
from tests.mutants.patched import Patch, Patched
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.wire import compression, lz4, snappy, zstd
from wireproof.wire.compression import CompressionCodec
from wireproof.wire.output_buffer import OutputBuffer, decompress_failed
from wireproof.wire.reader import Reader

MEBIBYTE: Final = 1 << 20

FLG_AT: Final = 4
"""The position of the flags in a frame of LZ4 and of zstd, behind its magic."""


class PatchedKafka(Patched):
    """A Kafka codec with other parts; in itself no mutant."""

    system = "kafka"


_codec_of = compression._codec_of  # noqa: SLF001 - the part that is wrong in the mutants

Unpack = Callable[[CompressionCodec, Reader, OutputBuffer], None]
"""Decompresses a region in place of the codec's own function."""


def unpacking(unpack: Unpack) -> tuple[Patch, ...]:
    """Return the patch with which every codec decompresses by `unpack`."""

    def codec_of(reader: Reader, name: str, codec: int, *, kip57: bool) -> CompressionCodec:
        found = _codec_of(reader, name, codec, kip57=kip57)
        return evolve(found, unpack=partial(unpack, found))

    return ((compression, "_codec_of", codec_of),)


_lz4_header = lz4._header  # noqa: SLF001 - the part that is wrong in the mutant


def _with_4_mib(reader: Reader, *, kip57: bool) -> lz4.FrameDescriptor:
    return evolve(_lz4_header(reader, kip57=kip57), max_block=4 * MEBIBYTE)


class Lz4BlockSizeUnchecked(PatchedKafka):
    """Compares the size of an LZ4 block with the limit before it clears the bit for stored blocks."""

    name = "kafka-5150-lz4-block-size"
    patches = ((lz4, "_header", _with_4_mib),)


def _checksum_skipped(reader: Reader, frame: lz4.FrameDescriptor, *_: object) -> None:
    if frame.flags & lz4.CONTENT_CHECKSUM:
        reader.uint32le("contentChecksum")


class Lz4ContentChecksumSkipped(PatchedKafka):
    """Steps over the checksum of an LZ4 frame's content and never compares it."""

    name = "kafka-20528-lz4-content-checksum"
    patches = ((lz4, "_content", _checksum_skipped),)


HIGHEST_RATIO: Final = 255


def _room_for_the_most(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    frame = reader.data[reader.pos : reader.end]
    if codec.name == "lz4" and len(frame) > FLG_AT and not frame[FLG_AT] & lz4.CONTENT_SIZE:
        take_memory(HIGHEST_RATIO * len(frame))
    codec.unpack(reader, out)


class Lz4RoomForTheMost(PatchedKafka):
    """Takes 255 times the size of an LZ4 frame as room for its content."""

    name = "librdkafka-1446-lz4-room"
    costly = True
    patches = unpacking(_room_for_the_most)


def _sizeless_zstd(codec: CompressionCodec, frame: bytes) -> bool:
    """Return whether a region is a zstd frame without the size of its content."""
    return codec.name == "zstd" and len(frame) > FLG_AT and not frame[FLG_AT] & 0xE0


def _grown_by_three(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    frame, limit = reader.data[reader.pos : reader.end], 100_000_000
    codec.unpack(reader, out)
    room = 2 * len(frame)
    while room and 3 * room <= limit:
        room *= 3
    if _sizeless_zstd(codec, frame) and out.size > room:
        raise decompress_failed(reader, "data", f"more than {room} bytes")


class ZstdLastGrowthStep(PatchedKafka):
    """Fails for zstd without content size between the last step of its growing buffer and the limit."""

    name = "librdkafka-5260-zstd-growth"
    patches = unpacking(_grown_by_three)


def _with_size_only(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    if _sizeless_zstd(codec, reader.data[reader.pos : reader.end]):
        raise decompress_failed(reader, "contentSize", "missing")
    codec.unpack(reader, out)


class ZstdSizelessRefused(PatchedKafka):
    """Refuses a zstd frame that does not declare the size of its content."""

    name = "kafka-protocol-142-zstd-without-size"
    patches = unpacking(_with_size_only)


def _first_frame(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    if codec.name != "zstd":
        codec.unpack(reader, out)
        return
    reader.enter("zstd", 0)
    start, magic = reader.pos, reader.uint32le("magic")
    if magic == zstd.MAGIC:
        engine = zstandard.ZstdDecompressor(max_window_size=zstd.MAX_WINDOW)
        zstd._frame(reader, out, engine, start)  # noqa: SLF001 - a part of the codec
    reader.leave()
    reader.skip("rest", reader.left)


class ZstdFirstFrame(PatchedKafka):
    """Reads the first of several zstd frames and drops the others."""

    name = "aiokafka-930-zstd-first-frame"
    patches = unpacking(_first_frame)


def is_xerial(reader: Reader) -> bool:
    """Return whether a region begins like a xerial stream."""
    return reader.data.startswith(snappy.MAGIC, reader.pos, reader.end)


def _chunk_by_chunk(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    if codec.name != "snappy" or not is_xerial(reader):
        codec.unpack(reader, out)
        return
    reader.enter("xerial")
    snappy._header(reader)  # noqa: SLF001 - a part of the codec
    while reader.left >= 4:
        snappy._chunk(reader, out)  # noqa: SLF001 - likewise
        if reader.left:
            raise decompress_failed(reader, "block", "a record is not whole at its end")
    reader.leave()


class XerialChunkAlone(PatchedKafka):
    """Reads each chunk of a xerial stream by itself, and loses the record that goes on in the next."""

    name = "kafka-rust-44-xerial-chunk-alone"
    patches = unpacking(_chunk_by_chunk)


_xerial_seen: list[bool] = []


def _stateful_xerial(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    if codec.name == "snappy":
        if _xerial_seen:
            raise decompress_failed(reader, "length", "the header of a second stream")
        _xerial_seen.append(True)
    codec.unpack(reader, out)


class XerialStateKept(PatchedKafka):
    """Reads a second snappy batch with what it kept of the first, whose header it does not expect again."""

    name = "kafka-go-322-xerial-state"
    patches = unpacking(_stateful_xerial)

    def decode(self, request: Request) -> Outcome:
        """Decode with a new reader, which serves a whole log."""
        _xerial_seen.clear()
        return super().decode(request)


_decompress_block = snappy.decompress_block


def _room_first(reader: Reader, out: OutputBuffer, name: str, length: int) -> None:
    with suppress(Exception):
        block = memoryview(reader.data)[reader.pos : reader.pos + length]
        take_memory(cramjam.snappy.decompress_raw_len(block))
    _decompress_block(reader, out, name, length)


class SnappyRoomFirst(PatchedKafka):
    """Takes the memory that a snappy block declares before it reads the block."""

    name = "rskafka-5f597bd-snappy-memory"
    costly = True
    patches = ((snappy, "decompress_block", _room_first),)


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        Lz4BlockSizeUnchecked,
        Lz4ContentChecksumSkipped,
        Lz4RoomForTheMost,
        ZstdLastGrowthStep,
        ZstdSizelessRefused,
        ZstdFirstFrame,
        XerialChunkAlone,
        XerialStateKept,
        SnappyRoomFirst,
    )
}
"""Name to class."""
