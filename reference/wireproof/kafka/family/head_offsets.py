"""The offsets and the number of records that the header of an entry shows: kafka.md §1.1, §2.1."""

from wireproof.family import Format
from wireproof.kafka import batch
from wireproof.kafka.attribute_bits import CODEC_MASK, wrap64
from wireproof.kafka.size_and_magic import MAGIC_AT, MIN_SIZE_BY_MAGIC, SIZE_AT

_numbers = batch.HEADER.select("baseOffset", "lastOffsetDelta", "recordsCount")


def head_offsets(_: Format, head: bytes) -> tuple[int | None, int | None] | None:
    """Return the first and the last offset in a header; None if no entry has such a header.

    A message has one offset, and a wrapper that of its last message: §2.2.
    """
    magic = _magic(head)
    if magic is None:
        return None
    if magic < batch.MAGIC:
        return None, int.from_bytes(head[:8], "big", signed=True)
    base, delta, _count = _numbers(batch.HEADER.peek(head, 0))
    return base, wrap64(base + delta)


def head_records(head: bytes) -> int | None:
    """Return the number of records in a header; None for a wrapper, and if no entry has such a header."""
    magic = _magic(head)
    if magic is None:
        return None
    if magic < batch.MAGIC:  # the byte after the magic has the codec: a wrapper does not count its messages
        return None if head[MAGIC_AT + 1] & CODEC_MASK else 1
    _base, delta, count = _numbers(batch.HEADER.peek(head, 0))
    return int(count) if 0 <= count <= delta + 1 else None


def _magic(head: bytes) -> int | None:
    """Return the magic of an entry that begins with these bytes; None if none does."""
    if len(head) <= MAGIC_AT + 1 or not 0 <= (magic := head[MAGIC_AT]) < len(MIN_SIZE_BY_MAGIC):
        return None
    if int.from_bytes(head[SIZE_AT : SIZE_AT + 4], "big", signed=True) < MIN_SIZE_BY_MAGIC[magic]:
        return None
    return magic if magic < batch.MAGIC or len(head) >= batch.HEADER.packing.size else None
