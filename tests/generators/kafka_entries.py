"""Entries for generated segments: intact ones of every revision, codec and size, and damaged ones.

They are made of named parts (`entry_bytes`), not by the encoder of the reference: a scan is checked against
independent code. The names of the faults are those of kafka.md §1.4, §1.5, §2.1.
"""

from collections.abc import Callable
from random import Random
from struct import pack
from typing import Final

import google_crc32c
from attrs import evolve, frozen

from tests.authoring.kafka import entry_bytes
from tests.authoring.kafka.entry_bytes import T
from wireproof.wire.compression import COMPRESSION_CODECS, LZ4_KIP57

SHAPES: Final = ((200, 40, 8), (40, 200, 16), (12, 1_500, 16), (4, 12_000, 24), (1, 90_000, 0))
"""Records of an entry, approximate bytes of a value, bytes of a key; from tiny records to large ones."""

POOL: Final = 1 << 20
WORDS: Final = b' the quick brown fox jumps over 0123456789 {"id": , "name": "}'


@frozen
class Entry:
    """An entry, and what a conforming reader reports for it.

    Attributes:
        data: its bytes.
        magic: the number of its revision.
        codec: the compression codec of its attributes.
        movable: whether its offset may be changed; not where the offsets of inner messages depend on it.
        cls: the class of the refusal; empty if it is accepted.
        bounded: whether a reader can determine its end; if not, an intact entry must follow.
    """

    data: bytes
    magic: int
    codec: int
    movable: bool = True
    cls: str = ""
    bounded: bool = True

    def at(self, offset: int) -> bytes:
        """Return the bytes with another base offset, which no checksum covers: kafka.md §1.1, §2.1."""
        return pack(">q", offset) + self.data[8:] if self.movable else self.data


def text_pool(rng: Random) -> bytes:
    """Return bytes from which keys and values are cut: half words, half random, which do not compress."""
    words = (
        WORDS[at:] + WORDS[:at] for at in (rng.randrange(len(WORDS)) for _ in range(POOL // 2 // len(WORDS)))
    )
    return b"".join(words) + rng.randbytes(POOL // 2)


def intact_entry(rng: Random, pool: bytes, *, plain: bool = False) -> Entry:
    """Return an intact entry: eight of ten are record batches, the others old messages, some in a wrapper.

    `plain`: only record batches without compression.
    """
    magic, codec = (2, 0) if plain else _kind(rng)
    count, size, key = rng.choice(SHAPES)
    parts = [
        (_cut(rng, pool, key), _cut(rng, pool, rng.randrange(size // 2, size * 3 // 2))) for _ in range(count)
    ]
    if magic == 2:
        return Entry(_batch(parts, codec), 2, codec)
    return _old(magic, codec, parts)


def _kind(rng: Random) -> tuple[int, int]:
    """Return a magic, and a codec that is allowed with it."""
    magic = rng.choice((2, 2, 2, 2, 2, 2, 2, 2, 1, 0))
    return magic, rng.choice((0, 0, 0, 1, 2, 3, 4) if magic == 2 else (0, 0, 1, 2, 3))


def _cut(rng: Random, pool: bytes, size: int) -> bytes:
    at = rng.randrange(len(pool) - size)
    return pool[at : at + size]


# --- record batches: kafka.md §1.1, §1.3 ---


HEADERS: Final = ((b"span", b"ok"),)
"""The one header of every sixteenth record."""


def _batch(parts: list[tuple[bytes, bytes]], codec: int) -> bytes:
    packed = b"".join(
        entry_bytes.record(key, value, () if at % 16 else HEADERS, ts=at, off=at)
        for at, (key, value) in enumerate(parts)
    )
    packed = COMPRESSION_CODECS[codec].pack(packed) if codec else packed
    return entry_bytes.batch(packed, len(parts), attributes=codec, max_ts=T + len(parts) - 1)


def _framed(covered: bytes) -> bytes:
    """Return a batch: the bytes from the attributes on, behind their length and checksum."""
    return pack(">qiibI", 0, len(covered) + 9, 0, 2, google_crc32c.value(covered)) + covered


# --- messages: kafka.md §2.1, §2.2 ---


def _old(magic: int, codec: int, parts: list[tuple[bytes, bytes]]) -> Entry:
    if not codec:
        return Entry(entry_bytes.message(magic, *parts[0]), magic, 0)
    inner = b"".join(entry_bytes.message(magic, *part, offset=at) for at, part in enumerate(parts))
    packer = LZ4_KIP57 if (magic, codec) == (0, 3) else COMPRESSION_CODECS[codec]  # §2.3: another checksum
    value = packer.pack(inner)
    outer = entry_bytes.message(magic, None, value, offset=len(parts) - 1, attributes=codec)
    return Entry(outer, magic, codec, movable=False)


# --- damage ---


def damaged_entry(rng: Random, entry: Entry) -> Entry:
    """Return the entry with one of the faults that it can have; unchanged if it can have none."""
    fitting = [fault for fits, fault in FAULTS if fits(entry)]
    return rng.choice(fitting)(rng, entry) if fitting else entry


def _flipped(rng: Random, entry: Entry) -> Entry:
    data = bytearray(entry.data)
    data[rng.randrange(26, len(data))] ^= 1 << rng.randrange(8)
    return evolve(entry, data=bytes(data), cls="crc-mismatch")


def _counted(_: Random, entry: Entry) -> Entry:
    """Claim one record more than there is."""
    covered = entry.data[21:]
    told = int.from_bytes(covered[36:40]) + 1
    return evolve(entry, data=_framed(covered[:36] + pack(">i", told) + covered[40:]), cls="count-mismatch")


def _unknown(rng: Random, entry: Entry) -> Entry:
    """Set a codec that does not exist."""
    return evolve(
        entry, data=_framed(b"\0" + bytes([rng.choice((5, 6, 7))]) + entry.data[23:]), cls="unknown-codec"
    )


def _unpackable(_: Random, entry: Entry) -> Entry:
    """Overwrite the magic of the compressed data."""
    return evolve(
        entry, data=_framed(entry.data[21:61] + b"\0\0\0\0" + entry.data[65:]), cls="decompress-failed"
    )


def _wrapped(_: Random, entry: Entry) -> Entry:
    """Do the same in a wrapper; its compressed messages follow a null key and their size: kafka.md §2.1."""
    at = 34 if entry.magic else 26
    return evolve(entry, data=entry.data[:at] + bytes(4) + entry.data[at + 4 :], cls="decompress-failed")


def _newer(rng: Random, entry: Entry) -> Entry:
    """Set an unknown magic: the end of the entry cannot be determined."""
    data = entry.data[:16] + bytes([rng.randrange(3, 128)]) + entry.data[17:]
    return evolve(entry, data=data, cls="bad-magic", bounded=False)


def _overwritten(_: Random, entry: Entry) -> Entry:
    """Overwrite the size: the end of the entry cannot be determined."""
    return evolve(entry, data=entry.data[:8] + b"\xff" * 4 + entry.data[12:], cls="bad-length", bounded=False)


FAULTS: Final[tuple[tuple[Callable[[Entry], bool], Callable[[Random, Entry], Entry]], ...]] = (
    (lambda entry: entry.movable, _flipped),
    (lambda entry: entry.movable, _newer),
    (lambda entry: entry.movable, _overwritten),
    (lambda entry: entry.magic == 2 and not entry.codec, _counted),
    (lambda entry: entry.magic == 2, _unknown),
    (lambda entry: entry.magic == 2 and entry.codec in (1, 4), _unpackable),
    (lambda entry: entry.magic < 2 and entry.codec in (1, 3), _wrapped),
)
"""A condition that an entry must meet to have a fault, and the function that plants the fault.

A wrapper can have few: readers do not check its own checksum (kafka.md §2.2). If its end were unknown, a
reader would find the inner messages that a codec stored without compression.
"""
