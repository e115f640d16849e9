"""Where sound records go on behind one whose lengths are damaged. iggy.md §7.

Records have no mark at their beginning. What is looked for is a record that decodes without a remark, whose
offset comes later than that of the damaged one and not much later, and behind which another one follows.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from wireproof.iggy.log import Edition, Log27, Log30, Log40, Log70, Log90, Log110
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected

OFFSET_AT: Final[dict[type[Any], int]] = {Log30: 0, Log40: 0, Log27: 0, Log70: 24, Log90: 24, Log110: 8}
"""By the class of the segment's value: where the u64 offset stands in a record."""

NEAR: Final = 1 << 24
"""Offsets that may be missing between two records."""

CANDIDATES: Final = 1 << 16
"""Places that are looked at: among bytes of zeros, every one may be the beginning of a record."""

LENGTHS: Final = 64
"""Bytes at the beginning of a record in which its lengths stand."""

NEXT: Final = 256
"""Bytes behind a record that `resumed` looks at."""


def resumed(edition: Edition, data: bytes, length: int, before: int | None) -> int:
    """How many bytes at the beginning of `data` the damage has; 0 where the lengths may be right.

    Args:
        edition: of the segment.
        data: begins with the record that is refused or cut, and goes on `NEXT` bytes behind it if they exist.
        length: the bytes that the scan gave it.
        before: the offset of the record in front of it; -1 if there is none, None if it is not known.
    """
    if before is None:
        before = _offset(edition, data, 0) - 1 if len(data) >= LENGTHS else -1
    size, known = edition.record.extent(data)
    cut = not known or size > len(data)
    if not cut and (size == len(data) or _offset(edition, data, size) in range(before + 1, before + NEAR)):
        return 0
    if cut and before >= 0 and _one_bit(edition, data):
        return len(data)
    return next(_followed(edition, data, length, before), 0)


def _followed(edition: Edition, data: bytes, length: int, before: int) -> Iterator[int]:
    at_offset, (empty, _) = OFFSET_AT[edition.value], edition.record.extent(bytes(NEXT))
    candidates = _near(max(before, 0)).finditer(data, at_offset + 1, length + at_offset + 8)
    for found in islice(candidates, CANDIDATES):
        at = found.start() - at_offset
        size, known = edition.record.extent(data, at)
        if at >= length or not known or size == empty or at + size > len(data):
            continue
        one = _read(edition, data[at : at + size])
        if (
            one is not None
            and before < first_offset(one) < before + NEAR
            and _goes_on(edition, data, at + size, one)
        ):
            yield at


@lru_cache(maxsize=16)
def _near(before: int) -> "re.Pattern[bytes]":
    """The little-endian u64 whose five high bytes are those of an offset soon behind `before`."""
    highs = {(before + step).to_bytes(8, "little")[3:] for step in (0, NEAR)}
    return re.compile(rb"(?s)(?=...(?:" + b"|".join(map(re.escape, sorted(highs))) + rb"))")


def _goes_on(edition: Edition, data: bytes, at: int, one: Any) -> bool:  # noqa: ANN401 - an edition's record
    if at + NEXT > len(data):
        return True
    return 0 < _offset(edition, data, at) - last_offset(one) < NEAR


def _one_bit(edition: Edition, data: bytes) -> bool:
    """Whether one bit of the lengths makes a sound record of all the bytes: the last one of a file."""
    for place in range(min(LENGTHS, len(data))):
        for bit in range(8):
            other = bytearray(data[: LENGTHS + NEXT])
            other[place] ^= 1 << bit
            if edition.record.extent(other) == (len(data), True):
                other[len(other) :] = data[len(other) :]
                if _read(edition, bytes(other)) is not None:
                    return True
    return False


def _read(edition: Edition, record: bytes) -> Any:  # noqa: ANN401 - an edition's record
    """The record, if it holds something and there is nothing to remark on it."""
    reader = Reader(record)
    try:
        value = edition.record.read(reader)
    except Rejected:
        return None
    holds = getattr(value, "messages", None) or getattr(value, "payload", None)
    return value if holds and not reader.remarks else None


def _offset(edition: Edition, data: bytes, at: int) -> int:
    place = at + OFFSET_AT[edition.value]
    return int.from_bytes(data[place : place + 8], "little")


def first_offset(one: Any) -> int:  # noqa: ANN401 - an edition's record
    """Return the offset of a record, of a batch that of its first message."""
    return int(one.base_offset if hasattr(one, "base_offset") else one.offset)


def last_offset(one: Any) -> int:  # noqa: ANN401 - an edition's record
    """Return the offset of a record, of a batch that of its last message."""
    messages = getattr(one, "messages", ())
    return int(messages[-1].offset if messages else first_offset(one))
