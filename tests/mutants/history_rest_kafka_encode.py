"""Kafka writers with a bug that a real one had, where no other mutant repeats it: bugs.toml.

The name of a mutant is that of the first entry that it repeats.
"""

from collections.abc import Callable, Mapping
from typing import Final

from attrs import evolve

from tests.mutants.base import ReferenceCodec, walk
from tests.mutants.history_rest_kafka_compression import PatchedKafka
from tests.mutants.kafka_helpers import KafkaMutant
from tests.mutants.patched import Patch
from wireproof.adapters.contract import Request
from wireproof.kafka import batch, message
from wireproof.kafka.values import RecordBatch
from wireproof.wire import lz4, snappy
from wireproof.wire.compression import compress
from wireproof.wire.json_values import Json
from wireproof.wire.writer import Writer

# --- compression ---

SNAPPY: Final = 2
LZ4: Final = 3
SNAPPY_BLOCK: Final = 32 * 1024
LZ4_HEADER: Final = 7
LINKED: Final = bytes((lz4.VERSION_1, lz4.MIN_SIZE_CODE << 4))
"""The descriptor of a frame whose blocks may refer to the ones before them."""

Pack = Callable[[int, bytes, bool], bytes]
"""Compresses with a codec, for v0 if the third argument is True."""


def packing(pack_: Pack) -> tuple[Patch, ...]:
    """Return the patches with which batches and wrappers are compressed by `pack_`."""

    def compress_(codec: int, data: bytes, *, kip57: bool = False) -> bytes:
        return pack_(codec, data, kip57)

    return ((batch, "compress", compress_), (message, "compress", compress_))


def _kip57_everywhere(codec: int, data: bytes, _: bool) -> bytes:
    return compress(codec, data, kip57=True)


class Lz4HeaderOverMagic(PatchedKafka):
    """Computes the header byte of LZ4 over the magic too, in every format."""

    name = "kafka-3160-lz4-header"
    patches = packing(_kip57_everywhere)


def _linked_always(codec: int, data: bytes, kip57: bool) -> bytes:
    written = compress(codec, data, kip57=kip57)
    if codec != LZ4:
        return written
    return lz4._head(LINKED, kip57=kip57) + written[LZ4_HEADER:]  # noqa: SLF001 - a part of the codec


class Lz4LinkedAlways(PatchedKafka):
    """Writes every LZ4 frame as one of linked blocks."""

    name = "kafka-protocol-rs-59-lz4-linked"
    patches = packing(_linked_always)


def _raw_snappy(codec: int, data: bytes, kip57: bool) -> bytes:
    return snappy.compress_block(data) if codec == SNAPPY else compress(codec, data, kip57=kip57)


class RawSnappyWritten(PatchedKafka):
    """Writes one raw snappy block without the framing of xerial."""

    name = "sarama-3421-raw-snappy"
    patches = packing(_raw_snappy)


def _raw_snappy_if_large(codec: int, data: bytes, kip57: bool) -> bytes:
    if len(data) > SNAPPY_BLOCK:
        return _raw_snappy(codec, data, kip57)
    return compress(codec, data, kip57=kip57)


class RawSnappyWrittenIfLarge(PatchedKafka):
    """Writes snappy of more than one block without the framing of xerial."""

    name = "go-xerial-snappy-2-large-sets"
    patches = packing(_raw_snappy_if_large)


# --- batches ---


class LastOffsetDeltaZero(KafkaMutant):
    """Writes 0 as the last offset delta of every batch."""

    name = "sarama-1026-last-offset-delta"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Set it in every batch."""
        del request
        for part in walk(value):
            part.update({name: "0" for name in part if name == "lastOffsetDelta"})
        return value


_write_records = batch._write_records  # noqa: SLF001 - the part that is wrong in the mutant


def _with_batch_attributes(writer: Writer, value: RecordBatch, codec: int) -> None:
    records = tuple(evolve(one, attributes=codec) for one in value.records)
    _write_records(writer, evolve(value, records=records), codec)


class RecordAttributesOfMessages(PatchedKafka):
    """Writes the codec into the attributes of each record, as into those of a message."""

    name = "librdkafka-ba77721-record-attributes"
    patches = ((batch, "_write_records", _with_batch_attributes),)


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        Lz4HeaderOverMagic,
        Lz4LinkedAlways,
        RawSnappyWritten,
        RawSnappyWrittenIfLarge,
        LastOffsetDeltaZero,
        RecordAttributesOfMessages,
    )
}
"""Name to class."""
