"""The items of a fast scan as arrays have them, and the buffers that are scanned."""

from typing import Final

Buffer = bytes | bytearray | memoryview
"""A buffer to scan; wrap a `mmap.mmap` in a memoryview."""

FRAME, GARBAGE, TAIL = 0, 1, 2
KINDS: Final = ("frame", "garbage", "tail")
