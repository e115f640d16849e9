"""Kafka readers with a bug that a real one had, where no other mutant repeats it: bugs.toml.

`history_rest_kafka_compression` has those of compressed regions, `history_rest_kafka_encode` the writers. The
name of a mutant is that of the first entry that it repeats.
"""

import os
from collections.abc import Mapping
from typing import ClassVar, Final, NoReturn

from tests.mutants.base import JsonObject, ReferenceCodec, with_options
from tests.mutants.history_rest_kafka_compression import PatchedKafka
from tests.mutants.kafka_helpers import KafkaMutant
from wireproof.adapters.contract import Request
from wireproof.kafka import consumer_view, entry, log, message, record
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL
from wireproof.kafka.message import MessageHeader
from wireproof.kafka.record import BatchContext
from wireproof.kafka.size_and_magic import SizeAndMagic, peek_whole_entry
from wireproof.kafka.values import Log, LogEntry, Message, RecordBatch, RecordHeader
from wireproof.wire.layout import Layout
from wireproof.wire.layout_codec import patch_computed
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

CRASHED: Final = 70
"""The exit code of a mutant whose program ends in the middle of a request, as after a panic."""


def crash() -> NoReturn:
    """End the process without a word, as a panic that nobody recovers."""
    os._exit(CRASHED)


# --- fetches of several entries ---


def _read_first(reader: Reader, options: Options, entries: list[LogEntry]) -> None:
    scope, prefix = reader.scope, peek_whole_entry(reader, entry.max_entry_size(options))
    if prefix is None:
        return
    reader.scope = (scope, "batches", 0)
    entries.append(entry.read(reader, prefix, options))
    reader.scope = scope
    reader.skip("rest", reader.left)


class FirstEntryOnly(PatchedKafka):
    """Reads the first entry of a fetch and drops the others."""

    name = "sarama-1022-first-entry-only"
    patches = ((log, "_read_all", _read_first),)


def _whole_prefix(reader: Reader, max_size: int) -> SizeAndMagic | None:
    if 0 < reader.left <= 16:
        raise reader.reject("truncated", "magic", f"{reader.left} bytes")
    return peek_whole_entry(reader, max_size)


class CutBeforeMagicRefused(PatchedKafka):
    """Looks at the magic of an entry that is cut before it, and refuses the fetch."""

    name = "sarama-1030-cut-before-magic"
    patches = ((log, "peek_whole_entry", _whole_prefix),)


# --- batches and records ---


class LastOffsetDeltaElsewhere(KafkaMutant):
    """Reads the last offset delta from the field of the attributes."""

    name = "aiokafka-99a0981-last-offset-delta"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Copy the attributes."""
        del raw
        if "lastOffsetDelta" in entry:
            entry["lastOffsetDelta"] = entry["attributes"]


_read_header = record._header  # noqa: SLF001 - the part that is wrong in the mutants


def _valued_header(reader: Reader, context: BatchContext) -> RecordHeader:
    key, value = _read_header(reader, context)
    if value is None:
        raise reader.reject("null-not-allowed", "value", "null")
    return key, value


class NullHeaderValueRefused(PatchedKafka):
    """Refuses a header without a value."""

    name = "kafka-protocol-rs-134-null-header-value"
    patches = ((record, "_header", _valued_header),)


_read_headers = record._headers  # noqa: SLF001 - the part that is wrong in the mutant


def _room_for_headers(reader: Reader, context: BatchContext, count: int, at: int) -> tuple[RecordHeader, ...]:
    if count < 0:
        crash()
    return _read_headers(reader, context, count, at)


class NegativeHeaderCountPanics(PatchedKafka):
    """Makes room for a negative number of headers, which ends a program of Go that does not recover."""

    name = "kafka-go-882-header-count"
    costly = True
    patches = ((record, "_headers", _room_for_headers),)


# --- messages and wrappers ---


def _too_large(entry_: Reader, head: MessageHeader) -> Message:
    del head
    raise entry_.reject("limit-exceeded", "size", "message size too large")


class WrapperTooLarge(PatchedKafka):
    """Reports every compressed set of messages as too large."""

    name = "librdkafka-1314-wrapper-too-large"
    patches = ((message, "_wrapper", _too_large),)


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


def _write_by_cksum(writer: Writer, layout: Layout, start: int) -> None:
    """Write size and CRC as the reference does, then the other CRC."""
    patch_computed(writer, layout, start)
    at = start + layout.offset("crc")
    writer.patch("crc", "uint32", at, cksum(bytes(writer.data[at + 4 :])))


class CksumOfMessages(PatchedKafka):
    """Checks and writes the CRC of messages by the rules of cksum, not of zip."""

    name = "kafka-protocol-rs-62-cksum"
    patches = ((message, "crc32", cksum), (message, "patch_computed", _write_by_cksum))


# --- the consumer ---


class _SeesPackedAborted(consumer_view.AbortedTransactions):
    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that a compressed batch of data is never hidden."""
        hidden = super().hides(entry)
        packed = isinstance(entry, RecordBatch) and entry.attributes & CODEC_MASK
        return hidden and not (packed and not entry.attributes & CONTROL)


class AbortedPackedDelivered(PatchedKafka):
    """Delivers the records of an aborted transaction where their batch is compressed."""

    name = "librdkafka-3020-aborted-compressed"
    patches = ((consumer_view, "AbortedTransactions", _SeesPackedAborted),)


_delivered = log._delivered  # noqa: SLF001 - the part that is wrong in the mutant


def _delivered_or_error(entries: list[LogEntry], options: Options) -> Log:
    found = _delivered(entries, options)
    if options.isolation == "read_committed" and entries and not found.batches:
        raise Rejected("limit-exceeded", 0, "batches", "message size too large")
    return found


class OnlyAbortedIsAnError(PatchedKafka):
    """Reports a fetch of which nothing is delivered as a message that is too large."""

    name = "librdkafka-2993-only-aborted"
    patches = ((log, "_delivered", _delivered_or_error),)


class AbortedListAlways(ReferenceCodec):
    """Drops aborted records also for a consumer that wants uncommitted ones."""

    name = "franz-go-758-aborted-uncommitted"
    system: ClassVar[str] = "kafka"

    def options(self, request: Request) -> Options:
        """Filter wherever there is a list."""
        return (
            with_options(request, isolation="read_committed") if request.options.aborted else request.options
        )


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        FirstEntryOnly,
        CutBeforeMagicRefused,
        LastOffsetDeltaElsewhere,
        NullHeaderValueRefused,
        NegativeHeaderCountPanics,
        WrapperTooLarge,
        CksumOfMessages,
        AbortedPackedDelivered,
        OnlyAbortedIsAnError,
        AbortedListAlways,
    )
}
"""Name to class."""
