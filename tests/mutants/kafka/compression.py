"""Kafka codecs with a bug of a released client in compressed regions: `bugs.toml`."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from struct import pack
from typing import Final

import cramjam
import zstandard
from attrs import evolve

from tests.mutants.base import Patch, mutant, patched
from tests.mutants.kafka.entries import take_memory
from tests.mutants.kafka.helpers import PatchedKafka, codec_of, frames, planted, replacing, with_checksum
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.kafka import message as kafka_message
from wireproof.wire import compression
from wireproof.wire.checksums import lz4_header_checksum
from wireproof.wire.compression import (
    COMPRESSION_CODECS,
    LZ4_KIP57,
    CompressionCodec,
    compress,
    decompress_prefix,
    lz4,
    snappy,
    zstd,
)
from wireproof.wire.compression.output_buffer import OutputBuffer, decompress_failed
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import Rejected

Unpack = Callable[[Reader, OutputBuffer], None]

SNAPPY: Final = 2
LZ4: Final = 3
ZSTD: Final = 4
SNAPPY_BLOCK: Final = 32 * 1024


def unpacking(number: int, unpack: Unpack) -> Patch:
    """Return the patch by which the codec `number` decompresses with `unpack`."""
    codec = evolve(COMPRESSION_CODECS[number], unpack=unpack)
    return compression, "COMPRESSION_CODECS", {**COMPRESSION_CODECS, number: codec}


def packing(number: int, pack_region: Callable[[bytes], bytes]) -> Patch:
    """Return the patch by which the codec `number` compresses with `pack_region`."""
    codec = evolve(COMPRESSION_CODECS[number], pack=pack_region)
    return compression, "COMPRESSION_CODECS", {**COMPRESSION_CODECS, number: codec}


# --- snappy ---


def _is_xerial(reader: Reader) -> bool:
    return reader.left >= snappy.HEADER and reader.data.startswith(snappy.MAGIC, reader.pos)


@planted("kafka-protocol-rs-148-raw-snappy-loses-16-bytes", patches=lambda part: (unpacking(SNAPPY, part),))
def _header_taken(reader: Reader, out: OutputBuffer) -> None:
    """Loses the first 16 bytes of a raw snappy block, where it looked for a header."""
    if not _is_xerial(reader) and reader.left >= snappy.HEADER:
        reader.skip("magic", snappy.HEADER)
        if not reader.left:
            raise decompress_failed(reader, "snappy", "empty")
    snappy.decompress(reader, out)


@planted("kafka-ex-38-one-xerial-chunk", patches=lambda part: (unpacking(SNAPPY, part),))
def _one_chunk(reader: Reader, out: OutputBuffer) -> None:
    """Refuses a xerial stream of more than one chunk."""
    if _is_xerial(reader) and reader.left >= snappy.HEADER + 4:
        at = reader.pos + snappy.HEADER
        if snappy.HEADER + 4 + int.from_bytes(reader.data[at : at + 4], "big") < reader.left:
            raise decompress_failed(reader, "length", "more than one chunk", at)
    snappy.decompress(reader, out)


@planted("snappy-java-142-raw-block-that-begins-with-82", patches=lambda part: (unpacking(SNAPPY, part),))
def _first_byte_only(reader: Reader, out: OutputBuffer) -> None:
    """Refuses a raw snappy block that begins with 82, because the header of a stream does."""
    if reader.left >= snappy.HEADER and reader.data[reader.pos] == snappy.MAGIC[0] and not _is_xerial(reader):
        raise decompress_failed(reader, "magic", "not the header of a stream")
    snappy.decompress(reader, out)


@planted("kafka-python-2414-xerial-versions-validated", patches=lambda part: (unpacking(SNAPPY, part),))
def _exact_versions(reader: Reader, out: OutputBuffer) -> None:
    """Takes a xerial stream whose versions are in little endian for a raw block, and refuses it."""
    at = reader.pos + len(snappy.MAGIC)
    if _is_xerial(reader) and reader.data[at : at + 8] != pack(">ii", 1, 1):
        snappy.decompress_block(reader, out, "snappy", reader.left)
        return
    snappy.decompress(reader, out)


@planted("redpanda-25091-xerial-versions-little-endian", patches=lambda part: (packing(SNAPPY, part),))
def _little_endian_versions(data: bytes) -> bytes:
    """Writes the versions of a xerial stream in little endian."""
    stream, at = snappy.compress(data), len(snappy.MAGIC)
    return stream[:at] + pack("<ii", *snappy.WRITER_VERSIONS) + stream[at + 8 :]


# --- LZ4 ---


def _linked(data: bytes, *, least: int, kip57: bool = False) -> bytes:
    """Mark the blocks of a frame as linked, if it has more than `least` bytes."""
    frame = bytearray(lz4.compress(data, kip57=kip57))
    if len(data) > least:
        frame[4] &= ~lz4.INDEPENDENT
        frame[6] = lz4_header_checksum(bytes(frame[:6] if kip57 else frame[4:6]))
    return bytes(frame)


def linked(least: int) -> tuple[Patch, ...]:
    """Return the patches with which frames of LZ4 of more than `least` bytes have linked blocks."""
    old = evolve(LZ4_KIP57, pack=partial(_linked, least=least, kip57=True))
    return packing(LZ4, partial(_linked, least=least)), (compression, "LZ4_KIP57", old)


@planted("go-xerial-snappy-2-large-sets", patches=lambda part: (packing(SNAPPY, part),))
def _raw_if_large(data: bytes) -> bytes:
    """Writes snappy of more than one block without the framing of xerial."""
    return snappy.compress_block(data) if len(data) > SNAPPY_BLOCK else snappy.compress(data)


def _compress_as_v0(codec: int, data: bytes, *, kip57: bool = False) -> bytes:
    del kip57
    return compress(codec, data, kip57=True)


def _decompress_as_v0(
    reader: Reader, name: str, codec: int, *, kip57: bool = False
) -> tuple[Reader, Rejected | None]:
    del kip57
    return decompress_prefix(reader, name, codec, kip57=True)


# --- zstd ---

MOST_UNKNOWN: Final = 1024 * 1024
"""The room for the content of a frame that does not say its size, in bytes."""


def _has_content_size(reader: Reader) -> bool:
    descriptor = reader.data[reader.pos + 4] if reader.left > 4 else 0
    return bool(descriptor >> 6 or descriptor & zstd.SINGLE_SEGMENT)


@planted("kafka-python-2021-zstd-without-size-limited", patches=lambda part: (unpacking(ZSTD, part),))
def _in_a_mebibyte(reader: Reader, out: OutputBuffer) -> None:
    """Refuses zstd frames without a content size that become larger than 1 MiB."""
    if not _has_content_size(reader):
        trial = Reader(reader.data, pos=reader.pos, end=reader.end, budget=Budget(out.left))
        probe = OutputBuffer(trial)
        try:
            zstd.decompress(trial, probe)
        except Rejected:
            probe = OutputBuffer(trial)  # the second call below gives the reason
        if probe.size > MOST_UNKNOWN:
            raise decompress_failed(reader, "data", "destination buffer is too small")
    zstd.decompress(reader, out)


@mutant(PatchedKafka, "patch_output", "kafkajs-911-zstd-written-as-none")
def zstd_written_as_none(data: bytes) -> bytes:
    """Writes the codec of a batch with a mask of two bits: a zstd batch says that it is not compressed."""
    parts = [data[start:end] for start, end in frames(data)]
    return b"".join(
        with_checksum(part[:22] + bytes((part[22] & ~4,)) + part[23:]) if codec_of(part) == ZSTD else part
        for part in parts
    )


MEBIBYTE: Final = 1 << 20

FLG_AT: Final = 4
"""The position of the flags in a frame of LZ4 and of zstd, behind its magic."""


_codec_of = compression._codec_of  # noqa: SLF001 - the part that is wrong in the mutants

UnpackWith = Callable[[CompressionCodec, Reader, OutputBuffer], None]
"""Decompresses a region in place of the codec's own function."""


def unpacking_all(unpack: UnpackWith) -> tuple[Patch, ...]:
    """Return the patch with which every codec decompresses by `unpack`."""

    def codec_of(reader: Reader, name: str, codec: int, *, kip57: bool) -> CompressionCodec:
        found = _codec_of(reader, name, codec, kip57=kip57)
        return evolve(found, unpack=partial(unpack, found))

    return ((compression, "_codec_of", codec_of),)


_lz4_header = lz4._header  # noqa: SLF001 - the part that is wrong in the mutant


@replacing(lz4, "_header", "kafka-5150-lz4-block-size")
def _with_4_mib(reader: Reader, *, kip57: bool) -> lz4.FrameDescriptor:
    """Compares the size of an LZ4 block with the limit before it clears the bit for stored blocks."""
    return evolve(_lz4_header(reader, kip57=kip57), max_block=4 * MEBIBYTE)


@replacing(lz4, "_content", "kafka-20528-lz4-content-checksum")
def _checksum_skipped(reader: Reader, frame: lz4.FrameDescriptor, *_: object) -> None:
    """Steps over the checksum of an LZ4 frame's content and never compares it."""
    if frame.flags & lz4.CONTENT_CHECKSUM:
        reader.uint32le("contentChecksum")


HIGHEST_RATIO: Final = 255


@planted("librdkafka-1446-lz4-room", costly=True, patches=unpacking_all)
def _room_for_the_most(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    """Takes 255 times the size of an LZ4 frame as room for its content."""
    frame = reader.data[reader.pos : reader.end]
    if codec.name == "lz4" and len(frame) > FLG_AT and not frame[FLG_AT] & lz4.CONTENT_SIZE:
        take_memory(HIGHEST_RATIO * len(frame))
    codec.unpack(reader, out)


def _sizeless_zstd(codec: CompressionCodec, frame: bytes) -> bool:
    """Return whether a region is a zstd frame without the size of its content."""
    return codec.name == "zstd" and len(frame) > FLG_AT and not frame[FLG_AT] & 0xE0


@planted("librdkafka-5260-zstd-growth", patches=unpacking_all)
def _grown_by_three(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    """Fails for zstd without content size between the last step of its growing buffer and the limit."""
    frame, limit = reader.data[reader.pos : reader.end], 100_000_000
    codec.unpack(reader, out)
    room = 2 * len(frame)
    while room and 3 * room <= limit:
        room *= 3
    if _sizeless_zstd(codec, frame) and out.size > room:
        raise decompress_failed(reader, "data", f"more than {room} bytes")


@planted("kafka-protocol-142-zstd-without-size", patches=unpacking_all)
def _with_size_only(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    """Refuses a zstd frame that does not declare the size of its content."""
    if _sizeless_zstd(codec, reader.data[reader.pos : reader.end]):
        raise decompress_failed(reader, "contentSize", "missing")
    codec.unpack(reader, out)


@planted("aiokafka-930-zstd-first-frame", patches=unpacking_all)
def _first_frame(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    """Reads the first of several zstd frames and drops the others."""
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


def is_xerial(reader: Reader) -> bool:
    """Return whether a region begins like a xerial stream."""
    return reader.data.startswith(snappy.MAGIC, reader.pos, reader.end)


@planted("kafka-rust-44-xerial-chunk-alone", patches=unpacking_all)
def _chunk_by_chunk(codec: CompressionCodec, reader: Reader, out: OutputBuffer) -> None:
    """Reads each chunk of a xerial stream by itself, and loses the record that goes on in the next."""
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
    patches = unpacking_all(_stateful_xerial)

    def decode(self, request: Request) -> Outcome:
        _xerial_seen.clear()
        return super().decode(request)


_decompress_block = snappy.decompress_block


@replacing(snappy, "decompress_block", "rskafka-5f597bd-snappy-memory", costly=True)
def _room_first(reader: Reader, out: OutputBuffer, name: str, length: int) -> None:
    """Takes the memory that a snappy block declares before it reads the block."""
    with suppress(Exception):
        block = memoryview(reader.data)[reader.pos : reader.pos + length]
        take_memory(cramjam.snappy.decompress_raw_len(block))
    _decompress_block(reader, out, name, length)


# --- other parts in the modules of the reference ---

patched(
    PatchedKafka,
    {
        "kafka-python-1476-linked-lz4-blocks": (
            "Writes LZ4 frames of more than 64 kB with linked blocks, which Kafka does not read.",
            linked(lz4.WRITER_BLOCK_SIZE),
        ),
        "kafka-protocol-rs-59-lz4-linked": ("Writes every LZ4 frame as one of linked blocks.", linked(-1)),
        "kafka-3160-lz4-header": (
            "Computes the header byte of LZ4 over the magic too, in every format.",
            (packing(LZ4, LZ4_KIP57.pack),),
        ),
        "sarama-3421-raw-snappy": (
            "Writes one raw snappy block without the framing of xerial.",
            (packing(SNAPPY, snappy.compress_block),),
        ),
        "kafka-python-695-old-lz4-framing-in-v1": (
            "Writes the LZ4 header checksum of v0 in v1 too, and reads v1 with any checksum.",
            (
                (kafka_message, "compress", _compress_as_v0),
                (kafka_message, "decompress_prefix", _decompress_as_v0),
            ),
        ),
    },
)
