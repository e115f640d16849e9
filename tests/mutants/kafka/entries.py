"""Kafka codecs with one fault in the bytes or the values of an entry.

Each was seen in some client, or is one edit away from right.
"""

from collections.abc import Callable
from typing import Final

from xxhash import xxh32_intdigest

from tests.mutants.base import JsonObject, mutant, variant
from tests.mutants.kafka.helpers import (
    MAGIC,
    V2,
    FieldByField,
    KafkaMutant,
    bit,
    codec_of,
    correct_checksum,
    frames,
    messages,
    misreading,
    reading,
    records,
    with_checksum,
)
from wireproof.adapters.contract import Request
from wireproof.wire.checksums import crc32c
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- checksums: kafka.md, section 1.1 ---


@mutant(KafkaMutant, "patch_entry", "crc-skip")
def crc_skip(entry: bytes) -> bytes:
    """Does not look at the checksum of an entry."""
    return with_checksum(entry)


def _from_magic(entry: bytes) -> int:
    """CRC-32C over magic and all that follows the checksum, which cannot cover itself."""
    return crc32c(entry[16:17] + entry[21:])


class CrcRangeFromMagic(KafkaMutant):
    """Begins the checksum of a v2 batch at its magic."""

    name = "crc-range-from-magic"
    killed_by = ("kafka.batch/v2/lz4/bd-3",)

    def patch_entry(self, entry: bytes) -> bytes:
        """Make the checksum correct if the mutant takes it for correct, else wrong."""
        if entry[MAGIC] != V2 or len(entry) < 61:
            return entry
        good = int.from_bytes(entry[17:21], "big") == _from_magic(entry)
        return with_checksum(entry) if good else with_checksum(entry, correct_checksum(entry) ^ 1)

    def patch_output(self, data: bytes, request: Request) -> bytes:
        parts = (data[start:end] for start, end in frames(data))
        return b"".join(with_checksum(one, _from_magic(one)) if one[MAGIC] == V2 else one for one in parts)


# --- varints: kafka.md, section 4 ---


variant(
    KafkaMutant,
    "varint-no-zigzag",
    "Reads varints without zigzag, as protobuf's int32 would be.",
    "kafka.batch/v2/text/cut",
    reader=reading(varint=lambda self, name: self.base128(name, 5)[0] & 0x7FFF_FFFF),
)


@misreading(KafkaMutant, "base128", "varint-6th-byte-wraps")
def _six_bytes(self: Reader, name: str, most: int, detail: str = "VARINT_TOO_LONG") -> tuple[int, int]:
    """Takes a sixth byte of a varint and drops its bits."""
    raw, size = FieldByField.base128(self, name, 10, detail)  # whatever the width
    return (raw & 0xFFFF_FFFF if most == 5 else raw), min(size, most)


@misreading(KafkaMutant, "varlong", "timestamp-delta-32-bits")
def _low_32_bits(self: Reader, name: str) -> int:
    """Keeps 32 bits of a timestamp delta."""
    wide = FieldByField.varlong(self, name) & 0xFFFF_FFFF
    return wide - (1 << 32) if wide >> 31 else wide


@misreading(KafkaMutant, "int8", "record-attributes-as-varint")
def _attributes_as_varint(self: FieldByField, name: str) -> int:
    """Reads the attributes of a record as a varint, which one byte below 64 looks like."""
    of_record = name == "attributes" and "records[" in self.path(name)
    return self.varint(name) if of_record else super(FieldByField, self).int8(name)


# --- compression: kafka.md, sections 2.3 and 3 ---


@mutant(KafkaMutant, "patch_entry", "snappy-raw-only")
def snappy_raw_only(entry: bytes) -> None:
    """Reads raw snappy blocks and no xerial framing."""
    if codec_of(entry) == 2 and b"\x82SNAPPY\0" in entry:
        raise Rejected("decompress-failed", 61, "records", "no raw snappy block")


@mutant(KafkaMutant, "patch_entry", "lz4-v0-strict-checksum")
def lz4_v0_strict_checksum(entry: bytes) -> None:
    """Demands the right header checksum of an LZ4 frame in v0, which Kafka wrote wrong."""
    at = entry.find(b"\x04\x22\x4d\x18")
    if entry[MAGIC] == 0 and codec_of(entry) == 3 and 0 <= at < len(entry) - 15:
        stop = at + (14 if entry[at + 4] & 0x08 else 6)
        if entry[stop] != xxh32_intdigest(entry[at + 4 : stop]) >> 8 & 0xFF:
            raise Rejected("decompress-failed", at, "value", "header checksum")


# --- resources: kafka.md, section 1.5 and table 5, RESOURCE_LIMIT ---

MOST_TOUCHED: Final = 600 * 1024 * 1024
"""Bytes that a resource mutant takes at most: over the limits of the fixtures, and no danger to a machine."""


def take_memory(size: int) -> None:
    """Allocate `size` bytes and touch every page of them, then let go."""
    block = bytearray(max(0, min(size, MOST_TOUCHED)))
    block[::4096] = b"\1" * len(range(0, len(block), 4096))


def _room_for_length(self: Reader, name: str) -> int:
    value = FieldByField.varint(self, name)
    if name.lower().endswith("length") and value > self.left:
        take_memory(value)
    return value


def _room_for_old_length(self: FieldByField, name: str) -> int:
    value = super(FieldByField, self).int32(name)
    if name in ("keyLength", "valueLength") and value > self.left:
        take_memory(value)
    return value


variant(
    KafkaMutant,
    "length-trusted-for-allocation",
    "Allocates what a length announces before it checks the length.",
    costly=True,
    reader=reading(varint=_room_for_length, int32=_room_for_old_length),
)


def _room_for_headers(self: Reader, name: str) -> int:
    """Room for a pointer to each header."""
    value = FieldByField.varint(self, name)
    if name == "headerCount" and value > self.left:
        take_memory(8 * value)
    return value


def _room_for_records(self: FieldByField, name: str) -> int:
    """Room for a pointer to each record."""
    value = super(FieldByField, self).int32(name)
    if name == "recordsCount" and value > self.left:
        take_memory(8 * value)
    return value


variant(
    KafkaMutant,
    "count-trusted-for-allocation",
    "Allocates what a count announces before it reads the first element.",
    costly=True,
    reader=reading(varint=_room_for_headers, int32=_room_for_records),
)


APPEND_TIME: Final = 0x08
CONTROL: Final = 0x20
# --- nulls and headers: kafka.md, section 1.3 ---


@mutant(KafkaMutant, "spoil", "null-key-as-empty", "kafka.batch/v1/wrapper/lz4")
def null_key_as_empty(entry: JsonObject) -> None:
    """Tells an empty key where there is none."""
    for record in (*records(entry), *messages(entry), *([entry] if "key" in entry else [])):
        record["key"] = record["key"] or ""


@mutant(KafkaMutant, "spoil", "null-header-value-as-empty", "kafka.batch/v2/headers/five")
def null_header_value_as_empty(entry: JsonObject) -> None:
    """Tells an empty header value where there is none."""
    for record in records(entry):
        record["headers"] = [[key, value or ""] for key, value in record["headers"]]


@mutant(KafkaMutant, "spoil", "headers-reversed", "kafka.batch/v2/text/gzip")
def headers_reversed(entry: JsonObject) -> None:
    """Delivers headers last to first."""
    for record in records(entry):
        record["headers"] = record["headers"][::-1]


# --- offsets and timestamps: kafka.md, sections 1.8, 1.10 and 2.2 ---


@mutant(KafkaMutant, "spoil", "base-offset-ignored", "kafka.log/mixed/sets/v2")
def base_offset_ignored(entry: JsonObject) -> None:
    """Takes offset deltas for offsets."""
    for record in records(entry):
        record["offset"] = record["offsetDelta"]


class RelativeOffsetsAsAbsolute(KafkaMutant):
    """Takes the relative offsets inside a v1 wrapper for absolute ones."""

    name = "relative-offsets-as-absolute"

    def patch_entry(self, entry: bytes) -> bytes:
        """Set the offset of a wrapper to 0, so that inner offsets are read as absolute; no CRC covers it."""
        return bytes(8) + entry[8:] if entry[MAGIC] == 1 and codec_of(entry) else entry

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Restore the offset of the wrapper itself."""
        if entry.get("messages") is not None:
            entry["offset"] = str(int.from_bytes(raw[:8], "big", signed=True))


def _restore_attributes(_: KafkaMutant, entry: JsonObject, raw: bytes) -> None:
    start, end = (21, 23) if "records" in entry else (17, 18)
    entry["attributes"] = str(int.from_bytes(raw[start:end], "big", signed=True))


def _without_type(self: FieldByField, name: str) -> int:
    """Clear bit 3 in the attributes of a message, not in those of a record."""
    value = super(FieldByField, self).int8(name)
    mine = name == "attributes" and "records[" not in self.path(name)
    return value & ~APPEND_TIME if mine else value


def _without_bit(bit: int) -> Callable[[FieldByField, str], int]:
    """Clear a bit in the attributes of a batch."""

    def int16(self: FieldByField, name: str) -> int:
        value = super(FieldByField, self).int16(name)
        return value & ~bit if name == "attributes" else value

    return int16


variant(
    KafkaMutant,
    "timestamp-type-ignored",
    "Computes create times where the broker wrote one append time.",
    reader=reading(int16=_without_bit(APPEND_TIME), int8=_without_type),
    spoil=_restore_attributes,
)


@mutant(KafkaMutant, "spoil", "log-append-time-per-record", "kafka.log/mixed/append/stamped-lz4")
def log_append_time_per_record(entry: JsonObject) -> None:
    """Adds each record's delta to the append time."""
    for record in records(entry):
        if bit(entry, APPEND_TIME):
            record["timestamp"] = str(int(entry["maxTimestamp"]) + int(record["timestampDelta"]))


@mutant(KafkaMutant, "spoil", "legacy-timestamp-ignored", "kafka.batch/v1/text/cut")
def legacy_timestamp_ignored(entry: JsonObject) -> None:
    """Reads v1 messages as if they had no timestamp."""
    for message in (*messages(entry), *([entry] if "timestamp" in entry else [])):
        message["timestamp"] = "-1"


# --- control batches: kafka.md, section 1.9 ---


variant(
    KafkaMutant,
    "control-batch-as-data",
    "Delivers control records as if they were data.",
    reader=reading(int16=_without_bit(CONTROL)),
    spoil=_restore_attributes,
)
