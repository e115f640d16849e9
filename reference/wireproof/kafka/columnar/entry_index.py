"""Positions, lengths and checksums of the whole entries of a buffer: kafka.md §1.1, §2.1.

The entries are those that `kernels.walk_entries` found.
"""

import zlib
from typing import Final

import google_crc32c
from attrs import frozen

from wireproof.columnar import crc_kernels
from wireproof.columnar.basic_kernels import Array, Octets
from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar.entry_kernels import CODEC
from wireproof.kafka.size_and_magic import CHECKSUM

MESSAGE_CRC_COVERS, _, CRC_COVERS = (at + 4 for at, _ in CHECKSUM)
"""Positions of the first byte that the checksum of a message covers, and of that of a batch."""

MAX_KERNEL_CRC: Final = 512
"""Up to this many bytes a checksum by a kernel is faster than a call of the library."""


@frozen
class EntryIndex:
    """Entries of a buffer, as arrays of equal length.

    Attributes:
        wire: the whole buffer, as an array.
        view: the same, as a memoryview.
        position, length: of each entry in the buffer, in bytes.
        magic: 0, 1 or 2.
    """

    wire: Octets
    view: memoryview
    position: Array
    length: Array
    magic: Array

    @property
    def end(self) -> Array:
        """Return the position after the last byte of each entry."""
        return self.position + self.length

    def part(self, first: int, stop: int) -> "EntryIndex":
        """Return the entries `first` to `stop`."""
        rows = slice(first, stop)
        return EntryIndex(self.wire, self.view, self.position[rows], self.length[rows], self.magic[rows])


def checksums_match(entries: EntryIndex, entry_headers: Array) -> Array:
    """Return which entries have a correct checksum: §1.1, §2.1.

    A plain message counts as correct here; the kernel that reads it checks the CRC itself.
    """
    correct = np.ones(entry_headers.size, np.bool_)
    end = entries.end
    batch = entries.magic == 2
    small = np.flatnonzero(batch & (entries.length <= MAX_KERNEL_CRC))
    checksums = np.zeros(small.size, np.uint64)
    crc_kernels.crc_ranges(
        crc_kernels.CRC32C, entries.wire, entries.position[small] + CRC_COVERS, end[small], checksums
    )
    correct[small] = checksums == entry_headers["crc"][small]
    large = np.flatnonzero(batch & (entries.length > MAX_KERNEL_CRC))
    correct[large] = entry_headers["crc"][large] == _checksums(entries, large, end)
    wrapper = np.flatnonzero(~batch & (entry_headers["attributes"] & CODEC != 0))
    rows = zip(wrapper.tolist(), entries.position[wrapper].tolist(), end[wrapper].tolist(), strict=True)
    for index, start, stop in rows:
        covered = entries.view[start + MESSAGE_CRC_COVERS : stop]
        correct[index] = entry_headers["crc"][index] == zlib.crc32(covered)
    return correct


def _checksums(entries: EntryIndex, selected: Array, end: Array) -> Array:
    """Compute CRC-32C by the library.

    It takes a slice of an array without a copy, but copies a slice of a memoryview.
    """
    value, wire = google_crc32c.value, entries.wire
    rows = zip((entries.position[selected] + CRC_COVERS).tolist(), end[selected].tolist(), strict=True)
    return np.fromiter((value(wire[start:stop]) for start, stop in rows), np.uint32, selected.size)
