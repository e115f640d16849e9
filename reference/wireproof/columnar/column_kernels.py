"""Columns from the records that `kernels` found: offsets, times, runs of bytes, headers. Compiled by numba.

Everything was judged before; here it is only measured and copied.
"""

from wireproof.columnar.extra import compiled, move
from wireproof.columnar.kernels import SLACK, ZERO, Array, Int, Octets, Pos, Row, U, octets


@compiled
def measure(slots: Array, offset: Array, timestamp: Array, ends: Array) -> tuple[Int, Int]:
    """Numbers as columns, and where each key, value and list of headers ends: the rows of `ends`.

    Returns:
        How many keys are null, and how many values.
    """
    keys, values, headers, no_key, no_value = 0, 0, 0, 0, 0
    for index in range(slots.size):
        row = slots[index]
        offset[index], timestamp[index] = row.offset, row.timestamp
        no_key += row.key_length < 0
        no_value += row.value_length < 0
        keys += max(row.key_length, 0)
        values += max(row.value_length, 0)
        headers += row.headers
        ends[0, index + 1], ends[1, index + 1], ends[2, index + 1] = keys, values, headers
    return no_key, no_value


@compiled
def measure_lengths(length: Array, ends: Array) -> None:
    """Where runs of these lengths end; a negative one is empty."""
    stop = 0
    for index in range(length.size):
        stop += max(length[index], 0)
        ends[index + 1] = stop


@compiled
def copy_out(wire: Octets, arena: Octets, at: Array, ends: Array, out: Octets) -> None:
    """The runs of bytes one after another; `out` is longer by `SLACK`."""
    size = U(wire.size)
    for index in range(at.size):
        start, stop = at[index], U(ends[index])
        count = U(ends[index + 1]) - stop
        if start < size:
            copy(wire, start, count, out, stop)
        else:
            copy(arena, start - size, count, out, stop)


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
def read_headers(wire: Octets, arena: Octets, slots: Array, at: Array, length: Array) -> None:
    """Where key (row 0) and value (row 1) of every header stand, and their lengths; judged before."""
    found, size = 0, U(wire.size)
    for index in range(slots.size):
        row = slots[index]
        if row.headers:
            if row.headers_at < size:
                found = list_headers(wire, ZERO, row, at, length, found)
            else:
                found = list_headers(arena, size, row, at, length, found)


@compiled
def list_headers(data: Octets, base: Pos, row: Row, at: Array, length: Array, found: int) -> Int:
    """The headers of one record, in a space whose first byte is `base`; how many there are by now."""
    here, end = row.headers_at - base, U(data.size)
    for _ in range(row.headers):
        for part in range(2):
            first, size, here = octets(data, here, end)
            at[part, found], length[part, found] = first + base, size
        found += 1
    return found
