"""The output buffer of decompression. Each piece is charged to the budget before it is stored.

A declared or actual size above the limit is rejected before memory is used: kafka.md, section 5,
RESOURCE_LIMIT.
"""

from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

DECOMPRESS_FAILED = "DECOMPRESS_FAILED"


class OutputBuffer:
    """The decompressed bytes of all frames of one compressed region.

    It is one buffer and not a list of pieces, because a hostile region may contain millions of tiny frames.
    """

    __slots__ = ("_data", "_reader")

    def __init__(self, reader: Reader) -> None:
        """Create an empty buffer that uses the budget of `reader`."""
        self._reader = reader
        self._data = bytearray()

    @property
    def size(self) -> int:
        """Return the number of bytes stored so far."""
        return len(self._data)

    @property
    def left(self) -> int:
        """Return the number of bytes that the budget still allows."""
        return self._reader.budget.left

    def check_budget(self, name: str, size: int, at: int) -> None:
        """Reject the field `name` at `at` if it declares a `size` above the budget.

        Raises:
            Rejected: `limit-exceeded`.
        """
        if size > self.left:
            text = f"{size} bytes, {self.left} allowed"
            raise self._reader.reject("limit-exceeded", name, text, at=at, detail="RESOURCE_LIMIT")

    def add(self, name: str, piece: bytes | bytearray, at: int) -> None:
        """Append `piece`, the decompressed bytes of the field `name` at `at`.

        Raises:
            Rejected: `limit-exceeded`.
        """
        self.check_budget(name, len(piece), at)
        self._reader.budget.left -= len(piece)
        self._data += piece

    def data(self) -> bytes:
        """Return all bytes stored so far."""
        return bytes(self._data)


def decompress_failed(reader: Reader, name: str, text: str, at: int | None = None) -> Rejected:
    """Return a rejection for a region that cannot be decompressed: kafka.md, section 5, DECOMPRESS_FAILED."""
    return reader.reject("decompress-failed", name, text, at=at, detail=DECOMPRESS_FAILED)
