"""The entries of a stream one after another, judged, with what is wrong: in bounded memory for any size.

The fast decoder judges where it is installed and the input is large; the reference judges everything else.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
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
from wireproof.wire.walk import Entry, EntryHeads, EntryRows, QuickReader, Steps, walk

FAST_FROM: Final = 1 << 20
"""Bytes of an input from which on the fast decoder is used: to load it takes longer than to read less."""

HINTED_FROM: Final = 1 << 25
"""Bytes of logs from which on a line names the extra of the fast decoder: seconds without it."""

FAST_PACKAGES: Final = ("numba", "pyarrow", "numpy")


class NoTotals:
    """Counts nothing of the entries."""

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Pass over entries."""

    def json(self) -> dict[str, Json]:
        """Return no counts."""
        return {}

    def lines(self) -> tuple[str, ...]:
        """Return no lines."""
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


WIDEST_FIELD: Final = 40
"""Characters of a field in a line; longer ones are cut."""


@cache
def _listing_of_records(stream: RecordStream) -> EntryListing:
    """Return the listing of a stream of records whose family has none: the fields of each."""
    names = stream.record.attributes

    def cells(item: Item, _: bytes = b"") -> tuple[Any, ...]:
        values = (getattr(item.value, name) for name in names)
        return tuple(
            value if isinstance(value, int | str | bytes | None) else to_json(value) for value in values
        )

    def line(found: tuple[Any, ...]) -> str:
        shown = (
            octets(value, WIDEST_FIELD) if isinstance(value, bytes) else one_line(str(value), WIDEST_FIELD)
            for value in found
        )
        return "  ".join(f"{name} {text}" for name, text in zip(names, shown, strict=True))

    return evolve(
        PLAIN, columns=names, cells=cells, heading="fields", line=line,
        record_columns=names, records=lambda item: iter((cells(item),)), record_line=line,
    )  # fmt: skip


def listing_of(fmt: Format) -> EntryListing | None:
    """Return the listing of a stream, or of the stream that has entries of this format; None if none has."""
    name = fmt.name if fmt.scan is not None else fmt.wrapped_by[0] if fmt.wrapped_by is not None else ""
    if not name:
        return None
    place = formats.family_of(fmt).listings.get(name)
    if place is not None:
        listing: EntryListing = object_at(place)
        return listing
    records = stream_of(fmt).records
    return PLAIN if records is None else _listing_of_records(records)


def stream_of(fmt: Format) -> Format:
    """Return the stream format of an entry, or the format itself if it is a stream."""
    if fmt.scan is not None or fmt.wrapped_by is None:
        return fmt
    return formats.get(*fmt.wrapped_by[:2])


def is_fast_installed() -> bool:
    """Return whether the packages of the fast decoder are installed."""
    return all(find_spec(name) is not None for name in FAST_PACKAGES)


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


def steps_of_listing(fmt: Format, listing: EntryListing) -> Steps:
    """Return the steps of a stream whose entries are listed."""

    def reread(data: bytes, options: Options) -> tuple[Item, str] | None:
        found = read_by_other_options(fmt, listing, data, options)
        return None if found is None else (found.item, found.note)

    return evolve(
        steps_of(fmt), cells=listing.cells, head_bytes=listing.head_bytes, allocated=listing.allocated,
        reread=reread if listing.also_read else None,
    )  # fmt: skip


def list_entries(
    fmt: Format, listing: EntryListing, source: ByteSource, reading: ListingSettings
) -> Iterator[Entry | EntryRows]:
    """Yield the parts of a stream, in order and without gaps."""
    return walk(
        steps_of_listing(fmt, listing), source, reading.options, begin=reading.begin, values=reading.values,
        quick=_quick_reader(listing, source, reading), is_file=reading.is_file,
    )  # fmt: skip


def _quick_reader(
    listing: EntryListing, source: ByteSource, reading: ListingSettings
) -> QuickReader[EntryRows] | None:
    """Return the quick reader of a stream; None if the reference reads it."""
    fast = source.size >= FAST_FROM if reading.fast is None else reading.fast
    if reading.headers_only and listing.headers:
        place = listing.headers
    elif fast and listing.fast and reading.options.profile == "reader" and is_fast_installed():
        place = listing.fast
    else:
        return None
    reader: QuickReader[EntryRows] = object_at(place)
    return reader


@frozen
class ReadOtherwise:
    """An entry that other options accept, the words for it, and these options."""

    item: Item
    note: str
    changes: Mapping[str, Any]


def read_by_other_options(
    fmt: Format, listing: EntryListing, data: bytes, options: Options
) -> ReadOtherwise | None:
    """Return the entry that these bytes are under other options of the listing; None if they are none."""
    for note, changes in listing.also_read:
        found = _only_frame(fmt, data, evolve(options, **changes))
        if found is not None:
            return ReadOtherwise(found, note, changes)
    return None


def _only_frame(fmt: Format, data: bytes, options: Options) -> Item | None:
    """Return the item of bytes that are exactly one whole entry under these options."""
    first = next(iter(formats.scan(fmt, [data], options)), None)
    whole = first is not None and first.kind == "frame" and first.length == len(data)
    return first if whole else None


# --- listing begin ---
#
# Find the entry at which a listing begins, without reading the entries before it.
#
# Entries are passed over by the sizes in their headers, from an indexed one on if an index file is beside
# the log. Nothing that is passed over is checked. Where a header fits no entry, or offsets go back, reading
# begins there, and the survey finds out what is wrong.


PASSED_FROM: Final = 1 << 20
"""Bytes of an input from which on entries are passed over: less is read and checked whole."""

PlacedOffsets = Callable[[bytes], tuple[int | None, int | None] | None]
"""Returns the first and the last offset of the entry that begins with these bytes."""


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
    steps, offsets = steps_of(fmt), partial(listing.head_offsets or no_offsets, fmt)
    heads = EntryHeads(steps, source)
    begin = _indexed(heads, offsets, listing, place, log)
    before, last = begin, -1
    for at, size in heads.sizes(begin, source.size):
        if not size or at + size > source.size:
            break
        first, end = (None, None) if place.is_position else offsets(heads.at(at)) or (None, None)
        known = end if end is not None else first
        if first is not None and first > place.number:
            break
        if (place.number < at + size) if place.is_position else _is_here(place, known, end, last):
            return at
        before, last = at, last if known is None else known
    return before


def _is_here(place: Place, known: int | None, end: int | None, last: int) -> bool:
    """Return whether a listing begins at an entry with these offsets, of which one is known.

    Offsets that go back are those of a damaged header, or of a log that is out of order.
    """
    return known is None or (end is not None and end >= place.number) or known < last


def no_offsets(_: Format, __: bytes) -> None:
    """Return no offsets of an entry."""


def _indexed(
    heads: EntryHeads, offsets: PlacedOffsets, listing: EntryListing, place: Place, log: Path | None
) -> int:
    """Return the position of an indexed entry before the place, if its entry is the one of the index."""
    if log is None or not listing.indexed:
        return 0
    found = object_at(listing.indexed)(log, place.number, is_position=place.is_position)
    if found is None:
        return 0
    last, position = found
    _, end = offsets(heads.at(position)) or (None, None)
    return position if end == last else 0
