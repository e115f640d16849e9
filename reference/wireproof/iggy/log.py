"""The `.log` file of a segment, a sequence of records: iggy.md, section 7.

Up to server 0.2.6 a record is a message; from crate 0.2.7 to 0.6.x and since 0.11.0 it is a batch. The file
has no header, and records have no magic number. A record whose lengths reach past the end of the file is a
cut tail: the file was still being written. A record whose lengths are consistent but whose content is
invalid is garbage of the size that those lengths give.
"""

from functools import cached_property
from typing import Final

from attrs import frozen

from wireproof.iggy.batch import BATCHES, FIRST_OFFSET_AT, RETAINED_BATCH
from wireproof.iggy.message import HEADED, STORED
from wireproof.iggy.revision import EDGE
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.schema.stream import RecordStream
from wireproof.schema.struct import Struct, many, since, until

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
