"""Kafka mutants of the second held-out sample, chosen from the specification alone.

As in `heldout1_kafka`, none was changed after it was known which case catches it. Neither the suite nor a
fuzzer was tuned to them.
"""

from collections.abc import Mapping
from typing import Final

from attrs import evolve

from tests.mutants.base import ReferenceCodec, walk
from tests.mutants.patched import Patched
from wireproof.adapters.contract import Request
from wireproof.kafka import batch, consumer_view, control_record, log, message
from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.message import MessageHeader
from wireproof.kafka.values import Endpoint, LogEntry, Message, RecordBatch
from wireproof.wire import gzip, lz4
from wireproof.wire.checksums import crc32
from wireproof.wire.json_values import Json
from wireproof.wire.layout import Layout
from wireproof.wire.layout_codec import patch_computed
from wireproof.wire.options import Options
from wireproof.wire.output_buffer import decompress_failed
from wireproof.wire.reader import Reader
from wireproof.wire.struct_codec import StructValues
from wireproof.wire.writer import Writer


class PatchedKafka(Patched):
    """A Kafka codec with other parts; in itself no mutant."""

    system = "kafka"


# --- batches: kafka.md, sections 1.1 and 1.2 ---

_header = batch._header  # noqa: SLF001 - the part that is wrong in the mutant


def _header_of_one_byte(entry: Reader) -> batch.RecordBatchHeader:
    header = _header(entry)
    low = header.batch.attributes & 0xFF
    return evolve(header, batch=evolve(header.batch, attributes=low))


class AttributesLowByte(PatchedKafka):
    """Reads the attributes of a batch as one byte, as older texts have them."""

    name = "attributes-low-byte"
    patches = ((batch, "_header", _header_of_one_byte),)


class OffsetsAsDoubles(ReferenceCodec):
    """Keeps offsets in doubles, as a language without wide integers does."""

    name = "offsets-as-doubles"
    system = "kafka"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Round every offset to the nearest double."""
        del request, data
        for part in walk(value):
            for name in {"offset", "baseOffset"} & part.keys():
                part[name] = str(int(float(int(part[name]))))
        return value


# --- codecs: kafka.md, section 3 ---


def _passed_over(reader: Reader, block: memoryview, start: int) -> None:
    del block, start
    reader.uint32le("checksum")


class Lz4BlockChecksumUnverified(PatchedKafka):
    """Steps over the checksum of an LZ4 block without a look at it."""

    name = "lz4-block-checksum-unverified"
    patches = ((lz4, "_block_checksum", _passed_over),)


def _ten_bytes(reader: Reader) -> None:
    start = reader.pos
    if reader.uint16le("magic") != gzip.MAGIC or reader.uint8("method") != gzip.DEFLATE:
        raise decompress_failed(reader, "magic", "no gzip member", start)
    reader.skip("rest", 7)


class GzipHeaderTenBytes(PatchedKafka):
    """Takes every gzip header for ten bytes, whatever parts its flags announce."""

    name = "gzip-header-ten-bytes"
    patches = ((gzip, "_header", _ten_bytes),)


# --- control records: kafka.md, section 1.9 ---


_endpoint = control_record._endpoint  # noqa: SLF001 - the part that is wrong in the mutant


def _endpoint_signed(found: StructValues) -> Endpoint:
    port = found["port"]
    return _endpoint({**found, "port": port - (port >> 15 << 16)})


class VoterPortSigned(PatchedKafka):
    """Reads the port of a KRaft voter with a sign."""

    name = "voter-port-signed"
    patches = ((control_record, "_endpoint", _endpoint_signed),)


# --- messages and wrappers: kafka.md, sections 2.1 and 2.2 ---

_plain, _base = message._plain, message._base  # noqa: SLF001 - the parts that are wrong in the mutants


def _plain_unsealed_inside(entry: Reader, head: MessageHeader) -> Message:
    return _plain(entry, evolve(head, crc_valid=True) if entry.space else head)


class InnerCrcUnchecked(PatchedKafka):
    """Checks the CRC of a message of its own, but not inside a wrapper, as brokers once did."""

    name = "inner-crc-unchecked"
    patches = ((message, "_plain", _plain_unsealed_inside),)


def _base_below_none(inner: Reader, head: MessageHeader, stored: list[int]) -> int:
    base = _base(inner, head, stored)
    return -stored[-1] if head.magic and not head.offset else base


class WrapperOffsetZeroRebased(PatchedKafka):
    """Counts back from the offset of a v1 wrapper even where it is 0 and the inner offsets are absolute."""

    name = "wrapper-offset-zero-rebased"
    patches = ((message, "_base", _base_below_none),)


def _seal_from_attributes(writer: Writer, layout: Layout, start: int) -> None:
    patch_computed(writer, layout, start)
    covered = bytes(writer.data[start + layout.offset("attributes") :])
    writer.patch("crc", "uint32", start + layout.offset("crc"), crc32(covered))


class EncodeLegacyCrcFromAttributes(PatchedKafka):
    """Writes the CRC of a v0 or v1 message from the attributes on, as in v2, where it begins at the magic."""

    name = "encode-legacy-crc-from-attributes"
    patches = ((message, "patch_computed", _seal_from_attributes),)


# --- logs: kafka.md, sections 1.6 and 1.9 ---

_read_all = log._read_all  # noqa: SLF001 - the part that is wrong in the mutant


class _EmptySeen(Exception):  # noqa: N818 - no error, it ends a loop
    """A batch without records was read."""


class _UntilEmpty(list[LogEntry]):
    def append(self, one: LogEntry) -> None:
        super().append(one)
        if isinstance(one, RecordBatch) and not one.records:
            raise _EmptySeen


def _read_until_empty(reader: Reader, options: Options, entries: list[LogEntry]) -> None:
    seen, scope = _UntilEmpty(), reader.scope
    try:
        _read_all(reader, options, seen)
    except _EmptySeen:
        reader.scope = scope
    finally:
        entries.extend(seen)


class EmptyBatchEndsLog(PatchedKafka):
    """Takes a batch that compaction left without records for the end of a log."""

    name = "empty-batch-ends-log"
    patches = ((log, "_read_all", _read_until_empty),)


class _HidesPlainToo(consumer_view.AbortedTransactions):
    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that every batch counts as transactional."""
        if isinstance(entry, RecordBatch):
            return super().hides(evolve(entry, attributes=entry.attributes | TRANSACTIONAL))
        return super().hides(entry)


class AbortedHidesPlain(PatchedKafka):
    """Drops a producer's batches outside any transaction, too, while one of its transactions is aborted."""

    name = "aborted-hides-plain"
    patches = ((consumer_view, "AbortedTransactions", _HidesPlainToo),)


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        AttributesLowByte,
        OffsetsAsDoubles,
        Lz4BlockChecksumUnverified,
        GzipHeaderTenBytes,
        VoterPortSigned,
        InnerCrcUnchecked,
        WrapperOffsetZeroRebased,
        EncodeLegacyCrcFromAttributes,
        EmptyBatchEndsLog,
        AbortedHidesPlain,
    )
}
"""Name to class."""
