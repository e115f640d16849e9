"""Where an entry ends: its size and its magic, before anything else of it is read. kafka.md §1.4, §2.1, §5.

The first 17 bytes of every entry mean the same in all three formats: offset at 0, size at 8, magic at 16.
They are looked at here and read, under the names of their format, by the codec that the magic chooses.
"""

from typing import Final

from attrs import frozen

from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected

OVERHEAD: Final = 12
"""Offset and size, which the size does not count."""

THROUGH_MAGIC: Final = 17
SMALLEST: Final = 14
MOST: Final = (1 << 31) - 1
OVERFLOWING: Final = 2147483636
"""From this size on, size + 12 overflows an int32: §1.4 step 7."""

LEAST: Final = (14, 22, 49)
"""The smallest size by magic: §2.1 for 0 and 1, §1.1 for 2."""

TOO_SMALL: Final = ("LEGACY_TOO_SMALL", "LEGACY_TOO_SMALL", "BATCH_TOO_SMALL")
SIZE_NAME: Final = ("size", "size", "batchLength")


@frozen
class Frame:
    """A whole entry: its magic (0, 1 or 2) and its bytes, all of them."""

    magic: int
    total: int


def measure(reader: Reader, most: int = MOST) -> Frame | None:
    """The entry that begins where `reader` stands, which stays there; None if it is cut: §1.4.

    Args:
        reader: stands on the first byte of an entry.
        most: the configured maximum of a size (step 3).

    Raises:
        Rejected: `bad-length`, `limit-exceeded`, `bad-magic`, in the order of the steps.
    """
    frame = announced(reader, most)
    if frame is None:
        return None
    size, magic = frame.total - OVERHEAD, frame.magic
    if reader.left < frame.total:  # step 6
        if size >= OVERFLOWING:  # step 7. No log holds such an entry, so it can only be cut: I14, I25
            reader.remark("size-overflow", SIZE_NAME[magic], at=reader.pos + 8)
        return None
    if size < LEAST[magic]:  # §1.5, first row; I10, I11, I23
        raise _bad_size(reader, SIZE_NAME[magic], size, TOO_SMALL[magic])
    return frame


def announced(reader: Reader, most: int = MOST) -> Frame | None:
    """What the first 17 bytes say of an entry, whether it is whole or not; None if these are cut.

    Raises:
        Rejected: as `measure`, steps 1 to 5.
    """
    data, start, left = reader.data, reader.pos, reader.end - reader.pos
    if left < OVERHEAD:  # step 1
        return None
    size = int.from_bytes(data[start + 8 : start + OVERHEAD], "big", signed=True)
    if size < SMALLEST:  # step 2, and with 12 bytes left too: I07, I19
        raise _bad_size(reader, "size", size, "SIZE_TOO_SMALL")
    if size > most:  # step 3
        text = f"size {size}, {most} allowed"
        raise reader.reject("limit-exceeded", "size", text, at=start + 8, detail="RESOURCE_LIMIT")
    if left < THROUGH_MAGIC:  # step 4
        return None
    magic = data[start + 16]
    if magic > 2:  # step 5, before it is known whether the entry is whole: I18
        raise reader.reject("bad-magic", "magic", f"magic {magic}", at=start + 16, detail="BAD_MAGIC")
    return Frame(magic, size + OVERHEAD)


def is_cut(reader: Reader) -> bool:
    """Whether the entry of an inner set is cut, whatever its magic: §2.2, row "inner set truncated".

    Kafka's reader of inner sets asks for the bytes of a message before it looks at any of them but the
    size, other than the reader of a log; measured with kafka-clients 4.4.0 on a cut message of magic 5.
    """
    if reader.left < OVERHEAD:
        return True
    head = reader.data[reader.pos + 8 : reader.pos + OVERHEAD]
    size = int.from_bytes(head, "big", signed=True)
    return size >= SMALLEST and reader.left < size + OVERHEAD


def _bad_size(reader: Reader, name: str, size: int, detail: str) -> Rejected:
    return reader.reject("bad-length", name, f"size {size}", at=reader.pos + 8, detail=detail)
