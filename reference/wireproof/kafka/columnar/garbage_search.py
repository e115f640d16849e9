"""Find the end of bytes that are not an entry, at the speed of memory: the next entry with a valid checksum.

The garbage is the same as that of the reference (`wireproof.kafka.scan`), with the same limit for the bytes
that checksums of candidates may read. Preallocated segments end in zeros, so runs of any length are usual.
Memory: two windows, and one candidate.
"""

import zlib
from collections.abc import Callable
from typing import Final

import google_crc32c

from wireproof.columnar import basic_kernels
from wireproof.columnar.basic_kernels import EIGHT, ONE, ZERO, Array, Flag, Int, Octets, Pos, U, read_uint
from wireproof.columnar.optional_deps import compile_kernel, np
from wireproof.kafka.columnar.entry_kernels import MAGIC_AT, OVERHEAD, THROUGH_MAGIC
from wireproof.kafka.scan import MAX_ENTRY
from wireproof.kafka.size_and_magic import (
    CHECKSUM,
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MIN_SIZE,
    SIZE_AT,
    peek_size_and_magic,
    peek_whole_entry,
)
from wireproof.kafka.size_and_magic import MAGIC_AT as MAGIC_OFFSET
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import SEARCH_FACTOR, Item

Read = Callable[[int, int], bytes | memoryview]
"""Returns the bytes at a position, up to a length, fewer at the end of the object."""

WINDOW: Final = 1 << 20
"""Bytes that are searched together."""

SEARCHED, FOUND, BEYOND = 0, 1, 2
"""Why `find_entry` stopped: at the end, at a valid entry, at a candidate that the buffer does not hold."""

CRC_AT: Final = np.array([at for at, _ in CHECKSUM], np.uint64)
"""The position of the checksum by magic; CRC-32 for 0 and 1, CRC-32C for 2: §1.1, §2.1."""
CRC_FIELD: Final = 4
CRC_BYTES: Final = U(CRC_FIELD)


@compile_kernel
def is_checksum_valid(data: Octets, at: Pos, end: Pos) -> Flag:
    """Return whether the checksum of the entry from `at` to `end`, with a valid magic, is valid."""
    magic = data[at + MAGIC_AT]
    stored_at = at + CRC_AT[magic]
    first = stored_at + CRC_BYTES
    if first >= end:
        return False
    tables = basic_kernels.CRC32C if magic == 2 else basic_kernels.CRC32
    return read_uint(data, stored_at, CRC_BYTES) == basic_kernels.crc(tables, data, first, end)


@compile_kernel
def find_entry(
    data: Octets, at: Pos, limit: Pos, skipped: Pos, most: Pos, spent: Pos
) -> tuple[Pos, Pos, Int, Flag]:
    """Search for a valid entry from `at` on.

    Args:
        data: a part of the stream.
        at: the first candidate.
        limit: the end of the stream, counted from the start of `data`.
        skipped: bytes of the garbage before `data`.
        most: the greatest size of an entry.
        spent: bytes that checksums have read so far.

    Returns:
        The position where the search stopped, the new `spent`, the reason for stopping, and whether all
        candidates end before the stream does.
    """
    end, settled = U(data.size), True
    while at + THROUGH_MAGIC <= end:
        if data[at + MAGIC_AT] <= 2:
            size = read_uint(data, at + EIGHT, CRC_BYTES)
            total = size + OVERHEAD
            if size == ZERO:  # and so are all sizes up to the next byte that is not 0
                while at + THROUGH_MAGIC < end and data[at + OVERHEAD] == 0:
                    at += ONE
            allowed = most + U(SEARCH_FACTOR) * (skipped + at)
            if U(MIN_SIZE) <= size <= most and spent + total <= allowed:
                if at + total > limit:
                    settled = False
                elif at + total > end:
                    return at, spent, BEYOND, settled
                else:
                    spent += total
                    if is_checksum_valid(data, at, at + total):
                        return at, spent, FOUND, settled
        at += ONE
    return at, spent, SEARCHED, settled


def find_garbage_end(read: Read, start: int, size: int, options: Options) -> tuple[int, bool]:
    """Return the position of the first valid entry after `start`, or `size`, the end of the object.

    The second part is whether it is settled: bytes that are appended later cannot change it.
    """
    limit = MAX_ENTRY if options.max_message is None else options.max_message
    base, most, settled = start + 1, U(max(limit, 0)), True  # an entry at `start` was rejected
    data, at, spent = window(read(base, WINDOW)), 0, U(0)
    while True:
        stop, spent, reason, inside = find_entry(data, U(at), U(size - base), U(base - start), most, spent)
        at, end, settled = int(stop), base + data.size, settled and inside
        if reason == FOUND:
            return base + at, settled
        total = int(read_uint(data, U(at + SIZE_AT), CRC_BYTES)) + LOG_OVERHEAD if reason == BEYOND else 0
        if total > WINDOW:
            spent += U(total)
            if has_checksum(read, base + at, total):
                return base + at, settled
            at += 1
        elif end >= size:
            return size, False
        else:
            base, at, rest = base + at, 0, data[at:].tobytes()
            data = window(rest + bytes(read(end, WINDOW)))


def has_checksum(read: Read, at: int, total: int) -> bool:
    """Return whether the checksum of the entry at `at` is valid; its bytes are read in pieces."""
    magic = bytes(read(at + MAGIC_OFFSET, 1))[0]
    first = at + CHECKSUM[magic][0] + CRC_FIELD
    if first >= at + total:
        return False
    stored, crc = int.from_bytes(read(first - CRC_FIELD, CRC_FIELD)), 0
    for begin in range(first, at + total, WINDOW):
        piece = bytes(read(begin, min(WINDOW, at + total - begin)))
        crc = google_crc32c.extend(crc, piece) if magic > 1 else zlib.crc32(piece, crc)
    return crc == stored


def window(data: bytes | memoryview) -> Octets:
    """Return bytes as an array that kernels read."""
    octets: Array = np.frombuffer(data, np.uint8)
    octets.setflags(write=False)  # the kernel is compiled for memory that it only reads
    return octets


def garbage_item(read: Read, at: int, size: int, options: Options) -> tuple[Item, bool] | None:
    """Return the garbage at `at`, and whether it is settled; None if an entry or a tail may begin there."""
    most = MAX_ENTRY if options.max_message is None else options.max_message
    head = bytes(read(at, HEADER_SIZE_UP_TO_MAGIC))
    try:
        prefix = peek_size_and_magic(Reader(head), most)
        # An entry that is too small for its magic has fewer bytes than these: §1.5, first row.
        if prefix is not None and at + prefix.total <= size and prefix.total < 64:
            peek_whole_entry(Reader(bytes(read(at, prefix.total))), most)
    except Rejected as rejected:
        end, settled = find_garbage_end(read, at, size, options)
        return Item("garbage", at, end - at, cls=rejected.cls), settled
    return None
