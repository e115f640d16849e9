"""Attribute bits (kafka.md §1.2, §2.1), and the 64-bit arithmetic of offsets and timestamps (§1.8, §1.10)."""

from typing import Final

MAX_INT64: Final = (1 << 63) - 1
"""The largest int64."""

CODEC_MASK: Final = 0x07
"""Attribute bits 0 to 2, the compression codec: §1.2, §2.1."""

LOG_APPEND_TIME: Final = 0x08
"""Attribute bit 3, LogAppendTime: §1.2; §2.1 for v1."""

TRANSACTIONAL: Final = 0x10
"""Attribute bit 4: §1.2."""

CONTROL: Final = 0x20
"""Attribute bit 5, a control batch: §1.2."""

DELETE_HORIZON: Final = 0x40
"""Attribute bit 6: the base timestamp is a delete horizon: §1.2."""


def wrap64(value: int) -> int:
    """Return `value` wrapped to an int64: offsets and timestamps wrap without a check (C16, R31)."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
