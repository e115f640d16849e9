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

# The producer snapshot is a message of Kafka's schema language in version 1, without tagged fields.
PRODUCER: Final = Struct(
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
).at("1")

HEAD: Final = Struct(
    "ProducerSnapshot",
    Number("version", "int16", const=1),
    Checksum("crc", "uint32", algorithm=CRC32C, shown=True, meaning="CRC-32C of all bytes after it"),
    Number("producerCount", "int32"),
    revisions=("1",),
    cites="kafka.md §14.2",
).at("1")

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
    if head.version != 1:
        text = f"version {head.version}: Kafka knows only version 1"
        return ProducerSnapshot((), (FileFinding(0, text),))
    room, count = reader.left // PRODUCER.fixed_size, head.producer_count
    producers = tuple(PRODUCER.codec.read(reader) for _ in range(max(0, min(count, room))))
    # `ProducerStateManager.readSnapshot` refuses a wrong checksum and a wrong size.
    findings, count_at, size = [], HEAD.offset("producerCount"), place_of(count)
    if (computed := CRC32C.of(data[count_at:])) != head.crc:
        text = f"crc: {head.crc:08x} stored, {computed:08x} computed"
        findings.append(FileFinding(HEAD.offset("crc"), text))
    if count < 0 or size > len(data):
        text = f"{count} producers need {size} bytes, and the file has {len(data)}"
        findings.append(FileFinding(count_at, text))
    elif size < len(data):
        text = f"{len(data) - size} bytes after the last producer, which no broker reads"
        findings.append(FileFinding(size, text, is_error=False))
    return ProducerSnapshot(producers, tuple(findings))


def place_of(number: int) -> int:
    """Return the position of an entry by its number, or the end of so many entries."""
    return HEAD.fixed_size + number * PRODUCER.fixed_size


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
