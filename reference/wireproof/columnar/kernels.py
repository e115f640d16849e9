"""The kernels for Kafka's formats: what they find clean is as the reference would have it, without a remark.

A kernel never explains. Whatever is wrong, rare or open in a frame makes it answer "not clean", and the
reference is asked instead. So each condition here may be stricter than kafka.md, and none may be laxer.

Positions are `uint64` throughout. With signed ones every index carries Python's wrap-around of negative
indices and the same code is ten times slower; a mix of both becomes a float. `BAD` is the position that
stands for "not clean": it lies behind every end, so it goes through further reads unchanged.
"""

from typing import Any, Final, TypeAlias

from wireproof.columnar.extra import compiled, inlined, move, np

Octets: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
Array: TypeAlias = "np.ndarray[Any, Any]"
Row: TypeAlias = Any  # one row of a structured array: numba's own type while compiled
Int: TypeAlias = Any  # int64 while compiled
Flag: TypeAlias = Any  # bool while compiled
Pos: TypeAlias = "np.uint64"

HEAD: Final = np.dtype(
    [
        ("offset", "i8"),
        ("base_time", "i8"),
        ("max_time", "i8"),
        ("producer", "i8"),
        ("leader_epoch", "i4"),
        ("last", "i4"),
        ("sequence", "i4"),
        ("count", "i4"),
        ("crc", "u4"),
        ("attributes", "i2"),
        ("producer_epoch", "i2"),
    ]
)
"""What the fixed fields of an entry say: kafka.md §1.1. Of a message (§2.1): `offset`, `crc`, `attributes`,
its timestamp as `max_time` (-1 in v0), `count` 1; of a wrapper the count of its inner messages."""

SLOT: Final = np.dtype(
    [
        ("offset", "i8"),
        ("timestamp", "i8"),
        ("delta", "i8"),
        ("key_at", "u8"),
        ("value_at", "u8"),
        ("headers_at", "u8"),
        ("key_length", "i4"),
        ("value_length", "i4"),
        ("headers", "i4"),
        ("attributes", "i4"),
    ]
)
"""A record: absolute offset and timestamp, timestampDelta as stored, where key, value and first header
begin in the space of the wave, their lengths (-1 is null), the count of headers. One cache line."""

U = np.uint64
BAD: Final = U(0xFFFF_FFFF_FFFF_FFFF)
ZERO, ONE, TWO, FOUR, SIX, SEVEN, EIGHT = U(0), U(1), U(2), U(4), U(6), U(7), U(8)
OVERHEAD, MAGIC_AT, THROUGH_MAGIC, BATCH_HEADER = U(12), U(16), U(17), U(61)
SLACK: Final = U(16)
CONTINUED, LOW7 = U(0x80), U(0x7F)
INT63: Final = (1 << 63) - 1

WHOLE, CUT, BROKEN, FULL = 0, 1, 2, 3
"""Why `walk` stopped: the end, an entry that the end cuts, a head that cannot be, no more room."""

CODEC, APPEND_TIME, TRANSACTIONAL, CONTROL, HORIZON, UNUSED = 0x07, 0x08, 0x10, 0x20, 0x40, ~0x7F
"""Attribute bits: kafka.md §1.2."""

# --- fixed-width integers, big-endian ---


@compiled
def uint(data: Octets, at: Pos, size: Pos) -> Pos:
    """`size` bytes, unsigned."""
    value = ZERO
    for _ in range(size):
        value = value << EIGHT | U(data[at])
        at += ONE
    return value


@compiled
def int32(data: Octets, at: Pos) -> Int:
    """Four bytes, signed."""
    return np.int32(uint(data, at, FOUR))


@compiled
def int64(data: Octets, at: Pos) -> Int:
    """Eight bytes, signed."""
    return np.int64(uint(data, at, EIGHT))


# --- entries: kafka.md §1.4 ---


@compiled
def walk(
    data: Octets, at: Pos, most: int, position: Array, length: Array, magic: Array
) -> tuple[Int, Pos, Int]:
    """Entries from `at` on, as many as the arrays have room for: how many, where it stopped, and why.

    `magic` is not trusted by what follows: 0, 1 or 2 with a size that such an entry may have.
    """
    end, found = U(data.size), 0
    while found < position.size:
        if at == end:
            return found, at, WHOLE
        if end - at < THROUGH_MAGIC:
            return found, at, BROKEN
        size, kind = int32(data, at + U(8)), data[at + MAGIC_AT]
        least = 49 if kind == 2 else 14 + 8 * kind
        if kind > 2 or size < least or size > most:
            return found, at, BROKEN
        total = U(size) + OVERHEAD
        if total > end - at:
            return found, at, CUT
        position[found], length[found], magic[found] = at, total, kind
        at += total
        found += 1
    return found, at, FULL


@compiled
def read_heads(data: Octets, position: Array, magic: Array, heads: Array) -> None:
    """The fixed fields of each entry; `walk` has seen to it that the bytes are there."""
    for index in range(position.size):
        at, row = position[index], heads[index]
        row.offset = int64(data, at)
        if magic[index] == 2:
            row.leader_epoch = int32(data, at + U(12))
            row.crc = uint(data, at + U(17), FOUR)
            row.attributes = np.int16(uint(data, at + U(21), TWO))
            row.last = int32(data, at + U(23))
            row.base_time = int64(data, at + U(27))
            row.max_time = int64(data, at + U(35))
            row.producer = int64(data, at + U(43))
            row.producer_epoch = np.int16(uint(data, at + U(51), TWO))
            row.sequence = int32(data, at + U(53))
            row.count = int32(data, at + U(57))
        else:
            row.crc = uint(data, at + U(12), FOUR)
            row.attributes = np.int8(data[at + U(17)])
            row.max_time = int64(data, at + U(18)) if magic[index] else -1
            row.count = 1


# --- varints: kafka.md §4, and only as a writer makes them: no longer than they must be ---


@compiled
def base128(data: Octets, at: Pos, end: Pos, most: Pos, top: Pos) -> tuple[Pos, Pos]:
    """The raw integer, and the position behind it; `top` is the greatest last byte of `most` bytes."""
    raw, shift, stop = ZERO, ZERO, min(end, at + most)
    while at < stop:
        byte = U(data[at])
        at += ONE
        raw |= (byte & LOW7) << shift
        if byte < CONTINUED:
            dropped = shift == SEVEN * (most - ONE) and byte > top
            return (ZERO, BAD) if dropped or (byte == ZERO and shift != ZERO) else (raw, at)
        shift += SEVEN
    return ZERO, BAD


@compiled
def varint(data: Octets, at: Pos, end: Pos) -> tuple[Int, Pos]:
    """A zigzag varint of 32 bits."""
    if at < end and data[at] < 0x80:  # nearly all are of one byte or two
        raw = U(data[at])
        return np.int64(raw >> ONE) ^ -np.int64(raw & ONE), at + ONE
    if at < end and end - at > ONE and U(data[at + ONE]) - ONE < LOW7:
        raw = U(data[at]) & LOW7 | U(data[at + ONE]) << SEVEN
        return np.int64(raw >> ONE) ^ -np.int64(raw & ONE), at + TWO
    raw, at = base128(data, at, end, U(5), U(0x0F))
    return np.int64(raw >> ONE) ^ -np.int64(raw & ONE), at


@compiled
def varlong(data: Octets, at: Pos, end: Pos) -> tuple[Int, Pos]:
    """A zigzag varint of 64 bits."""
    raw, at = base128(data, at, end, U(10), ONE)
    return np.int64(raw >> ONE) ^ -np.int64(raw & ONE), at


@compiled
def octets(data: Octets, at: Pos, end: Pos) -> tuple[Pos, Int, Pos]:
    """Bytes under a varint length, -1 being null: where they begin, their length, where they end."""
    length, at = varint(data, at, end)
    if at == BAD or length < -1 or length > np.int64(end - at):
        return ZERO, 0, BAD
    return at, length, at + U(max(length, 0))


# --- records of a batch: kafka.md §1.3, §1.5 ---


@compiled
def is_utf8(data: Octets, at: Pos, end: Pos) -> Flag:
    """Well-formed UTF-8: Unicode 15, table 3-7."""
    while at < end:
        byte = data[at]
        at += ONE
        if byte < 0x80:
            continue
        if byte < 0xC2 or byte > 0xF4:
            return False
        more = U(1 if byte < 0xE0 else 2 if byte < 0xF0 else 3)
        if more > end - at:
            return False
        least = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
        most = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
        for _ in range(more):
            if data[at] < least or data[at] > most:
                return False
            least, most = 0x80, 0xBF
            at += ONE
    return True


@compiled
def skip_headers(data: Octets, at: Pos, end: Pos, count: int) -> Pos:
    """The position behind `count` headers; each takes two bytes or more, so the bytes bound the work."""
    for _ in range(count):
        first, length, at = octets(data, at, end)
        if at == BAD or length < 0 or not is_utf8(data, first, at):
            return BAD
        first, length, at = octets(data, at, end)
        if at == BAD:
            return BAD
    return at


@compiled
def read_record(data: Octets, at: Pos, end: Pos, row: Row) -> Pos:
    """One record: the nine fields of §1.3; `row.offset` and `row.delta` are the deltas. Where it ends."""
    length, at = varint(data, at, end)
    if at == BAD or length < 6 or length > np.int64(end - at):
        return BAD
    stop = at + U(length)
    if data[at] != 0:  # §1.11
        return BAD
    row.delta, at = varlong(data, at + ONE, stop)
    row.offset, at = varint(data, at, stop)
    row.key_at, row.key_length, at = octets(data, at, stop)
    row.value_at, row.value_length, at = octets(data, at, stop)
    row.headers, at = varint(data, at, stop)
    row.headers_at = at
    if at == BAD or row.headers < 0:
        return BAD
    if row.headers:
        at = skip_headers(data, at, stop, row.headers)
    return at if at == stop else BAD


@inlined
def short(data: Octets, at: Pos) -> tuple[Pos, Pos, Flag]:
    """A raw varint of one byte or two, where it ends, and whether it is another; reads two bytes at most."""
    byte, high = U(data[at]), U(data[at + ONE])
    if byte < CONTINUED:
        return byte, at + ONE, False
    return byte & LOW7 | high << SEVEN, at + TWO, high - ONE >= LOW7


@inlined
def plain(data: Octets, at: Pos, end: Pos) -> tuple[Pos, Pos, Pos, Pos, Pos, Pos, Pos]:
    """`read_record` of nearly all records, many times as fast: no header, no number of over two bytes.

    Where it ends; timestampDelta and offsetDelta, zigzag; where the key begins and its raw length, the same
    of the value. Nothing is stored, for who only judges wants none of it. Reads without looking at the end:
    two bytes at most behind a position below `stop`, for which `SLACK` is seen to once. `BAD` only says that
    `read_record` is to be asked.
    """
    if U(data.size) - at < SLACK:
        return BAD, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    length, at, odd = short(data, at)
    stop = at + (length >> ONE)
    if odd or length & ONE or length < U(12) or stop > end or U(data.size) - stop < SLACK or data[at] != 0:
        return BAD, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    time, at, odd = short(data, at + ONE)
    delta, at, other = short(data, at)
    key, at, wrong = short(data, at)
    key_at = at
    at += key >> ONE if key != ONE else ZERO
    if odd or other or wrong or (key & ONE and key != ONE) or at >= stop:
        return BAD, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    value, at, odd = short(data, at)
    value_at = at
    at += value >> ONE if value != ONE else ZERO
    if odd or (value & ONE and value != ONE) or at + ONE != stop or data[at] != 0:
        return BAD, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    return stop, time, delta, key_at, key, value_at, value


@inlined
def zigzag(raw: Pos) -> Int:
    """A raw varint as the number that it stands for."""
    return np.int64(raw >> ONE) ^ -np.int64(raw & ONE)


@inlined
def extent(raw: Pos) -> Int:
    """A raw length, of which 1 is null: -1."""
    return np.int64(-1) if raw == ONE else np.int64(raw >> ONE)


@compiled
def clean_head(head: Row, magic: int) -> Flag:  # noqa: PLR0911 - one for each rule
    """Whether nothing in the fixed fields wants a remark: §1.5, last paragraph; §2.1."""
    if head.offset < 0:
        return False
    bits = head.attributes
    if magic < 2:
        return bits & ~(0x0F if magic else 0x07) == 0 and bits & CODEC < 4 and head.max_time >= -1
    if bits & UNUSED or bits & CODEC > 4 or head.count < 0 or head.last < max(head.count - 1, 0):
        return False
    if head.offset > INT63 - head.last:
        return False
    if bits & APPEND_TIME and (bits & HORIZON or head.max_time < 0):
        return False
    if bits & HORIZON and head.base_time < 0:
        return False
    if bits & CONTROL and (head.count > 1 or (head.count and bits & CODEC)):
        return False
    return clean_producer(head)


@compiled
def clean_producer(head: Row) -> Flag:
    """The combinations of §1.1 that a writer makes: C20 to C25."""
    if head.producer == -1:
        return head.producer_epoch == -1 and head.sequence == -1 and not head.attributes & TRANSACTIONAL
    if head.producer < 0 or head.producer_epoch < 0 or head.sequence < -1:
        return False
    return head.sequence >= 0 or head.attributes & CONTROL != 0


@compiled
def clean_heads(heads: Array, magic: Array, clean: Array) -> None:
    """`clean_head` of each entry that is clean so far."""
    for index in range(magic.size):
        clean[index] = clean[index] and clean_head(heads[index], magic[index])


# --- batches: kafka.md §1.5 ---


@compiled
def copy(data: Octets, start: Pos, count: Pos, out: Octets, stop: Pos) -> None:
    """`count` bytes of `data` from `start` on, to `stop` of `out`; sixteen at a time where they are there.

    What is written too much lies behind the run, where the next one is written, or in the slack.
    """
    if start + count + SLACK <= U(data.size):
        done = ZERO
        while done < count:
            move(out, stop + done, data, start + done)
            done += SLACK
    else:
        for step in range(count):
            out[stop + step] = data[start + step]


@compiled
def is_marker(data: Octets, row: Row, head: Row) -> Flag:
    """ABORT or COMMIT as §1.9 has them; every other control record is the reference's."""
    if row.key_length < 4 or row.value_length < 6 or not head.attributes & TRANSACTIONAL:
        return False
    key, value = row.key_at, row.value_at
    if data[key] & 0x80 or data[value] & 0x80:
        return False
    return data[key + TWO] == 0 and data[key + U(3)] < 2


@compiled
def read_batch(  # noqa: C901, PLR0912, PLR0913, PLR0917 - the loop that all time is spent in
    data: Octets, at: Pos, end: Pos, head: Row, slots: Array, first: int, step: int, base: Pos,
    numbers: Array, headers_at: Array, ends: Array, absent: Array, keys: Octets, values: Octets,
    taken: Array,
) -> Flag:  # fmt: skip
    """The records of one batch, which fill `at` to `end`; whether they are clean.

    Rows `first`, `first + step`, … of `slots` are filled: step 0 keeps nothing there. The rest are the parts
    of a `shelf.Shelf`, which is filled if `numbers` has any room; `base` is the first byte of `data` there.
    """
    append, control = head.attributes & APPEND_TIME != 0, head.attributes & CONTROL != 0
    count, offset, time, most = head.count, head.offset, head.base_time, head.max_time
    before, latest, shelved = np.int64(-1), np.int64(-1), numbers.size > 0
    put, key_end, value_end, headers = taken[0], taken[1], taken[2], taken[3]
    for index in range(count):
        row = slots[first + step * index]
        stop, raw_time, raw_delta, key_at, key, value_at, value = plain(data, at, end)
        late, delta, headed = zigzag(raw_time), zigzag(raw_delta), False
        key_size, value_size = extent(key), extent(value)
        if stop == BAD or control:
            stop = read_record(data, at, end, row)
            if stop == BAD or (control and not is_marker(data, row, head)):
                return False
            late, delta, headed = row.delta, row.offset, row.headers > 0
            key_at, key_size = row.key_at, np.int64(row.key_length)
            value_at, value_size = row.value_at, np.int64(row.value_length)
        elif step:
            row.key_at, row.key_length = key_at, key_size
            row.value_at, row.value_length = value_at, value_size
            row.headers, row.headers_at = 0, stop
        if delta <= before:
            return False
        at, before, stamp = stop, delta, most if append else time + late
        if not append:
            # not by the sum itself: to the compiler a signed sum never wraps, and a test of it is no test
            wrapped = time > INT63 - late if late >= 0 else time < -INT63 - 1 - late
            if wrapped or stamp < -1:
                return False
            latest = max(latest, stamp)
        if step:
            row.offset, row.timestamp, row.delta, row.attributes = offset + delta, stamp, late, 0
        if shelved:
            numbers[0, put], numbers[1, put] = offset + delta, stamp
            absent[0, put], absent[1, put] = key_size < 0, value_size < 0
            if key_size > 0:
                copy(data, key_at, U(key_size), keys, key_end)
                key_end += U(key_size)
            if value_size > 0:
                copy(data, value_at, U(value_size), values, value_end)
                value_end += U(value_size)
            if headed:
                headers_at[put] = row.headers_at + base
                headers += U(row.headers)
            put += ONE
            ends[0, put], ends[1, put], ends[2, put] = key_end, value_end, headers
    if count and (before > head.last or (not append and latest != most)):
        return False
    taken[0], taken[1], taken[2], taken[3] = put, key_end, value_end, headers
    return at == end


@compiled
def read_batches(  # noqa: PLR0913, PLR0917 - a kernel is given the arrays, not what holds them
    data: Octets, start: Array, end: Array, which: Array, heads: Array, slots: Array, first: Array, step: int,
    clean: Array,
) -> None:  # fmt: skip
    """`read_batch` of the entries `which`, whose records lie in `start` to `end` of `data`; no columns."""
    numbers, ends, absent, octets, taken = no_columns()
    for index in range(which.size):
        entry = which[index]
        clean[entry] = read_batch(
            data, start[index], end[index], heads[entry], slots, first[entry], step, ZERO,
            numbers, numbers[0], ends, absent, octets, octets, taken,
        )  # fmt: skip


@compiled
def no_columns() -> tuple[Array, Array, Array, Octets, Array]:
    """The parts of a shelf without room; keys and values are one."""
    numbers, ends = np.empty((2, 0), np.int64), np.empty((3, 0), np.int32)
    return numbers, ends, np.empty((2, 0), np.bool_), np.empty(0, np.uint8), np.zeros(4, np.uint64)
