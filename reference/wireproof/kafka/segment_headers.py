"""The headers of the entries of a log segment: position, offsets, timestamp and transaction of each entry.

kafka.md §1.1, §1.9 and §2.1. Index files are checked against these headers. A segment may be a gigabyte
large, so nothing is decompressed and no checksum is computed; only control batches are decoded.
"""

from collections.abc import Iterator

from attrs import field, frozen

from wireproof.kafka import batch, message
from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.control_types import ABORT, COMMIT
from wireproof.kafka.size_and_magic import SizeAndMagic, peek_size_and_magic, peek_whole_entry
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

_numbers = batch.HEADER.select(
    "baseOffset", "partitionLeaderEpoch", "attributes", "lastOffsetDelta", "maxTimestamp", "producerId"
)
"""The integers of a batch that a segment entry is made of."""


@frozen
class SegmentEntry:
    """The header of one entry of a segment.

    Attributes:
        position: position of its first byte in the file.
        size: its size in bytes.
        magic: 0, 1 or 2.
        first, last: its first and last offset. The first offset of a v0 or v1 wrapper is compressed, and
            `first` is then the same as `last`.
        timestamp: the greatest timestamp of its records, or -1.
        producer: the producer id, or -1.
        transactional: True if its records belong to a transaction.
        marker: `ABORT` or `COMMIT` for a batch that ends a transaction; None for others.
        epoch: the leader epoch of a batch; -1 if it is unknown, as for messages.
    """

    position: int
    size: int
    magic: int
    first: int
    last: int
    timestamp: int
    producer: int = -1
    transactional: bool = False
    marker: int | None = None
    epoch: int = -1


@frozen
class SegmentHeaders:
    """The headers of a segment.

    Attributes:
        heads: the headers in the order of the file.
        size: size of the file in bytes.
        end: position after the last whole entry.
        why: the reason why reading ended there; empty at the end of the file.
    """

    heads: tuple[SegmentEntry, ...]
    size: int
    end: int = field(default=0)
    why: str = ""


def read(data: bytes) -> SegmentHeaders:
    """Return the headers of a segment up to the first invalid entry; raise nothing."""
    reader = Reader(data)
    heads: list[SegmentEntry] = []
    try:
        for head in _heads(reader):
            heads.append(head)  # noqa: PERF402 - the headers before a rejection are kept
    except Rejected as rejected:
        return SegmentHeaders(tuple(heads), len(data), reader.pos, f"{rejected.cls} at {rejected.at}")
    cut = "" if reader.pos == len(data) else f"{len(data) - reader.pos} bytes of an entry that is cut"
    return SegmentHeaders(tuple(heads), len(data), reader.pos, cut)


def _heads(reader: Reader) -> Iterator[SegmentEntry]:
    while (prefix := peek_whole_entry(reader)) is not None:
        head = (_batch_head if prefix.magic > 1 else _message_head)(reader, prefix)
        reader.pos += prefix.total
        yield head


def _batch_head(reader: Reader, prefix: SizeAndMagic) -> SegmentEntry:
    """Return the header of a batch: §1.1. Its last offset stays when compaction removes records (§1.6)."""
    at, size = reader.pos, prefix.total
    base, epoch, attributes, delta, timestamp, producer = _numbers(batch.HEADER.peek(reader.data, at))
    marker = _marker(reader, size) if attributes & CONTROL else None
    transactional = bool(attributes & TRANSACTIONAL)
    last = wrap64(base + delta)
    return SegmentEntry(at, size, prefix.magic, base, last, timestamp, producer, transactional, marker, epoch)


def _marker(reader: Reader, size: int) -> int | None:
    """Return the type of a control batch's first record: §1.9; None if it does not end a transaction."""
    data = reader.data[reader.pos : reader.pos + size]
    inner = Reader(bytes(data))
    prefix = peek_size_and_magic(inner)
    assert prefix is not None
    records = batch.read(inner, prefix).records
    control = records[0].control if records else None
    return control.type if control is not None and control.type in (ABORT, COMMIT) else None


def _message_head(reader: Reader, prefix: SizeAndMagic) -> SegmentEntry:
    """Return the header of a message or wrapper; a wrapper has the offset of its last message: §2.2."""
    at, magic = reader.pos, prefix.magic
    offset, *_, last = message.HEADS[magic].peek(reader.data, at)
    return SegmentEntry(at, prefix.total, magic, offset, offset, last if magic else message.NO_TIMESTAMP)
