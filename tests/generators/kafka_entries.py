"""Entries for generated segments: intact ones of every revision, codec and size, and damaged ones.

They are packed with `struct` from the tables of the specification, not by the reference's encoder, so that a
scan is checked against independent code. The names of the faults are those of kafka.md §1.4, §1.5, §2.1.
"""

import zlib
from collections.abc import Callable
from functools import lru_cache
from random import Random
from struct import pack
from typing import Final

import google_crc32c
from attrs import evolve, frozen

from wireproof.wire.compress import CODECS, KIP57

NOW: Final = 1_700_000_000_000

SHAPES: Final = ((200, 40, 8), (40, 200, 16), (12, 1_500, 16), (4, 12_000, 24), (1, 90_000, 0))
"""What entries hold: records, bytes of a value about, bytes of a key; from tiny records to large ones."""

POOL: Final = 1 << 20
WORDS: Final = b' the quick brown fox jumps over 0123456789 {"id": , "name": "}'


@frozen
class Entry:
    """An entry with what a conforming reader makes of it.

    Attributes:
        data: its bytes.
        magic: of its revision.
        codec: of its attributes.
        stamped: whether its offset may be changed: it may not where offsets within depend on it.
        cls: why it is refused; empty: it is accepted.
        whole: whether where it ends can be told; else what follows must be sound, for a reader to find it.
    """

    data: bytes
    magic: int
    codec: int
    stamped: bool = True
    cls: str = ""
    whole: bool = True

    def at(self, offset: int) -> bytes:
        """The bytes with another base offset, which no checksum covers: kafka.md §1.1, §2.1."""
        return pack(">q", offset) + self.data[8:] if self.stamped else self.data


def text(rng: Random) -> bytes:
    """What keys and values are cut from: half words, which compress, and half noise, which does not."""
    words = (
        WORDS[at:] + WORDS[:at] for at in (rng.randrange(len(WORDS)) for _ in range(POOL // 2 // len(WORDS)))
    )
    return b"".join(words) + rng.randbytes(POOL // 2)


def sound(rng: Random, pool: bytes, *, plain: bool = False) -> Entry:
    """An entry: eight of ten are record batches, the others old messages, single or wrapped.

    `plain`: all are record batches, and none is packed.
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
    """A magic, and a codec that it may have."""
    magic = rng.choice((2, 2, 2, 2, 2, 2, 2, 2, 1, 0))
    return magic, rng.choice((0, 0, 0, 1, 2, 3, 4) if magic == 2 else (0, 0, 1, 2, 3))


def _cut(rng: Random, pool: bytes, size: int) -> bytes:
    at = rng.randrange(len(pool) - size)
    return pool[at : at + size]


# --- record batches: kafka.md §1.1, §1.3 ---


@lru_cache(maxsize=1 << 16)
def _varint(number: int) -> bytes:
    """Zigzag, of a number that is not negative: kafka.md §4."""
    number *= 2
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


HEADERS: Final = _varint(1) + _varint(4) + b"span" + _varint(2) + b"ok"
"""Of every sixteenth record, one header."""


def _record(at: int, key: bytes, value: bytes) -> bytes:
    headers = HEADERS if not at % 16 else b"\0"
    body = b"\0" + _varint(at) + _varint(at) + _varint(len(key)) + key + _varint(len(value)) + value + headers
    return _varint(len(body)) + body


def _batch(parts: list[tuple[bytes, bytes]], codec: int, count: int | None = None) -> bytes:
    packed = b"".join(_record(at, key, value) for at, (key, value) in enumerate(parts))
    packed = CODECS[codec].pack(packed) if codec else packed
    last = len(parts) - 1
    told = len(parts) if count is None else count
    return _framed(pack(">hiqqqhii", codec, last, NOW, NOW + last, -1, -1, -1, told) + packed)


def _framed(covered: bytes, magic: int = 2) -> bytes:
    """The bytes from the attributes on, under their length and checksum."""
    return pack(">qiibI", 0, len(covered) + 9, 0, magic, google_crc32c.value(covered)) + covered


# --- messages: kafka.md §2.1, §2.2 ---


def _message(magic: int, offset: int, attributes: int, key: bytes | None, value: bytes) -> bytes:
    time = pack(">q", NOW) if magic else b""
    body = pack(">bb", magic, attributes) + time + _octets(key) + _octets(value)
    return pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def _octets(data: bytes | None) -> bytes:
    return pack(">i", -1) if data is None else pack(">i", len(data)) + data


def _old(magic: int, codec: int, parts: list[tuple[bytes, bytes]]) -> Entry:
    if not codec:
        return Entry(_message(magic, 0, 0, *parts[0]), magic, 0)
    inner = b"".join(_message(magic, at, 0, key, value) for at, (key, value) in enumerate(parts))
    packer = KIP57 if (magic, codec) == (0, 3) else CODECS[codec]  # §2.3: the old header checksum
    outer = _message(magic, len(parts) - 1, codec, None, packer.pack(inner))
    return Entry(outer, magic, codec, stamped=False)


# --- damage ---


def damaged(rng: Random, entry: Entry) -> Entry:
    """The entry with one fault that such an entry can have; where there is none, as it is."""
    fitting = [fault for fits, fault in FAULTS if fits(entry)]
    return rng.choice(fitting)(rng, entry) if fitting else entry


def _flipped(rng: Random, entry: Entry) -> Entry:
    data = bytearray(entry.data)
    data[rng.randrange(26, len(data))] ^= 1 << rng.randrange(8)
    return evolve(entry, data=bytes(data), cls="crc-mismatch")


def _counted(_: Random, entry: Entry) -> Entry:
    """One record more is claimed than there is."""
    covered = entry.data[21:]
    told = int.from_bytes(covered[36:40]) + 1
    return evolve(entry, data=_framed(covered[:36] + pack(">i", told) + covered[40:]), cls="count-mismatch")


def _unknown(rng: Random, entry: Entry) -> Entry:
    """A codec that there is none of."""
    return evolve(
        entry, data=_framed(b"\0" + bytes([rng.choice((5, 6, 7))]) + entry.data[23:]), cls="unknown-codec"
    )


def _unpackable(_: Random, entry: Entry) -> Entry:
    """A packed region whose own magic is gone."""
    return evolve(
        entry, data=_framed(entry.data[21:61] + b"\0\0\0\0" + entry.data[65:]), cls="decompress-failed"
    )


def _wrapped(_: Random, entry: Entry) -> Entry:
    """The same in a wrapper, whose packed messages begin behind a null key and their size: kafka.md §2.1."""
    at = 34 if entry.magic else 26
    return evolve(entry, data=entry.data[:at] + bytes(4) + entry.data[at + 4 :], cls="decompress-failed")


def _newer(rng: Random, entry: Entry) -> Entry:
    """A magic that nobody knows: nothing says where the entry ends."""
    data = entry.data[:16] + bytes([rng.randrange(3, 128)]) + entry.data[17:]
    return evolve(entry, data=data, cls="bad-magic", whole=False)


def _overwritten(_: Random, entry: Entry) -> Entry:
    """Its size is gone: nothing says where it ends."""
    return evolve(entry, data=entry.data[:8] + b"\xff" * 4 + entry.data[12:], cls="bad-length", whole=False)


FAULTS: Final[tuple[tuple[Callable[[Entry], bool], Callable[[Random, Entry], Entry]], ...]] = (
    (lambda entry: entry.stamped, _flipped),
    (lambda entry: entry.stamped, _newer),
    (lambda entry: entry.stamped, _overwritten),
    (lambda entry: entry.magic == 2 and not entry.codec, _counted),
    (lambda entry: entry.magic == 2, _unknown),
    (lambda entry: entry.magic == 2 and entry.codec in (1, 4), _unpackable),
    (lambda entry: entry.magic < 2 and entry.codec in (1, 3), _wrapped),
)
"""Which entries can have a fault, and the fault.

A wrapper has few: readers do not look at its own checksum (kafka.md §2.2), and where its end is lost,
messages that a codec packed as they are stand in it whole, and are found.
"""
