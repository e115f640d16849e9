"""Kafka writers with one fault, most of them a bug of a released client: `bugs.toml`."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from attrs import evolve

from tests.mutants.base import Failed, JsonObject, in_codec, mutant, patched, walk
from tests.mutants.kafka.helpers import KafkaMutant, PatchedKafka, messages, records, replacing
from wireproof.adapters.contract import Request
from wireproof.kafka import message, record
from wireproof.kafka.attribute_bits import CODEC_MASK, TRANSACTIONAL, wrap64
from wireproof.kafka.batch import RECORD_BATCH
from wireproof.kafka.layouts import MESSAGE
from wireproof.kafka.values import Message, Record
from wireproof.wire import writer as wire_writer
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer, encode_uvarint

# --- encoders ---


@mutant(KafkaMutant, "patch_value_to_write", "encode-null-as-empty")
def encode_null_as_empty(value: Json) -> Json:
    """Writes an empty key and value where there is none."""
    return _each_record(value, lambda one: {**one, "key": one["key"] or "", "value": one["value"] or ""})


@mutant(KafkaMutant, "patch_value_to_write", "encode-timestamps-absolute", "kafka.batch/v2/encode/lz4")
def encode_timestamps_absolute(value: Json) -> Json:
    """Writes whole timestamps where deltas belong."""
    if not isinstance(value, dict) or "baseTimestamp" not in value:
        return value
    base = int(str(value["baseTimestamp"]))
    return _each_record(value, lambda one: {**one, "timestampDelta": str(base + int(one["timestampDelta"]))})


@mutant(KafkaMutant, "patch_value_to_write", "encode-headers-dropped", "kafka.batch/v2/encode/headers")
def encode_headers_dropped(value: Json) -> Json:
    """Writes records without their headers."""
    return _each_record(value, lambda one: {**one, "headers": []})


@mutant(KafkaMutant, "patch_value_to_write", "encode-codec-ignored", "kafka.batch/v2/encode/lz4")
def encode_codec_ignored(value: Json) -> Json:
    """Writes every batch uncompressed."""
    if not isinstance(value, dict) or "records" not in value:
        return value
    return {**value, "attributes": str(int(str(value["attributes"])) & ~7)}


def _each_record(value: Json, change: Callable[[JsonObject], JsonObject]) -> Json:
    if not isinstance(value, dict) or not isinstance(found := value.get("records"), list):
        return value
    return {**value, "records": [change(one) for one in found if isinstance(one, dict)]}


def _entries(value: Json) -> Iterator[JsonObject]:
    """Yield the entries of a value: of a log each of its batches."""
    if not isinstance(value, dict):
        return
    batches = value.get("batches", [value])
    yield from (one for one in batches if isinstance(one, dict)) if isinstance(batches, list) else ()


class WritingBug(PatchedKafka):
    """The base of the mutants that write another value than the one that they get."""

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        for entry in _entries(value):
            self.change(entry)
        return value

    def change(self, entry: JsonObject) -> None:
        """Put the fault into an entry."""


# --- varints ---


@replacing(wire_writer, "encode_uvarint", "ruby-kafka-680-varint-stops-early")
def _stops_early(value: int) -> bytes:
    """Writes a varint too short where its bits 7 to 15 are 0, such as the length of a record of 32 KiB."""
    out = bytearray()
    while value & 0xFF80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0xFF)
    return bytes(out)


@replacing(wire_writer, "encode_uvarint", "kafka-go-305-varint-never-ends")
def _never_ends(value: int) -> bytes:
    """Writes a varlong without end if its zigzag form has the highest bit."""
    if value >> 63:
        raise MemoryError("a varint without an end")
    return encode_uvarint(value)


# --- records of v2 ---


@mutant(WritingBug, "change", "kafkajs-185-null-value-refused")
def null_value_refused(entry: JsonObject) -> None:
    """Refuses to write a null value, which deletes a key of a compacted topic."""
    plain = [] if "records" in entry or messages(entry) else [entry]
    if any(one.get("value", "") is None for one in (*records(entry), *messages(entry), *plain)):
        raise Rejected("invalid-value", -1, "value", "no value")


@mutant(WritingBug, "change", "sarama-996-last-header-repeated")
def last_header_repeated(entry: JsonObject) -> None:
    """Writes the last header of a record in place of each."""
    for one in records(entry):
        one["headers"] = one["headers"][-1:] * len(one["headers"])


@mutant(WritingBug, "change", "sarama-1032-offset-deltas-zero")
def offset_deltas_zero(entry: JsonObject) -> None:
    """Writes the offset delta 0 in every record of a plain batch."""
    for one in records(entry) if not int(entry["attributes"]) & CODEC_MASK else ():
        one["offsetDelta"] = "0"


@mutant(WritingBug, "change", "sarama-3108-max-timestamp-unset")
def max_timestamp_unset(entry: JsonObject) -> None:
    """Writes the maximum timestamp of a batch as -1."""
    if "maxTimestamp" in entry:
        entry["maxTimestamp"] = "-1"


@mutant(WritingBug, "change", "kafka-go-266-deltas-in-nanoseconds")
def deltas_in_nanoseconds(entry: JsonObject) -> None:
    """Writes timestamp deltas in nanoseconds."""
    for one in records(entry):
        one["timestampDelta"] = str(wrap64(int(one["timestampDelta"]) * 1_000_000))


@mutant(
    WritingBug,
    "change",
    "kafkajs-199-transactional-bit-lost",
)
def transactional_bit_lost(entry: JsonObject) -> None:
    """Writes a batch of a transaction without the bit that says so."""
    if "records" in entry:
        entry["attributes"] = str(int(entry["attributes"]) & ~TRANSACTIONAL)


@mutant(WritingBug, "change", "node-rdkafka-970-header-value-cut-at-nul")
def header_value_cut_at_nul(entry: JsonObject) -> None:
    """Writes the value of a header up to its first zero byte."""
    for one in records(entry):
        one["headers"] = [
            [key, value and bytes.fromhex(value).partition(b"\0")[0].hex()] for key, value in one["headers"]
        ]


def _text(value: str | None) -> str:
    """Return the text of bytes in hex; empty if they are null or not UTF-8."""
    return bytes.fromhex(value or "").decode(errors="ignore")


@mutant(WritingBug, "change", "spring-xd-1871-header-room-in-characters")
def header_room_in_characters(entry: JsonObject) -> None:
    """Fails on a header with characters of several bytes, for which it made room by characters."""
    for one in records(entry):
        for pair in one["headers"]:
            if not all(_text(part).isascii() for part in pair):
                raise Failed("more bytes than the buffer of a header has room for")


# --- messages of v0 and v1 ---


def _characters(data: bytes) -> int:
    """Return the number of characters of a text; bytes that are none keep their length."""
    with suppress(UnicodeDecodeError):
        return len(data.decode().encode("utf-16-le")) // 2
    return len(data)


@mutant(WritingBug, "change", "kafka-node-1388-inner-offsets-zero")
def inner_offsets_zero(entry: JsonObject) -> None:
    """Writes the offset 0 in every message of a wrapper."""
    for one in messages(entry):
        one["offset"] = entry["offset"] if entry["magic"] == "1" else "0"


ZERO_TIME: Final = -6795364578871
"""The start of year 1 in nanoseconds since 1970, wrapped to 64 bits, in milliseconds."""


_write_plain = message._write_plain  # noqa: SLF001 - the part that is wrong in the mutant


def _zero_time(writer: Writer, value: Message) -> None:
    no_time = value.magic and value.timestamp == -1
    _write_plain(writer, evolve(value, timestamp=ZERO_TIME) if no_time else value)


# --- batches ---


@mutant(KafkaMutant, "patch_value_to_write", "sarama-1026-last-offset-delta")
def last_offset_delta_zero(value: Json) -> None:
    """Writes 0 as the last offset delta of every batch."""
    for part in walk(value):
        part.update({name: "0" for name in part if name == "lastOffsetDelta"})


def _with_batch_attributes(writer: Writer, records: tuple[Record, ...], attributes: int) -> None:
    codec = attributes & CODEC_MASK
    record.write_region(writer, tuple(evolve(one, attributes=codec) for one in records), attributes)


# --- other parts in the modules of the reference ---

patched(
    PatchedKafka,
    {
        "kafka-node-35-length-in-characters": (
            "Writes the length of key and value of a message in characters.",
            in_codec(MESSAGE, len=lambda _: _characters),
        ),
        "sarama-907-no-timestamp-written-as-time": (
            "Writes a message without timestamp with a time before 1970.",
            (
                (message, "_write_plain", _zero_time),
                *in_codec(MESSAGE, timestamp_written_timestamp=lambda _: lambda _: None),
            ),
        ),
        "librdkafka-ba77721-record-attributes": (
            "Writes the codec into the attributes of each record, as into those of a message.",
            in_codec(RECORD_BATCH, write_records=lambda _: _with_batch_attributes),
        ),
    },
)
