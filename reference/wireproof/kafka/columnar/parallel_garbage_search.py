"""Search long garbage in byte ranges at the same time, with the result of one search after another.

An entry is found by its checksum, and the checksums of false candidates may read only so many bytes. So which
of them are checked depends on all candidates before. Therefore the ranges only list their candidates, then it
is decided in order which are checked, and then the ranges check theirs. The first valid one is the end.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Final

from attrs import frozen

from wireproof.columnar.basic_kernels import EIGHT, ONE, ZERO, Array, Int, Octets, Pos, U, read_uint
from wireproof.columnar.optional_deps import compile_kernel, np
from wireproof.kafka.columnar.entry_kernels import MAGIC_AT, OVERHEAD, THROUGH_MAGIC
from wireproof.kafka.columnar.garbage_search import (
    CRC_BYTES,
    WINDOW,
    GarbageEnd,
    GarbageSearch,
    Read,
    has_checksum,
    window,
)
from wireproof.kafka.scan import CRC_BYTES_PER_BYTE
from wireproof.kafka.size_and_magic import HEADER_SIZE_UP_TO_MAGIC, MIN_SIZE
from wireproof.wire.options import Options

LONG: Final = 4 << 20
"""Bytes of garbage after which its rest is searched in ranges."""

RANGE: Final = 4 << 20
"""Bytes of a range: a search keeps one for each thread in memory."""

OVERLAP: Final = HEADER_SIZE_UP_TO_MAGIC - 1
"""Bytes of the last candidate of a piece that the next piece has too."""

MAX_CANDIDATES: Final = 1 << 14
"""Candidates of a range that are listed; if there are more, such as in text, one search goes on."""


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


Candidates = list[Candidate]
"""Candidates of a range, in order."""


def find_garbage_end(read: Read, start: int, size: int, options: Options, *, threads: int) -> GarbageEnd:
    """Return the same end of garbage as `garbage_search.find_garbage_end`; `threads` search a long one."""
    search = GarbageSearch.of(read, start, size, options)
    if threads < 2:
        return search.run() or GarbageEnd(size, settled=False)
    found = search.run(start + LONG)
    if found is not None:
        return found
    with ThreadPoolExecutor(threads) as pool:
        while found is None and search.at < size:
            found = _search_ranges(search, pool, threads)
    return found or GarbageEnd(size, settled=False)


def _search_ranges(search: GarbageSearch, pool: Executor, count: int) -> GarbageEnd | None:
    """Search the next ranges; return None if the garbage goes on after them."""
    begins = range(search.at, min(search.at + count * RANGE, search.size), RANGE)
    listed = list(pool.map(partial(_candidates, search), begins))
    whole = [one for one in listed if one is not None]
    if len(whole) < len(listed):
        return search.run(search.at + len(begins) * RANGE)
    search.at = min(search.at + len(begins) * RANGE, search.size)
    chosen, cut = _choose(search, whole)
    valid = next((one for one in pool.map(partial(_first_valid, search.read), chosen) if one), None)
    if valid is not None:
        return GarbageEnd(valid.at, search.settled and valid.at < cut)
    search.settled = search.settled and cut == search.size
    return None


def _choose(search: GarbageSearch, listed: Sequence[Candidates]) -> tuple[list[Candidates], int]:
    """Return the candidates of each range whose checksum may be read, and the first one that the end cuts."""
    chosen: list[Candidates] = [[] for _ in listed]
    cut = search.size
    for some, candidates in zip(chosen, listed, strict=True):
        for one in candidates:
            if search.spent + one.total > search.most + CRC_BYTES_PER_BYTE * (one.at - search.start):
                continue
            if one.at + one.total > search.size:
                cut = min(cut, one.at)
            else:
                search.spent += one.total
                some.append(one)
    return chosen, cut


def _first_valid(read: Read, candidates: Candidates) -> Candidate | None:
    """Return the first candidate with a valid checksum."""
    return next((one for one in candidates if has_checksum(read, one.at, one.total)), None)


def _candidates(search: GarbageSearch, begin: int) -> Candidates | None:
    """Return the candidates that begin in a range; None if there are too many."""
    found: Candidates = []
    room = np.empty(MAX_CANDIDATES, np.uint64), np.empty(MAX_CANDIDATES, np.uint64)
    end, step = min(begin + RANGE, search.size), WINDOW - OVERLAP
    for at in range(begin, end, step):
        data = window(search.read(at, min(step, end - at) + OVERLAP))
        count = list_candidates(data, U(search.most), *room)
        if count < 0 or len(found) + count > MAX_CANDIDATES:
            return None
        rows = zip(room[0][:count].tolist(), room[1][:count].tolist(), strict=True)
        found += [Candidate(at + inside, total) for inside, total in rows]
    return found
