"""The index files beside an Iggy segment, held to its records. The layouts stand in `iggy.index_file`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof import formats
from wireproof.cases.survey import glance, items
from wireproof.formats import Format
from wireproof.iggy import index_file
from wireproof.iggy.index_file import LAYOUTS, IndexEntry, IndexLayout, Place, Wrong
from wireproof.iggy.resync import first_offset, last_offset
from wireproof.kafka.companion import Rows
from wireproof.kafka.frame import measure
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected

HEAD: Final = 1 << 20
"""Bytes of a log that tell its system."""

TIMES: Final = ("max_timestamp", "base_timestamp", "timestamp")


@frozen
class IggyLog:
    """The records of a segment, as far as they can be followed.

    Attributes:
        revision: of its format.
        heads: where each record lies.
        size: bytes of the file.
        why: what ends the records before the end of the file; empty if nothing does.
    """

    revision: str
    heads: tuple[Place, ...]
    size: int
    why: str


@frozen
class IggyIndex:
    """The entries of an index; `raw` has its rows, as for those of Kafka."""

    layout: IndexLayout
    entries: tuple[Any, ...]
    raw: Rows


def row_of(head: bytes) -> Format | None:
    """The format of the Iggy segment that begins with these bytes; None if none of its records is proven."""
    if kafkas(head):
        return None
    rows = [row for row in formats.FORMATS.values() if row.name == "iggy.log"]
    best = max(((glance(row, head).proven, row.joined, row) for row in rows), key=lambda found: found[:2])
    return best[2] if best[0] else None


def log_of(log: Path) -> IggyLog | None:
    """The records of a segment of Iggy; None for another file."""
    with log.open("rb") as file:
        row = row_of(file.read(HEAD))
    if row is None:
        return None
    data = log.read_bytes()
    found = list(items(row, data, DEFAULT))
    places = tuple(_place(item) for item in found if item.kind == "frame")
    odd = next((item for item in found if item.kind != "frame"), None)
    why = "" if odd is None else f"{odd.cls or 'torn'} at {odd.at}"
    return IggyLog(row.revision, places, len(data), why)


def checked(log: IggyLog, kind: str, base: int, data: bytes) -> tuple[IggyIndex, tuple[Wrong, ...]]:
    """The index of a segment, and what is wrong with it in the layout that fits best."""
    fitting = [one for one in LAYOUTS if one.kind == kind and log.revision in one.revisions]
    if not fitting:
        wrong = (0, f"a segment of Iggy {log.revision} has no such file", False)
        return IggyIndex(LAYOUTS[0], (), Rows((), 0, 0)), (wrong,)
    tried = [(layout, tuple(_wrong(layout, log, base, data))) for layout in fitting]
    layout, found = min(tried, key=lambda one: len(one[1]))
    return read(layout, data), found


def layouts_of(kind: str, data: bytes) -> list[IndexLayout]:
    """The layouts that an index without its log fits."""
    return [one for one in LAYOUTS if one.kind == kind and data and not list(index_file.alone(one, data))]


def read(layout: IndexLayout, data: bytes) -> IggyIndex:
    """The entries of an index."""
    found = index_file.entries(layout, data)
    size = layout.entry.size
    rows = tuple(data[one.at : one.at + size] for one in found)
    return IggyIndex(layout, tuple(map(_Shown.of, found)), Rows(rows, 0, len(data) % size))


@frozen
class _Shown:
    """An entry as it is shown."""

    at: int
    values: str

    @classmethod
    def of(cls, one: IndexEntry) -> "_Shown":
        return cls(one.at, " ".join(map(str, one.values)))


def _wrong(layout: IndexLayout, log: IggyLog, base: int, data: bytes) -> Iterator[Wrong]:
    yield from index_file.alone(layout, data)
    yield from index_file.against(layout, data, base, log.heads, sound=not log.why)


def _place(item: Item) -> Place:
    one = item.value
    time = next(getattr(one, name) for name in TIMES if hasattr(one, name))
    return Place(first_offset(one), last_offset(one), item.at, item.at + item.length, time)


def kafkas(head: bytes) -> bool:
    """Whether the bytes begin with an entry of Kafka that another one, or nothing, follows."""
    reader = Reader(head)
    try:
        frame = measure(reader)
        if frame is None or not head:
            return not head
        reader.pos += frame.total
        return measure(reader) is not None or reader.left == 0
    except Rejected:
        return False
