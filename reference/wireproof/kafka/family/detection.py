"""The beginning and the names of files of Kafka."""

import re
from typing import Final

MAX_PLAUSIBLE_SIZE: Final = 1 << 24
"""Maximum plausible bytes of an entry."""

MIN_ENTRY_SIZE: Final = 14
"""Minimum of the size field of an entry: kafka.md §1.4."""


def begins_like_an_entry(data: bytes) -> bool:
    """Return whether there is a magic of 0 to 2, and a plausible size and offset: kafka.md §1.4."""
    if len(data) < 17 or data[16] > 2 or data[:2] not in (b"\x00\x00", b"\xff\xff"):
        return False
    return MIN_ENTRY_SIZE <= int.from_bytes(data[8:12], "big") < MAX_PLAUSIBLE_SIZE


MARKS: Final = {"kafka.": begins_like_an_entry}

FILE_NAMES: Final = ((re.compile(r"\d{20}\.log(\.(deleted|cleaned|swap))?"), "kafka.log"),)
