"""The memory for the record columns of a block, which the kernels fill record by record."""

from threading import local
from typing import Final

from attrs import frozen

from wireproof.columnar.basic_kernels import SLACK, Array, Octets
from wireproof.columnar.optional_deps import np
from wireproof.family import deferred

_allocate: Final = deferred("pyarrow:allocate_buffer")


class _Scratch(local):
    """Memory of each thread for parts that are small once they are filled, and large until then."""

    def __init__(self) -> None:
        self.keys, self.headers_at = np.empty(0, np.uint8), np.empty(0, np.int64)

    def of(self, records: int, size: int) -> tuple[Array, Octets]:
        """Return room for that many header positions and that many bytes of keys."""
        if self.headers_at.size < records:
            self.headers_at = np.empty(records, np.int64)
        if self.keys.size < size:
            self.keys = np.empty(size, np.uint8)
        return self.headers_at, self.keys


_SCRATCH = _Scratch()


@frozen
class ColumnBuffers:
    """Column buffers with room for all records of a block; valid until the thread makes the next ones.

    Attributes:
        numbers: int64: offset and timestamp.
        headers_at: int64: the position of the first header; undefined for a record without headers.
        ends: int32: for keys, values and headers, a first 0 and then the end of each record's part.
        absent: bool: whether key and value are null.
        keys, values: uint8: the bytes, one after another; longer by `SLACK`.
        used: uint64: the number of records, bytes of keys, bytes of values, and headers.
    """

    numbers: Array
    headers_at: Array
    ends: Array
    absent: Array
    keys: Octets
    values: Octets
    used: Array

    @classmethod
    def of(cls, records: int, size: int) -> "ColumnBuffers":
        """Return buffers for that many records, whose keys and values take at most `size` bytes each.

        The parts that become columns are one piece of Arrow's memory. Its pool keeps freed memory; to get new
        memory from the system costs more than to fill it.
        """
        size += int(SLACK)
        parts = (16 * max(records, 1), 12 * (records + 1), 2 * records, size)
        memory = np.frombuffer(_allocate(sum(parts)), np.uint8)
        numbers, ends, absent, values = np.split(memory, np.cumsum(parts)[:-1])
        rows = ends.view(np.int32).reshape(3, -1)
        rows[:, 0] = 0
        pair = numbers.view(np.int64).reshape(2, -1), absent.view(np.bool_).reshape(2, -1)
        headers_at, keys = _SCRATCH.of(records, size)
        return cls(pair[0], headers_at, rows, pair[1], keys, values, np.zeros(4, np.uint64))
