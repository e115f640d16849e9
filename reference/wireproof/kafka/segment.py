"""The heads of a segment's batches: where each begins, its offsets and times, and whose transaction it is.

kafka.md §1.1, §1.9 and §2.1. Nothing is unpacked and no checksum is looked at: what a segment's companions
say can be held to the heads alone, and a segment may have a gigabyte. Control batches are read whole.
"""

import struct
from collections.abc import Iterator
from typing import Final

from attrs import field, frozen

from wireproof.kafka import batch
from wireproof.kafka.arithmetic import CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.control import ABORT, COMMIT
from wireproof.kafka.frame import announced, measure
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected

MODERN: Final = struct.Struct(">qiibIhiqqqhi")
"""The head of a batch up to baseSequence: §1.1."""

LEGACY: Final = struct.Struct(">qiIbbq")
"""The head of a v1 message up to its timestamp; a v0 message has none: §2.1."""

NO_TIMESTAMP: Final = -1


@frozen
class Head:
    """What the head of one entry of a segment says.

    Attributes:
        position: of its first byte in the file.
        first, last: offsets; the first one of a v0 or v1 wrapper is packed, and `first` is the last there.
        timestamp: the greatest of its records; -1 for none.
        producer: id, -1 for none.
        transactional: whether its records belong to a transaction.
        marker: `ABORT` or `COMMIT` of a batch that ends one; None elsewhere.
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


@frozen
class Segment:
    """The heads of a segment, in order; `end` is where the last whole entry ends, `why` what stands there."""

    heads: tuple[Head, ...]
    size: int
    end: int = field(default=0)
    why: str = ""


def read(data: bytes) -> Segment:
    """The heads of a segment's bytes, up to the first that cannot be followed; raises nothing."""
    reader = Reader(data)
    heads: list[Head] = []
    try:
        for head in _heads(reader):
            heads.append(head)  # noqa: PERF402 - what came before a refusal is kept
    except Rejected as rejected:
        return Segment(tuple(heads), len(data), reader.pos, f"{rejected.cls} at {rejected.at}")
    torn = "" if reader.pos == len(data) else f"{len(data) - reader.pos} bytes of an entry that is not whole"
    return Segment(tuple(heads), len(data), reader.pos, torn)


def _heads(reader: Reader) -> Iterator[Head]:
    while (frame := measure(reader)) is not None:
        head = (_modern if frame.magic > 1 else _legacy)(reader, frame.total)
        reader.pos += frame.total
        yield head


def _modern(reader: Reader, size: int) -> Head:
    """A batch: §1.1; its last offset is told by its head, whatever records were compacted away (§1.6)."""
    at = reader.pos
    base, _, _, magic, _, flags, last, _, timestamp, producer, _, _ = MODERN.unpack_from(reader.data, at)
    marker = _marker(reader, size) if flags & CONTROL else None
    transactional = bool(flags & TRANSACTIONAL)
    return Head(at, size, magic, base, wrap64(base + last), timestamp, producer, transactional, marker)


def _marker(reader: Reader, size: int) -> int | None:
    """The type of a control batch's first record: §1.9; None for one that ends no transaction."""
    here = reader.data[reader.pos : reader.pos + size]
    inner = Reader(bytes(here))
    frame = announced(inner)
    assert frame is not None
    records = batch.read(inner, frame).records
    control = records[0].control if records else None
    return control.type if control is not None and control.type in (ABORT, COMMIT) else None


def _legacy(reader: Reader, size: int) -> Head:
    """A message or a wrapper; a wrapper has the offset of its last message: §2.2."""
    at = reader.pos
    offset, _, _, magic, _, timestamp = LEGACY.unpack_from(reader.data, at)
    return Head(at, size, magic, offset, offset, timestamp if magic else NO_TIMESTAMP)
