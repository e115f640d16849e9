"""Faults in how bytes are read: checksums, varints, compressed regions, memory.

Each class is one; `kafka.MUTANTS` lists them.
"""

import zlib
from typing import Final

from xxhash import xxh32_intdigest

from tests.mutants.kafka_helpers import (
    MAGIC,
    V2,
    KafkaMutant,
    codec_of,
    correct_checksum,
    frames,
    with_checksum,
)
from wireproof.adapters.contract import Request
from wireproof.wire.checksums import crc32c
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- checksums: kafka.md, section 1.1 ---


class CrcSkip(KafkaMutant):
    """Does not look at the checksum of an entry."""

    name = "crc-skip"

    def patch_entry(self, entry: bytes) -> bytes:
        """Correct the checksum of the entry."""
        return with_checksum(entry)


class OtherChecksum(KafkaMutant):
    """Writes and checks v2 batches with another checksum."""

    def checksum(self, entry: bytes) -> int:
        """Return the checksum that the mutant takes for correct."""
        raise NotImplementedError  # each mutant of this kind has a checksum of its own

    def patch_entry(self, entry: bytes) -> bytes:
        """Make the checksum correct if the mutant takes it for correct, else wrong."""
        if entry[MAGIC] != V2 or len(entry) < 61:
            return entry
        good = int.from_bytes(entry[17:21], "big") == self.checksum(entry)
        return with_checksum(entry) if good else with_checksum(entry, correct_checksum(entry) ^ 1)

    def patch_output(self, data: bytes, request: Request) -> bytes:
        """Write every batch with the mutant's checksum."""
        del request
        parts = (data[start:end] for start, end in frames(data))
        return b"".join(
            with_checksum(part, self.checksum(part)) if part[MAGIC] == V2 else part for part in parts
        )


class CrcIeeeForV2(OtherChecksum):
    """Takes CRC-32 for CRC-32C in v2 batches."""

    name = "crc-ieee-for-v2"

    def checksum(self, entry: bytes) -> int:
        """CRC-32 over the right bytes."""
        return zlib.crc32(entry[21:])


class CrcRangeFromMagic(OtherChecksum):
    """Begins the checksum of a v2 batch at its magic."""

    name = "crc-range-from-magic"

    def checksum(self, entry: bytes) -> int:
        """CRC-32C over magic and all that follows the checksum, which cannot cover itself."""
        return crc32c(entry[16:17] + entry[21:])


class CrcCoversLeaderEpoch(OtherChecksum):
    """Lets the checksum of a v2 batch cover the leader epoch too."""

    name = "crc-covers-leader-epoch"

    def checksum(self, entry: bytes) -> int:
        """CRC-32C over the epoch and the right bytes; right by accident nowhere."""
        return crc32c(entry[12:16] + entry[21:])


# --- varints: kafka.md, section 4 ---


class UnsignedReader(Reader):
    """Reads a varint without its zigzag."""

    __slots__ = ()

    def varint(self, name: str) -> int:
        """Read the raw integer."""
        raw, _ = self.base128(name, 5)
        return raw & 0x7FFF_FFFF


class VarintNoZigzag(KafkaMutant):
    """Reads varints without zigzag, as protobuf's int32 would be."""

    name = "varint-no-zigzag"
    reader = UnsignedReader


class SixByteReader(Reader):
    """Reads varints of 32 bits with up to ten bytes."""

    __slots__ = ()

    def base128(self, name: str, most: int, detail: str = "VARINT_TOO_LONG") -> tuple[int, int]:
        """Read up to ten bytes, whatever the width."""
        raw, size = super().base128(name, 10, detail)
        return (raw & 0xFFFF_FFFF if most == 5 else raw), min(size, most)


class VarintSixthByteWraps(KafkaMutant):
    """Takes a sixth byte of a varint and drops its bits."""

    name = "varint-6th-byte-wraps"
    reader = SixByteReader


class NarrowReader(Reader):
    """Reads a varlong into 32 bits."""

    __slots__ = ()

    def varlong(self, name: str) -> int:
        """Read the low 32 bits, signed."""
        wide = super().varlong(name) & 0xFFFF_FFFF
        return wide - (1 << 32) if wide >> 31 else wide


class TimestampDelta32(KafkaMutant):
    """Keeps 32 bits of a timestamp delta."""

    name = "timestamp-delta-32-bits"
    reader = NarrowReader


class AttributesVarintReader(Reader):
    """Reads the attributes of a record as a varint."""

    __slots__ = ()

    def int8(self, name: str) -> int:
        """Read the attributes of a record as a varint."""
        if name == "attributes" and "records[" in self.path(name):
            return self.varint(name)
        return super().int8(name)


class RecordAttributesAsVarint(KafkaMutant):
    """Reads the attributes of a record as a varint, which one byte below 64 looks like."""

    name = "record-attributes-as-varint"
    reader = AttributesVarintReader


# --- compression: kafka.md, sections 2.3 and 3 ---


class SnappyRawOnly(KafkaMutant):
    """Reads raw snappy blocks and no xerial framing."""

    name = "snappy-raw-only"

    def patch_entry(self, entry: bytes) -> bytes:
        """Refuse a framed region."""
        if codec_of(entry) == 2 and b"\x82SNAPPY\0" in entry:
            raise Rejected("decompress-failed", 61, "records", "no raw snappy block")
        return entry


class Lz4V0StrictChecksum(KafkaMutant):
    """Demands the right header checksum of an LZ4 frame in v0, which Kafka wrote wrong."""

    name = "lz4-v0-strict-checksum"

    def patch_entry(self, entry: bytes) -> bytes:
        """Refuse the checksum of KIP-57."""
        at = entry.find(b"\x04\x22\x4d\x18")
        if entry[MAGIC] == 0 and codec_of(entry) == 3 and 0 <= at < len(entry) - 15:
            stop = at + (14 if entry[at + 4] & 0x08 else 6)
            if entry[stop] != xxh32_intdigest(entry[at + 4 : stop]) >> 8 & 0xFF:
                raise Rejected("decompress-failed", at, "value", "header checksum")
        return entry


# --- resources: kafka.md, section 1.5 and table 5, RESOURCE_LIMIT ---

MOST_TOUCHED: Final = 600 * 1024 * 1024
"""Bytes that a resource mutant takes at most: over the limits of the fixtures, and no danger to a machine."""


def take_memory(size: int) -> None:
    """Allocate `size` bytes and touch every page of them, then let go."""
    block = bytearray(max(0, min(size, MOST_TOUCHED)))
    block[::4096] = b"\1" * len(range(0, len(block), 4096))


class LengthTrustingReader(Reader):
    """Allocates the declared length before it compares it with the remaining bytes."""

    __slots__ = ()

    def varint(self, name: str) -> int:
        """Room for the bytes that a length announces."""
        value = super().varint(name)
        if name.lower().endswith("length") and value > self.left:
            take_memory(value)
        return value

    def int32(self, name: str) -> int:
        """Do the same for the lengths of messages."""
        value = super().int32(name)
        if name in ("keyLength", "valueLength") and value > self.left:
            take_memory(value)
        return value


class LengthTrustedForAllocation(KafkaMutant):
    """Allocates what a length announces before it checks the length."""

    name = "length-trusted-for-allocation"
    costly = True
    reader = LengthTrustingReader


class CountTrustingReader(Reader):
    """Allocates the declared count."""

    __slots__ = ()

    def varint(self, name: str) -> int:
        """Room for a pointer to each header."""
        value = super().varint(name)
        if name == "headerCount" and value > self.left:
            take_memory(8 * value)
        return value

    def int32(self, name: str) -> int:
        """Room for a pointer to each record."""
        value = super().int32(name)
        if name == "recordsCount" and value > self.left:
            take_memory(8 * value)
        return value


class CountTrustedForAllocation(KafkaMutant):
    """Allocates what a count announces before it reads the first element."""

    name = "count-trusted-for-allocation"
    costly = True
    reader = CountTrustingReader
