"""The field types of Kafka's requests and replies that the fake broker needs.

These are the types of the versions without compact forms: integers are big-endian, the length of a string has
16 bits, the length of bytes and arrays 32, and -1 is null. A request that ends too early raises `EOFError`.
"""

from collections.abc import Callable, Iterable
from io import BytesIO
from struct import Struct
from typing import Final, TypeVar

T = TypeVar("T")

_SIZES: Final = {size: Struct(form) for size, form in ((1, ">b"), (2, ">h"), (4, ">i"), (8, ">q"))}


class Fields:
    """The fields of a request, read one after the other."""

    def __init__(self, data: bytes) -> None:
        """Begin at the first byte."""
        self._source = BytesIO(data)

    def number(self, size: int) -> int:
        """Read a signed integer of `size` bytes."""
        number: int = _SIZES[size].unpack(self._take(size))[0]
        return number

    def skip(self, *sizes: int) -> None:
        """Pass over integers of these sizes."""
        for size in sizes:
            self._take(size)

    def text(self) -> str | None:
        """Read a string, or null."""
        length = self.number(2)
        return None if length < 0 else self._take(length).decode()

    def data(self) -> bytes | None:
        """Read bytes, or null."""
        length = self.number(4)
        return None if length < 0 else self._take(length)

    def many(self, part: Callable[[], T]) -> list[T]:
        """Read an array whose elements `part` reads; null is empty."""
        return [part() for _ in range(self.number(4))]

    def _take(self, size: int) -> bytes:
        data = self._source.read(size)
        if len(data) < size:
            raise EOFError("a request ends too early")
        return data


def number(size: int, value: int) -> bytes:
    """Return an integer as `size` bytes."""
    return _SIZES[size].pack(value)


def text(value: str | None) -> bytes:
    """Return a string, or null."""
    return number(2, -1) if value is None else number(2, len(value.encode())) + value.encode()


def many(parts: Iterable[bytes] | None) -> bytes:
    """Return an array of encoded elements, or null."""
    if parts is None:
        return number(4, -1)
    written = list(parts)
    return number(4, len(written)) + b"".join(written)
