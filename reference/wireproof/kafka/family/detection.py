"""The beginning and the names of files of Kafka."""

import re
from struct import Struct
from typing import Final

MAX_PLAUSIBLE_SIZE: Final = 1 << 24
"""Maximum plausible bytes of an entry."""

MIN_ENTRY_SIZE: Final = 14
"""Minimum of the size field of an entry: kafka.md §1.4."""

STRAY_BYTES: Final = 64
"""Bytes before the first batch in which it is looked for."""

MAX_PLAUSIBLE_COUNT: Final = 1 << 20

_SIZE_AT, _MAGIC_AT = 8, 16

_BATCH: Final = Struct(">8xi4xB4xHi16xqhii")
"""Size, magic, attributes, last offset delta, producer and count of a batch: kafka.md §1.1."""


def begins_like_an_entry(data: bytes) -> bool:
    """Return whether there is a magic of 0 to 2, and a plausible size and offset: kafka.md §1.4.

    The size of a batch may be damaged, if all its other fields are plausible.
    """
    if len(data) <= _MAGIC_AT or data[_MAGIC_AT] > 2 or data[:2] not in (b"\x00\x00", b"\xff\xff"):
        return False
    size = int.from_bytes(data[_SIZE_AT : _SIZE_AT + 4], "big")
    return MIN_ENTRY_SIZE <= size < MAX_PLAUSIBLE_SIZE or _has_fields_of_a_batch(data, 0)


def holds_a_batch(data: bytes) -> bool:
    """Return whether a whole batch with plausible fields begins behind a few stray bytes."""
    return any(
        _has_fields_of_a_batch(data, at)
        and MIN_ENTRY_SIZE <= _BATCH.unpack_from(data, at)[0] <= len(data) - at - _SIZE_AT - 4
        for at in range(1, STRAY_BYTES)
    )


def _has_fields_of_a_batch(data: bytes, at: int) -> bool:
    if len(data) - at < _BATCH.size:
        return False
    _, magic, attributes, delta, producer, epoch, sequence, count = _BATCH.unpack_from(data, at)
    none = producer == epoch == sequence == -1
    plausible = attributes < 0x80 and attributes & 7 <= 4 and count - 1 == delta < MAX_PLAUSIBLE_COUNT
    return bool(magic == 2 and delta >= 0 and plausible and (none or min(producer, epoch, sequence) >= 0))


MARKS: Final = {"kafka.": begins_like_an_entry, "kafka.log": holds_a_batch}

FILE_NAMES: Final = ((re.compile(r"\d{20}\.log(\.(deleted|cleaned|swap))?"), "kafka.log"),)
