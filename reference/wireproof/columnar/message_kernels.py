"""The kernels for Kafka's messages and their wrappers, v0 and v1: kafka.md §2.1, §2.2.

As `kernels`: what they find clean is as the reference would have it, and nothing here is laxer than kafka.md.
numba keeps what it compiled by this file's own time: after a change of `kernels`, touch this file too.
"""

from wireproof.columnar.crc_kernels import CRC32, crc
from wireproof.columnar.extra import compiled, np
from wireproof.columnar.kernels import (
    APPEND_TIME,
    BAD,
    BATCH_HEADER,
    FOUR,
    MAGIC_AT,
    ONE,
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
    copy,
    int32,
    int64,
    no_columns,
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
    data: Octets, at: Pos, end: Pos, head: Row, magic: int, slots: Array, first: int, step: int,
    numbers: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    taken: Array,
) -> Flag:  # fmt: skip
    """The messages of one wrapper, which fill `at` to `end`: offsets and timestamps as §2.2 has them.

    What is kept, and where, is as in `kernels.read_batch`.
    """
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
        shelve(data, row, numbers, ends, absent, keys, values, taken)
    base = head.offset - before if magic and head.offset else np.int64(0)
    if head.count == 0 or base < 0 or at != end:
        return False
    for index in range(head.count * step):
        slots[first + index].offset += base
    if numbers.size:
        for index in range(taken[0] - U(head.count), taken[0]):
            numbers[0, index] += base
    return True


@compiled
def shelve(  # noqa: PLR0913, PLR0917 - as above
    data: Octets, row: Row, numbers: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    taken: Array,
) -> None:  # fmt: skip
    """A message as columns, if there is any room for them."""
    if not numbers.size:
        return
    put, key_end, value_end = taken[0], taken[1], taken[2]
    numbers[0, put], numbers[1, put] = row.offset, row.timestamp
    absent[0, put], absent[1, put] = row.key_length < 0, row.value_length < 0
    if row.key_length > 0:
        copy(data, row.key_at, U(row.key_length), keys, key_end)
        key_end += U(row.key_length)
    if row.value_length > 0:
        copy(data, row.value_at, U(row.value_length), values, value_end)
        value_end += U(row.value_length)
    put += ONE
    ends[0, put], ends[1, put], ends[2, put] = key_end, value_end, taken[3]
    taken[0], taken[1], taken[2] = put, key_end, value_end


@compiled
def read_sets(  # noqa: PLR0913, PLR0917 - a kernel is given the arrays, not what holds them
    data: Octets, start: Array, end: Array, which: Array, heads: Array, magic: Array, slots: Array,
    first: Array, step: int, clean: Array,
) -> None:  # fmt: skip
    """`read_set` of the wrappers `which`; no columns."""
    numbers, ends, absent, octets, taken = no_columns()
    for index in range(which.size):
        entry = which[index]
        clean[entry] = read_set(
            data, start[index], end[index], heads[entry], magic[entry], slots, first[entry], step,
            numbers, ends, absent, octets, octets, taken,
        )  # fmt: skip


@compiled
def read_packed(data: Octets, entry: int, heads: Array, magic: Array, slots: Array, clean: Array) -> None:
    """The records or messages of one entry, which fill `data`; nothing is kept."""
    numbers, ends, absent, octets, taken = no_columns()
    clean[entry] = read_region(
        data, ZERO, U(data.size), heads[entry], magic[entry], slots, ZERO,
        numbers, numbers[0], ends, absent, octets, octets, taken,
    )  # fmt: skip


@compiled
def read_region(  # noqa: PLR0913, PLR0917 - as above
    data: Octets, at: Pos, end: Pos, head: Row, magic: int, slots: Array, base: Pos,
    numbers: Array, headers_at: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    taken: Array,
) -> Flag:  # fmt: skip
    """The records or messages of one entry, which fill `at` to `end`; a wrapper's are counted first."""
    if magic == 2:
        if np.int64(head.count) * LEAST_RECORD > np.int64(end - at):
            return False
        return read_batch(
            data, at, end, head, slots, 0, 0, base, numbers, headers_at, ends, absent, keys, values, taken
        )
    head.count = count_inner(data, at, end, magic)
    return read_set(data, at, end, head, magic, slots, 0, 0, numbers, ends, absent, keys, values, taken)


@compiled
def read_columns(  # noqa: PLR0913, PLR0917 - as above
    wire: Octets, position: Array, length: Array, magic: Array, arena: Octets, start: Array, stop: Array,
    heads: Array, slots: Array, clean: Array,
    numbers: Array, headers_at: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    taken: Array,
) -> None:  # fmt: skip
    """The columns of all entries that are clean so far, in order; what turns out not to be leaves nothing.

    `start`, `stop`: of what an entry unpacked to, in the arena; a start behind the arena for the others.
    """
    row, size, before = slots[0], U(wire.size), taken.copy()
    for index in range(position.size):
        if not clean[index]:
            continue
        at, end, kind = position[index], position[index] + length[index], magic[index]
        if start[index] <= U(arena.size):
            good = read_region(
                arena, start[index], stop[index], heads[index], kind, slots, size,
                numbers, headers_at, ends, absent, keys, values, taken,
            )  # fmt: skip
        elif kind == 2:
            good = read_region(
                wire, at + BATCH_HEADER, end, heads[index], kind, slots, ZERO,
                numbers, headers_at, ends, absent, keys, values, taken,
            )  # fmt: skip
        else:
            good = read_message(wire, at, end, kind, row)
            if good:
                shelve(wire, row, numbers, ends, absent, keys, values, taken)
        clean[index] = good
        if good:
            before[:] = taken
        else:
            taken[:] = before
