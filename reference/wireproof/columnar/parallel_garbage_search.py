"""Search long garbage in byte ranges at the same time, with the result of one search after another.

An entry is found by its checksum, and the checksums of false candidates may read only so many bytes: which of
them are checked depends on all candidates before. So the ranges only list their candidates; then it is decided
in order which are checked; then the ranges check theirs. The first valid one is the end.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Final

from attrs import frozen

from wireproof.columnar.garbage_search import (
    CRC_BYTES,
    GarbageEnd,
    GarbageSearch,
    Read,
    has_checksum,
)
from wireproof.columnar.kernels import (
    EIGHT,
    MAGIC_AT,
    ONE,
    OVERHEAD,
    THROUGH_MAGIC,
    ZERO,
    Array,
    Int,
    Octets,
    Pos,
    U,
    read_uint,
)
from wireproof.columnar.optional_deps import compile_kernel, np
from wireproof.kafka.scan import CRC_BYTES_PER_BYTE
from wireproof.kafka.size_and_magic import HEADER_SIZE_UP_TO_MAGIC, MIN_SIZE
from wireproof.wire.options import Options

LONG: Final = 4 << 20
"""Bytes of garbage after which its rest is searched in ranges."""

RANGE: Final = 4 << 20
"""Bytes of a range: a search keeps one for each thread in memory."""

MAX_CANDIDATES: Final = 1 << 14
"""Candidates of a range that are listed. Random bytes have about 800; if there are more, one search goes on."""


@compile_kernel
def list_candidates(data: Octets, most: Pos, position: Array, total: Array) -> Int:
    """List the positions where size and magic are those of an entry, and the bytes of that entry.

    Returns:
        Their number; -1 if the arrays have no room for all.
    """
    at, end, found = ZERO, U(data.size), 0
    while at + THROUGH_MAGIC <= end:
        if data[at + MAGIC_AT] <= 2:
            size = read_uint(data, at + EIGHT, CRC_BYTES)
            if size == ZERO:  # and so are all sizes up to the next byte that is not 0
                while at + THROUGH_MAGIC < end and data[at + OVERHEAD] == 0:
                    at += ONE
            if U(MIN_SIZE) <= size <= most:
                if found == position.size:
                    return -1
                position[found], total[found] = at, size + OVERHEAD
                found += 1
        at += ONE
    return found


@frozen
class Candidate:
    """A position where an entry may begin, and the bytes of that entry."""

    at: int
    total: int


def find_garbage_end(read: Read, start: int, size: int, options: Options, *, threads: int) -> GarbageEnd:
    """Return the same end of garbage as `garbage_search.find_garbage_end`; `threads` search a long one."""
    search = GarbageSearch.of(read, start, size, options)
    found = search.run(start + LONG)
    if found is None and threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            while found is None and search.at < size and _search_ranges(search, pool, threads):
                found = _first_valid(search, pool)
    return found or search.run() or GarbageEnd(size, settled=False)
