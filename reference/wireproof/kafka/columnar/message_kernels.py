"""Numba kernels for Kafka messages and wrapper messages of v0 and v1: kafka.md §2.1, §2.2.

As in `kernels`, an entry that is called clean is valid and has no remarks, and no condition is less strict
than kafka.md. numba keeps compiled code until its file changes: after a change of `kernels`, touch this file.
"""

from wireproof.columnar.basic_kernels import (
    BAD,
    CRC32,
    FOUR,
    ONE,
    ZERO,
    Array,
    Flag,
    Int,
    Octets,
    Pos,
    Row,
    U,
    copy_bytes,
    crc,
    read_int32,
    read_int64,
    read_uint,
)
from wireproof.columnar.optional_deps import compile_kernel, np
from wireproof.kafka.columnar.entry_kernels import (
    APPEND_TIME,
    BATCH_HEADER,
    MAGIC_AT,
    OVERHEAD,
    THROUGH_MAGIC,
    empty_columns,
    read_batch,
    read_octets,
)

# --- headers of records ---
#
# They read entries that `kernels` found clean, so they check nothing again.


@compile_kernel
def compute_ends(length: Array, ends: Array) -> None:
    """Write the ends of consecutive runs of these lengths to `ends`; a negative length is empty."""
    stop = 0
    for index in range(length.size):
        stop += max(length[index], 0)
        ends[index + 1] = stop


@compile_kernel
def copy_ranges(wire: Octets, arena: Octets, at: Array, ends: Array, out: Octets) -> None:
    """Copy the runs of bytes to `out`, one after another; `out` must be longer by `SLACK`."""
    size = U(wire.size)
    for index in range(at.size):
        start, stop = at[index], U(ends[index])
        count = U(ends[index + 1]) - stop
        if start < size:
            copy_bytes(wire, start, count, out, stop)
        else:
            copy_bytes(arena, start - size, count, out, stop)


@compile_kernel
def locate_headers(
    wire: Octets, arena: Octets, headers_at: Array, headers: Array, at: Array, length: Array
) -> None:
    """Write position and length of each header key (row 0) and header value (row 1) to `at` and `length`.

    `headers_at` and `headers` hold, for each record, the position of its first header and their number.
    """
    found, size = 0, U(wire.size)
    for index in range(headers.size):
        first, count = U(headers_at[index]), headers[index]
        if count:
            if first < size:
                found = locate_record_headers(wire, ZERO, first, count, at, length, found)
            else:
                found = locate_record_headers(arena, size, first, count, at, length, found)


@compile_kernel
def locate_record_headers(
    data: Octets, base: Pos, first: Pos, count: int, at: Array, length: Array, found: int
) -> Int:
    """Write positions and lengths of the headers of one record; return the number of headers so far.

    `base` is the position of the first byte of `data`.
    """
    here, end = first - base, U(data.size)
    for _ in range(count):
        for part in range(2):
            start, size, here = read_octets(data, here, end)
            at[part, found], length[part, found] = start + base, size
        found += 1
    return found


# --- messages ---

MIN_RECORD_BYTES = 7
"""Bytes of the smallest record: §1.3."""


@compile_kernel
def read_int32_octets(data: Octets, at: Pos, end: Pos) -> tuple[Pos, Int, Pos]:
    """Read bytes after an int32 length, where -1 is null: return their start, their length and their end."""
    if at > end or end - at < FOUR:
        return ZERO, 0, BAD
    length = read_int32(data, at)
    at += FOUR
    if length < -1 or length > np.int64(end - at):
        return ZERO, 0, BAD
    return at, length, at + U(max(length, 0))


@compile_kernel
def read_message(data: Octets, at: Pos, end: Pos, magic: int, row: Row) -> Flag:
    """Read the message that fills `at` to `end` into `row` and return whether it is clean, CRC included.

    The value of a wrapper is stored as it is, still compressed.
    """
    if read_uint(data, at + U(12), FOUR) != crc(CRC32, data, at + MAGIC_AT, end):
        return False
    row.offset = read_int64(data, at)
    row.attributes = np.int8(data[at + U(17)])
    row.timestamp = read_int64(data, at + U(18)) if magic else -1
    row.timestamp_delta, row.headers, row.headers_at = 0, 0, ZERO
    row.key_at, row.key_length, at = read_int32_octets(data, at + U(26 if magic else 18), end)
    row.value_at, row.value_length, at = read_int32_octets(data, at, end)
    return at == end and row.offset >= 0 and row.timestamp >= -1


@compile_kernel
def read_messages(  # noqa: PLR0913, PLR0917 - a kernel takes arrays, not the objects that hold them
    data: Octets, start: Array, end: Array, selected: Array, magic: Array, slots: Array, first: Array,
    step: int, clean: Array,
) -> None:  # fmt: skip
    """Apply `read_message` to the `selected` entries."""
    for index in range(selected.size):
        entry = selected[index]
        clean[entry] = read_message(data, start[index], end[index], magic[entry], slots[first[entry] * step])


@compile_kernel
def count_inner_messages(data: Octets, at: Pos, end: Pos, magic: int) -> Int:
    """Return how many messages of `magic` fill `at` to `end`; 0 if they do not fill it: §2.2."""
    found, smallest = 0, 14 + 8 * magic
    while at < end:
        if end - at < THROUGH_MAGIC:
            return 0
        size = read_int32(data, at + U(8))
        if size < smallest or U(size) + OVERHEAD > end - at or data[at + MAGIC_AT] != magic:
            return 0
        at += U(size) + OVERHEAD
        found += 1
    return found


@compile_kernel
def store_inner_counts(
    data: Octets, start: Array, end: Array, selected: Array, magic: Array, entry_headers: Array
) -> None:
    """Store the result of `count_inner_messages` for the `selected` wrappers in their entry headers."""
    for index in range(selected.size):
        entry = selected[index]
        entry_headers[entry].records_count = count_inner_messages(
            data, start[index], end[index], magic[entry]
        )


@compile_kernel
def read_set(  # noqa: PLR0913, PLR0917 - as above
    data: Octets, at: Pos, end: Pos, header: Row, magic: int, slots: Array, first: int, step: int,
    numbers: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    used: Array,
) -> Flag:  # fmt: skip
    """Read the messages of one wrapper, which must fill `at` to `end`, and return whether all are clean.

    Offsets and timestamps are set as in §2.2. The arrays are filled as in `kernels.read_batch`. With step 0
    the scratch row has the offset of the first message at the end.
    """
    append, previous, earliest = header.attributes & APPEND_TIME, np.int64(-1), np.int64(-1)
    for index in range(header.records_count):
        row = slots[first + step * index]
        stop = at + U(read_int32(data, at + U(8))) + OVERHEAD
        if not read_message(data, at, stop, magic, row) or row.offset <= previous:
            return False
        if row.attributes & ~APPEND_TIME or (row.attributes and not (magic and append)):
            return False
        previous = row.offset
        earliest = previous if index == 0 else earliest
        if append and magic:
            row.timestamp = header.max_timestamp
        at = stop
        append_columns(data, row, numbers, ends, absent, keys, values, used)
    base = header.base_offset - previous if magic and header.base_offset else np.int64(0)
    if header.records_count == 0 or base < 0 or at != end:
        return False
    for index in range(header.records_count * step):
        slots[first + index].offset += base
    if step == 0:
        slots[first].offset = earliest + base
    if numbers.size:
        for index in range(used[0] - U(header.records_count), used[0]):
            numbers[0, index] += base
    return True


@compile_kernel
def append_columns(  # noqa: PLR0913, PLR0917 - as above
    data: Octets, row: Row, numbers: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    used: Array,
) -> None:  # fmt: skip
    """Append a message to the column buffers, if they have room."""
    if not numbers.size:
        return
    row_at, key_end, value_end = used[0], used[1], used[2]
    numbers[0, row_at], numbers[1, row_at] = row.offset, row.timestamp
    absent[0, row_at], absent[1, row_at] = row.key_length < 0, row.value_length < 0
    if row.key_length > 0:
        copy_bytes(data, row.key_at, U(row.key_length), keys, key_end)
        key_end += U(row.key_length)
    if row.value_length > 0:
        copy_bytes(data, row.value_at, U(row.value_length), values, value_end)
        value_end += U(row.value_length)
    row_at += ONE
    ends[0, row_at], ends[1, row_at], ends[2, row_at] = key_end, value_end, used[3]
    used[0], used[1], used[2] = row_at, key_end, value_end


@compile_kernel
def read_sets(  # noqa: PLR0913, PLR0917 - a kernel takes arrays, not the objects that hold them
    data: Octets, start: Array, end: Array, selected: Array, entry_headers: Array, magic: Array, slots: Array,
    first: Array, step: int, clean: Array,
) -> None:  # fmt: skip
    """Apply `read_set` to the `selected` wrappers; the messages are stored in `slots` only."""
    numbers, ends, absent, octets, used = empty_columns()
    for index in range(selected.size):
        entry = selected[index]
        clean[entry] = read_set(
            data, start[index], end[index], entry_headers[entry], magic[entry], slots, first[entry], step,
            numbers, ends, absent, octets, octets, used,
        )  # fmt: skip


@compile_kernel
def judge_decompressed(
    data: Octets, entry: int, entry_headers: Array, magic: Array, slots: Array, clean: Array
) -> None:
    """Judge the records or messages of one entry, which must fill `data`; store none of them."""
    numbers, ends, absent, octets, used = empty_columns()
    clean[entry] = read_region(
        data, ZERO, U(data.size), entry_headers[entry], magic[entry], slots, ZERO,
        numbers, numbers[0], ends, absent, octets, octets, used,
    )  # fmt: skip


@compile_kernel
def read_region(  # noqa: PLR0913, PLR0917 - as above
    data: Octets, at: Pos, end: Pos, header: Row, magic: int, slots: Array, base: Pos,
    numbers: Array, headers_at: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    used: Array,
) -> Flag:  # fmt: skip
    """Read the records or messages of one entry, which must fill `at` to `end`.

    The messages of a wrapper are counted first. Returns whether all are clean.
    """
    if magic == 2:
        if np.int64(header.records_count) * MIN_RECORD_BYTES > np.int64(end - at):
            return False
        return read_batch(
            data, at, end, header, slots, 0, 0, base, numbers, headers_at, ends, absent, keys, values, used
        )
    header.records_count = count_inner_messages(data, at, end, magic)
    return read_set(data, at, end, header, magic, slots, 0, 0, numbers, ends, absent, keys, values, used)


@compile_kernel
def read_columns(  # noqa: PLR0913, PLR0917 - as above
    wire: Octets, position: Array, length: Array, magic: Array, arena: Octets, start: Array, stop: Array,
    entry_headers: Array, slots: Array, clean: Array,
    numbers: Array, headers_at: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    used: Array,
) -> None:  # fmt: skip
    """Read all entries that are clean so far, in order, into the column buffers.

    An entry that is found not to be clean leaves nothing in the buffers. `start` and `stop` are the limits of
    decompressed entries in the arena; for the others `start` is greater than the size of the arena.
    """
    row, size, used_before = slots[0], U(wire.size), used.copy()
    for index in range(position.size):
        if not clean[index]:
            continue
        at, end, magic_byte = position[index], position[index] + length[index], magic[index]
        if start[index] <= U(arena.size):
            is_clean = read_region(
                arena, start[index], stop[index], entry_headers[index], magic_byte, slots, size,
                numbers, headers_at, ends, absent, keys, values, used,
            )  # fmt: skip
        elif magic_byte == 2:
            is_clean = read_region(
                wire, at + BATCH_HEADER, end, entry_headers[index], magic_byte, slots, ZERO,
                numbers, headers_at, ends, absent, keys, values, used,
            )  # fmt: skip
        else:
            is_clean = read_message(wire, at, end, magic_byte, row)
            if is_clean:
                append_columns(wire, row, numbers, ends, absent, keys, values, used)
        clean[index] = is_clean
        if is_clean:
            used_before[:] = used
        else:
            used[:] = used_before
