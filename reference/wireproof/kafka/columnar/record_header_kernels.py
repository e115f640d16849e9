"""Numba kernels that copy record headers into columns.

They read entries that `kernels` found clean, so they check nothing again.
"""

from wireproof.columnar.basic_kernels import ZERO, Array, Int, Octets, Pos, U, copy_bytes
from wireproof.columnar.optional_deps import compile_kernel
from wireproof.kafka.columnar.entry_kernels import read_octets


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
