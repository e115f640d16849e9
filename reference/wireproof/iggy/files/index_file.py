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
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from operator import le
from struct import Struct
from typing import Any, Final, Literal

from attrs import frozen

from wireproof.data_files import FileFinding
from wireproof.segment_files import EntryLayout, NumberRows, Order, SegmentIndex
from wireproof.wire.text import counted

EntryField = Literal["first", "last", "begin", "end", "time"]
"""The meaning of a number for its record: first or last offset, begin or end position, latest timestamp."""


WORDS: Final[Mapping[EntryField, str]] = {
    "first": "offset", "last": "offset", "begin": "position", "end": "position", "time": "timestamp",
}  # fmt: skip
"""The meanings in messages."""


@frozen(eq=False)
class IndexLayout:
    """The layout of an index file.

    Attributes:
        kind: the suffix of the file name.
        revisions: the revisions of `iggy.log` whose segments have this index.
        packing: of the numbers of an entry.
        fields: the meaning of each number of an entry.
        relative: whether offsets are relative to the base offset of the segment.
        dense: whether every record has an entry.
    """

    kind: str
    revisions: tuple[str, ...]
    packing: Struct
    fields: tuple[EntryField, ...]
    relative: bool = True
    dense: bool = True

    def column(self, name: EntryField) -> str:
        """Return the column of entries with a number as it is stored."""
        if name in ("first", "last"):
            return "relative" if self.relative else "offset"
        return "end" if name == "end" else WORDS[name]

    @cached_property
    def entries(self) -> EntryLayout:
        """Return the layout of the entries: offsets and positions increase, timestamps do not decrease."""
        columns = {name: self.column(name) for name in self.fields}
        order = (Order(column, WORDS[name], name == "time") for name, column in columns.items())
        return EntryLayout(self.packing, tuple(columns.values()), tuple(order))


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


def check_against_log(
    layout: IndexLayout, index: SegmentIndex, places: RecordPositions, *, sound: bool
) -> Iterator[FileFinding]:
    """Check an index against the records of its log. `sound`: whether `places` has all records of the log."""
    rebuilt = False
    if layout.revisions == REVISIONS_0_7_TO_0_9 and index.entries and places:
        pairs = zip(index.entries, places, strict=False)
        rebuilt = all(entry.end == record.begin for entry, record in pairs)
    key: EntryField = "begin" if "begin" in layout.fields else "last"
    for number, entry in enumerate(index.entries):
        if layout.dense:
            record = places[number] if number < len(places) else None
        else:
            record = places.find(key, getattr(entry, layout.column(key)))
        if record is not None:
            yield from _compare(layout, entry, index.base, record, rebuilt=rebuilt)
        elif sound:
            yield FileFinding(entry.at, "the log has no record for this entry")
    if rebuilt:
        text = "positions are those where messages begin, as in an index that server 0.8.0 rebuilt"
        yield FileFinding(4, text, is_error=False)
    if layout.dense and len(index.entries) < len(places):
        missing = len(places) - len(index.entries)
        text = f"{counted(missing, 'record has', 'records have', grouped=False)} no entry yet"
        yield FileFinding(len(index.entries) * layout.packing.size, text, is_error=False)


def _compare(
    layout: IndexLayout,
    entry: Any,  # noqa: ANN401 - of the class of the layout
    base: int,
    record: RecordPosition,
    *,
    rebuilt: bool,
) -> Iterator[FileFinding]:
    for name in layout.fields:
        column = layout.column(name)
        stored, expected = (
            getattr(entry, column),
            getattr(record, "begin" if rebuilt and name == "end" else name),
        )
        if column == "relative":
            expected -= base
        if stored != expected:
            text = f"{WORDS[name]} {stored}, but the log has {expected}"
            yield FileFinding(entry.at + layout.entries.starts[column], text)
