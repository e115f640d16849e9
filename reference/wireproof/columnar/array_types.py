"""Types of fast scans: buffers, the kinds of items, and the integers of a layout in NumPy."""

from collections.abc import Iterable
from typing import Any, Final

from wireproof.columnar.optional_deps import np
from wireproof.wire.layout import FixedPart, attribute_of, bits_of, is_signed

Buffer = bytes | bytearray | memoryview
"""A buffer to scan; wrap a `mmap.mmap` in a memoryview."""

FRAME, GARBAGE, TAIL = 0, 1, 2
KINDS: Final = ("frame", "garbage", "tail")


def numpy_dtype(parts: Iterable[FixedPart]) -> "np.dtype[Any]":
    """Return the type of a row of integers, the widest first, so that each is at a multiple of its size.

    The integers have the names of the attributes of a value.
    """
    return np.dtype(
        [
            (attribute_of(part.name), f"{'i' if is_signed(part.kind) else 'u'}{bits_of(part.kind) // 8}")
            for part in sorted(parts, key=lambda part: -bits_of(part.kind))
        ]
    )
