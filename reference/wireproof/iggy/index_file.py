"""The index files beside an Iggy segment, revision by revision: iggy.md §7, "index". Little-endian all over.

Sources, in apache/iggy: `server/src/streaming/segments/storage.rs` of server-0.0.53 (a position a message,
and in `.timeindex` a time); `server/src/streaming/segments/messages.rs` of server-0.2.7 and 0.3.0 (an entry a
batch, of two numbers) and of server-0.4.61 (of three); `messages_batch_mut.rs` in
`core/server/src/streaming/segments/types` of server-0.5.0 (an entry a message, with the place where it ends);
`core/partitions/src/iggy_index.rs` of server-0.9.0-edge.5 (64-bit numbers, an entry a flush).

No advice is given on a damaged index: not every server builds a missing one anew, and the one that
server-0.8.0 builds (`core/server/src/compat/index_rebuilding/index_rebuilder.rs`) holds the places where
messages begin, not where they end.
"""

from collections.abc import Iterator
from itertools import pairwise
from struct import Struct
from typing import Any, Final, Literal

from attrs import frozen

Meaning = Literal["first", "last", "begin", "end", "time"]
"""Of a record: its first or last offset, where it begins or ends, its latest time."""


@frozen
class IndexLayout:
    """How an index lies.

    Attributes:
        kind: the ending of its name.
        revisions: of the segment.
        entry: the bytes of an entry.
        fields: what its numbers are, in order.
        relative: whether offsets count from the base offset of the segment.
        dense: whether every record has an entry.
    """

    kind: str
    revisions: tuple[str, ...]
    entry: Struct
    fields: tuple[Meaning, ...]
    relative: bool = True
    dense: bool = True


OLD: Final = ("0.0.30", "0.0.40")
HEADED: Final = ("0.7", "0.8", "0.9")

LAYOUTS: Final = (
    IndexLayout(".index", OLD, Struct("<I"), ("begin",)),
    IndexLayout(".timeindex", OLD, Struct("<Q"), ("time",)),
    IndexLayout(".index", ("0.2.7",), Struct("<IIQ"), ("last", "begin", "time"), dense=False),
    IndexLayout(".index", ("0.2.7",), Struct("<II"), ("last", "begin"), dense=False),
    IndexLayout(".timeindex", ("0.2.7",), Struct("<IQ"), ("last", "time"), dense=False),
    IndexLayout(".index", HEADED, Struct("<IIQ"), ("first", "end", "time")),
    IndexLayout(".index", ("0.11",), Struct("<QQQ"), ("first", "time", "begin"), relative=False, dense=False),
)
"""Where two layouts are of one revision, a server was changed in between."""


@frozen
class Place:
    """A record of a segment: its offsets, where it lies, and its latest time."""

    first: int
    last: int
    begin: int
    end: int
    time: int


@frozen
class IndexEntry:
    """An entry; `at` is where it stands in the index, `values` its numbers as they are stored."""

    at: int
    values: tuple[int, ...]


def entries(layout: IndexLayout, data: bytes) -> tuple[IndexEntry, ...]:
    """The whole entries of an index; raises nothing."""
    whole = len(data) - len(data) % layout.entry.size
    rows = layout.entry.iter_unpack(data[:whole])
    return tuple(IndexEntry(number * layout.entry.size, row) for number, row in enumerate(rows))


Wrong = tuple[int, str, bool]
"""The byte, what is there, and whether a reader is misled."""


def alone(layout: IndexLayout, data: bytes) -> Iterator[Wrong]:
    """What is wrong with an index by itself: offsets and positions rise, times do not fall."""
    if odd := len(data) % layout.entry.size:
        yield len(data) - odd, f"{odd} bytes behind the last whole entry, which has {layout.entry.size}", True
    found = entries(layout, data)
    for before, one in pairwise(found):
        for place, (name, earlier, later) in enumerate(
            zip(layout.fields, before.values, one.values, strict=True)
        ):
            if later < earlier or (later == earlier and name != "time"):
                yield _at(layout, one, place), f"{_WORDS[name]} {later} does not come after {earlier}", True


def against(
    layout: IndexLayout, data: bytes, base: int, places: tuple[Place, ...], *, sound: bool
) -> Iterator[Wrong]:
    """What disagrees with the records of the log; `sound`: whether they are all that the log holds."""
    found = entries(layout, data)
    by_place = {getattr(place, _key(layout)): place for place in places}
    begun = layout.revisions == HEADED and _rebuilt(layout, found, places)
    for number, one in enumerate(found):
        if layout.dense:
            record = places[number] if number < len(places) else None
        else:
            record = by_place.get(one.values[layout.fields.index(_key(layout))])
        if record is None:
            if sound:
                yield one.at, "no record of the log belongs to this entry", True
            continue
        yield from _differs(layout, one, base, record, begun=begun)
    if begun:
        yield 4, "positions are those at which messages begin, as server 0.8.0 builds an index anew", False
    if layout.dense and len(found) < len(places):
        yield len(found) * layout.entry.size, f"{len(places) - len(found)} records have no entry yet", False


def _differs(
    layout: IndexLayout, one: IndexEntry, base: int, record: Place, *, begun: bool
) -> Iterator[Wrong]:
    for place, name in enumerate(layout.fields):
        wanted = getattr(record, "begin" if begun and name == "end" else name)
        if layout.relative and name in ("first", "last"):
            wanted -= base
        if one.values[place] != wanted:
            text = f"{_WORDS[name]} {one.values[place]}, but in the log it is {wanted}"
            yield _at(layout, one, place), text, True


def _rebuilt(layout: IndexLayout, found: tuple[IndexEntry, ...], places: tuple[Place, ...]) -> bool:
    place = layout.fields.index("end")
    pairs = list(zip(found, places, strict=False))
    return bool(pairs) and all(one.values[place] == record.begin for one, record in pairs)


def _key(layout: IndexLayout) -> str:
    return "begin" if "begin" in layout.fields else "last"


def _at(layout: IndexLayout, one: IndexEntry, place: int) -> int:
    wide = Struct("<" + layout.entry.format.lstrip("<")[:place])
    return one.at + wide.size


_WORDS: Final[dict[Any, str]] = {
    "first": "offset",
    "last": "offset",
    "begin": "position",
    "end": "position",
    "time": "timestamp",
}
