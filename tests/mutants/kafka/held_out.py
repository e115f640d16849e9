"""Kafka mutants of the two held-out samples.

Two samples were chosen from the specification alone, and counted before anyone looked which case catches a
mutant of them. None was changed afterwards. So they measure the suite where nobody had tuned it. Cases that
the first sample showed to be missing were written for it.
"""

from collections.abc import Callable
from typing import Any, Final

from attrs import evolve

from tests.mutants.base import in_codec, mutant, patched, walk
from tests.mutants.kafka.helpers import KafkaMutant, PatchedKafka, misreading, replacing
from wireproof.kafka import control_record, control_types, log, message, record
from wireproof.kafka.attribute_bits import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.batch import RECORD_BATCH
from wireproof.kafka.layouts import MESSAGE_V0, PLAIN
from wireproof.kafka.message import MessageHead
from wireproof.kafka.record import BatchContext
from wireproof.kafka.values import Endpoint, LogEntry, Message, RecordBatch
from wireproof.wire.checksums import crc32
from wireproof.wire.compression import lz4
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

# --- wrappers: kafka.md, section 2.2 ---

_effective, _base = message._effective, message._base  # noqa: SLF001 - the parts that are wrong in the mutants


@replacing(
    message, "_effective", "inner-timestamp-type-believed", "kafka.batch/v1/wrapper/gzip-inner-log-append"
)
def _effective_by_either(one: Message, head: MessageHead, base: int) -> Message:
    """Gives an inner message the wrapper's timestamp where only the inner one says append time."""
    either = head.attributes | one.attributes & LOG_APPEND_TIME
    return _effective(one, evolve(head, attributes=either), base)


@replacing(message, "_base", "wrapper-base-from-count")
def _base_from_count(inner: Reader, head: MessageHead, stored: list[int]) -> int:
    """Counts back from a v1 wrapper's offset by how many messages it has, not by their last offset."""
    base = _base(inner, head, stored)
    return head.offset - len(stored) + 1 if head.magic and head.offset else base


@replacing(message, "_base", "v0-offsets-rebased")
def _base_of_v0_too(inner: Reader, head: MessageHead, stored: list[int]) -> int:
    """Takes the inner offsets of a v0 wrapper for relative ones, as they are in v1."""
    return _base(inner, evolve(head, magic=1), stored)


# --- records: kafka.md, sections 1.8 and 4 ---


@replacing(
    record, "BatchContext", "append-time-uncompressed-only", "kafka.batch/v2/timestamps/log-append-gzip"
)
def _shape(base_offset: int, base_timestamp: int, **rest: Any) -> BatchContext:  # noqa: ANN401 - handed on
    """Forgets the append time of a batch that is compressed."""
    shape = BatchContext(base_offset, base_timestamp, **rest)
    return evolve(shape, append_timestamp=None) if shape.compressed else shape


@misreading(KafkaMutant, "varint", "varint-31-bits", "kafka.batch/v2/varints/int32-max")
def _low_31_bits(self: Reader, name: str) -> int:
    """Loses the highest bit of a varint of 32."""
    whole = Reader.varint(self, name)
    raw = (whole << 1 ^ whole >> 31) & 0x7FFF_FFFF
    return raw >> 1 ^ -(raw & 1)


# --- the consumer: kafka.md, section 1.9 ---


@replacing(
    log,
    "AbortedTransactions",
    "aborted-from-base-offset",
    "kafka.log/mixed/delivered/first-offset-inside-batch",
)
class _FromBase(log.AbortedTransactions):
    """Begins an aborted transaction only with the first batch that is completely after its first offset."""

    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that the first offset of a batch counts where its last one does."""
        if not isinstance(entry, RecordBatch):
            return False
        while self._ahead and self._ahead[0][1] <= entry.base_offset:
            self._open.add(self._ahead.popleft()[0])
        if entry.attributes & CONTROL:
            self._close(entry)
            return True
        return bool(entry.attributes & TRANSACTIONAL) and entry.producer_id in self._open


@replacing(
    log,
    "AbortedTransactions",
    "abort-marker-closes-all",
    "kafka.log/mixed/delivered/two-aborts-interleaved",
)
class _ClosesAll(log.AbortedTransactions):
    """Ends the aborted transactions of every producer at the marker of one."""

    def _close(self, marker: RecordBatch) -> None:
        typed = marker.records[0].control if marker.records else None
        if typed is not None and typed.type == control_types.ABORT:
            self._open.clear()


_drop_earlier = log._drop_earlier  # noqa: SLF001 - the part that is wrong in the mutant


@replacing(log, "_drop_earlier", "fetch-offset-skips-wrappers")
def _whole_wrappers(entry: LogEntry, offset: int | None) -> LogEntry | None:
    """Delivers a whole wrapper of which a part is below the fetch offset."""
    delivered = _drop_earlier(entry, offset)
    return entry if delivered is not None and isinstance(entry, Message) else delivered


# --- control records: kafka.md, section 1.9 ---

_type = control_record._type  # noqa: SLF001 - the part that is wrong in the mutant


@replacing(control_record, "_type", "control-key-version-exact", "kafka.batch/v2/control/key-version-1")
def _type_of_version_0(reader: Reader, key: bytes | None, at: int) -> int:
    """Refuses a control key of a version above 0, which is to be read as 0."""
    if key is not None and key[:2] > bytes(2):
        raise reader.reject("bad-control", "version", "not 0", at=at)
    return _type(reader, key, at)


# --- batches: kafka.md, sections 1.1 and 1.2 ---

ATTRIBUTES: Final = [part.name for part in RECORD_BATCH.at("v2").parts].index("attributes")


def _of_one_byte(unpack: Callable[[bytes, int], tuple[int, ...]]) -> Callable[[bytes, int], tuple[int, ...]]:
    def read(data: bytes, at: int) -> tuple[int, ...]:
        numbers = unpack(data, at)
        return (*numbers[:ATTRIBUTES], numbers[ATTRIBUTES] & 0xFF, *numbers[ATTRIBUTES + 1 :])

    return read


@mutant(KafkaMutant, "patch_value", "offsets-as-doubles", "kafka.batch/v2/offsets/underflow")
def offsets_as_doubles(value: Json) -> Json:
    """Keeps offsets in doubles, as a language without wide integers does."""
    for part in walk(value):
        for name in {"offset", "baseOffset"} & part.keys():
            part[name] = str(int(float(int(part[name]))))
    return value


# --- codecs: kafka.md, section 3 ---


@replacing(lz4, "_block_checksum", "lz4-block-checksum-unverified", "kafka.batch/v2/lz4/block-checksum-wrong")
def _passed_over(reader: Reader, block: memoryview, start: int) -> None:
    """Steps over the checksum of an LZ4 block without a look at it."""
    del block, start
    reader.uint32le("checksum")


# --- control records: kafka.md, section 1.9 ---


_endpoint = control_record._endpoint  # noqa: SLF001 - the part that is wrong in the mutant


@replacing(control_record, "_endpoint", "voter-port-signed", "kafka.batch/v2/control/kraft-voters")
def _endpoint_signed(found: Any) -> Endpoint:  # noqa: ANN401 - an endpoint of the tables
    """Reads the port of a KRaft voter with a sign."""
    return _endpoint(evolve(found, port=found.port - (found.port >> 15 << 16)))


# --- messages and wrappers: kafka.md, sections 2.1 and 2.2 ---

_write_plain, _base = message._write_plain, message._base  # noqa: SLF001 - the parts that are wrong in the mutants


@replacing(
    message,
    "_base",
    "wrapper-offset-zero-rebased",
    left_open="the text counts from the wrapper, Kafka's class does not",
)
def _base_below_none(inner: Reader, head: MessageHead, stored: list[int]) -> int:
    """Counts back from the offset of a v1 wrapper even where it is 0 and the inner offsets are absolute."""
    base = _base(inner, head, stored)
    return -stored[-1] if head.magic and not head.offset else base


@replacing(message, "_write_plain", "encode-legacy-crc-from-attributes", "kafka.batch/v0/encode/lz4")
def _seal_from_attributes(writer: Writer, value: Message) -> None:
    """Writes the CRC of a v0 or v1 message from the attributes on, as in v2, where it begins at the magic."""
    start = len(writer.data)
    _write_plain(writer, value)
    covered = bytes(writer.data[start + MESSAGE_V0.offset("attributes") :])
    writer.patch("crc", "uint32", start + MESSAGE_V0.offset("crc"), crc32(covered))


# --- logs: kafka.md, sections 1.6 and 1.9 ---

_read_all = log._read_all  # noqa: SLF001 - the part that is wrong in the mutant


class _EmptySeen(Exception):  # noqa: N818 - no error, it ends a loop
    """A batch without records was read."""


class _UntilEmpty(list[LogEntry]):
    def append(self, one: LogEntry) -> None:
        super().append(one)
        if isinstance(one, RecordBatch) and not one.records:
            raise _EmptySeen


@replacing(log, "_read_all", "empty-batch-ends-log")
def _read_until_empty(reader: Reader, options: Options, entries: list[LogEntry]) -> None:
    """Takes a batch that compaction left without records for the end of a log."""
    seen, scope = _UntilEmpty(), reader.scope
    try:
        _read_all(reader, options, seen)
    except _EmptySeen:
        reader.scope = scope
    finally:
        entries.extend(seen)


@replacing(log, "AbortedTransactions", "aborted-hides-plain", "kafka.log/mixed/delivered/not-transactional")
class _HidesPlainToo(log.AbortedTransactions):
    """Drops a producer's batches outside any transaction, too, while one of its transactions is aborted."""

    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that every batch counts as transactional."""
        if isinstance(entry, RecordBatch):
            return super().hides(evolve(entry, attributes=entry.attributes | TRANSACTIONAL))
        return super().hides(entry)


# --- other parts in the modules of the reference ---

patched(
    PatchedKafka,
    {
        "attributes-low-byte": (
            "Reads the attributes of a batch as one byte, as older texts have them.",
            in_codec(RECORD_BATCH, _unpack_base_offset=_of_one_byte),
            "kafka.log/mixed/append/bit-8-kept",
        ),
        "inner-crc-unchecked": (
            "Checks the CRC of a message of its own, but not inside a wrapper, as brokers once did.",
            tuple(
                (plain.inner_codec.read.__globals__, "crc_wrong_message_crc", lambda *_: None)
                for plain in PLAIN
            ),
        ),
    },
)
