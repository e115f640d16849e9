"""The entries of a stream one after another, judged, with what is wrong: in bounded memory for any size.

The fast decoder judges where it is installed and the input is large; the reference judges everything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.family import EntryListing, object_at
from wireproof.formats import Format, steps_of
from wireproof.install_hint import install_command
from wireproof.schema.stream import RecordStream
from wireproof.wire.byte_source import ByteSource
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item
from wireproof.wire.text import octets, one_line
from wireproof.wire.walk import Entry, EntryHeads, EntryRows, QuickReader, walk

FAST_FROM: Final = 1 << 20
"""Bytes of an input from which on the fast decoder is used: to load it takes longer than to read less."""

HINTED_FROM: Final = 1 << 25
"""Bytes of logs from which on a line names the extra of the fast decoder: seconds without it."""


class NoTotals:
    """Counts nothing of the entries."""

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None: ...

    def json(self) -> dict[str, Json]:
        return {}

    def lines(self) -> tuple[str, ...]:
        return ()


PLAIN: Final = EntryListing(
    unit="entry",
    units="entries",
    columns=(),
    cells=lambda _, __: (),
    heading="",
    line=lambda _: "",
    record_columns=(),
    records=lambda _: iter(()),
    record_line=lambda _: "",
    totals=NoTotals,
)
"""The listing of a stream whose family has none: the position and the length of each entry."""


@cache
def _listing_of_records(stream: RecordStream) -> EntryListing:
    """Return the listing of a stream of records whose family has none: the fields of each."""
    names, widest = stream.record.attributes, 40

    def cells(item: Item, _: bytes = b"") -> tuple[Any, ...]:
        values = (getattr(item.value, name) for name in names)
        return tuple(
            value if isinstance(value, int | str | bytes | None) else to_json(value) for value in values
        )

    def line(found: tuple[Any, ...]) -> str:
        shown = (
            octets(value, widest) if isinstance(value, bytes) else one_line(str(value), widest)
            for value in found
        )
        return "  ".join(f"{name} {text}" for name, text in zip(names, shown, strict=True))

    return evolve(
        PLAIN, columns=names, cells=cells, heading="fields", line=line,
        record_columns=names, records=lambda item: iter((cells(item),)), record_line=line,
    )  # fmt: skip


def listing_of(fmt: Format) -> EntryListing | None:
    """Return the listing of a stream, or of the stream that has entries of this format; None if none has."""
    stream = stream_of(fmt)
    if stream.scan is None:
        return None
    if (place := formats.family_of(fmt).listings.get(stream.name)) is not None:
        listing: EntryListing = object_at(place)
        return listing
    return PLAIN if stream.records is None else _listing_of_records(stream.records)


def stream_of(fmt: Format) -> Format:
    """Return the stream format of an entry, or the format itself if it is a stream."""
    if fmt.scan is not None or fmt.wrapped_by is None:
        return fmt
    return formats.get(*fmt.wrapped_by[:2])


def is_fast_installed() -> bool:
    """Return whether the packages of the fast decoder are installed."""
    return all(find_spec(name) is not None for name in ("numba", "pyarrow", "numpy"))


def fast_hint(size: int) -> str:
    """Return one line about the fast decoder for so many bytes of logs; empty if it would not help."""
    if size < HINTED_FROM or is_fast_installed():
        return ""
    return f"Kafka logs of {size >> 20} MiB are read several times faster with: {install_command('columnar')}"


@frozen
class ListingSettings:
    """The way to read a stream.

    Attributes:
        options: of the codecs.
        values: whether entries keep their values.
        fast: whether the fast decoder is used; None decides by the size of the input.
        begin: the position of the first entry that is read; numbers count from it.
        headers_only: whether only headers and checksums are checked, if the listing can do that.
        is_file: whether the bytes are a file, whose end may be allocated and not written yet.
    """

    options: Options
    values: bool = False
    fast: bool | None = None
    begin: int = 0
    headers_only: bool = False
    is_file: bool = False


def list_entries(
    fmt: Format, listing: EntryListing, source: ByteSource, reading: ListingSettings
) -> Iterator[Entry | EntryRows]:
    """Yield the parts of a stream, in order and without gaps."""

    def reread(data: bytes, options: Options) -> tuple[Item, str] | None:
        found = read_by_other_options(fmt, listing, data, options)
        return None if found is None else (found.item, found.note)

    steps = evolve(
        steps_of(fmt), cells=listing.cells, head_bytes=listing.head_bytes, allocated=listing.allocated,
        reread=reread if listing.also_read else None,
    )  # fmt: skip
    place, fast = "", source.size >= FAST_FROM if reading.fast is None else reading.fast
    if reading.headers_only and listing.headers:
        place = listing.headers
    elif fast and listing.fast and reading.options.profile == "reader" and is_fast_installed():
        place = listing.fast
    quick: QuickReader[EntryRows] | None = object_at(place) if place else None
    return walk(
        steps, source, reading.options, begin=reading.begin, values=reading.values, quick=quick,
        is_file=reading.is_file,
    )  # fmt: skip


@frozen
class ReadOtherwise:
    """An entry that other options accept, the words for it, and these options."""

    item: Item
    note: str
    changes: Mapping[str, Any]


def read_by_other_options(
    fmt: Format, listing: EntryListing, data: bytes, options: Options
) -> ReadOtherwise | None:
    """Return the entry that all these bytes are under other options of the listing; None if they are none."""
    for note, changes in listing.also_read:
        found = next(iter(formats.scan(fmt, [data], evolve(options, **changes))), None)
        if found is not None and found.kind == "frame" and found.length == len(data):
            return ReadOtherwise(found, note, changes)
    return None


# --- the entry at which a listing begins, without reading the entries before it ---
#
# Entries are passed over by the sizes in their headers, from an indexed one on if an index file is beside
# the log. Nothing that is passed over is checked. Where a header fits no entry, or offsets go back, reading
# begins there, and the survey finds out what is wrong.


PASSED_FROM: Final = 1 << 20
"""Bytes of an input from which on entries are passed over: less is read and checked whole."""


@frozen
class Place:
    """Where a listing begins: at an offset, or at the position of a byte."""

    number: int
    is_position: bool


def begin_of(fmt: Format, listing: EntryListing, source: ByteSource, place: Place, log: Path | None) -> int:
    """Return the position of an entry that is not after the place; 0 if nothing can be passed over.

    Args:
        fmt: a stream.
        listing: of the stream.
        source: its bytes.
        place: where the listing begins.
        log: the path of the file, whose index file may be beside it.
    """
    if source.size < PASSED_FROM or (listing.head_offsets is None and not place.is_position):
        return 0
    heads = EntryHeads(steps_of(fmt), source)

    def offsets(at: int) -> tuple[int | None, int | None]:
        """Return the first and the last offset of the entry at a position, as far as its header has them."""
        pair = None if listing.head_offsets is None else listing.head_offsets(fmt, heads.at(at))
        return pair or (None, None)

    before, last = 0, -1
    if log is not None and listing.indexed:
        indexed = object_at(listing.indexed)(log, place.number, is_position=place.is_position)
        if indexed is not None and offsets(indexed[1])[1] == indexed[0]:  # the entry is the one of the index
            before = indexed[1]
    for at, size in heads.sizes(before, source.size):
        if not size or at + size > source.size:
            break
        first, end = (None, None) if place.is_position else offsets(at)
        known = end if end is not None else first
        if first is not None and first > place.number:
            break
        # Offsets that go back are those of a damaged header, or of a log that is out of order.
        here = known is None or (end is not None and end >= place.number) or known < last
        if (place.number < at + size) if place.is_position else here:
            return at
        before, last = at, last if known is None else known
    return before
