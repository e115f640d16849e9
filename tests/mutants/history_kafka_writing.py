"""Bugs of Kafka clients in how they write: `history_kafka` lists them."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from attrs import evolve

from tests.mutants.base import JsonObject
from tests.mutants.history_base import Trigger, batch_value, message_value, record_value
from tests.mutants.history_kafka_reading import KafkaBug
from tests.mutants.kafka_helpers import messages, records
from wireproof.adapters.contract import Request
from wireproof.kafka import message as kafka_message
from wireproof.kafka.attribute_bits import CODEC_MASK, TRANSACTIONAL, wrap64
from wireproof.kafka.message import _write_head
from wireproof.kafka.values import Message
from wireproof.wire import writer as wire_writer
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer, encode_uvarint


def _entries(value: Json) -> Iterator[JsonObject]:
    """Yield the entries of a value: of a log each of its batches."""
    if not isinstance(value, dict):
        return
    batches = value.get("batches", [value])
    yield from (one for one in batches if isinstance(one, dict)) if isinstance(batches, list) else ()


class WritingBug(KafkaBug):
    """The base of the mutants that write another value than the one that they get."""

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Pass each entry of the value through `change`."""
        del request
        for entry in _entries(value):
            self.change(entry)
        return value

    def change(self, entry: JsonObject) -> None:
        """Put the fault into an entry."""


# --- varints ---


def _stops_early(value: int) -> bytes:
    """Return a varint that ends when the bits 7 to 15 are 0, whatever comes above them."""
    out = bytearray()
    while value & 0xFF80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0xFF)
    return bytes(out)


class VarintStopsEarly(KafkaBug):
    """Writes a varint too short where its bits 7 to 15 are 0, such as the length of a record of 32 KiB."""

    name = "ruby-kafka-680-varint-stops-early"
    bug = "https://github.com/zendesk/ruby-kafka/issues/680"
    patches = ((wire_writer, "encode_uvarint", _stops_early),)
    trigger = Trigger(
        "encode", "kafka.batch/v2", value=lambda: batch_value(record_value(0, value=bytes(32760)))
    )


def _never_ends(value: int) -> bytes:
    """Fail as a writer does that has filled all memory: with the highest bit set the loop has no end."""
    if value >> 63:
        raise MemoryError("a varint without an end")
    return encode_uvarint(value)


class VarintNeverEnds(KafkaBug):
    """Writes a varlong without end if its zigzag form has the highest bit."""

    name = "kafka-go-305-varint-never-ends"
    bug = "https://github.com/segmentio/kafka-go/pull/305"
    patches = ((wire_writer, "encode_uvarint", _never_ends),)
    trigger = Trigger(
        "encode", "kafka.batch/v2", value=batch_value(record_value(0, timestampDelta=str(1 << 62)))
    )


# --- records of v2 ---


class NullValueRefused(WritingBug):
    """Refuses to write a null value, which deletes a key of a compacted topic."""

    name = "kafkajs-185-null-value-refused"
    bug = "https://github.com/tulios/kafkajs/pull/185"
    trigger = Trigger("encode", "kafka.batch/v2", value=batch_value(record_value(0, b"k", None)))

    def change(self, entry: JsonObject) -> None:
        """Refuse an entry with such a value."""
        plain = [] if "records" in entry or messages(entry) else [entry]
        if any(one.get("value", "") is None for one in (*records(entry), *messages(entry), *plain)):
            raise Rejected("invalid-value", -1, "value", "no value")


class LastHeaderRepeated(WritingBug):
    """Writes the last header of a record in place of each."""

    name = "sarama-996-last-header-repeated"
    bug = "https://github.com/IBM/sarama/pull/996"
    trigger = Trigger(
        "encode",
        "kafka.batch/v2",
        value=batch_value(record_value(0, headers=[["61", "31"], ["62", "32"]])),
    )

    def change(self, entry: JsonObject) -> None:
        """Repeat the last header."""
        for one in records(entry):
            one["headers"] = one["headers"][-1:] * len(one["headers"])


class OffsetDeltasZero(WritingBug):
    """Writes the offset delta 0 in every record of a plain batch."""

    name = "sarama-1032-offset-deltas-zero"
    bug = "https://github.com/IBM/sarama/issues/1032"
    trigger = Trigger("encode", "kafka.batch/v2", value=batch_value(record_value(0), record_value(1)))

    def change(self, entry: JsonObject) -> None:
        """Set the deltas."""
        for one in records(entry) if not int(entry["attributes"]) & CODEC_MASK else ():
            one["offsetDelta"] = "0"


class MaxTimestampUnset(WritingBug):
    """Writes the maximum timestamp of a batch as -1."""

    name = "sarama-3108-max-timestamp-unset"
    bug = "https://github.com/IBM/sarama/pull/3108"
    trigger = Trigger("encode", "kafka.batch/v2", value=batch_value(record_value(0)))

    def change(self, entry: JsonObject) -> None:
        """Leave it unset."""
        if "maxTimestamp" in entry:
            entry["maxTimestamp"] = "-1"


class DeltasInNanoseconds(WritingBug):
    """Writes timestamp deltas in nanoseconds."""

    name = "kafka-go-266-deltas-in-nanoseconds"
    bug = "https://github.com/segmentio/kafka-go/pull/266"
    trigger = Trigger(
        "encode", "kafka.batch/v2", value=batch_value(record_value(0), record_value(1, timestampDelta="1"))
    )

    def change(self, entry: JsonObject) -> None:
        """Multiply the deltas, which are milliseconds."""
        for one in records(entry):
            one["timestampDelta"] = str(wrap64(int(one["timestampDelta"]) * 1_000_000))


class TransactionalBitLost(WritingBug):
    """Writes a batch of a transaction without the bit that says so."""

    name = "kafkajs-199-transactional-bit-lost"
    bug = "https://github.com/tulios/kafkajs/issues/199"
    trigger = Trigger(
        "encode",
        "kafka.batch/v2",
        value=batch_value(
            record_value(0), attributes="16", producerId="7", producerEpoch="0", baseSequence="0"
        ),
    )

    def change(self, entry: JsonObject) -> None:
        """Clear the bit."""
        if "records" in entry:
            entry["attributes"] = str(int(entry["attributes"]) & ~TRANSACTIONAL)


class HeaderValueCutAtNul(WritingBug):
    """Writes the value of a header up to its first zero byte."""

    name = "node-rdkafka-970-header-value-cut-at-nul"
    bug = "https://github.com/Blizzard/node-rdkafka/pull/970"
    trigger = Trigger(
        "encode", "kafka.batch/v2", value=batch_value(record_value(0, headers=[["68", "610062"]]))
    )

    def change(self, entry: JsonObject) -> None:
        """Cut the values."""
        for one in records(entry):
            one["headers"] = [
                [key, value and bytes.fromhex(value).partition(b"\0")[0].hex()]
                for key, value in one["headers"]
            ]


class BufferOverflow(Exception):  # noqa: N818 - named for what the client meets
    """More bytes than the buffer of a header has room for."""


def _text(value: str | None) -> str:
    """Return the text of bytes in hex; empty if they are null or not UTF-8."""
    return bytes.fromhex(value or "").decode(errors="ignore")


class HeaderRoomInCharacters(WritingBug):
    """Fails on a header with characters of several bytes, for which it made room by characters."""

    name = "spring-xd-1871-header-room-in-characters"
    bug = "https://github.com/spring-attic/spring-xd/issues/1871"
    trigger = Trigger(
        "encode",
        "kafka.batch/v2",
        value=batch_value(record_value(0, headers=[["68", "Ø".encode().hex()]])),
    )

    def change(self, entry: JsonObject) -> None:
        """Fail on such a header."""
        for one in records(entry):
            for pair in one["headers"]:
                if not all(_text(part).isascii() for part in pair):
                    raise BufferOverflow


# --- messages of v0 and v1 ---


def _length_in_characters(writer: Writer, name: str, data: bytes | None) -> None:
    """Write the number of characters before the bytes of a text."""
    length = -1 if data is None else len(data)
    with suppress(UnicodeDecodeError):  # bytes that are no text keep their length
        length = length if data is None else len(data.decode().encode("utf-16-le")) // 2
    writer.int32(f"{name}Length", length)
    writer.put(name, data or b"")


class LengthInCharacters(KafkaBug):
    """Writes the length of key and value of a message in characters."""

    name = "kafka-node-35-length-in-characters"
    bug = "https://github.com/SOHU-Co/kafka-node/issues/35"
    patches = ((kafka_message, "_write_bytes", _length_in_characters),)
    trigger = Trigger("encode", "kafka.batch/v0", value=message_value(0, 0, None, "안녕".encode()))


class InnerOffsetsZero(WritingBug):
    """Writes the offset 0 in every message of a wrapper."""

    name = "kafka-node-1388-inner-offsets-zero"
    bug = "https://github.com/SOHU-Co/kafka-node/pull/1388"
    trigger = Trigger(
        "encode",
        "kafka.batch/v1",
        value=message_value(
            1,
            1,
            None,
            None,
            attributes="1",
            messages=[message_value(0, 1, None, b"a"), message_value(1, 1, None, b"b")],
        ),
    )

    def change(self, entry: JsonObject) -> None:
        """Set the offsets from which 0 results: those of v1 are stored relative to the first."""
        for one in messages(entry):
            one["offset"] = entry["offset"] if entry["magic"] == "1" else "0"


ZERO_TIME: Final = -6795364578871
"""The start of year 1 in nanoseconds since 1970, wrapped to 64 bits, in milliseconds."""


def _zero_time(writer: Writer, message: Message, offset: int) -> int:
    wrong = evolve(message, timestamp=ZERO_TIME) if message.timestamp == -1 else message
    return _write_head(writer, wrong, offset)


class NoTimestampWrittenAsTime(KafkaBug):
    """Writes a message without timestamp with a time before 1970."""

    name = "sarama-907-no-timestamp-written-as-time"
    bug = "https://github.com/IBM/sarama/pull/907"
    patches = ((kafka_message, "_write_head", _zero_time),)
    trigger = Trigger("encode", "kafka.batch/v1", value=message_value(0, 1, None, b"v", timestamp="-1"))


WRITING: Final[tuple[type[KafkaBug], ...]] = (
    VarintStopsEarly,
    VarintNeverEnds,
    NullValueRefused,
    LastHeaderRepeated,
    OffsetDeltasZero,
    MaxTimestampUnset,
    DeltasInNanoseconds,
    TransactionalBitLost,
    HeaderValueCutAtNul,
    HeaderRoomInCharacters,
    LengthInCharacters,
    InnerOffsetsZero,
    NoTimestampWrittenAsTime,
)
