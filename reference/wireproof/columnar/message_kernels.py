"""The kernels for Kafka's messages and their wrappers, v0 and v1: kafka.md §2.1, §2.2.

As `kernels`: what they find clean is as the reference would have it, and nothing here is laxer than kafka.md.
numba keeps what it compiled by this file's own time: after a change of `kernels`, touch this file too.
"""

from wireproof.columnar.extra import compiled, np
from wireproof.columnar.kernels import (
    APPEND_TIME,
    BAD,
    CRC32,
    FOUR,
    MAGIC_AT,
    OVERHEAD,
    THROUGH_MAGIC,
    ZERO,
    Array,
    Flag,
    Int,
    Octets,
    Pos,
    Row,
    U,
    crc,
    int32,
    int64,
    read_batch,
    uint,
)

LEAST_RECORD = 7
"""Bytes of the smallest record: §1.3."""


@compiled
def legacy_octets(data: Octets, at: Pos, end: Pos) -> tuple[Pos, Int, Pos]:
    """Bytes under an int32 length, -1 being null: where they begin, their length, where they end."""
    if at > end or end - at < FOUR:
        return ZERO, 0, BAD
    length = int32(data, at)
    at += FOUR
    if length < -1 or length > np.int64(end - at):
        return ZERO, 0, BAD
    return at, length, at + U(max(length, 0))


@compiled
def read_message(data: Octets, at: Pos, end: Pos, magic: int, row: Row) -> Flag:
    """The message that fills `at` to `end`, its CRC right; a wrapper's value is taken as it stands."""
    if uint(data, at + U(12), FOUR) != crc(CRC32, data, at + MAGIC_AT, end):
        return False
    row.offset = int64(data, at)
    row.attributes = np.int8(data[at + U(17)])
    row.timestamp = int64(data, at + U(18)) if magic else -1
    row.delta, row.headers, row.headers_at = 0, 0, ZERO
    row.key_at, row.key_length, at = legacy_octets(data, at + U(26 if magic else 18), end)
    row.value_at, row.value_length, at = legacy_octets(data, at, end)
    return at == end and row.offset >= 0 and row.timestamp >= -1


@compiled
def read_messages(  # noqa: PLR0913, PLR0917 - a kernel is given the arrays, not what holds them
    data: Octets, start: Array, end: Array, which: Array, magic: Array, slots: Array, first: Array, step: int,
    clean: Array,
) -> None:  # fmt: skip
    """`read_message` of the entries `which`."""
    for index in range(which.size):
        entry = which[index]
        clean[entry] = read_message(data, start[index], end[index], magic[entry], slots[first[entry] * step])


@compiled
def count_inner(data: Octets, at: Pos, end: Pos, magic: int) -> Int:
    """How many messages of `magic` fill `at` to `end`; 0 if they do not: §2.2."""
    found, least = 0, 14 + 8 * magic
    while at < end:
        if end - at < THROUGH_MAGIC:
            return 0
        size = int32(data, at + U(8))
        if size < least or U(size) + OVERHEAD > end - at or data[at + MAGIC_AT] != magic:
            return 0
        at += U(size) + OVERHEAD
        found += 1
    return found


@compiled
def count_inners(data: Octets, start: Array, end: Array, which: Array, magic: Array, heads: Array) -> None:
    """`count_inner` of the wrappers `which`, as the `count` of their heads."""
    for index in range(which.size):
        entry = which[index]
        heads[entry].count = count_inner(data, start[index], end[index], magic[entry])


@compiled
def read_set(  # noqa: PLR0913, PLR0917 - as above
    data: Octets, at: Pos, end: Pos, head: Row, magic: int, slots: Array, first: int, step: int
) -> Flag:
    """The messages of one wrapper, which fill `at` to `end`: offsets and timestamps as §2.2 has them."""
    append, before = head.attributes & APPEND_TIME, np.int64(-1)
    for index in range(head.count):
        row = slots[first + step * index]
        stop = at + U(int32(data, at + U(8))) + OVERHEAD
        if not read_message(data, at, stop, magic, row) or row.offset <= before:
            return False
        if row.attributes & ~APPEND_TIME or (row.attributes and not (magic and append)):
            return False
        before = row.offset
        if append and magic:
            row.timestamp = head.max_time
        at = stop
    base = head.offset - before if magic and head.offset else np.int64(0)
    if head.count == 0 or base < 0 or at != end:
        return False
    for index in range(head.count * step):
        slots[first + index].offset += base
    return True


@compiled
def read_sets(  # noqa: PLR0913, PLR0917 - a kernel is given the arrays, not what holds them
    data: Octets, start: Array, end: Array, which: Array, heads: Array, magic: Array, slots: Array,
    first: Array, step: int, clean: Array,
) -> None:  # fmt: skip
    """`read_set` of the wrappers `which`."""
    for index in range(which.size):
        entry = which[index]
        clean[entry] = read_set(
            data, start[index], end[index], heads[entry], magic[entry], slots, first[entry], step
        )


@compiled
def read_packed(data: Octets, entry: int, heads: Array, magic: Array, slots: Array, clean: Array) -> None:
    """The records or messages of one entry, which fill `data`; nothing is kept."""
    head, end = heads[entry], U(data.size)
    if magic[entry] == 2:
        room = np.int64(head.count) * LEAST_RECORD <= data.size
        clean[entry] = room and read_batch(data, ZERO, end, head, slots, 0, 0)
    else:
        head.count = count_inner(data, ZERO, end, magic[entry])
        clean[entry] = read_set(data, ZERO, end, head, magic[entry], slots, 0, 0)
