"""Bugs of Kafka clients in compressed regions, read and written: `history_kafka` lists them."""

from collections.abc import Callable
from functools import partial
from struct import pack
from typing import Final

from attrs import evolve

from tests.mutants.history_base import (
    Trigger,
    batch,
    batch_value,
    literal_block,
    message_value,
    record,
    record_value,
    xerial,
)
from tests.mutants.history_kafka_reading import KafkaBug
from tests.mutants.kafka_helpers import codec_of, frames, with_checksum
from tests.mutants.patched import Patch
from wireproof.adapters.contract import Request
from wireproof.kafka import message as kafka_message
from wireproof.wire import compression, lz4, snappy, zstd
from wireproof.wire.checksums import lz4_header_checksum
from wireproof.wire.compression import COMPRESSION_CODECS, LZ4_KIP57, compress, decompress_prefix
from wireproof.wire.output_buffer import OutputBuffer, decompress_failed
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import Rejected

Unpack = Callable[[Reader, OutputBuffer], None]

SNAPPY: Final = 2
LZ4: Final = 3
ZSTD: Final = 4


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


def _header_taken(reader: Reader, out: OutputBuffer) -> None:
    """Take the bytes of a header also from a region that has none."""
    if not _is_xerial(reader) and reader.left >= snappy.HEADER:
        reader.skip("magic", snappy.HEADER)
        if not reader.left:
            raise decompress_failed(reader, "snappy", "empty")
    snappy.decompress(reader, out)


class RawSnappyLosesHeader(KafkaBug):
    """Loses the first 16 bytes of a raw snappy block, where it looked for a header."""

    name = "kafka-protocol-rs-148-raw-snappy-loses-16-bytes"
    bug = "https://github.com/kafka-protocol-rs/kafka-protocol-rs/issues/148"
    patches = (unpacking(SNAPPY, _header_taken),)
    trigger = Trigger(
        "decode", "kafka.batch/v2", batch(0, literal_block(record(0, b"key", b"value1")), 1, attributes=2)
    )


def _one_chunk(reader: Reader, out: OutputBuffer) -> None:
    """Refuse a xerial stream that goes on behind its first chunk."""
    if _is_xerial(reader) and reader.left >= snappy.HEADER + 4:
        at = reader.pos + snappy.HEADER
        if snappy.HEADER + 4 + int.from_bytes(reader.data[at : at + 4], "big") < reader.left:
            raise decompress_failed(reader, "length", "more than one chunk", at)
    snappy.decompress(reader, out)


class OneXerialChunk(KafkaBug):
    """Refuses a xerial stream of more than one chunk."""

    name = "kafka-ex-38-one-xerial-chunk"
    bug = "https://github.com/kafkaex/kafka_ex/issues/38"
    patches = (unpacking(SNAPPY, _one_chunk),)
    trigger = Trigger(
        "decode",
        "kafka.batch/v2",
        batch(0, xerial(literal_block(record(0)), literal_block(record(1))), 2, attributes=2),
    )


def _first_byte_only(reader: Reader, out: OutputBuffer) -> None:
    """Take a region for a xerial stream by its first byte alone."""
    if reader.left >= snappy.HEADER and reader.data[reader.pos] == snappy.MAGIC[0] and not _is_xerial(reader):
        raise decompress_failed(reader, "magic", "not the header of a stream")
    snappy.decompress(reader, out)


class RawBlockThatBeginsWith82(KafkaBug):
    """Refuses a raw snappy block that begins with 82, because the header of a stream does."""

    name = "snappy-java-142-raw-block-that-begins-with-82"
    bug = "https://github.com/xerial/snappy-java/issues/142"
    patches = (unpacking(SNAPPY, _first_byte_only),)
    trigger = Trigger(
        "decode",
        "kafka.batch/v2",
        batch(0, literal_block(record(0, None, bytes(121))), 1, attributes=2),  # 130 bytes: 82 01
    )


def _exact_versions(reader: Reader, out: OutputBuffer) -> None:
    """Take a stream with other versions than 1 and 1 for a raw block."""
    at = reader.pos + len(snappy.MAGIC)
    if _is_xerial(reader) and reader.data[at : at + 8] != pack(">ii", 1, 1):
        snappy.decompress_block(reader, out, "snappy", reader.left)
        return
    snappy.decompress(reader, out)


class XerialVersionsValidated(KafkaBug):
    """Takes a xerial stream whose versions are in little endian for a raw block, and refuses it."""

    name = "kafka-python-2414-xerial-versions-validated"
    bug = "https://github.com/dpkp/kafka-python/issues/2414"
    patches = (unpacking(SNAPPY, _exact_versions),)
    trigger = Trigger(
        "decode",
        "kafka.batch/v2",
        batch(0, xerial(literal_block(record(0)), versions=pack("<ii", 1, 1)), 1, attributes=2),
    )


def _little_endian_versions(data: bytes) -> bytes:
    stream, at = snappy.compress(data), len(snappy.MAGIC)
    return stream[:at] + pack("<ii", *snappy.WRITER_VERSIONS) + stream[at + 8 :]


class XerialVersionsLittleEndian(KafkaBug):
    """Writes the versions of a xerial stream in little endian."""

    name = "redpanda-25091-xerial-versions-little-endian"
    bug = "https://github.com/redpanda-data/redpanda/issues/25091"
    patches = (packing(SNAPPY, _little_endian_versions),)
    trigger = Trigger("encode", "kafka.batch/v2", value=batch_value(record_value(0), attributes="2"))


# --- LZ4 ---


def _linked(data: bytes, *, kip57: bool = False) -> bytes:
    """Mark the blocks of a frame as linked, if there are several."""
    frame = bytearray(lz4.compress(data, kip57=kip57))
    if len(data) > lz4.WRITER_BLOCK_SIZE:
        frame[4] &= ~lz4.INDEPENDENT
        frame[6] = lz4_header_checksum(bytes(frame[:6] if kip57 else frame[4:6]))
    return bytes(frame)


class LinkedLz4Blocks(KafkaBug):
    """Writes LZ4 frames of more than 64 kB with linked blocks, which Kafka does not read."""

    name = "kafka-python-1476-linked-lz4-blocks"
    bug = "https://github.com/dpkp/kafka-python/pull/1476"
    patches = (
        packing(LZ4, _linked),
        (compression, "LZ4_KIP57", evolve(LZ4_KIP57, pack=partial(_linked, kip57=True))),
    )
    trigger = Trigger(
        "encode",
        "kafka.batch/v2",
        value=lambda: batch_value(record_value(0, value=bytes(lz4.WRITER_BLOCK_SIZE)), attributes="3"),
    )


def _compress_as_v0(codec: int, data: bytes, *, kip57: bool = False) -> bytes:
    del kip57
    return compress(codec, data, kip57=True)


def _decompress_as_v0(
    reader: Reader, name: str, codec: int, *, kip57: bool = False
) -> tuple[Reader, Rejected | None]:
    del kip57
    return decompress_prefix(reader, name, codec, kip57=True)


class OldLz4FramingInV1(KafkaBug):
    """Writes the LZ4 header checksum of v0 in v1 too, and reads v1 with any checksum."""

    name = "kafka-python-695-old-lz4-framing-in-v1"
    bug = "https://github.com/dpkp/kafka-python/pull/695"
    patches = (
        (kafka_message, "compress", _compress_as_v0),
        (kafka_message, "decompress_prefix", _decompress_as_v0),
    )
    trigger = Trigger(
        "encode",
        "kafka.batch/v1",
        value=message_value(0, 1, None, None, attributes="3", messages=[message_value(0, 1, None, b"v")]),
    )


# --- zstd ---

MOST_UNKNOWN: Final = 1024 * 1024
"""The room for the content of a frame that does not say its size, in bytes."""


def _has_content_size(reader: Reader) -> bool:
    descriptor = reader.data[reader.pos + 4] if reader.left > 4 else 0
    return bool(descriptor >> 6 or descriptor & zstd.SINGLE_SEGMENT)


def _in_a_mebibyte(reader: Reader, out: OutputBuffer) -> None:
    """Refuse a region that does not say its size and becomes larger than 1 MiB."""
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


def _zstd_over_a_mebibyte() -> bytes:
    """Return a batch of one record: RLE blocks of 64 KiB in a frame without a content size."""
    whole = record(0, None, bytes(MOST_UNKNOWN))
    head, zeros = whole[: whole.index(bytes(100))], whole[whole.index(bytes(100)) :]
    blocks, block = [pack("<I", len(head) << 3)[:3] + head], 64 * 1024
    for start in range(0, len(zeros), block):
        size = min(block, len(zeros) - start)
        last = start + size == len(zeros)
        blocks.append(pack("<I", size << 3 | 1 << 1 | last)[:3] + b"\0")
    frame = pack("<I", zstd.MAGIC) + b"\x00\x58" + b"".join(blocks)
    return batch(0, frame, 1, attributes=4)


class ZstdWithoutSizeLimited(KafkaBug):
    """Refuses zstd frames without a content size that become larger than 1 MiB."""

    name = "kafka-python-2021-zstd-without-size-limited"
    bug = "https://github.com/dpkp/kafka-python/pull/2021"
    patches = (unpacking(ZSTD, _in_a_mebibyte),)
    trigger = Trigger("decode", "kafka.batch/v2", _zstd_over_a_mebibyte)


class ZstdWrittenAsNone(KafkaBug):
    """Writes the codec of a batch with a mask of two bits: a zstd batch says that it is not compressed."""

    name = "kafkajs-911-zstd-written-as-none"
    bug = "https://github.com/tulios/kafkajs/issues/911"
    trigger = Trigger("encode", "kafka.batch/v2", value=batch_value(record_value(0), attributes="4"))

    def patch_output(self, data: bytes, request: Request) -> bytes:
        """Remove the third bit of the codec."""
        del request
        parts = [data[start:end] for start, end in frames(data)]
        return b"".join(
            with_checksum(part[:22] + bytes((part[22] & ~4,)) + part[23:]) if codec_of(part) == ZSTD else part
            for part in parts
        )


COMPRESSION: Final[tuple[type[KafkaBug], ...]] = (
    RawSnappyLosesHeader,
    OneXerialChunk,
    RawBlockThatBeginsWith82,
    XerialVersionsValidated,
    XerialVersionsLittleEndian,
    LinkedLz4Blocks,
    OldLz4FramingInV1,
    ZstdWithoutSizeLimited,
    ZstdWrittenAsNone,
)
