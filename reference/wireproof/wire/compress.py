"""The compressed regions of Kafka: codec number to frame reader and frame writer. kafka.md, section 3.

`decompress_prefix` takes the rest of a reader's window as one compressed region and gives a reader of what
was in it, in a space of its own. `compress` writes a region as Kafka's own writer would.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from attrs import frozen

from wireproof.wire import gzip, lz4, snappy, zstd
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.unpacking import FAILED, Unpacking


@frozen
class Codec:
    """One codec: its name in traces and capability atoms, and its two directions."""

    name: str
    unpack: Callable[[Reader, Unpacking], None]
    pack: Callable[[bytes], bytes]


CODECS: Final[dict[int, Codec]] = {
    1: Codec("gzip", gzip.unpack, gzip.pack),
    2: Codec("snappy", snappy.unpack, snappy.pack),
    3: Codec("lz4", lz4.unpack, lz4.pack),
    4: Codec("zstd", zstd.unpack, zstd.pack),
}
"""Codec number (kafka.md, section 1.2, bits 0 to 2) to codec; 0 is none and is not here."""

KIP57: Final = Codec("lz4", partial(lz4.unpack, kip57=True), partial(lz4.pack, kip57=True))
"""LZ4 in a v0 message: kafka.md, section 2.3."""

RAW_SNAPPY: Final = Codec(
    "snappy", lambda reader, out: snappy.unpack_block(reader, out, "snappy", reader.left), snappy.pack_block
)
"""One raw block without framing: heka.md, section 5."""


def decompress_prefix(
    reader: Reader, name: str, codec: int, *, kip57: bool = False
) -> tuple[Reader, Rejected | None]:
    """A reader of what the rest of `reader`'s window unpacks to, and what is wrong: kafka.md, section 5.

    Args:
        reader: stands on the region's first byte; afterwards on its end.
        name: the path of the region, such as `records`.
        codec: the codec number of the attributes.
        kip57: whether the region is the value of a v0 message; only LZ4 asks.

    Returns:
        A reader of the bytes that Kafka's consumer would get, and the refusal that meets it when it asks
        for more than these, or None when they are all. A defect can lie behind the last byte wanted
        (Z60 to Z62: a trailer), so it counts even if every record was there.

    Raises:
        Rejected: `unknown-codec` only.
    """
    return _unpacked(reader, name, _codec(reader, name, codec, kip57=kip57))


def decompress_block(reader: Reader, name: str) -> Reader:
    """A reader of the rest of `reader`'s window as one raw snappy block: Heka, heka.md, section 5.

    Raises:
        Rejected: `decompress-failed` or `limit-exceeded`.
    """
    inner, torn = _unpacked(reader, name, RAW_SNAPPY)
    if torn is not None:
        raise torn
    return inner


def _unpacked(reader: Reader, name: str, codec: Codec) -> tuple[Reader, Rejected | None]:
    start = reader.pos
    region = reader.window(name, reader.left, "decompress-failed")
    region.enter(name)
    out = Unpacking(region)
    torn: Rejected | None = None
    try:
        codec.unpack(region, out)
    except Rejected as refused:
        torn = _named(refused)
    reader.region(name, codec.name, start, reader.end)
    return reader.unpacked(out.data(), start), torn


def _codec(reader: Reader, name: str, codec: int, *, kip57: bool) -> Codec:
    if codec not in CODECS:  # C11, C12
        raise reader.reject("unknown-codec", name, f"codec {codec}", detail="UNKNOWN_CODEC")
    return KIP57 if kip57 and CODECS[codec].name == KIP57.name else CODECS[codec]


def _named(refused: Rejected) -> Rejected:
    """The rule book's name for bytes that ran out inside a frame, where the reader itself refused."""
    if refused.detail:
        return refused
    return Rejected(refused.cls, refused.at, refused.path, refused.text, detail=FAILED)


def compress(codec: int, data: bytes, *, kip57: bool = False) -> bytes:
    """The region that Kafka's own writer would make of `data`: kafka.md, section 3, row "Writer".

    Raises:
        Rejected: `invalid-value` for a codec number other than 1 to 4.
    """
    if codec not in CODECS:
        raise Rejected("invalid-value", -1, "attributes", f"codec {codec}", detail="UNKNOWN_CODEC")
    chosen = KIP57 if kip57 and CODECS[codec].name == KIP57.name else CODECS[codec]
    return chosen.pack(data)
