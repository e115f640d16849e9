"""Numba kernels for Kafka entries: batches, messages and wrappers. What they call clean has no remarks.

A kernel gives no reasons. If anything in an entry is invalid, rare or left open by the format, the kernel
answers "not clean" and the reference decides. So a condition here may be stricter than kafka.md, but never
less strict.
"""

from typing import Final

from wireproof.columnar.basic_kernels import (
    BAD,
    CONTINUED,
    CRC32,
    FOUR,
    INT63,
    LEAST,
    LOW7,
    ONE,
    SEVEN,
    SLACK,
    TWO,
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
    is_utf8,
    numpy_dtype,
    read_base128,
    read_int32,
    read_int64,
    read_uint,
)
from wireproof.columnar.optional_deps import compile_kernel, inline_kernel, np
from wireproof.kafka.batch import BATCH_NUMBERS

HEADER: Final = numpy_dtype(BATCH_NUMBERS)
"""The fixed fields of one entry header that vary, without its length: kafka.md §1.1.

For a message (§2.1) `base_offset`, `crc` and `attributes` are its own, `max_timestamp` is its timestamp (-1
in v0) and `records_count` is 1; for a wrapper `records_count` is the number of its inner messages.
"""

SLOT: Final = np.dtype(
    [
        *((name, "i8") for name in ("offset", "timestamp", "timestamp_delta")),
        *((name, "u8") for name in ("key_at", "value_at", "headers_at")),
        *((name, "i4") for name in ("key_length", "value_length", "headers", "attributes")),
    ]
)
"""A record: absolute offset and timestamp, timestampDelta as stored, positions of key, value and first
header, lengths of key and value (-1 is null), and the number of headers.

Positions count through the buffer and on through the arena after it. A row fills one cache line.
"""

OVERHEAD, MAGIC_AT, THROUGH_MAGIC, BATCH_HEADER = U(12), U(16), U(17), U(61)

BUFFER_END, CUT, BROKEN, FULL = 0, 1, 2, 3
"""Why `walk_entries` stopped: at the end, at an entry that the end cuts, at an impossible header, no room."""

CODEC, APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON, UNUSED = 0x07, 0x08, 0x10, 0x20, 0x40, ~0x7F
"""The attribute bits: kafka.md §1.2."""

# --- entries: kafka.md §1.4 ---


@compile_kernel
def walk_entries(
    data: Octets, at: Pos, most: int, position: Array, length: Array, magic: Array
) -> tuple[Int, Pos, Int]:
    """Find entries from `at` on, as many as the arrays have room for.

    An entry found has magic 0, 1 or 2 and a size that such an entry may have; nothing else is checked.

    Returns:
        The number of entries, the position after the last one, and the reason for stopping.
    """
    end, found = U(data.size), 0
    while found < position.size:
        if at == end:
            return found, at, BUFFER_END
        if end - at < THROUGH_MAGIC:
            return found, at, BROKEN
        size, magic_byte = read_int32(data, at + U(8)), data[at + MAGIC_AT]
        smallest = 49 if magic_byte == 2 else 14 + 8 * magic_byte
        if magic_byte > 2 or size < smallest or size > most:
            return found, at, BROKEN
        total = U(size) + OVERHEAD
        if total > end - at:
            return found, at, CUT
        position[found], length[found], magic[found] = at, total, magic_byte
        at += total
        found += 1
    return found, at, FULL


@compile_kernel
def read_entry_headers(data: Octets, position: Array, magic: Array, entry_headers: Array) -> None:
    """Read the fixed fields of each entry that `walk_entries` found; it has checked that the bytes exist."""
    for index in range(position.size):
        at, row = position[index], entry_headers[index]
        row.base_offset = read_int64(data, at)
        if magic[index] == 2:
            row.partition_leader_epoch = read_int32(data, at + U(12))
            row.crc = read_uint(data, at + U(17), FOUR)
            row.attributes = np.int16(read_uint(data, at + U(21), TWO))
            row.last_offset_delta = read_int32(data, at + U(23))
            row.base_timestamp = read_int64(data, at + U(27))
            row.max_timestamp = read_int64(data, at + U(35))
            row.producer_id = read_int64(data, at + U(43))
            row.producer_epoch = np.int16(read_uint(data, at + U(51), TWO))
            row.base_sequence = read_int32(data, at + U(53))
            row.records_count = read_int32(data, at + U(57))
        else:
            row.crc = read_uint(data, at + U(12), FOUR)
            row.attributes = np.int8(data[at + U(17)])
            row.max_timestamp = read_int64(data, at + U(18)) if magic[index] else -1
            row.records_count = 1


# --- varints: kafka.md §4, only in their shortest form, as a writer makes them ---


@compile_kernel
def read_varint(data: Octets, at: Pos, end: Pos) -> tuple[Int, Pos]:
    """Read a zigzag varint of 32 bits."""
    if at < end and data[at] < 0x80:  # nearly all take one or two bytes
        raw = U(data[at])
        return np.int64(raw >> ONE) ^ -np.int64(raw & ONE), at + ONE
    if at < end and end - at > ONE and U(data[at + ONE]) - ONE < LOW7:
        raw = U(data[at]) & LOW7 | U(data[at + ONE]) << SEVEN
        return np.int64(raw >> ONE) ^ -np.int64(raw & ONE), at + TWO
    raw, at = read_base128(data, at, end, U(5), U(0x0F))
    return np.int64(raw >> ONE) ^ -np.int64(raw & ONE), at


@compile_kernel
def read_varlong(data: Octets, at: Pos, end: Pos) -> tuple[Int, Pos]:
    """Read a zigzag varint of 64 bits."""
    raw, at = read_base128(data, at, end, U(10), ONE)
    return np.int64(raw >> ONE) ^ -np.int64(raw & ONE), at


@compile_kernel
def read_octets(data: Octets, at: Pos, end: Pos) -> tuple[Pos, Int, Pos]:
    """Read bytes after a varint length, where -1 is null: return their start, their length and their end."""
    length, at = read_varint(data, at, end)
    if at == BAD or length < -1 or length > np.int64(end - at):
        return ZERO, 0, BAD
    return at, length, at + U(max(length, 0))


# --- records of a batch: kafka.md §1.3, §1.5 ---


@compile_kernel
def skip_headers(data: Octets, at: Pos, end: Pos, count: int) -> Pos:
    """Return the position after `count` record headers.

    Each header takes two bytes or more, so the length of the record bounds the work.
    """
    for _ in range(count):
        first, length, at = read_octets(data, at, end)
        if at == BAD or length < 0 or not is_utf8(data, first, at):
            return BAD
        first, length, at = read_octets(data, at, end)
        if at == BAD:
            return BAD
    return at


@compile_kernel
def read_record(data: Octets, at: Pos, end: Pos, row: Row) -> Pos:
    """Read one record (the nine fields of §1.3) into `row` and return its end.

    `row.offset` and `row.timestamp_delta` are then the deltas as stored.
    """
    length, at = read_varint(data, at, end)
    if at == BAD or length < 6 or length > np.int64(end - at):
        return BAD
    stop = at + U(length)
    if data[at] != 0:  # §1.11
        return BAD
    row.timestamp_delta, at = read_varlong(data, at + ONE, stop)
    row.offset, at = read_varint(data, at, stop)
    row.key_at, row.key_length, at = read_octets(data, at, stop)
    row.value_at, row.value_length, at = read_octets(data, at, stop)
    row.headers, at = read_varint(data, at, stop)
    row.headers_at = at
    if at == BAD or row.headers < 0:
        return BAD
    if row.headers:
        at = skip_headers(data, at, stop, row.headers)
    return at if at == stop else BAD


@inline_kernel
def read_short_varint(data: Octets, at: Pos) -> tuple[Pos, Pos, Flag]:
    """Read a raw varint of one or two bytes: return its value, its end, and whether it is longer or padded.

    Two bytes are read in any case.
    """
    byte, high = U(data[at]), U(data[at + ONE])
    if byte < CONTINUED:
        return byte, at + ONE, False
    return byte & LOW7 | high << SEVEN, at + TWO, high - ONE >= LOW7


@inline_kernel
def read_short_record(data: Octets, at: Pos, end: Pos) -> tuple[Pos, Pos, Pos, Pos, Pos, Pos, Pos]:
    """Read a record that has no headers and no number longer than two bytes, as nearly all records do.

    This is many times as fast as `read_record`. It stores nothing, because judging needs no stored record. It
    reads up to two bytes past a position without a check; the single check for `SLACK` covers them.

    Returns:
        The end of the record; timestampDelta and offsetDelta as raw zigzag numbers; position and raw length
        of the key; position and raw length of the value. An end of `BAD` means: use `read_record`.
    """
    if U(data.size) - at < SLACK:
        return BAD, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    length, at, longer = read_short_varint(data, at)
    stop = at + (length >> ONE)
    if longer or length & ONE or length < U(12) or stop > end or U(data.size) - stop < SLACK or data[at] != 0:
        return BAD, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    timestamp_delta, at, longer = read_short_varint(data, at + ONE)
    offset_delta, at, longer_delta = read_short_varint(data, at)
    key, at, longer_key = read_short_varint(data, at)
    key_at = at
    at += key >> ONE if key != ONE else ZERO
    if longer or longer_delta or longer_key or (key & ONE and key != ONE) or at >= stop:
        return BAD, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    value, at, longer = read_short_varint(data, at)
    value_at = at
    at += value >> ONE if value != ONE else ZERO
    if longer or (value & ONE and value != ONE) or at + ONE != stop or data[at] != 0:
        return BAD, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    return stop, timestamp_delta, offset_delta, key_at, key, value_at, value


@inline_kernel
def zigzag(raw: Pos) -> Int:
    """Return the number that a raw zigzag varint encodes."""
    return np.int64(raw >> ONE) ^ -np.int64(raw & ONE)


@inline_kernel
def nullable_length(raw: Pos) -> Int:
    """Return the length that a raw varint encodes; raw 1 is null, -1."""
    return np.int64(-1) if raw == ONE else np.int64(raw >> ONE)


@compile_kernel
def is_clean_header(header: Row, magic: int) -> Flag:  # noqa: PLR0911 - one for each rule
    """Return whether no fixed field needs a remark: §1.5, last paragraph; §2.1."""
    if header.base_offset < 0:
        return False
    bits = header.attributes
    if magic < 2:
        return bits & ~(0x0F if magic else 0x07) == 0 and bits & CODEC < 4 and header.max_timestamp >= -1
    if (
        bits & UNUSED
        or bits & CODEC > 4
        or header.records_count < 0
        or header.last_offset_delta < max(header.records_count - 1, 0)
    ):
        return False
    if header.base_offset > INT63 - header.last_offset_delta:
        return False
    if bits & APPEND_TIME and header.max_timestamp < 0:
        return False
    if bits & DELETE_HORIZON and header.base_timestamp < 0:
        return False
    if bits & CONTROL and (header.records_count > 1 or (header.records_count and bits & CODEC)):
        return False
    return is_clean_producer(header)


@compile_kernel
def is_clean_producer(header: Row) -> Flag:
    """Return whether a writer makes these producer fields: §1.1, C20, C21, C23, C25."""
    if header.producer_id == -1:
        return header.attributes & TRANSACTIONAL == 0
    if header.producer_id < 0 or header.producer_epoch < 0 or header.base_sequence < -1:
        return False
    return header.base_sequence >= 0 or header.attributes & CONTROL != 0


@compile_kernel
def check_headers(entry_headers: Array, magic: Array, clean: Array) -> None:
    """Apply `is_clean_header` to each entry that is clean so far."""
    for index in range(magic.size):
        clean[index] = clean[index] and is_clean_header(entry_headers[index], magic[index])


# --- batches: kafka.md §1.5 ---


@compile_kernel
def is_control_marker(data: Octets, row: Row, header: Row) -> Flag:
    """Return whether the record is an ABORT or COMMIT marker as in §1.9.

    The reference reads every other control record.
    """
    if row.key_length < 4 or row.value_length < 6 or not header.attributes & TRANSACTIONAL:
        return False
    key, value = row.key_at, row.value_at
    if data[key] & 0x80 or data[value] & 0x80:
        return False
    return data[key + TWO] == 0 and data[key + U(3)] < 2


@compile_kernel
def read_batch(
    data: Octets, at: Pos, end: Pos, header: Row, slots: Array, first: int, step: int
) -> Flag:  # the loop that all time is spent in
    """Read the records of one batch, which must fill `at` to `end`, and return whether all are clean.

    Rows `first`, `first + step`, … of `slots` are filled; with step 0 one row serves as scratch space.
    """
    append, control = header.attributes & APPEND_TIME != 0, header.attributes & CONTROL != 0
    count, first_offset = header.records_count, header.base_offset
    base_time, max_time = header.base_timestamp, header.max_timestamp
    previous, latest = np.int64(-1), np.int64(-1)
    for index in range(count):
        row = slots[first + step * index]
        stop, raw_time, raw_offset_delta, key_at, key, value_at, value = read_short_record(data, at, end)
        time_delta, offset_delta = zigzag(raw_time), zigzag(raw_offset_delta)
        if stop == BAD or control:
            stop = read_record(data, at, end, row)
            if stop == BAD or (control and not is_control_marker(data, row, header)):
                return False
            time_delta, offset_delta = row.timestamp_delta, row.offset
        elif step:
            row.key_at, row.key_length = key_at, nullable_length(key)
            row.value_at, row.value_length = value_at, nullable_length(value)
            row.headers, row.headers_at = 0, stop
        if offset_delta <= previous:
            return False
        at, previous = stop, offset_delta
        timestamp = max_time if append else base_time + time_delta
        if not append:
            # do not test the sum itself: the compiler assumes that it never wraps, and drops such a test
            wrapped = base_time > INT63 - time_delta if time_delta >= 0 else base_time < LEAST - time_delta
            if wrapped or timestamp < -1:
                return False
            latest = max(latest, timestamp)
        if step:
            row.offset, row.timestamp = first_offset + offset_delta, timestamp
            row.timestamp_delta, row.attributes = time_delta, 0
    if count and (previous > header.last_offset_delta or (not append and latest != max_time)):
        return False
    return at == end


# --- messages and wrappers: kafka.md §2.1, §2.2 ---


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
def read_set(  # noqa: PLR0913, PLR0917 - the loop of a wrapper, with its place and that of its slots
    data: Octets, at: Pos, end: Pos, header: Row, magic: int, slots: Array, first: int, step: int
) -> Flag:
    """Read the messages of one wrapper, which must fill `at` to `end`, and return whether all are clean.

    Offsets and timestamps are set as in §2.2. With step 0 the scratch row has the offset of the first message
    at the end.
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
    base = header.base_offset - previous if magic and header.base_offset else np.int64(0)
    if header.records_count == 0 or base < 0 or at != end:
        return False
    for index in range(header.records_count * step):
        slots[first + index].offset += base
    if step == 0:
        slots[first].offset = earliest + base
    return True


# --- all entries of a block ---
#
# `start` and `stop` are the limits of decompressed entries in the arena; for the others both are `BAD`.


@compile_kernel
def count_messages(arena: Octets, start: Array, stop: Array, magic: Array, entry_headers: Array) -> None:
    """Store the number of messages in each wrapper that was decompressed in its entry header."""
    for index in range(magic.size):
        if magic[index] < 2 and start[index] != BAD:
            entry_headers[index].records_count = count_inner_messages(
                arena, start[index], stop[index], magic[index]
            )


@compile_kernel
def read_entries(  # noqa: PLR0913, PLR0917 - a kernel takes arrays, not the objects that hold them
    wire: Octets, position: Array, length: Array, magic: Array, arena: Octets, start: Array, stop: Array,
    entry_headers: Array, wanted: Array, slots: Array, first: Array, step: int, clean: Array,
) -> None:  # fmt: skip
    """Read the records of the wanted entries into the rows of `slots` from `first` of each on.

    With step 0 none is kept. `clean` is updated.
    """
    for index in range(position.size):
        if not wanted[index]:
            continue
        at, end, row = position[index], position[index] + length[index], first[index] * step
        header = entry_headers[index]
        if start[index] != BAD:
            clean[index] = read_region(
                arena, start[index], stop[index], header, magic[index], slots, row, step
            )
        elif magic[index] == 2:
            clean[index] = read_batch(wire, at + BATCH_HEADER, end, header, slots, row, step)
        else:
            clean[index] = read_message(wire, at, end, magic[index], slots[row])


@compile_kernel
def read_region(  # noqa: PLR0913, PLR0917 - as `read_set`
    data: Octets, at: Pos, end: Pos, header: Row, magic: int, slots: Array, first: int, step: int
) -> Flag:
    """Read the records or messages of one compressed entry, which must fill `at` to `end`."""
    if magic == 2:
        return read_batch(data, at, end, header, slots, first, step)
    return read_set(data, at, end, header, magic, slots, first, step)


@compile_kernel
def judge_decompressed(
    data: Octets, entry: int, entry_headers: Array, magic: Array, slots: Array, clean: Array
) -> None:
    """Judge the records or messages of one entry, which must fill `data`; store none of them."""
    header, end = entry_headers[entry], U(data.size)
    if magic[entry] < 2:
        header.records_count = count_inner_messages(data, ZERO, end, magic[entry])
    clean[entry] = read_region(data, ZERO, end, header, magic[entry], slots, 0, 0)


# --- columns, from the slots of clean entries: nothing is checked again ---


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
