"""Sequences, offsets and timestamps: kafka.md §1.10, §1.2, §1.8."""

from typing import Final

INT31: Final = (1 << 31) - 1
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


def increment(sequence: int, by: int) -> int:
    """The sequence `by` further, from 0 again after 2147483647."""
    if sequence > INT31 - by:
        return by - (INT31 - sequence) - 1
    return sequence + by


def decrement(sequence: int, by: int) -> int:
    """The sequence `by` back, from 2147483647 again below 0."""
    if sequence < by:
        return INT31 - (by - sequence) + 1
    return sequence - by


def record_sequence(base_sequence: int, offset_delta: int) -> int:
    """The sequence of a record, -1 where the batch has none."""
    return -1 if base_sequence < 0 else increment(base_sequence, offset_delta)


def last_sequence(base_sequence: int, last_offset_delta: int) -> int:
    """The sequence of the last record of a batch, still there or not; -1 where there is none."""
    return -1 if base_sequence == -1 else increment(base_sequence, last_offset_delta)


def next_sequence(last: int) -> int:
    """The sequence that must follow `last`."""
    return 0 if last == INT31 else last + 1
