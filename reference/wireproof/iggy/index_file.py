"""The layouts of the index files of an Iggy segment, by revision, and their checks: iggy.md §7, "index".

All integers are little-endian. Sources, in apache/iggy:

- `server/src/streaming/segments/storage.rs` of server-0.0.53: one position for each message, and in
  `.timeindex` one timestamp;
- `server/src/streaming/segments/messages.rs` of server-0.2.7 and 0.3.0: one entry of two numbers for each
  batch; of server-0.4.61: of three numbers;
- `core/server/src/streaming/segments/types/messages_batch_mut.rs` of server-0.5.0: one entry for each
  message, with the position where the message ends;
- `core/partitions/src/iggy_index.rs` of server-0.9.0-edge.5: 64-bit numbers, one entry for each flush. The
  servers of crate 0.11.1-edge are not released; they are taken to write the same.

The checks do not advise to delete a damaged index, because not every server rebuilds a missing one, and the
index that server-0.8.0 rebuilds (`core/server/src/compat/index_rebuilding/index_rebuilder.rs`) has the
positions where messages begin, not where they end.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from operator import le
from struct import Struct
from typing import Any, Final, Literal

from attrs import frozen

from wireproof.wire.packed_rows import NumberRows, PackedRows

EntryField = Literal["first", "last", "begin", "end", "time"]
"""The meaning of a number for its record: first or last offset, begin or end position, latest timestamp."""


@frozen
class IndexLayout:
    """The layout of an index file.

    Attributes:
        kind: the suffix of the file name.
        revisions: the revisions of `iggy.log` whose segments have this index.
        entry: the numbers of an entry, as a struct.
        fields: the meaning of each number of an entry.
        relative: whether offsets are relative to the base offset of the segment.
        dense: whether every record has an entry.
    """

    kind: str
    revisions: tuple[str, ...]
    entry: Struct
    fields: tuple[EntryField, ...]
    relative: bool = True
    dense: bool = True


REVISIONS_TO_0_0_40: Final = ("0.0.30", "0.0.40")
REVISIONS_OF_BATCHES: Final = ("0.11", "0.11.1-edge")
REVISIONS_0_7_TO_0_9: Final = ("0.7", "0.8", "0.9")

INDEX_LAYOUTS: Final = (
    IndexLayout(".index", REVISIONS_TO_0_0_40, Struct("<I"), ("begin",)),
    IndexLayout(".timeindex", REVISIONS_TO_0_0_40, Struct("<Q"), ("time",)),
    IndexLayout(".index", ("0.2.7",), Struct("<IIQ"), ("last", "begin", "time"), dense=False),
    IndexLayout(".index", ("0.2.7",), Struct("<II"), ("last", "begin"), dense=False),
    IndexLayout(".timeindex", ("0.2.7",), Struct("<IQ"), ("last", "time"), dense=False),
    IndexLayout(".index", REVISIONS_0_7_TO_0_9, Struct("<IIQ"), ("first", "end", "time")),
    IndexLayout(
        ".index",
        REVISIONS_OF_BATCHES,
        Struct("<QQQ"),
        ("first", "time", "begin"),
        relative=False,
        dense=False,
    ),
)
"""All layouts. A revision has two layouts of a kind if the servers of that revision changed it."""


@frozen
class RecordPosition:
    """A record of a segment: its first and last offset, its byte range and its latest timestamp."""

    first: int
    last: int
    begin: int
    end: int
    time: int


@frozen
class IndexEntry:
    """An entry of an index: its position in the file, and its numbers as they are stored."""

    at: int
    values: tuple[int, ...]


class RecordPositions(NumberRows[RecordPosition]):
    """The positions of the records of a segment, in 40 bytes each: a segment may have millions."""

    def __init__(self, places: Iterable[RecordPosition] = ()) -> None:
        """Begin with some records."""
        super().__init__(_POSITION_FIELDS, RecordPosition, signed=False)
        self._rows: dict[str, dict[int, int] | None] = {}
        for place in places:
            self.append(place)

    def append(self, place: RecordPosition) -> None:
        """Add a record."""
        self._rows.clear()
        self.add((place.first, place.last, place.begin, place.end, place.time))

    def find(self, name: EntryField, value: int) -> RecordPosition | None:
        """Return the record with this number; None if there is none."""
        numbers = self.column(name)
        if name not in self._rows:
            rising = all(map(le, numbers, islice(numbers, 1, None)))
            self._rows[name] = None if rising else {number: row for row, number in enumerate(numbers)}
        rows = self._rows[name]
        row = bisect_left(numbers, value) if rows is None else rows.get(value, len(numbers))
        return self[row] if row < len(numbers) and numbers[row] == value else None


_POSITION_FIELDS: Final = ("first", "last", "begin", "end", "time")


def read_entries(layout: IndexLayout, data: bytes) -> Sequence[IndexEntry]:
    """Return the complete entries of an index, each made when it is asked for. Raise nothing."""
    size, unpack = layout.entry.size, layout.entry.unpack_from
    return PackedRows(len(data) // size, lambda row: IndexEntry(row * size, unpack(data, row * size)))


IndexFault = tuple[int, str, bool]
"""A finding in an index: the byte position, a description, and whether it misleads a reader."""


def check_alone(layout: IndexLayout, data: bytes) -> Iterator[IndexFault]:
    """Check an index without its log: offsets and positions must increase, timestamps must not decrease."""
    if torn := len(data) % layout.entry.size:
        yield (
            len(data) - torn,
            f"{torn} bytes after the last complete entry of {layout.entry.size} bytes",
            True,
        )
    indexed = read_entries(layout, data)
    for previous, entry in pairwise(indexed):
        for field, (name, earlier, later) in enumerate(
            zip(layout.fields, previous.values, entry.values, strict=True)
        ):
            if later < earlier or (later == earlier and name != "time"):
                yield _at(layout, entry, field), f"{_WORDS[name]} {later} does not come after {earlier}", True


def check_against_log(
    layout: IndexLayout, data: bytes, base: int, places: RecordPositions, *, sound: bool
) -> Iterator[IndexFault]:
    """Check an index against the records of its log. `sound`: whether `places` has all records of the log."""
    indexed = read_entries(layout, data)
    rebuilt = layout.revisions == REVISIONS_0_7_TO_0_9 and _rebuilt(layout, indexed, places)
    for number, entry in enumerate(indexed):
        if layout.dense:
            record = places[number] if number < len(places) else None
        else:
            record = places.find(_key(layout), entry.values[layout.fields.index(_key(layout))])
        if record is None:
            if sound:
                yield entry.at, "the log has no record for this entry", True
            continue
        yield from _compare(layout, entry, base, record, rebuilt=rebuilt)
    if rebuilt:
        yield 4, "positions are those where messages begin, as in an index that server 0.8.0 rebuilt", False
    if layout.dense and len(indexed) < len(places):
        yield (
            len(indexed) * layout.entry.size,
            f"{len(places) - len(indexed)} records have no entry yet",
            False,
        )


def _compare(
    layout: IndexLayout, entry: IndexEntry, base: int, record: RecordPosition, *, rebuilt: bool
) -> Iterator[IndexFault]:
    for field, name in enumerate(layout.fields):
        expected = getattr(record, "begin" if rebuilt and name == "end" else name)
        if layout.relative and name in ("first", "last"):
            expected -= base
        if entry.values[field] != expected:
            text = f"{_WORDS[name]} {entry.values[field]}, but the log has {expected}"
            yield _at(layout, entry, field), text, True


def _rebuilt(layout: IndexLayout, entries: Sequence[IndexEntry], places: RecordPositions) -> bool:
    """Return whether positions are where messages begin, as in an index that server 0.8.0 rebuilt."""
    field = layout.fields.index("end")
    pairs = zip(entries, places, strict=False)
    return bool(entries and places) and all(entry.values[field] == record.begin for entry, record in pairs)


def _key(layout: IndexLayout) -> EntryField:
    """Return the field that identifies the record of an entry."""
    return "begin" if "begin" in layout.fields else "last"


def _at(layout: IndexLayout, entry: IndexEntry, field: int) -> int:
    """Return the position of a number in the index file."""
    before = Struct("<" + layout.entry.format.lstrip("<")[:field])
    return entry.at + before.size


_WORDS: Final[dict[Any, str]] = {
    "first": "offset",
    "last": "offset",
    "begin": "position",
    "end": "position",
    "time": "timestamp",
}
