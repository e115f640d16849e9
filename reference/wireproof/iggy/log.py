"""The `.log` file of a segment, a sequence of records: iggy.md, section 7.

Up to server 0.2.6 a record is a message; from crate 0.2.7 to 0.6.x and since 0.11.0 it is a batch. The file
has no header, and records have no magic number. A record whose lengths reach past the end of the file is a
cut tail: the file was still being written. A record whose lengths are consistent but whose content is
invalid is garbage of the size that those lengths give.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.batch import BATCHES
from wireproof.iggy.message import HEADED, STORED
from wireproof.iggy.retained_batch import FIRST_OFFSET_AT, RETAINED_BATCH
from wireproof.iggy.revision import EDGE, Revision
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.schema.struct import Struct, StructLayout, many, since, until
from wireproof.wire.layout import Layout, Repeated
from wireproof.wire.layout_extent import Extent
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item
from wireproof.wire.writer import Writer

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
class RecordLayout:
    """The layout of a record.

    Attributes:
        name: the field of the value that has the records.
        layout: of a record.
        read: reads one record.
        write: writes one record.
        offset_at: the position of the offset of its first message; None for the field `base_offset`.
    """

    name: str
    layout: Layout
    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]
    offset_at: int | None = None

    @cached_property
    def first_offset_at(self) -> int:
        """Return the position of the u64 that is the offset of its first message."""
        return self.layout.offset("base_offset") if self.offset_at is None else self.offset_at

    @cached_property
    def _extent(self) -> Extent:
        return Extent(self.layout)

    def extent(self, data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
        """Return the size of the record at `pos` and True, or a lower bound and False if it is not known."""
        return self._extent.at(data, pos)


@frozen
class LogRevision(Revision):
    """A revision of the segment file: the layout of its records."""

    record: RecordLayout


def row_of(segment: StructLayout) -> LogRevision:
    """Return the row of a revision: its records are compiled, and the loop over them leaves a cut tail."""
    (part,) = segment.parts
    assert isinstance(part, Repeated)
    assert isinstance(part.of, StructLayout)
    codec = part.of.inner_codec
    offset_at = FIRST_OFFSET_AT if part.of.name == "RetainedBatch" else part.of.position("offset")
    return LogRevision(segment, RecordLayout(part.name, part.of, codec.read, codec.write, offset_at))


REVISIONS: Final[dict[str, LogRevision]] = {
    one: row_of(SEGMENT.at(one)) for one in ("0.0.30", "0.0.40", "0.2.7", HEADED, "0.8", "0.9", "0.11", EDGE)
}
"""Revision to its row."""


def decode(revision: LogRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read the complete records, and leave a cut tail unread.

    Raises:
        Rejected: a record is invalid; the exception carries the records before it.
    """
    name, records = revision.record.name, list[Any]()
    while reader.left and _is_complete(revision, reader.data, reader.pos):
        reader.enter(name, len(records))
        try:
            records.append(revision.record.read(reader))
        except Rejected as rejected:
            raise rejected.with_before(revision.value(**{name: tuple(records)})) from None
        reader.leave()
    return revision.value(**{name: tuple(records)})


def _is_complete(revision: LogRevision, data: bytes, pos: int) -> bool:
    size, known = revision.record.extent(data, pos)
    return known and pos + size <= len(data)


def encode(revision: LogRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write the records."""
    for index, record in enumerate(getattr(value, revision.record.name)):
        writer.enter(revision.record.name, index)
        revision.record.write(writer, record)
        writer.leave()


def scan(revision: LogRevision, chunks: Iterable[bytes], _: Options) -> Iterator[Item]:
    """Yield every byte as part of a record, of garbage or of the tail. Buffer one record at a time.

    `wanted` is the number of bytes that the next record needs. It avoids reading the lengths again for each
    chunk of a long record.
    """
    held, at, wanted = bytearray(), 0, 1
    for chunk in chunks:
        held += chunk
        while len(held) >= wanted:
            size, known = revision.record.extent(held)
            if not known or size > len(held):
                wanted = size
                break
            yield _item(revision, bytes(held[:size]), at)
            del held[:size]
            at, wanted = at + size, 1
    if held:
        yield Item("tail", at, len(held))


def _item(revision: LogRevision, record: bytes, at: int) -> Item:
    reader = Reader(record)
    try:
        value = revision.record.read(reader)
    except Rejected as rejected:
        return Item("garbage", at, len(record), cls=rejected.cls)
    return Item("frame", at, len(record), value, remarks=tuple(reader.remarks))
