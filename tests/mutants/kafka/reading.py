"""Kafka readers with a bug that a released client had, in how they read one entry or a fetch.

`bugs.toml`.
"""

import os
from functools import partial
from typing import Any, Final, NoReturn
from unittest.mock import patch

from tests.mutants.base import Failed, JsonObject, in_codec, mutant, patched, with_options
from tests.mutants.kafka.helpers import (
    FieldByField,
    KafkaMutant,
    PatchedKafka,
    bit,
    frames,
    misreading,
    records,
    replacing,
)
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome, refused_outcome
from wireproof.kafka import control_record, entry, log, message, record
from wireproof.kafka import message as kafka_message
from wireproof.kafka import record as kafka_record
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME, wrap64
from wireproof.kafka.control_record import _end_of_transaction, _type
from wireproof.kafka.layouts import MESSAGE
from wireproof.kafka.message import MessageHead
from wireproof.kafka.record import BatchContext
from wireproof.kafka.size_and_magic import SizeAndMagic, peek_whole_entry
from wireproof.kafka.values import Control, Log, LogEntry, Message, Record, RecordBatch, RecordHeader
from wireproof.wire.compression import decompress_prefix
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

READ_RECORDS: Final = kafka_record.read_records
READ_MESSAGE: Final = kafka_message.read


# --- the records of a v2 batch ---


@mutant(PatchedKafka, "spoil", "franz-go-324-timestamp-delta-of-32-bits")
def timestamp_delta_of_32_bits(entry: JsonObject) -> None:
    """Loses the records of a batch from the first one whose timestamp delta needs more than 32 bits."""
    fits = [-(1 << 31) <= int(one["timestampDelta"]) < 1 << 31 for one in records(entry)]
    if False in fits:
        del entry["records"][fits.index(False) :]


@mutant(
    PatchedKafka,
    "spoil",
    "franz-go-a23a076-append-time-ignored",
)
def append_time_of_records_ignored(entry: JsonObject) -> None:
    """Gives the records of a batch with LogAppendTime the timestamps of their producer."""
    if not bit(entry, LOG_APPEND_TIME):
        return
    for one in records(entry):
        one["timestamp"] = str(wrap64(int(entry["baseTimestamp"]) + int(one["timestampDelta"])))


@mutant(PatchedKafka, "on_rejected", "kafka-13149-record-past-end-is-null", errors="coarse")
def record_past_end_is_null(rejected: Rejected, request: Request) -> Outcome:
    """Takes a record that is longer than the rest of its plain batch for null, and fails when it uses it."""
    if rejected.detail == "RECORD_PAST_END" and isinstance(rejected.at, int):
        raise Failed(request.op)  # its fault is the exception, not the class
    return refused_outcome(rejected)


@mutant(PatchedKafka, "spoil", "kafkajs-1132-headers-of-one-name-collapse")
def headers_of_one_name_collapse(entry: JsonObject) -> None:
    """Keeps one header of each name in a record, with the value of the last one."""
    for one in records(entry):
        one["headers"] = [list(pair) for pair in dict(one["headers"]).items()]


@misreading(PatchedKafka, "int32", "sarama-3119-many-records-refused")
def _limited_count(self: FieldByField, name: str) -> int:
    """Refuses a batch of more than 131,070 records."""
    value = super(FieldByField, self).int32(name)
    if name == "recordsCount" and value > 2 * 0xFFFF:
        raise self.reject("other", name, f"{value} records", at=self.pos - 4)
    return value


# --- control records ---


@replacing(control_record, "_parse", "sarama-1898-unknown-control-type-parsed")
def _marker_or_unknown(
    reader: Reader, key: bytes | None, key_at: int, value: bytes | None, value_at: int
) -> Control:
    """Reads the value of an unknown control record like that of a marker, and refuses a short one."""
    return _end_of_transaction(reader, _type(reader, key, key_at), value, value_at)


@replacing(kafka_record, "read_records", "rskafka-297-control-record-without-envelope")
def _control_without_envelope(reader: Reader, context: BatchContext, count: int) -> list[Record]:
    """Looks for version and type of a control record at the start of the record, not in its key."""
    if context.control and count:
        at, version = reader.pos, reader.int16("version")
        if version:
            raise reader.reject("bad-control", "version", f"version {version}", at=at)
        reader.pos = at
    return READ_RECORDS(reader, context, count)


# --- messages of v0 and v1 ---


ATTRIBUTES: Final = 17
"""The position of the attributes in a message."""


@replacing(kafka_message, "read", "franz-go-5fee169-append-time-refused")
def _without_time_type(reader: Reader, magic: int) -> Message:
    """Refuses a plain v1 message with LogAppendTime as one with an unknown attribute."""
    attributes = reader.data[reader.pos + ATTRIBUTES]
    if magic and attributes & ~CODEC_MASK and not attributes & CODEC_MASK:
        text = f"attributes {attributes}"
        raise reader.reject("invalid-value", "attributes", text, at=reader.pos + ATTRIBUTES)
    return READ_MESSAGE(reader, magic)


def _decompress_to(offset: int, *region: Any, **codec: Any) -> tuple[Reader, Rejected | None]:  # noqa: ANN401 - as there
    """End the set behind the first message that has the offset of the wrapper."""
    inner, defect = decompress_prefix(*region, **codec)
    for start, end in frames(inner.data):
        if int.from_bytes(inner.data[start : start + 8], "big", signed=True) == offset:
            inner.end = end
            break
    return inner, defect


def _cut_at_wrapper_offset(reader: Reader, *, offset: int, **fields: int) -> tuple[Message, ...]:
    with patch.object(kafka_message, "decompress_prefix", partial(_decompress_to, offset)):
        return kafka_message.read_set(reader, offset=offset, **fields)


def _base_from_last(inner: Reader, head: MessageHead, stored: list[int]) -> int:
    del inner
    return head.offset - stored[-1] if head.magic else 0


@mutant(PatchedKafka, "on_rejected", "aiokafka-795-unknown-codec-unbound", errors="coarse")
def unknown_codec_unbound(rejected: Rejected, request: Request) -> Outcome:
    """Fails on an unknown codec with an exception about itself, not about the bytes."""
    if rejected.detail == "UNKNOWN_CODEC":
        raise Failed(request.op)  # likewise
    return refused_outcome(rejected)


CRASHED: Final = 70
"""The exit code of a mutant whose program ends in the middle of a request, as after a panic."""


def crash() -> NoReturn:
    """End the process without a word, as a panic that nobody recovers."""
    os._exit(CRASHED)


# --- fetches of several entries ---


@replacing(log, "_read_all", "sarama-1022-first-entry-only")
def _read_first(reader: Reader, options: Options, entries: list[LogEntry]) -> None:
    """Reads the first entry of a fetch and drops the others."""
    scope, prefix = reader.scope, peek_whole_entry(reader, entry.max_entry_size(options))
    if prefix is None:
        return
    reader.scope = (scope, "batches", 0)
    entries.append(entry.read(reader, prefix, options))
    reader.scope = scope
    reader.skip("rest", reader.left)


@replacing(log, "peek_whole_entry", "sarama-1030-cut-before-magic")
def _whole_prefix(reader: Reader, max_size: int) -> SizeAndMagic | None:
    """Looks at the magic of an entry that is cut before it, and refuses the fetch."""
    if 0 < reader.left <= 16:
        raise reader.reject("truncated", "magic", f"{reader.left} bytes")
    return peek_whole_entry(reader, max_size)


# --- batches and records ---


@mutant(KafkaMutant, "spoil", "aiokafka-99a0981-last-offset-delta")
def last_offset_delta_elsewhere(entry: JsonObject) -> None:
    """Reads the last offset delta from the field of the attributes."""
    if "lastOffsetDelta" in entry:
        entry["lastOffsetDelta"] = entry["attributes"]


_read_header = record._header  # noqa: SLF001 - the part that is wrong in the mutants


@replacing(record, "_header", "kafka-protocol-rs-134-null-header-value")
def _valued_header(reader: Reader) -> RecordHeader:
    """Refuses a header without a value."""
    key, value = _read_header(reader)
    if value is None:
        raise reader.reject("null-not-allowed", "value", "null")
    return key, value


_read_headers = record._headers  # noqa: SLF001 - the part that is wrong in the mutant


@replacing(record, "_headers", "kafka-go-882-header-count", costly=True)
def _room_for_headers(reader: Reader, count: int, at: int) -> tuple[RecordHeader, ...]:
    """Makes room for a negative number of headers, which ends a program of Go that does not recover."""
    if count < 0:
        crash()
    return _read_headers(reader, count, at)


# --- messages and wrappers ---


@replacing(message, "read", "librdkafka-1314-wrapper-too-large")
def _too_large(reader: Reader, magic: int) -> Message:
    """Reports every compressed set of messages as too large."""
    if reader.data[reader.pos + ATTRIBUTES] & CODEC_MASK:
        raise reader.reject("limit-exceeded", "size", "message size too large")
    return READ_MESSAGE(reader, magic)


def _crc_bits(byte: int) -> int:
    crc = byte << 24
    for _ in range(8):
        crc = (crc << 1 ^ 0x04C1_1DB7 if crc >> 31 else crc << 1) & 0xFFFF_FFFF
    return crc


CKSUM: Final = tuple(_crc_bits(byte) for byte in range(256))


def cksum(data: bytes) -> int:
    """Return the CRC of the POSIX command of this name: highest bit first, with the length behind."""
    size, crc = len(data), 0
    length = size.to_bytes((size.bit_length() + 7) // 8, "little")
    for byte in bytes(data) + length:
        crc = (crc << 8 & 0xFFFF_FFFF) ^ CKSUM[crc >> 24 ^ byte]
    return crc ^ 0xFFFF_FFFF


# --- the consumer ---


@replacing(log, "AbortedTransactions", "librdkafka-3020-aborted-compressed")
class _SeesPackedAborted(log.AbortedTransactions):
    """Delivers the records of an aborted transaction where their batch is compressed."""

    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that a compressed batch of data is never hidden."""
        hidden = super().hides(entry)
        packed = isinstance(entry, RecordBatch) and entry.attributes & CODEC_MASK
        return hidden and not (packed and not entry.attributes & CONTROL)


_delivered = log._delivered  # noqa: SLF001 - the part that is wrong in the mutant


@replacing(log, "_delivered", "librdkafka-2993-only-aborted")
def _delivered_or_error(entries: list[LogEntry], options: Options) -> Log:
    """Reports a fetch of which nothing is delivered as a message that is too large."""
    found = _delivered(entries, options)
    if options.isolation == "read_committed" and entries and not found.batches:
        raise Rejected("limit-exceeded", 0, "batches", "message size too large")
    return found


@mutant(KafkaMutant, "options", "franz-go-758-aborted-uncommitted")
def aborted_list_always(request: Request) -> Options:
    """Drops aborted records also for a consumer that wants uncommitted ones."""
    return with_options(request, isolation="read_committed") if request.options.aborted else request.options


# --- other parts in the modules of the reference ---

patched(
    PatchedKafka,
    {
        "kafka-5365-wrapper-offset-of-producer": (
            "Ends a compressed set at the offset of its wrapper, which is 0 as a producer sends it.",
            (
                *in_codec(kafka_message.WRAPPER, read_messages=lambda _: _cut_at_wrapper_offset),
                (kafka_message, "_base", _base_from_last),
            ),
        ),
        "kafka-protocol-rs-62-cksum": (
            "Checks and writes the CRC of messages by the rules of cksum, not of zip.",
            (
                *in_codec(MESSAGE, _crc_of=lambda _: cksum),
                *in_codec(message.WRAPPER, _crc_of=lambda _: cksum),
            ),
        ),
    },
)
