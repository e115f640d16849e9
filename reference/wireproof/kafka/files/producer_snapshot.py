"""The producer snapshot, `.snapshot`: what a broker knows about the producers of a partition.

kafka.md §14.2. The name of the file is the offset after the last one that the snapshot covers. A broker that
finds a snapshot damaged deletes it and reads the producers from the log again.
"""

from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from wireproof.data_files import FileFinding
from wireproof.kafka.batch import CRC32C
from wireproof.schema.layout import Checksum, Number
from wireproof.schema.struct import Struct
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- the layout ---
#
# The producer snapshot is a message of Kafka's schema language in version 1, without tagged fields.

PRODUCER_SNAPSHOT_VERSION: Final = 1

_PRODUCER: Final = Struct(
    "ProducerEntry",
    Number("producerId", "int64"),
    Number("producerEpoch", "int16"),
    Number("lastSequence", "int32", meaning="of the last batch; -1 if none is known"),
    Number("lastOffset", "int64", meaning="of the last batch; -1 if none is known"),
    Number("offsetDelta", "int32", meaning="last offset minus first offset of the last batch"),
    Number("timestamp", "int64", meaning="the greatest of the last batch"),
    Number("coordinatorEpoch", "int32", meaning="of the last transaction marker; -1 if none is known"),
    Number("currentTxnFirstOffset", "int64", meaning="of the open transaction; -1 if none is open"),
    revisions=("1",),
    cites="kafka.md §14.2",
)

_HEAD: Final = Struct(
    "ProducerSnapshot",
    Number("version", "int16", const=PRODUCER_SNAPSHOT_VERSION),
    Checksum("crc", "uint32", algorithm=CRC32C, shown=True, meaning="CRC-32C of all bytes after it"),
    Number("producerCount", "int32"),
    revisions=("1",),
    cites="kafka.md §14.2",
)

PRODUCER: Final = _PRODUCER.at("1")
HEAD: Final = _HEAD.at("1")

_CRC_AT: Final = HEAD.offset("crc")
_COUNT_AT: Final = HEAD.offset("producerCount")

NONE: Final = -1
"""The number of what is not known."""


@frozen
class ProducerSnapshot:
    """The entries of a snapshot, which are values of `PRODUCER`, and the faults of its bytes."""

    producers: tuple[Any, ...]
    findings: tuple[FileFinding, ...]


def read(data: bytes) -> ProducerSnapshot:
    """Read a snapshot; raise nothing. A damaged header has no entries."""
    reader = Reader(data)
    try:
        head = HEAD.codec.read(reader)
    except Rejected:
        text = f"the file ends in its header: {len(data)} of {HEAD.fixed_size} bytes"
        return ProducerSnapshot((), (FileFinding(len(data), text),))
    if head.version != PRODUCER_SNAPSHOT_VERSION:
        text = f"version {head.version}: Kafka knows only version {PRODUCER_SNAPSHOT_VERSION}"
        return ProducerSnapshot((), (FileFinding(0, text),))
    room = reader.left // PRODUCER.fixed_size
    producers = tuple(PRODUCER.codec.read(reader) for _ in range(max(0, min(head.producer_count, room))))
    return ProducerSnapshot(producers, tuple(_faults(data, head.crc, head.producer_count)))


def place_of(number: int) -> int:
    """Return the position of an entry by its number, or the end of so many entries."""
    return HEAD.fixed_size + number * PRODUCER.fixed_size


def _faults(data: bytes, stored: int, count: int) -> Iterator[FileFinding]:
    """Yield the faults of checksum and size: `ProducerStateManager.readSnapshot` refuses both."""
    computed = CRC32C.of(data[_COUNT_AT:])
    if computed != stored:
        yield FileFinding(_CRC_AT, f"crc: {stored:08x} stored, {computed:08x} computed")
    size = place_of(count)
    if count < 0 or size > len(data):
        text = f"{count} producers need {size} bytes, and the file has {len(data)}"
        yield FileFinding(_COUNT_AT, text)
    elif size < len(data):
        text = f"{len(data) - size} bytes after the last producer, which no broker reads"
        yield FileFinding(size, text, is_error=False)


def check_producers(snapshot: ProducerSnapshot, end: int) -> Iterator[FileFinding]:
    """Check the entries: `end` is the offset in the file's name, which is after every offset in it."""
    seen: set[int] = set()
    for number, one in enumerate(snapshot.producers):
        at, name = place_of(number), f"producer {one.producer_id}"
        if one.producer_id in seen:
            yield FileFinding(at, f"{name} is there twice")
        seen.add(one.producer_id)
        if one.producer_id < 0 or one.producer_epoch < 0:
            yield FileFinding(at, f"{name} with epoch {one.producer_epoch}: both are 0 or more")
        last = max(one.last_offset, one.current_txn_first_offset)
        if last >= end:
            yield FileFinding(at, f"{name} has offset {last}, but the snapshot ends before {end}")
