"""The `.log` file of a segment, a sequence of records: iggy.md, section 7.

Up to server 0.2.6 a record is a message; from crate 0.2.7 to 0.6.x and since 0.11.0 it is a batch. The file
has no header, and records have no magic number. A record whose lengths reach past the end of the file is a
cut tail: the file was still being written. A record whose lengths are consistent but whose content is
invalid is garbage of the size that those lengths give.
"""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.batch import BATCHES, FIRST_OFFSET_AT, RETAINED_BATCH, RetainedBatch
from wireproof.iggy.message import HEADED, STORED
from wireproof.iggy.revision import EDGE
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.schema.stream import RecordStream
from wireproof.schema.struct import Struct, many, since, until
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import next_valid
from wireproof.wire.writer import MASK64

SEGMENT: Final = Struct(
    "Segment",
    until("0.2.7", many("messages", STORED)),
    since("0.2.7", until(HEADED, many("batches", RETAINED_BATCH))),
    since(HEADED, until("0.11", many("messages", STORED))),
    since("0.11", many("batches", BATCHES["log"])),
    revisions=ALL,
    cites="iggy.md §7",
)


@frozen(eq=False)
class SegmentStream(RecordStream):
    """The records of a segment file in one revision."""

    @cached_property
    def first_offset_at(self) -> int:
        """Return the position in a record of the u64 that is the offset of its first message."""
        if self.record.name == "RetainedBatch":
            return FIRST_OFFSET_AT
        return self.record.offset("offset" if self.name == "messages" else "base_offset")


REVISIONS: Final[dict[str, SegmentStream]] = {
    one: SegmentStream(SEGMENT.at(one))
    for one in ("0.0.30", "0.0.40", "0.2.7", HEADED, "0.8", "0.9", "0.11", EDGE)
}
"""Revision to its stream of records."""


# --- resync ---
#
# Find the next valid record of a segment file after one with damaged lengths: iggy.md §7.
#
# Records have no magic number. The search looks for a record that decodes without a remark, has an offset not
# far after that of the damaged record, and is followed by another record.


MAX_OFFSET_GAP: Final = 1 << 24
"""The largest gap between the offsets of two records."""

MAX_CANDIDATES: Final = 1 << 16
"""The most positions to try: in a run of zeros, a record may begin at every byte."""

FREE_READ: Final = 1 << 26
"""Bytes of records that a search reads, beside as many as it is given, and those for each byte passed."""

LENGTHS_SIZE: Final = 64
"""The first bytes of a record, which have its lengths."""

LOOKAHEAD: Final = 256
"""The number of bytes after a record that `damaged_length` reads."""


def damaged_length(revision: SegmentStream, data: bytes, length: int, before: int | None) -> int:
    """Return the number of damaged bytes at the beginning of `data`, or 0 if the lengths may be correct.

    Args:
        revision: of the segment.
        data: the record that is refused or truncated, and `LOOKAHEAD` more bytes if the file has them.
        length: the size that the scan assumed for the record, in bytes.
        before: the offset of the previous record; -1 if there is none, None if it is unknown.
    """
    if before is None:
        before = _offset(revision, data, 0) - 1 if len(data) >= LENGTHS_SIZE else -1
    size, known = revision.extent(data)
    truncated = not known or size > len(data)
    if not truncated and (
        size == len(data) or _offset(revision, data, size) in range(before + 1, before + MAX_OFFSET_GAP)
    ):
        return 0
    if truncated and before >= 0 and _fits_with_one_bit_flipped(revision, data):
        return len(data)

    def is_valid(at: int, end: int) -> bool:
        record = _read(revision, data[at:end])
        if record is None or not before < first_offset(record) < before + MAX_OFFSET_GAP:
            return False
        # soon after it another one follows, if the bytes for it are there
        is_last = end + LOOKAHEAD > len(data)
        return is_last or 0 < _offset(revision, data, end) - last_offset(record) < MAX_OFFSET_GAP

    return next_valid(_candidates(revision, data, length, before), is_valid, FREE_READ + len(data)) or 0


def _candidates(revision: SegmentStream, data: bytes, length: int, before: int) -> Iterator[tuple[int, int]]:
    """Yield position and size of what may be records."""
    at_offset, (empty, _) = revision.first_offset_at, revision.extent(bytes(LOOKAHEAD))
    candidates = _near_offsets(max(before, 0)).finditer(data, at_offset + 1, length + at_offset + 8)
    for match in islice(candidates, MAX_CANDIDATES):
        at = match.start() - at_offset
        size, known = revision.extent(data, at)
        if at < length and known and size != empty and at + size <= len(data):
            yield at, size


@lru_cache(maxsize=16)
def _near_offsets(before: int) -> "re.Pattern[bytes]":
    """Return a pattern for little-endian u64 offsets soon after `before`, by their five high bytes."""
    highs = {(before + step & MASK64).to_bytes(8, "little")[3:] for step in (0, MAX_OFFSET_GAP)}
    return re.compile(rb"(?s)(?=...(?:" + b"|".join(map(re.escape, sorted(highs))) + rb"))")


def _fits_with_one_bit_flipped(revision: SegmentStream, data: bytes) -> bool:
    """Return whether one flipped bit of the lengths gives a valid record of all bytes, the last of a file."""
    for position in range(min(LENGTHS_SIZE, len(data))):
        for bit in range(8):
            flipped = bytearray(data[: LENGTHS_SIZE + LOOKAHEAD])
            flipped[position] ^= 1 << bit
            if revision.extent(flipped) == (len(data), True):
                flipped[len(flipped) :] = data[len(flipped) :]
                if _read(revision, bytes(flipped)) is not None:
                    return True
    return False


def _read(revision: SegmentStream, record: bytes) -> Any:  # noqa: ANN401 - a revision's record
    """Return the record if it is valid, is not empty and has no remarks, else None."""
    reader = Reader(record)
    try:
        value = revision.record.inner_codec.read(reader)
    except Rejected:
        return None
    content = getattr(value, "messages", None) or getattr(value, "payload", None)
    return value if content and not reader.remarks else None


def _offset(revision: SegmentStream, data: bytes, at: int) -> int:
    start = at + revision.first_offset_at
    return int.from_bytes(data[start : start + 8], "little")


def first_offset(record: Any) -> int:  # noqa: ANN401 - a revision's record
    """Return the offset of a record; for a batch, the offset of its first message."""
    if isinstance(record, RetainedBatch) and record.messages:
        return int(record.messages[0].offset)
    return int(record.base_offset if hasattr(record, "base_offset") else record.offset)


def timestamp(record: Any) -> int:  # noqa: ANN401 - a revision's record
    """Return the timestamp of a record; for a batch, that of its last message or of all."""
    names = ("timestamp", "base_timestamp", "max_timestamp")
    return next(int(getattr(record, name)) for name in names if hasattr(record, name))


def last_offset(record: Any) -> int:  # noqa: ANN401 - a revision's record
    """Return the offset of a record; for a batch, the offset of its last message."""
    messages = getattr(record, "messages", ())
    return int(messages[-1].offset if messages else first_offset(record))
