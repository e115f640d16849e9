"""The producer snapshot, `.snapshot`: what a broker knows about the producers of a partition.

kafka.md §14.2. The name of the file is the offset after the last one that the snapshot covers. A broker that
finds a snapshot damaged deletes it and reads the producers from the log again.
"""

from collections.abc import Iterator
from typing import Final

from attrs import frozen

from wireproof.data_files import FileFinding
from wireproof.kafka.layouts import CRC32C
from wireproof.wire.layout import REST, Checksum, Count, Layout, Number, Repeated
from wireproof.wire.layout_codec import runs
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- the layout ---
#
# The producer snapshot is a message of Kafka's schema language in version 1, without tagged fields.

PRODUCER_SNAPSHOT_VERSION: Final = 1

PRODUCER_ENTRY: Final = Layout(
    "ProducerEntry",
    (
        Number("producerId", "int64"),
        Number("producerEpoch", "int16"),
        Number("lastSequence", "int32", meaning="of the last batch; -1 if none is known"),
        Number("lastOffset", "int64", meaning="of the last batch; -1 if none is known"),
        Number("offsetDelta", "int32", meaning="last offset minus first offset of the last batch"),
        Number("timestamp", "int64", meaning="the greatest of the last batch"),
        Number("coordinatorEpoch", "int32", meaning="of the last transaction marker; -1 if none is known"),
        Number("currentTxnFirstOffset", "int64", meaning="of the open transaction; -1 if none is open"),
    ),
    cites="kafka.md §14.2",
)

PRODUCER_SNAPSHOT: Final = Layout(
    "ProducerSnapshot",
    (
        Number("version", "int16", const=PRODUCER_SNAPSHOT_VERSION),
        Checksum("crc", "uint32", algorithm=CRC32C, over=REST, meaning="CRC-32C of all bytes after it"),
        Count("producerCount", "int32", of="producers"),
        Repeated("producers", of=PRODUCER_ENTRY),
    ),
    cites="kafka.md §14.2",
)

# --- snapshots ---

(_HEADER,) = runs(PRODUCER_SNAPSHOT)
(_ENTRY,) = runs(PRODUCER_ENTRY)

ENTRY_SIZE: Final = PRODUCER_ENTRY.fixed_size
HEADER_SIZE: Final = PRODUCER_SNAPSHOT.fixed_size

_CRC_AT: Final = PRODUCER_SNAPSHOT.offset("crc")
_COVERED_AT: Final = PRODUCER_SNAPSHOT.offset("producerCount")
_CRC: Final = PRODUCER_SNAPSHOT.part("crc")

NONE: Final = -1
"""The number of what is not known."""


@frozen
class ProducerState:
    """An entry: `at` is its position in the file, the others are as in the layout."""

    at: int
    producer: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    open_since: int


@frozen
class ProducerSnapshot:
    """The entries of a snapshot, and the faults of its bytes."""

    producers: tuple[ProducerState, ...]
    findings: tuple[FileFinding, ...]


def read(data: bytes) -> ProducerSnapshot:
    """Read a snapshot; raise nothing. A damaged header has no entries."""
    try:
        version, crc, count = _HEADER.read(Reader(data))
    except Rejected:
        text = f"the file ends in its header: {len(data)} of {HEADER_SIZE} bytes"
        return ProducerSnapshot((), (FileFinding(len(data), text),))
    if version != PRODUCER_SNAPSHOT_VERSION:
        text = f"version {version}: Kafka knows only version {PRODUCER_SNAPSHOT_VERSION}"
        return ProducerSnapshot((), (FileFinding(0, text),))
    room = (len(data) - HEADER_SIZE) // ENTRY_SIZE
    places = (HEADER_SIZE + number * ENTRY_SIZE for number in range(max(0, min(count, room))))
    producers = tuple(ProducerState(at, *_ENTRY.peek(data, at)) for at in places)
    return ProducerSnapshot(producers, tuple(_faults(data, crc, count)))


def _faults(data: bytes, stored: int, count: int) -> Iterator[FileFinding]:
    """Yield the faults of checksum and size: `ProducerStateManager.readSnapshot` refuses both."""
    computed = _CRC.algorithm.of(data[_COVERED_AT:])  # type: ignore[union-attr] # it is the Checksum
    if computed != stored:
        yield FileFinding(_CRC_AT, f"crc: {stored:08x} stored, {computed:08x} computed")
    size = HEADER_SIZE + count * ENTRY_SIZE
    if count < 0 or size > len(data):
        text = f"{count} producers need {size} bytes, and the file has {len(data)}"
        yield FileFinding(_COVERED_AT, text)
    elif size < len(data):
        text = f"{len(data) - size} bytes after the last producer, which no broker reads"
        yield FileFinding(size, text, is_error=False)


def check_producers(snapshot: ProducerSnapshot, end: int) -> Iterator[FileFinding]:
    """Check the entries: `end` is the offset in the file's name, which is after every offset in it."""
    seen: set[int] = set()
    for one in snapshot.producers:
        if one.producer in seen:
            yield FileFinding(one.at, f"producer {one.producer} is there twice")
        seen.add(one.producer)
        if one.producer < 0 or one.epoch < 0:
            text = f"producer {one.producer} with epoch {one.epoch}: both are 0 or more"
            yield FileFinding(one.at, text)
        if max(one.last_offset, one.open_since) >= end:
            text = f"producer {one.producer} has offset {max(one.last_offset, one.open_since)}"
            yield FileFinding(one.at, f"{text}, but the snapshot ends before {end}")
