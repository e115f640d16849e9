"""Headers as columns, from the records that `kernels` found. Compiled by numba.

Everything was judged before; here it is only measured and copied.
"""

from wireproof.columnar.extra import compiled
from wireproof.columnar.kernels import ZERO, Array, Int, Octets, Pos, U, copy, octets


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
def read_headers(
    wire: Octets, arena: Octets, headers_at: Array, headers: Array, at: Array, length: Array
) -> None:
    """Where key (row 0) and value (row 1) of every header stand, and their lengths; judged before.

    `headers_at`, `headers`: of each record, where the first stands and how many there are.
    """
    found, size = 0, U(wire.size)
    for index in range(headers.size):
        first, count = U(headers_at[index]), headers[index]
        if count:
            if first < size:
                found = list_headers(wire, ZERO, first, count, at, length, found)
            else:
                found = list_headers(arena, size, first, count, at, length, found)


@compiled
def list_headers(
    data: Octets, base: Pos, first: Pos, count: int, at: Array, length: Array, found: int
) -> Int:
    """The headers of one record, in a space whose first byte is `base`; how many there are by now."""
    here, end = first - base, U(data.size)
    for _ in range(count):
        for part in range(2):
            start, size, here = octets(data, here, end)
            at[part, found], length[part, found] = start + base, size
        found += 1
    return found
