"""The offsets that the header of an entry of a log shows: kafka.md §1.1, §2.1."""

from wireproof.family import Format
from wireproof.kafka import batch
from wireproof.kafka.attribute_bits import wrap64
from wireproof.kafka.size_and_magic import MAGIC_AT, MIN_SIZE_BY_MAGIC, SIZE_AT

_numbers = batch.HEADER.select("baseOffset", "lastOffsetDelta")


def head_offsets(_: Format, head: bytes) -> tuple[int | None, int | None] | None:
    """Return the first and the last offset in a header; None if no entry has such a header.

    A message has one offset, and a wrapper that of its last message: §2.2.
    """
    if len(head) <= MAGIC_AT or not 0 <= (magic := head[MAGIC_AT]) < len(MIN_SIZE_BY_MAGIC):
        return None
    if int.from_bytes(head[SIZE_AT : SIZE_AT + 4], "big", signed=True) < MIN_SIZE_BY_MAGIC[magic]:
        return None
    if magic < 2:
        return None, int.from_bytes(head[:8], "big", signed=True)
    if len(head) < batch.HEADER.packing.size:
        return None
    base, delta = _numbers(batch.HEADER.peek(head, 0))
    return base, wrap64(base + delta)
