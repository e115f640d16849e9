"""Attributes, offsets and timestamps: kafka.md §1.2, §1.8."""

from typing import Final

INT63: Final = (1 << 63) - 1

CODEC: Final = 0x07
"""Attribute bits 0 to 2: §1.2, §2.1."""

APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
HORIZON: Final = 0x40


def wrap64(value: int) -> int:
    """`value` as 64 bits hold it: offsets and timestamps wrap, no check (C16, R31)."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
