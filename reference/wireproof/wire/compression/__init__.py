"""Compressed regions of Kafka and Heka: the table of codecs, and functions that use it. kafka.md, section 3.

`decompress_prefix` decompresses the rest of a reader's window and returns a reader of the result, in a space
of its own. `compress` writes a region in the same form as Kafka's writer.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from attrs import frozen

from wireproof.wire.compression import gzip, lz4, snappy, zstd
from wireproof.wire.compression.output_buffer import DECOMPRESS_FAILED, OutputBuffer
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected


@frozen
class CompressionCodec:
    """A codec: its name in traces and capabilities, a function that decompresses and one that compresses."""

    name: str
    unpack: Callable[[Reader, OutputBuffer], None]
    pack: Callable[[bytes], bytes]


COMPRESSION_CODECS: Final[dict[int, CompressionCodec]] = {
    1: CompressionCodec("gzip", gzip.decompress, gzip.compress),
    2: CompressionCodec("snappy", snappy.decompress, snappy.compress),
    3: CompressionCodec("lz4", lz4.decompress, lz4.compress),
    4: CompressionCodec("zstd", zstd.decompress, zstd.compress),
}
"""Codecs by number (kafka.md, section 1.2, attribute bits 0 to 2). 0 means no compression and is absent."""

LZ4_KIP57: Final = CompressionCodec(
    "lz4", partial(lz4.decompress, kip57=True), partial(lz4.compress, kip57=True)
)
"""LZ4 in a v0 message, with the header checksum of KIP-57: kafka.md, section 2.3."""

RAW_SNAPPY: Final = CompressionCodec(
    "snappy",
    lambda reader, out: snappy.decompress_block(reader, out, "snappy", reader.left),
    snappy.compress_block,
)
"""Snappy as Heka uses it, one raw block without framing: heka.md, section 5."""


def decompress_prefix(
    reader: Reader, name: str, codec: int, *, kip57: bool = False
) -> tuple[Reader, Rejected | None]:
    """Decompress the rest of the window up to the first defect: kafka.md, section 5.

    Args:
        reader: at the first byte of the region; afterwards at its end.
        name: the name of the region, such as `records`.
        codec: the codec number of the attributes.
        kip57: True for the value of a v0 message; only LZ4 uses it.

    Returns:
        A reader of the bytes that Kafka's consumer gets, and the rejection that it gets when it reads beyond
        them, or None if the region has no defect. A defect may come after the last record (Z60 to Z62: in a
        trailer), so the caller must raise it even if every record was read.

    Raises:
        Rejected: `unknown-codec` only.
    """
    return _decompress(reader, name, _codec_of(reader, name, codec, kip57=kip57))


def decompress_block(reader: Reader, name: str) -> Reader:
    """Decompress the rest of the window, one raw snappy block, and return a reader of it: heka.md, section 5.

    Raises:
        Rejected: `decompress-failed` or `limit-exceeded`.
    """
    inner, defect = _decompress(reader, name, RAW_SNAPPY)
    if defect is not None:
        raise defect
    return inner


def _decompress(reader: Reader, name: str, codec: CompressionCodec) -> tuple[Reader, Rejected | None]:
    start = reader.pos
    region = reader.window(name, reader.left, "decompress-failed")
    region.enter(name)
    out = OutputBuffer(region)
    defect: Rejected | None = None
    try:
        codec.unpack(region, out)
    except Rejected as rejected:
        defect = rejected
        if not rejected.detail:  # a primitive ran out of bytes
            defect = Rejected(
                rejected.cls, rejected.at, rejected.path, rejected.text, detail=DECOMPRESS_FAILED
            )
    reader.region(name, codec.name, start, reader.end)
    return reader.inner_reader(out.data(), start), defect


def _codec_of(reader: Reader, name: str, codec: int, *, kip57: bool) -> CompressionCodec:
    if codec not in COMPRESSION_CODECS:  # C11, C12
        raise reader.reject("unknown-codec", name, f"codec {codec}", detail="UNKNOWN_CODEC")
    return (
        LZ4_KIP57 if kip57 and COMPRESSION_CODECS[codec].name == LZ4_KIP57.name else COMPRESSION_CODECS[codec]
    )


def compress(codec: int, data: bytes, *, kip57: bool = False) -> bytes:
    """Compress `data` in the same form as Kafka's writer: kafka.md, section 3, row "Writer".

    Raises:
        Rejected: `invalid-value` for a codec number other than 1 to 4.
    """
    if codec not in COMPRESSION_CODECS:
        raise Rejected("invalid-value", -1, "attributes", f"codec {codec}", detail="UNKNOWN_CODEC")
    writer = (
        LZ4_KIP57 if kip57 and COMPRESSION_CODECS[codec].name == LZ4_KIP57.name else COMPRESSION_CODECS[codec]
    )
    return writer.pack(data)
