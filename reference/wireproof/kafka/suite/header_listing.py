"""List a Kafka log by headers and checksums alone: kafka.md §1.1, §1.4, §2.1. Records are not read.

It needs none of the packages of the fast decoder. The reference reads, as a whole, each entry whose header
needs a look at its records or is unusual, and bytes that are no entry with a valid checksum, up to the next
entry that is sound.
"""

from collections.abc import Generator, Iterator
from struct import Struct
from typing import Any, Final

from attrs import evolve

from wireproof import formats
from wireproof.formats import FORMATS
from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    MAX_INT64,
    TRANSACTIONAL,
)
from wireproof.kafka.batch import CODECS, UNUSED_BITS
from wireproof.kafka.layouts import HEADS, NO_TIMESTAMP, UNUSED_BITS_OF_MESSAGES, ZSTD
from wireproof.kafka.scan import MAX_ENTRY
from wireproof.kafka.size_and_magic import (
    CHECKSUM,
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_AT,
    MIN_SIZE_BY_MAGIC,
    SIZE_AT,
)
from wireproof.kafka.suite.listing import batch_cells, message_cells, select_numbers
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item
from wireproof.wire.walk import Chunk, ChunkEnd, EntryRows, QuickReader

LOG: Final = FORMATS["kafka.log/mixed"]

LOOKED_AT: Final = UNUSED_BITS | CONTROL | DELETE_HORIZON
"""Attribute bits of a batch that the reference looks at: unused ones, and those about certain records."""

(_MESSAGE_COVERS, _crc32), _, (_BATCH_COVERS, _crc32c) = ((at + 4, one.of) for at, one in CHECKSUM)

_size_and_magic = Struct(f">{SIZE_AT}xi{MAGIC_AT - LOG_OVERHEAD}xB").unpack_from
*_heads_of_messages, _head_of_batch = (head.packing.unpack_from for head in HEADS)


def _read(
    chunk: Chunk, base: int, options: Options, values: bool
) -> Generator[EntryRows | Item, None, ChunkEnd]:
    """Yield the entries as rows, and as items those that the reference read."""
    del values  # no record is read
    most = MAX_ENTRY if options.max_message is None else options.max_message
    at, stop, is_broken = 0, len(chunk), False
    rows: list[tuple[int, int, tuple[Any, ...]]] = []

    def together() -> Iterator[EntryRows]:
        if rows:
            yield EntryRows(*zip(*rows, strict=True))
        rows.clear()

    while stop - at >= HEADER_SIZE_UP_TO_MAGIC:
        size, magic = _size_and_magic(chunk, at)
        end = at + size + LOG_OVERHEAD
        is_broken = magic > 2 or not MIN_SIZE_BY_MAGIC[magic] <= size <= most
        if is_broken or end > stop:
            break
        cells = _batch(chunk, at, end) if magic == 2 else _message(chunk, at, end)
        if cells is not None:
            rows.append((base + at, end - at, cells))
        else:
            item = next(iter(formats.scan(LOG, [bytes(chunk[at:end])], options)))
            if is_broken := item.kind != "frame":
                break
            yield from together()
            yield evolve(item, at=base + at)
        at = end
    yield from together()
    return ChunkEnd(at, is_broken)


def _batch(data: Chunk, at: int, end: int) -> tuple[Any, ...] | None:
    """Return the cells of a batch whose header and checksum are sound; None if the reference must look."""
    numbers = select_numbers(_head_of_batch(data, at))
    base, _, crc, attributes, delta, _, latest, producer, generation, sequence, count = numbers
    if producer == -1:  # a producer has all its fields, or there is none: §1.1, C20 to C25
        is_usual = generation == sequence == -1 and not attributes & TRANSACTIONAL
    else:
        is_usual = producer >= 0 and generation >= 0 and sequence >= 0
    if (
        base < 0
        or attributes & LOOKED_AT
        or attributes & CODEC_MASK not in CODECS
        or not 0 <= count <= delta + 1
        or base > MAX_INT64 - delta
        or (attributes & LOG_APPEND_TIME and latest < 0)
        or not is_usual
        or _crc32c(bytes(data[at + _BATCH_COVERS : end])) != crc
    ):
        return None
    return batch_cells(numbers, None)


def _message(data: Chunk, at: int, end: int) -> tuple[Any, ...] | None:
    """Return the cells of a message or a wrapper; the number of messages in a wrapper is not known."""
    magic = data[at + MAGIC_AT]
    numbers = _heads_of_messages[magic](data, at)
    offset, _, crc, _, attributes, *rest = numbers
    codec = attributes & CODEC_MASK
    if (
        offset < 0
        or attributes & UNUSED_BITS_OF_MESSAGES[magic]
        or codec not in CODECS
        or codec == ZSTD
        or (rest and rest[0] < NO_TIMESTAMP)
        or _crc32(bytes(data[at + _MESSAGE_COVERS : end])) != crc
    ):
        return None
    return message_cells(numbers, None if codec else offset, None if codec else 1)


# Chunks of 2 MiB are few enough bytes for the CPU cache, and many batches in one go.
HEADERS: Final = QuickReader(_read, (1 << 21, 1 << 21), (1 << 21, 1 << 21))
