"""The index files beside an Iggy segment, by revision, checked against its records: iggy.md §7, "index".

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

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import islice
from operator import le
from pathlib import Path
from struct import Struct
from typing import Any, Final, Literal

from attrs import frozen

from wireproof import formats
from wireproof.data_files import FileFinding
from wireproof.formats import Format, steps_of
from wireproof.iggy.log import first_offset, last_offset, timestamp
from wireproof.inspect.data_directory import HEAD_BYTES, is_claimed_before
from wireproof.inspect.detect_format import survey_log
from wireproof.segment_files import (
    CheckedIndex,
    EntryLayout,
    IndexRules,
    NumberRows,
    Order,
    RawEntries,
    SegmentFileName,
    SegmentIndex,
)
from wireproof.wire.byte_source import FileSource, ShrunkError
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.text import counted
from wireproof.wire.walk import items

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
        super().__init__(("first", "last", "begin", "end", "time"), RecordPosition, signed=False)
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


# --- the segments ---

SYSTEM: Final = "Iggy"

TICKS: Final = 1_000_000
"""Timestamps are in microseconds."""

MAX_RECORDS: Final = 1 << 22
"""Records of a segment that are compared with an index: 160 MiB of positions."""

TOO_MANY: Final = f"the segment has more than {MAX_RECORDS} records,"


@frozen
class SegmentRecords:
    """The records of a segment, up to the first fault.

    Attributes:
        revision: of its format.
        heads: the position of each record.
        size: bytes of the file.
        why: the reason why the records end before the end of the file; empty if they do not.
    """

    revision: str
    heads: RecordPositions
    size: int
    why: str


def log_format(head: bytes) -> Format | None:
    """Return the format of the Iggy segment that begins with `head`; None if no record is proven."""
    if is_claimed_before(head, SYSTEM) or not head.strip(b"\0"):  # zeros prove nothing, and are slow
        return None
    logs = [fmt for fmt in formats.FORMATS.values() if fmt.name == "iggy.log"]
    found = [(survey_log(fmt, head).proven, not fmt.provisional, fmt.format_id) for fmt in logs]
    proven, _, format_id = max(found)
    return formats.FORMATS[format_id] if proven else None


def read_log(log: Path) -> SegmentRecords | None:
    """Read the records of a segment of Iggy; None for another file.

    The result for the last log is kept, because each of its index files needs it.
    """
    state = log.stat()
    return _read_log(log, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1)
def _read_log(log: Path, size: int, _: int) -> SegmentRecords | None:
    """Read the records one after another; only their positions are kept."""
    with log.open("rb") as file:
        fmt = log_format(file.read(HEAD_BYTES))
        if fmt is None:
            return None
        places, why = RecordPositions(), ""
        try:
            for item in items(steps_of(fmt), FileSource.of(file), DEFAULT_OPTIONS):
                if len(places) == MAX_RECORDS:
                    why = why or f"{TOO_MANY} from position {item.at} on"
                    break
                if item.kind == "frame":
                    record = item.value
                    first, last, end = first_offset(record), last_offset(record), item.at + item.length
                    places.append(RecordPosition(first, last, item.at, end, timestamp(record)))
                else:
                    why = why or f"{item.cls or 'torn'} at {item.at}"
        except ShrunkError as error:
            why = str(error)
    return SegmentRecords(fmt.revision, places, size, why)


def check(name: SegmentFileName, log: SegmentRecords) -> CheckedIndex:
    """Check an index file against the records in the layout that fits best.

    There is no advice: no source of Iggy documents a repair.
    """
    data = name.read()
    candidates: list[tuple[SegmentIndex, tuple[FileFinding, ...]]] = []
    for layout in INDEX_LAYOUTS:
        if layout.kind == name.kind and log.revision in layout.revisions:
            index = layout.entries.read(data, name.base)
            against = check_against_log(layout, index, log.heads, sound=not log.why)
            faults = (*layout.entries.alone(index), *against)
            if log.why.startswith(TOO_MANY):
                text = f"{log.why}; entries for them are not compared"
                faults = (*faults, FileFinding(0, text, is_error=False))
            candidates.append((index, faults))
    text = f"a segment of Iggy {log.revision} has no such file"
    none = SegmentIndex((), RawEntries((), 0, 0), name.base), (FileFinding(0, text, is_error=False),)
    index, faults = min(candidates, key=lambda candidate: len(candidate[1]), default=none)
    return CheckedIndex(name, len(data), index, log, faults, SYSTEM, log.revision, TICKS)


def fits_alone(name: SegmentFileName) -> CheckedIndex | None:
    """Check an index file whose segment is not beside it; None if it has none of the layouts."""
    data = name.read()
    found: list[tuple[IndexLayout, SegmentIndex]] = []
    for layout in INDEX_LAYOUTS if data else ():
        if layout.kind == name.kind:
            index = layout.entries.read(data, name.base)
            found += () if any(layout.entries.alone(index)) else [(layout, index)]
    if not found:
        return None
    revisions = dict.fromkeys(revision for layout, _ in found for revision in layout.revisions)
    return CheckedIndex(name, len(data), found[0][1], None, (), SYSTEM, " or ".join(revisions), TICKS)


RULES: Final = IndexRules(
    SYSTEM,
    tuple(dict.fromkeys(layout.kind for layout in INDEX_LAYOUTS)),
    re.compile(r"(?P<base>\d{1,20})(?P<kind>\.(?:index|timeindex|log))"),
    re.compile(r".*(?P<kind>\.(?:index|timeindex))", re.DOTALL),
    lambda head: log_format(head) is not None,
    read_log,
    check,
    fits_alone,
)
