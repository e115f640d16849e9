"""Attribute bits (kafka.md §1.2, §2.1), and the 64-bit arithmetic of offsets and timestamps (§1.8, §1.10)."""

from typing import Final

MAX_INT64: Final = (1 << 63) - 1
"""The largest int64."""

CODEC_MASK, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40
"""Attribute bits: the codec (0 to 2), LogAppendTime (3), in a transaction, a control batch, and a base
timestamp that is a delete horizon (6): §1.2. Messages have the first, those of v1 the second too: §2.1."""


def wrap64(value: int) -> int:
    """Return `value` wrapped to an int64: offsets and timestamps wrap without a check (C16, R31)."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
