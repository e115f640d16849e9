"""Room for the columns of a wave, which the kernels fill record by record."""

from threading import local

from attrs import frozen

from wireproof.columnar.extra import np, pa
from wireproof.columnar.kernels import SLACK, Array, Octets


class _Scratch(local):
    """Memory of each thread's own, for what is small when it is kept, and large until that is known."""

    def __init__(self) -> None:
        self.keys, self.headers_at = np.empty(0, np.uint8), np.empty(0, np.int64)

    def of(self, records: int, size: int) -> tuple[Array, Octets]:
        """Room for so many positions of headers, and for so many bytes of keys."""
        if self.headers_at.size < records:
            self.headers_at = np.empty(records, np.int64)
        if self.keys.size < size:
            self.keys = np.empty(size, np.uint8)
        return self.headers_at, self.keys


_SCRATCH = _Scratch()


@frozen
class Shelf:
    """Columns, each with room for all that may come. It holds until the thread makes another one.

    Attributes:
        numbers: int64: offset and timestamp.
        headers_at: int64: where the first header stands, if there is any.
        ends: int32, of keys, values and headers: where those of each record end, behind a first 0.
        absent: bool, of keys and values: whether there is none.
        keys, values: uint8, one behind another; longer by `SLACK`.
        taken: uint64, how much there is: records, bytes of keys, of values, headers.
    """

    numbers: Array
    headers_at: Array
    ends: Array
    absent: Array
    keys: Octets
    values: Octets
    taken: Array

    @classmethod
    def of(cls, records: int, size: int) -> "Shelf":
        """Room for so many records, whose keys and values are of so many bytes at most.

        What becomes columns is one piece of Arrow's memory, whose pool keeps what is given up: to have it
        from the system again costs more than to fill it.
        """
        size += int(SLACK)
        parts = (16 * max(records, 1), 12 * (records + 1), 2 * records, size)
        memory = np.frombuffer(pa.allocate_buffer(sum(parts)), np.uint8)
        numbers, ends, absent, values = np.split(memory, np.cumsum(parts)[:-1])
        rows = ends.view(np.int32).reshape(3, -1)
        rows[:, 0] = 0
        pair = numbers.view(np.int64).reshape(2, -1), absent.view(np.bool_).reshape(2, -1)
        headers_at, keys = _SCRATCH.of(records, size)
        return cls(pair[0], headers_at, rows, pair[1], keys, values, np.zeros(4, np.uint64))
