"""Whole entries of a buffer, as the walk found them, and their checksums. kafka.md §1.1, §2.1."""

import zlib
from typing import Final

import google_crc32c
from attrs import frozen

from wireproof.columnar import crc_kernels
from wireproof.columnar.extra import np
from wireproof.columnar.kernels import CODEC, Array, Octets

SMALL: Final = 512
"""Up to this length a checksum in a kernel is done before a call of the library has begun."""


@frozen
class Entries:
    """Entries of a buffer as `kernels.walk` found them: rows of equal length.

    Attributes:
        wire: the whole buffer, as an array and as a view that slices.
        position, length: of each entry in the buffer, bytes.
        magic: 0, 1 or 2.
    """

    wire: Octets
    view: memoryview
    position: Array
    length: Array
    magic: Array

    @property
    def end(self) -> Array:
        """Where each entry ends."""
        return self.position + self.length

    def part(self, first: int, stop: int) -> "Entries":
        """The entries `first` to `stop`."""
        rows = slice(first, stop)
        return Entries(self.wire, self.view, self.position[rows], self.length[rows], self.magic[rows])


def sealed(entries: Entries, heads: Array) -> Array:
    """Whether the checksum of each entry holds, but for messages, whose reader looks itself: §1.1, §2.1."""
    good = np.ones(heads.size, np.bool_)
    end = entries.end
    batch = entries.magic == 2
    small = np.flatnonzero(batch & (entries.length <= SMALL))
    found = np.zeros(small.size, np.uint64)
    crc_kernels.crc_each(crc_kernels.CRC32C, entries.wire, entries.position[small] + 21, end[small], found)
    good[small] = found == heads["crc"][small]
    large = np.flatnonzero(batch & (entries.length > SMALL))
    good[large] = heads["crc"][large] == _checksums(entries, large, end)
    wrapper = np.flatnonzero(~batch & (heads["attributes"] & CODEC != 0))
    rows = zip(wrapper.tolist(), entries.position[wrapper].tolist(), end[wrapper].tolist(), strict=True)
    for index, start, stop in rows:
        good[index] = heads["crc"][index] == zlib.crc32(entries.view[start + 16 : stop])
    return good


def _checksums(entries: Entries, which: Array, end: Array) -> Array:
    """CRC-32C by the library, which takes a part of an array as it lies, and of a view only a copy."""
    value, wire = google_crc32c.value, entries.wire
    rows = zip((entries.position[which] + 21).tolist(), end[which].tolist(), strict=True)
    return np.fromiter((value(wire[start:stop]) for start, stop in rows), np.uint32, which.size)
