"""Kafka mutants of the first held-out sample, chosen from the specification alone.

They were written and counted before anyone looked which case would catch them. So they measure the suite
where nobody had tuned it. Cases that were missing were written afterwards.
"""

from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve

from tests.mutants.base import ReferenceCodec
from tests.mutants.kafka_helpers import KafkaMutant
from tests.mutants.patched import Patched
from wireproof.kafka import batch, consumer_view, control_record, control_types, message
from wireproof.kafka.attribute_bits import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.message import MessageHeader
from wireproof.kafka.record import BatchContext
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.wire.reader import Reader


class PatchedKafka(Patched):
    """A Kafka codec with other parts; in itself no mutant."""

    system = "kafka"


# --- wrappers: kafka.md, section 2.2 ---

_effective, _base = message._effective, message._base  # noqa: SLF001 - the parts that are wrong in the mutants


def _effective_by_either(one: Message, head: MessageHeader, base: int) -> Message:
    either = head.attributes | one.attributes & LOG_APPEND_TIME
    return _effective(one, evolve(head, attributes=either), base)


class InnerTimestampTypeBelieved(PatchedKafka):
    """Gives an inner message the wrapper's timestamp where only the inner one says append time."""

    name = "inner-timestamp-type-believed"
    patches = ((message, "_effective", _effective_by_either),)


def _base_from_count(inner: Reader, head: MessageHeader, stored: list[int]) -> int:
    base = _base(inner, head, stored)
    return head.offset - len(stored) + 1 if head.magic and head.offset else base


class WrapperBaseFromCount(PatchedKafka):
    """Counts back from a v1 wrapper's offset by how many messages it has, not by their last offset."""

    name = "wrapper-base-from-count"
    patches = ((message, "_base", _base_from_count),)


def _base_of_v0_too(inner: Reader, head: MessageHeader, stored: list[int]) -> int:
    return _base(inner, evolve(head, magic=1), stored)


class V0OffsetsRebased(PatchedKafka):
    """Takes the inner offsets of a v0 wrapper for relative ones, as they are in v1."""

    name = "v0-offsets-rebased"
    patches = ((message, "_base", _base_of_v0_too),)


# --- records: kafka.md, sections 1.8 and 4 ---


def _shape(base_offset: int, base_timestamp: int, **rest: Any) -> BatchContext:  # noqa: ANN401 - handed on
    shape = BatchContext(base_offset, base_timestamp, **rest)
    return evolve(shape, append_timestamp=None) if shape.compressed else shape


class AppendTimeUncompressedOnly(PatchedKafka):
    """Forgets the append time of a batch that is compressed."""

    name = "append-time-uncompressed-only"
    patches = ((batch, "BatchContext", _shape),)


class Reader31(Reader):
    """Keeps three bits of the fifth byte of a varint, where four count."""

    __slots__ = ()

    def varint(self, name: str) -> int:
        """Read the low 31 bits, then undo the zigzag."""
        whole = super().varint(name)
        raw = (whole << 1 ^ whole >> 31) & 0x7FFF_FFFF
        return raw >> 1 ^ -(raw & 1)


class Varint31Bits(KafkaMutant):
    """Loses the highest bit of a varint of 32."""

    name = "varint-31-bits"
    reader = Reader31


# --- the consumer: kafka.md, section 1.9 ---


class _FromBase(consumer_view.AbortedTransactions):
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


class AbortedFromBaseOffset(PatchedKafka):
    """Begins an aborted transaction only with the first batch that is completely after its first offset."""

    name = "aborted-from-base-offset"
    patches = ((consumer_view, "AbortedTransactions", _FromBase),)


class _ClosesAll(consumer_view.AbortedTransactions):
    def _close(self, marker: RecordBatch) -> None:
        typed = marker.records[0].control if marker.records else None
        if typed is not None and typed.type == control_types.ABORT:
            self._open.clear()


class AbortMarkerClosesAll(PatchedKafka):
    """Ends the aborted transactions of every producer at the marker of one."""

    name = "abort-marker-closes-all"
    patches = ((consumer_view, "AbortedTransactions", _ClosesAll),)


_drop_earlier = consumer_view._drop_earlier  # noqa: SLF001 - the part that is wrong in the mutant


def _whole_wrappers(entry: LogEntry, offset: int | None) -> LogEntry | None:
    delivered = _drop_earlier(entry, offset)
    return entry if delivered is not None and isinstance(entry, Message) else delivered


class FetchOffsetSkipsWrappers(PatchedKafka):
    """Delivers a whole wrapper of which a part is below the fetch offset."""

    name = "fetch-offset-skips-wrappers"
    patches = ((consumer_view, "_drop_earlier", _whole_wrappers),)


# --- control records: kafka.md, section 1.9 ---

_type = control_record._type  # noqa: SLF001 - the part that is wrong in the mutant


def _type_of_version_0(reader: Reader, key: bytes | None, at: int) -> int:
    if key is not None and key[:2] > bytes(2):
        raise reader.reject("bad-control", "version", "not 0", at=at)
    return _type(reader, key, at)


class ControlKeyVersionExact(PatchedKafka):
    """Refuses a control key of a version above 0, which is to be read as 0."""

    name = "control-key-version-exact"
    patches = ((control_record, "_type", _type_of_version_0),)


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        InnerTimestampTypeBelieved,
        WrapperBaseFromCount,
        V0OffsetsRebased,
        AppendTimeUncompressedOnly,
        Varint31Bits,
        AbortedFromBaseOffset,
        AbortMarkerClosesAll,
        FetchOffsetSkipsWrappers,
        ControlKeyVersionExact,
    )
}
"""Name to class."""
