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

from collections.abc import Iterator
from itertools import pairwise
from struct import Struct
from typing import Any, Final, Literal

from attrs import frozen

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


def read_entries(layout: IndexLayout, data: bytes) -> tuple[IndexEntry, ...]:
    """Return the complete entries of an index. Raise nothing."""
    size = len(data) - len(data) % layout.entry.size
    values = layout.entry.iter_unpack(data[:size])
    return tuple(IndexEntry(index * layout.entry.size, numbers) for index, numbers in enumerate(values))


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
    layout: IndexLayout, data: bytes, base: int, places: tuple[RecordPosition, ...], *, sound: bool
) -> Iterator[IndexFault]:
    """Check an index against the records of its log. `sound`: whether `places` has all records of the log."""
    indexed = read_entries(layout, data)
    by_key = {getattr(place, _key(layout)): place for place in places}
    rebuilt = layout.revisions == REVISIONS_0_7_TO_0_9 and _rebuilt(layout, indexed, places)
    for number, entry in enumerate(indexed):
        if layout.dense:
            record = places[number] if number < len(places) else None
        else:
            record = by_key.get(entry.values[layout.fields.index(_key(layout))])
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


def _rebuilt(
    layout: IndexLayout, entries: tuple[IndexEntry, ...], places: tuple[RecordPosition, ...]
) -> bool:
    """Return whether positions are where messages begin, as in an index that server 0.8.0 rebuilt."""
    field = layout.fields.index("end")
    pairs = list(zip(entries, places, strict=False))
    return bool(pairs) and all(entry.values[field] == record.begin for entry, record in pairs)


def _key(layout: IndexLayout) -> str:
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
