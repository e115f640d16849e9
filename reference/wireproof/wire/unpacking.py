"""What comes out of a compressed region: pieces, each charged to the budget before it is kept.

kafka.md, section 5, RESOURCE_LIMIT: a declared or actual size above the limit is refused, never spent.
"""

from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected

FAILED = "DECOMPRESS_FAILED"


class Unpacking:
    """Gathers what the frames of one region unpack to.

    One buffer rather than a list of pieces: a hostile region may hold millions of tiny ones.
    """

    __slots__ = ("_data", "_reader")

    def __init__(self, reader: Reader) -> None:
        """Start empty, on the budget of `reader`."""
        self._reader = reader
        self._data = bytearray()

    @property
    def size(self) -> int:
        """Bytes kept so far."""
        return len(self._data)

    @property
    def left(self) -> int:
        """Bytes that the budget still allows."""
        return self._reader.budget.left

    def announce(self, name: str, size: int, at: int) -> None:
        """Refuse the field `name` at `at` if the `size` that it declares is more than the budget allows."""
        if size > self.left:
            text = f"{size} bytes, {self.left} allowed"
            raise self._reader.reject("limit-exceeded", name, text, at=at, detail="RESOURCE_LIMIT")

    def add(self, name: str, piece: bytes | bytearray, at: int) -> None:
        """Keep `piece`, which the field `name` at `at` gave."""
        self.announce(name, len(piece), at)
        self._reader.budget.left -= len(piece)
        self._data += piece

    def data(self) -> bytes:
        """All of it, in order."""
        return bytes(self._data)


def failed(reader: Reader, name: str, text: str, at: int | None = None) -> Rejected:
    """The refusal of a region that does not unpack: kafka.md, section 5, DECOMPRESS_FAILED."""
    return reader.reject("decompress-failed", name, text, at=at, detail=FAILED)
